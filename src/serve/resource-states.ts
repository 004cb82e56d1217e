import { shownInstant } from '../time/time.ts';
import type { SqlRow } from '../warehouse/store/index.ts';
import { sizeWords } from './format.ts';
import { named, table } from './layout.ts';
import { html, type Markup } from './markup.ts';

/** The states of a resource over time, and what each changed. */
export function statesTable(states: readonly SqlRow[]): Markup {
  return table(
    'States over time, newest first',
    [
      { head: 'From', cell: (row) => html`<span class="state">${shownInstant(String(row['valid_from']))}</span>` },
      { head: 'Until', cell: (row) => (row['valid_to'] === null ? 'now' : shownInstant(String(row['valid_to']))) },
      {
        head: 'What changed',
        cell: (row) => changeWords(row, stateBefore(states, states.indexOf(row))) ?? 'first known state',
      },
      {
        head: 'Status',
        cell: (row) => `${named(textOf(row, 'status'), '')}${row['is_enabled'] === false ? ', not enabled' : ''}`,
      },
      { head: 'Memory, MB', isNumber: true, cell: (row) => textOf(row, 'memory_mb') },
      { head: 'Region', cell: (row) => named(textOf(row, 'region'), '') },
      { head: 'Plan', cell: (row) => named(textOf(row, 'plan'), '') },
      { head: 'Labels', cell: (row) => labelWords(textOf(row, 'labels')) },
      ...(isStored(states, 'size_bytes') ? [{ head: 'Size', isNumber: true, cell: sizeOf }] : []),
      ...(isStored(states, 'attached_to')
        ? [{ head: 'Attached to', cell: (row: SqlRow) => named(textOf(row, 'attached_to'), 'nothing') }]
        : []),
      { head: 'Created by', cell: (row) => named(textOf(row, 'created_by'), '') },
    ],
    states,
    'No listing has this resource.',
  );
}

/** The state that ended when this one started, in a list that has the newest first; a viewer may not see it. */
export function stateBefore(states: readonly SqlRow[], place: number): SqlRow | undefined {
  const state = states[place];
  const before = states.slice(place + 1).find((each) => each['account'] === state?.['account']);
  return before?.['valid_to'] === state?.['valid_from'] ? before : undefined;
}

/** What a state changed of the one before it; undefined for the first one. */
export function changeWords(state: SqlRow, before: SqlRow | undefined): string | undefined {
  if (before === undefined) return undefined;
  if (state['created_at'] !== before['created_at'] && state['created_at'] !== null) {
    return `created again on ${shownInstant(String(state['created_at']))}`;
  }
  const fields = [
    ...[['status', 'status'] as const, ['memory_mb', 'memory, MB'] as const, ['region', 'region'] as const],
    ...[['generation', 'generation'] as const, ['plan', 'plan'] as const, ['display_name', 'display name'] as const],
    ...[['external_id', 'external ID'] as const, ['provider', 'provider'] as const],
    ...[['attached_to', 'attached to'] as const],
  ];
  const shown = (row: SqlRow, field: string) => named(textOf(row, field), 'none');
  const changes = fields.flatMap(([field, words]) =>
    textOf(state, field) === textOf(before, field) ? [] : [`${words} ${shown(before, field)} → ${shown(state, field)}`],
  );
  if (textOf(state, 'size_bytes') !== textOf(before, 'size_bytes') && isStored([before], 'size_bytes'))
    changes.push(`size ${sizeOf(before)} → ${sizeOf(state)}`);
  if (state['is_enabled'] !== before['is_enabled'])
    changes.push(state['is_enabled'] === false ? 'disabled' : 'enabled');
  // States of earlier versions do not have their mounts.
  const [mounts, mountsBefore] = [namesOf(state, 'volumes'), namesOf(before, 'volumes')];
  if (mounts !== undefined && mountsBefore !== undefined) {
    for (const name of mounts) if (!mountsBefore.includes(name)) changes.push(`mounts volume ${named(name, '')}`);
    for (const name of mountsBefore) if (!mounts.includes(name)) changes.push(`no longer mounts ${named(name, '')}`);
  } else if (mounts !== undefined) changes.push(`volumes ${named(mounts.join(', '), 'none')}, not stored before`);
  const [now, earlier] = [labelsOf(state), labelsOf(before)];
  for (const key of new Set([...Object.keys(earlier), ...Object.keys(now)])) {
    if (now[key] === earlier[key]) continue;
    const value = (labels: Record<string, unknown>) =>
      labels[key] === undefined ? 'none' : named(String(labels[key]), '');
    changes.push(`label ${named(key, '')} ${value(earlier)} → ${value(now)}`);
  }
  return changes.slice(0, 8).join('; ') || 'listed again';
}

function isStored(rows: readonly SqlRow[], name: string): boolean {
  return rows.some((row) => textOf(row, name) !== null);
}

/** A size for people; none if it is not known. */
export function sizeOf(row: SqlRow): string {
  const bytes = textOf(row, 'size_bytes');
  return bytes === null ? '' : sizeWords(Number(bytes));
}

function namesOf(row: SqlRow, field: string): readonly string[] | undefined {
  const names = textOf(row, field);
  return names === null ? undefined : (JSON.parse(names) as string[]);
}

function labelsOf(row: SqlRow): Record<string, unknown> {
  return JSON.parse(textOf(row, 'labels') ?? '{}') as Record<string, unknown>;
}

function labelWords(labels: string | null): string {
  if (labels === null) return '';
  const entries = Object.entries(JSON.parse(labels) as Record<string, unknown>);
  const shown = entries.slice(0, 12).map(([key, value]) => `${named(key, '')}: ${named(String(value), '')}`);
  return `${shown.join(', ')}${entries.length > 12 ? `, and ${entries.length - 12} more` : ''}`;
}

/** A field as text. */
export function textOf(row: SqlRow, name: string): string | null {
  const value = row[name];
  return value === null || value === undefined ? null : String(value);
}
