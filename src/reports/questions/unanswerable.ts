import { nearest } from '../../text/choices.ts';
import { formatInstant, type Instant } from '../../time/time.ts';
import type { Completeness } from '../../warehouse/ledger/index.ts';
import { countValue, readSql, valuesOf } from '../../warehouse/sql/index.ts';
import type { Connection } from '../../warehouse/store/index.ts';
import type { Report } from './catalogue.ts';
import { type ParameterValue, periodsOf } from './parameters.ts';

/** Parameters that filter by a column; each has the name of its column. */
const dimensions = ['account', 'workspace', 'resource_type', 'resource_name', 'resource_uuid', 'billing_dimension'];

/** Known values to list if none is similar. */
const maxNamed = 10;

/** One reason why a report cannot answer. */
interface Refusal {
  /** The period that is refused, such as `2026-12`; undefined for a name. */
  readonly period?: string;
  /** A sentence; for a period, without its subject. */
  readonly words: string;
}

/** What is needed to check parameters. */
interface Known {
  readonly accounts: readonly Completeness[];
  /** The books' current time. */
  readonly now: Instant;
  /** Whether the answer is about the future. */
  readonly isOfFuture: boolean;
  /** The names of the project's own budgets. */
  readonly budgets: readonly string[];
}

/**
 * Why a report cannot answer: a period outside of the books, or an unknown name. Defaults are not checked.
 */
export async function unanswerable(
  connection: Connection,
  report: Pick<Report, 'file'>,
  values: readonly ParameterValue[],
  { accounts, now, isOfFuture, budgets }: Known,
): Promise<Refusal[]> {
  const unknown: Refusal[] = [];
  for (const { name, type, sqlValue, isDefault } of values) {
    if (isDefault || type !== 'text' || typeof sqlValue !== 'string') continue;
    const words = await unknownName(connection, report, name, sqlValue, budgets);
    if (words !== undefined) unknown.push({ words });
  }
  // An unknown account has no period either.
  if (unknown.length > 0) return unknown;
  if (isOfFuture) return impossiblePeriods(values, accounts, undefined);
  return impossiblePeriods(values, accounts, { now, heldThrough: await heldThrough(connection, accounts) });
}

/** The reasons as sentences. Periods with the same reason share one. */
export function refusalWords(refusals: readonly Refusal[]): string[] {
  const periods = new Map<string, string[]>();
  for (const { period, words } of refusals) {
    const same = periods.get(words) ?? [];
    if (period !== undefined && !same.includes(period)) same.push(period);
    periods.set(words, same);
  }
  return [...periods].map(([words, same]) => {
    if (same.length === 0) return words;
    const subject = same.length === 1 ? same[0] : `${same.slice(0, -1).join(', ')} and ${same.at(-1)}`;
    return `${subject} ${same.length === 1 ? 'is' : 'are'} ${words}`;
  });
}

/** Whether a report reads the owners of costs. */
export function isOfOwners({ file }: Pick<Report, 'file'>): boolean {
  return /\b(costs_allocated|costs_by_owner|hours_allocated)\b/i.test(file.text);
}

/** The end of the last hour in the books of these accounts, complete or not; undefined if there is none. */
async function heldThrough(connection: Connection, accounts: readonly Completeness[]): Promise<Instant | undefined> {
  const names = accounts.map(({ account }) => account);
  const [row] = await connection.rows(await readSql('ledger', 'held_through'), { accounts: JSON.stringify(names) });
  const end = row?.['held_through'] ?? null;
  return end === null ? undefined : Number(end);
}

/** The end of what can be answered; undefined if forecasts answer for later periods. */
interface Latest {
  readonly now: Instant;
  readonly heldThrough: Instant | undefined;
}

function impossiblePeriods(
  values: readonly ParameterValue[],
  accounts: readonly Completeness[],
  latest: Latest | undefined,
): Refusal[] {
  const starts = accounts.flatMap(({ historyStart }) => historyStart ?? []);
  const ends = accounts.flatMap(({ completeThrough }) => completeThrough ?? []);
  if (starts.length === 0) return [];
  const start = Math.min(...starts);
  const end = Math.max(start, ...ends);
  const held = `the books start at ${formatInstant(start)} and are complete through ${formatInstant(end)}`;
  const asked = values.filter(({ isDefault }) => !isDefault);
  // Dates are one period, and one of them may be a default.
  const isOfDates = asked.some(({ name }) => name === 'from' || name === 'to');
  const periods = periodsOf(
    isOfDates ? [...asked, ...values.filter(({ name }) => ['from', 'to'].includes(name))] : asked,
  );
  return periods.flatMap(({ label: period, ...window }) => {
    if (window.end <= start) return [{ period, words: `before the books: ${held}` }];
    if (latest === undefined || window.start < Math.max(end, latest.heldThrough ?? end)) return [];
    return [{ period, words: `${window.start >= latest.now ? 'in the future' : 'not in the books yet'}: ${held}` }];
  });
}

/** What is wrong with a parameter's name; undefined if it is known, or if the parameter takes no name. */
async function unknownName(
  connection: Connection,
  report: Pick<Report, 'file'>,
  name: string,
  value: string,
  budgets: readonly string[],
): Promise<string | undefined> {
  if (dimensions.includes(name)) return unknownValue(connection, name, value);
  if (name === 'dimension' && isOfOwners(report)) {
    const [row] = await connection.rows(await readSql('allocation', 'dimension_names'));
    const names = JSON.parse(String(row?.['names'] ?? '[]')) as string[];
    return names.includes(value) ? undefined : `owners have no dimension "${value}": ${hintOf(value, names)}`;
  }
  if (name === 'budget') {
    const rows = await connection.rows(await readSql('forecasts', 'budget_names'));
    const names = [...new Set([...budgets, ...rows.map(({ budget }) => String(budget))])];
    return names.includes(value) ? undefined : `there is no budget "${value}": ${hintOf(value, names)}`;
  }
  return undefined;
}

/** The error for a value that no series, resource or account has; undefined if one has it. */
async function unknownValue(connection: Connection, name: string, value: string): Promise<string | undefined> {
  const sources = { isOfResources: name !== 'billing_dimension', isOfAccounts: name === 'account' };
  const [found] = await connection.rows(countValue(name, sources), { value });
  if (Number(found?.['rows']) > 0) return undefined;
  const rows = await connection.rows(valuesOf(name, sources));
  const names = rows.map((row) => String(row['value']));
  return `the books have no ${name} "${value}": ${hintOf(value, names)}`;
}

/** The most similar known name, or some known names. */
function hintOf(value: string, names: readonly string[]): string {
  const near = nearest(value, names);
  if (near !== undefined) return `did you mean "${near}"?`;
  if (names.length === 0) return 'there is none';
  const more = names.length > maxNamed ? `, and ${names.length - maxNamed} more` : '';
  return `expected one of ${names.slice(0, maxNamed).join(', ')}${more}`;
}
