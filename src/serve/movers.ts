import { moneyOf, moneyText } from '../money/money.ts';
import { anomalyAddress } from '../text/dashboard-address.ts';
import { type BooksKnown, type Compared, comparedWith } from '../time/compared.ts';
import { formatInstant, type Instant, shownInstant } from '../time/time.ts';
import type { SqlRow } from '../warehouse/store/index.ts';
import type { BooksView } from './books/index.ts';
import { only, sharedOwner, valueWords } from './dimensions.ts';
import { costsAddress, lastDays } from './explore-question.ts';
import { money, relativeOrNew } from './format.ts';
import { type Column, named, resourceLink, table } from './layout.ts';
import { html, type Markup, raw } from './markup.ts';
import type { PageRequest } from './page.ts';
import { searchForm } from './resource-search.ts';

/** What changes are shown by: owners in the first dimension of the allocation rules. */
export const moverKinds = ['resource', 'workspace', 'owner'] as const;
export type MoverKind = (typeof moverKinds)[number];

interface MoversAsked {
  readonly by: MoverKind;
  readonly days: number;
  /** The end of the complete hours. */
  readonly through: Instant;
  readonly completeFrom: Instant | undefined;
  readonly count: number;
}

/** What changed most in cost in the last days, and what these are compared with. */
export async function readMovers(
  view: BooksView,
  { by, days, through, completeFrom, count }: MoversAsked,
): Promise<{ readonly compared: Compared; readonly rows: readonly SqlRow[] }> {
  const compared = comparedWith({ start: lastDays(days, through).from, end: through }, { completeFrom });
  if (compared.kind === 'none') return { compared, rows: [] };
  return { compared, rows: await view.rows('movers', { ...moverWindows(compared), by, count }) };
}

/** Why costs of resources may have changed in a window: a row for each that has an anomaly or a deployment in it. */
export async function readMoverReasons(view: BooksView, compared: Compared): Promise<readonly SqlRow[]> {
  if (compared.kind === 'none') return [];
  const { from, to } = moverWindows(compared);
  return view.rows('mover_reasons', { from, to });
}

/** Both windows as SQL and answers have them. */
export function moverWindows({ window, before }: Extract<Compared, { readonly kind: 'compared' }>) {
  return {
    ...{ before_from: formatInstant(before.start), before_to: formatInstant(before.end) },
    ...{ from: formatInstant(window.start), to: formatInstant(window.end) },
  };
}

const moversShown = 8;
const moverDays = 7;

/** The biggest changes by what the address names, with links to the other ways. */
export async function moversSection(
  { view, query }: PageRequest,
  { through, completeFrom }: BooksKnown & { readonly through: Instant },
): Promise<Markup> {
  // A viewer of one owner sees no other.
  const kinds = moverKinds.filter((kind) => kind !== 'owner' || view.scope.kind !== 'owner');
  const by = kinds.find((kind) => kind === query.get('changes')) ?? 'resource';
  const changed = await readMovers(view, { by, days: moverDays, through, completeFrom, count: moversShown });
  // Anomalies and deployments name what others may not see.
  const reasons = view.scope.kind === 'all' ? await readMoverReasons(view, changed.compared) : [];
  const direct =
    by === 'owner' ? 'Owners have their direct costs here; those that a rule splits are “shared costs”.' : '';
  return html`<section class="alerts" id="changes"><nav class="ranges" aria-label="Changes by">${kinds.map(
    (kind) =>
      html`<a href="${kind === 'resource' ? '/' : `/?changes=${kind}`}#changes"${kind === by ? raw(' aria-current="true"') : ''}>By ${kind}</a> `,
  )}</nav>${moversTable(changed, { by, reasons, through })}<p class="empty">${moverRange(changed.compared)} ${direct}</p>${searchForm()}</section>`;
}

/** The days that are compared, which Explore shows too. */
function moverRange(compared: Compared): Markup | string {
  if (compared.kind === 'none') return '';
  const { from, to, before_from, before_to } = moverWindows(compared);
  const span = (start: string, end: string) => `${shownInstant(start)} to ${shownInstant(end)}`;
  return html`${span(from, to)}, compared with ${span(before_from, before_to)}. <a href="/explore?range=${moverDays}d">These days by day</a>`;
}

/** What changed most in cost, by how much, and why, as far as the books know. */
function moversTable(
  { rows, compared }: Awaited<ReturnType<typeof readMovers>>,
  { by, reasons, through }: { readonly by: MoverKind; readonly reasons: readonly SqlRow[]; readonly through: Instant },
): Markup {
  const isSame = (a: SqlRow, b: SqlRow) =>
    ['account', 'workspace', 'resource_type', 'resource_name'].every((name) => (a[name] ?? '') === (b[name] ?? ''));
  const why = (row: SqlRow) =>
    whyWords(row, {
      reason: reasons.find((reason) => isSame(reason, row)),
      driver: by === 'resource' ? undefined : driverWords(row),
    });
  const names: Column<SqlRow>[] =
    by === 'resource'
      ? [
          { head: 'Resource', cell: resourceCell },
          { head: 'Workspace', cell: (row) => named(String(row['workspace'] ?? ''), 'no workspace') },
        ]
      : [{ head: by === 'workspace' ? 'Workspace' : 'Owner', cell: (row) => groupCell(by, row, through) }];
  return table(
    `Biggest changes: the last ${moverDays} days against the ${moverDays} before`,
    [
      ...names,
      { head: 'USD', isNumber: true, cell: (row) => money(String(row['cost'])) },
      { head: 'Change', isNumber: true, cell: (row) => money(String(row['change']), { isSigned: true }) },
      { head: 'in %', isNumber: true, cell: changeWords },
      { head: 'Why', cell: why },
    ],
    rows,
    compared.kind === 'none' ? `Not compared: ${compared.reason}.` : 'No cost changed in the last 14 days.',
  );
}

/** A workspace or an owner, which leads to its resources in the same days. */
function groupCell(by: 'workspace' | 'owner', row: SqlRow, through: Instant): Markup {
  const dimension = by === 'workspace' ? by : `owner:${row['dimension'] ?? ''}`;
  const value = row['is_shared'] === true ? sharedOwner : String(row['group_name'] ?? '');
  const page = {
    window: lastDays(moverDays, through),
    through,
    step: 'day',
    groupBy: 'resource_name',
    filters: only({ [dimension]: value }),
  } as const;
  return html`<a href="${costsAddress(page)}">${valueWords(dimension, value)}</a>`;
}

/** The resource that changed most in its group, and by how much. */
function driverWords(row: SqlRow): Markup {
  const change = moneyText(moneyOf(String(row['resource_cost'])) - moneyOf(String(row['resource_cost_before'])));
  return html`${resourceCell(row)} ${money(change, { isSigned: true })}`;
}

/** In per cent; as a multiple from ten times as much on, which reads better than thousands of per cent. */
function changeWords({ cost, cost_before }: SqlRow): string {
  const times = isZero(cost_before) ? 0 : Number(cost) / Number(cost_before);
  return times >= 10 ? `${Math.round(times)} times` : relativeOrNew(String(cost), String(cost_before));
}

function isZero(amount: unknown): boolean {
  return Number(amount) === 0;
}

/** What the books know of the cause: new, gone, an anomaly with its page, deployments. */
function whyWords(
  row: SqlRow,
  { reason, driver }: { readonly reason: SqlRow | undefined; readonly driver: Markup | undefined },
): Markup {
  const existence = isZero(row['resource_cost_before'])
    ? 'new'
    : isZero(row['resource_cost'])
      ? 'no longer billed'
      : undefined;
  const [key, deployments] = [reason?.['anomaly_key'], Number(reason?.['deployments'] ?? 0)];
  const unusual =
    typeof key === 'string'
      ? html`<a href="${anomalyAddress(key)}">unusual since ${reason?.['first_day']}</a>`
      : undefined;
  const deployed =
    deployments === 0
      ? undefined
      : `${deployments === 1 ? 'deployed or changed' : `deployed or changed ${deployments} times, last`} ${shownInstant(String(reason?.['deployed_at']))}`;
  const words = [driver, existence, unusual, deployed].filter((each) => each !== undefined);
  return html`${words.map((each, place) => html`${place === 0 ? '' : '; '}${each}`)}`;
}

function resourceCell(row: Readonly<Record<string, unknown>>): Markup {
  const [type = '', workspace, name] = [row['resource_type'], row['workspace'], row['resource_name']].map((part) =>
    String(part ?? ''),
  );
  return html`${resourceLink(type, workspace, name)} <span class="state">${named(type, '')}</span>`;
}
