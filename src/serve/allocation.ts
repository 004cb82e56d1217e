import { UsageError } from '../base/errors.ts';
import { budgetsFile, loadBudgets, ownerBudgets } from '../budgets/rules/index.ts';
import { type Chart, keysOf, pageTheme, rankedBars } from '../charts/index.ts';
import { listedCosts } from '../findings/index.ts';
import { windowBefore } from '../time/compared.ts';
import {
  addCalendarMonths,
  floorMonth,
  formatInstant,
  formatMonth,
  type Instant,
  monthName,
  shownInstant,
} from '../time/time.ts';
import { closedMonths } from '../warehouse/ledger/index.ts';
import { readSql } from '../warehouse/sql/index.ts';
import { lastAnswers, type SqlRow } from '../warehouse/store/index.ts';
import { type BooksView, shownSql } from './books/index.ts';
import { readBooksState } from './books-state.ts';
import { only, sharedOwner } from './dimensions.ts';
import { costsAddress } from './explore-question.ts';
import { sum } from './explored.ts';
import { amount, money, share, shareOf } from './format.ts';
import { type ChartActions, figure, named, resourceLink, table } from './layout.ts';
import { html, type Markup, raw } from './markup.ts';
import type { Page, PageRequest } from './page.ts';
import { textOf } from './resource-states.ts';

const topOwners = 12;
const unallocatedShown = 30;
const monthsShown = 36;

interface Asked {
  /** `2026-10`. */
  readonly month: string;
  readonly start: Instant;
  readonly end: Instant;
  /** The end of the complete hours. */
  readonly through: Instant;
  readonly dimension: string;
  readonly months: readonly string[];
  readonly dimensions: readonly string[];
}

/** Who pays for a month: direct and shared costs by owner, what has no owner. Reads all costs: for unrestricted viewers only. */
export async function allocationPage(request: PageRequest): Promise<Page> {
  const { view, query, project, now } = request;
  const state = await readBooksState(view);
  const page = { path: '/allocation', title: 'Allocation' } as const;
  if (state.month === undefined || state.completeThrough === null) {
    return { ...page, body: html`<p class="empty">The books have no complete hour yet.</p>` };
  }
  const dimensions = await dimensionsOf(view);
  const months = monthsBetween(Date.parse(state.historyStart ?? state.completeThrough), state.month.start);
  const through = Date.parse(state.completeThrough);
  const { asked, problems } = readQuestion(query, { months, dimensions, through });
  const sqlMonth = `${asked.month}-01`;
  const [closed, owners, unallocated, labels, volumes, listed] = await Promise.all([
    view.once('closed months', closedMonths),
    view.rows('charged_owners', {
      ...{ month: sqlMonth, account: null, dimension: asked.dimension },
      ...cutsOf(asked, through),
      budgets: budgetsOf(project.dir, now),
    }),
    view.rows('unowned_resources', { month: sqlMonth, dimension: asked.dimension }),
    view.rows('labelled_costs', { month: sqlMonth }),
    view.rows('volumes', { month: sqlMonth }),
    view.once('listed costs', async (connection) => listedCosts(connection, lastAnswers(connection))),
  ]);
  const sorted = [...owners].sort((a, b) => Number(b['cost']) - Number(a['cost']));
  const total = sum(sorted.map((row) => String(row['cost'])));
  const closedAt = closed.find(({ month }) => month === asked.start)?.closedAt;
  const note =
    through < asked.end
      ? `all hours in the books; those from ${shownInstant(state.completeThrough)} on may still grow`
      : billedNote(asked.month, sorted, total, closedAt);
  return {
    ...page,
    title: `Allocation by ${named(asked.dimension, '')}, ${asked.month}`,
    status: problems.length === 0 ? 200 : 400,
    body: html`<section>${form(asked)}${problems.map((problem) => html`<p class="state bad">${problem}</p>`)}</section>
${tiles(asked, sorted, total, { isOpen: through < asked.end, note })}
${figure(await chartOf(asked, sorted, total, state.completeThrough), {
  height: 60 + 30 * Math.min(sorted.length, topOwners + 1),
  actions: actionsOf(asked, sorted),
})}
<section class="cards">${ownersTable(asked, sorted, total, closedAt !== undefined)}${
      closedAt === undefined
        ? ''
        : html`<p>The statement of the month says <a href="/months/${asked.month}">what each owner was billed</a>: these are the current costs, by today's rules.</p>`
    }</section>
<div class="grid">
<section>${unallocatedTable(unallocated)}</section>
<section class="cards">${labelsTable(asked.month, labels)}${neverListedWords(listed)}</section>
</div>
${volumes.length === 0 ? '' : html`<section class="cards">${volumesTable(volumes)}</section>`}`,
  };
}

/** The hours that end the comparison of a month with the one before it. */
function cutsOf({ start, end }: Asked, through: Instant): { base_end: string; compared_end: string } {
  const comparedEnd = Math.min(end, Math.max(start, through));
  // Without such hours in the month before, the SQL compares nothing.
  const before = windowBefore({ start, end: comparedEnd });
  return { base_end: formatInstant(before?.end ?? start), compared_end: formatInstant(comparedEnd) };
}

async function dimensionsOf(view: BooksView): Promise<readonly string[]> {
  const [row] = await view.once('dimensions of owners', async (connection) =>
    connection.rows(await readSql('allocation', 'dimension_names')),
  );
  const names = row?.['names'];
  return typeof names === 'string' ? (JSON.parse(names) as string[]) : ['team', 'product', 'environment'];
}

function monthsBetween(start: Instant, last: Instant): string[] {
  const months: string[] = [];
  for (let at = last; at >= floorMonth(start) && months.length < monthsShown; at = addCalendarMonths(at, -1))
    months.push(formatMonth(at));
  return months;
}

function readQuestion(
  query: URLSearchParams,
  known: Pick<Asked, 'months' | 'dimensions' | 'through'>,
): { asked: Asked; problems: string[] } {
  const { months, dimensions } = known;
  const problems: string[] = [];
  const [newest = ''] = months;
  const [usual = 'team'] = dimensions;
  function choice(name: string, choices: readonly string[], otherwise: string): string {
    const text = query.get(name);
    if (text === null || text === '') return otherwise;
    if (choices.includes(text)) return text;
    problems.push(
      `${name}: expected ${name === 'month' ? `a month from ${choices.at(-1)} through ${choices[0]}` : `one of ${choices.join(', ')}`}`,
    );
    return otherwise;
  }
  const month = choice('month', months, newest);
  const start = Date.parse(`${month}-01T00:00:00Z`);
  const dimension = choice('dimension', dimensions, usual);
  return { asked: { ...known, month, start, end: addCalendarMonths(start, 1), dimension }, problems };
}

/** The budgets of owners; none if the file has mistakes, which the page of budgets shows. */
function budgetsOf(dir: string, now: Instant): string {
  try {
    return ownerBudgets(loadBudgets(budgetsFile(dir), { now }) ?? []);
  } catch (error) {
    if (error instanceof UsageError) return '[]';
    throw error;
  }
}

function pointerOf(dimension: string): string {
  return `/${dimension.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function form({ month, months, dimension, dimensions }: Asked): Markup {
  const option = (value: string, shown: string, chosen: string) =>
    html`<option value="${value}"${value === chosen ? raw(' selected') : ''}>${shown}</option>`;
  return html`<form class="filters" method="get" action="/allocation">
<label>Month <select name="month">${months.map((each) => option(each, monthName(Date.parse(each)), month))}</select></label>
<label>By <select name="dimension">${dimensions.map((each) => option(each, named(each, ''), dimension))}</select></label>
<button>Show</button>
</form>`;
}

function costsOf(rows: readonly SqlRow[], name: string): string {
  return sum(rows.flatMap((row) => (row[name] === null ? [] : [String(row[name])])));
}

/** What resources cost that no listing ever showed, so that no label of theirs is known. */
function neverListedWords(listed: Awaited<ReturnType<typeof listedCosts>>): Markup | '' {
  const parts = [...listed.values()].flatMap(({ neverListed }) =>
    neverListed.map(
      ({ workspace, cost }) =>
        html`${named(workspace, 'no workspace')} ${money(cost, { figure: ['never_listed_cost', workspace ?? ''] })} USD`,
    ),
  );
  if (parts.length === 0) return '';
  return html`<p>In the last 30 days, resources that no listing ever showed cost: ${parts.map((part, place) => html`${place === 0 ? '' : ', '}${part}`)}. Sandboxes that end before the next night are among them. Rules by name need no listing; <code>docs/allocation.md</code> says what else helps.</p>`;
}

/** What a complete month bills, and whether its costs are those of its close. */
function billedNote(month: string, rows: readonly SqlRow[], total: string, closedAt: Instant | undefined): Markup {
  const billed = costsOf(rows, 'billed_cost');
  const figure = { figure: [closedAt === undefined ? 'month_to_bill' : 'month_billed', month] } as const;
  const later = costsOf(rows, 'billed_later');
  const others = html`${money(billed, figure)} USD are billed, with corrections of earlier months and invoice differences`;
  if (closedAt === undefined) return html`the whole month${billed === total ? '' : html`; ${others}`}`;
  const close = `closed at ${shownInstant(formatInstant(closedAt))}`;
  if (Number(later) === 0) return html`${close}${billed === total ? '' : html`; ${others}`}`;
  return html`current costs, with ${money(later, { isSigned: true, figure: ['month_changed_cost', month] })} USD that were seen after the close and that later months bill; the month was ${close} and bills ${money(billed, figure)} USD`;
}

function tiles(
  { month, dimension }: Asked,
  rows: readonly SqlRow[],
  total: string,
  { isOpen, note }: { readonly isOpen: boolean; readonly note: Markup | string },
): Markup {
  const unowned = costsOf(
    rows.filter((row) => row['owner'] === null),
    'cost',
  );
  const owned = rows.filter((row) => row['owner'] !== null);
  const shown = (kind: string, cost: string) =>
    money(cost, { figure: ['owned_cost', `${month}/${dimension}/${kind}`] });
  return html`<dl class="tiles">
<div class="tile"><dt>${monthName(Date.parse(month))}${isOpen ? ' so far' : ''}</dt><dd><span class="big">${money(total, { figure: ['month_cost', month] })}</span> USD<div class="note">${note}</div></dd></div>
<div class="tile"><dt>Direct, with an owner</dt><dd><span class="big">${shown('direct', costsOf(owned, 'direct_cost'))}</span> USD<div class="note">${shareOf(costsOf(owned, 'direct_cost'), total)} belongs to one owner</div></dd></div>
<div class="tile"><dt>Shared, with an owner</dt><dd><span class="big">${shown('shared', costsOf(owned, 'shared_cost'))}</span> USD<div class="note">${shareOf(costsOf(owned, 'shared_cost'), total)} is split over owners by rules</div></dd></div>
<div class="tile"><dt>Without an owner</dt><dd><span class="big ${Number(unowned) > 0 ? 'state warn' : ''}">${shown('none', unowned)}</span> USD<div class="note">${shareOf(unowned, total)} of the month</div></dd></div>
</dl>`;
}

async function chartOf(
  { start, end, month, dimension }: Asked,
  owners: readonly SqlRow[],
  total: string,
  completeThrough: string,
): Promise<Chart> {
  const largest = owners.slice(0, topOwners);
  const others = owners.slice(topOwners);
  const labels = [
    ...largest.map((row) => nameOf(row, dimension)),
    ...(others.length === 0 ? [] : [`${others.length} others`]),
  ];
  const values = (name: string) => [
    ...largest.map((row) => Number(row[name])),
    ...(others.length === 0 ? [] : [Number(costsOf(others, name))]),
  ];
  const series = [
    { name: 'direct', values: values('direct_cost') },
    { name: 'shared', values: values('shared_cost') },
  ];
  const [first] = owners;
  return {
    id: 'owners',
    title:
      first === undefined
        ? `${monthName(Date.parse(month))} cost nothing`
        : `${first['owner'] === null ? `Cost without a ${dimension}` : nameOf(first, dimension)} is the largest: ${amount(String(first['cost']))} of ${amount(total)} USD in ${monthName(Date.parse(month))}`,
    description: `Cost by ${dimension}. ${largest.map((row) => `${nameOf(row, dimension)}: ${amount(String(row['cost']))} USD`).join('. ')}.`,
    sql: await shownSql('shown_allocation', {
      ...{ pointer: pointerOf(dimension), from: formatInstant(start), to: formatInstant(end) },
    }),
    completeThrough,
    keys: keysOf(series),
    option: rankedBars({ labels, series }, pageTheme),
  };
}

/** The exact amounts of the bars and their pages: direct costs by resource, shared costs by the rules' pools. */
function actionsOf(asked: Asked, owners: readonly SqlRow[]): ChartActions {
  const largest = owners.slice(0, topOwners);
  const others = owners.slice(topOwners);
  const texts = (name: string) => [
    ...largest.map((row) => (row[name] === null ? null : String(row[name]))),
    ...(others.length === 0 ? [] : [costsOf(others, name)]),
  ];
  const shared = costsPage(asked, sharedOwner);
  const pages = largest.map((row) => ownerPage(asked, row));
  return {
    names: [...largest.map((row) => nameOf(row, asked.dimension)), `${others.length} others`],
    texts: { 'series-0': texts('direct_cost'), 'series-1': texts('shared_cost') },
    totals: texts('cost'),
    pages: others.length === 0 ? pages : [...pages, costsPage(asked)],
    markPages: { 'series-1': [...largest, ...others].map(() => shared) },
    unit: 'USD',
  };
}

/** The direct costs of an owner in the month. */
function ownerPage(asked: Asked, row: SqlRow): string {
  return costsPage(asked, row['owner'] === null ? '' : String(row['owner']));
}

/** The costs of one owner in the month by resource; of all owners by owner. */
function costsPage({ start, end, dimension, through }: Asked, owner?: string): string {
  const name = `owner:${dimension}`;
  return costsAddress({
    ...{ window: { from: start, to: end }, through, step: 'day' },
    ...(owner === undefined ? { groupBy: name } : { groupBy: 'resource_name', filters: only({ [name]: owner }) }),
  });
}

function nameOf(row: SqlRow, dimension: string): string {
  return named(row['owner'] === null ? null : String(row['owner']), `no ${dimension}`);
}

/**
 * The columns of what the month bills besides the costs of its own hours; none if it bills nothing besides. A month that is closed
 * has none: it billed its owners by the rules and shares of its close, and the costs here have today's.
 */
function billedBesides(
  rows: readonly SqlRow[],
  isClosed: boolean,
): { head: string; name: string; isSigned: boolean }[] {
  if (isClosed) return [];
  const shown = [
    { head: 'Corrections', name: 'correction_cost', isSigned: true },
    { head: 'Invoice difference', name: 'invoice_difference', isSigned: true },
  ].filter(({ name }) => rows.some((row) => row[name] !== null && /[1-9]/.test(String(row[name]))));
  return shown.length === 0 ? [] : [...shown, { head: 'Billed', name: 'billed_cost', isSigned: false }];
}

function ownersTable(asked: Asked, rows: readonly SqlRow[], total: string, isClosed: boolean): Markup {
  const { dimension } = asked;
  const [first] = rows;
  const comparedEnd = first?.['compared_end'];
  const others = billedBesides(rows, isClosed);
  const cell =
    (name: string, isSigned = false) =>
    (row: SqlRow) =>
      row[name] === null ? '' : money(String(row[name]), { isSigned });
  return html`${table(
    `By ${dimension}`,
    [
      {
        head: dimension.charAt(0).toUpperCase() + dimension.slice(1),
        cell: (row) => html`<a href="${ownerPage(asked, row)}">${nameOf(row, dimension)}</a>`,
      },
      {
        head: 'USD',
        isNumber: true,
        cell: (row) =>
          row['owner'] === null
            ? money(String(row['cost']))
            : money(String(row['cost']), { figure: ['owner_cost', `${asked.month}/${dimension}/${row['owner']}`] }),
      },
      { head: 'Share', isNumber: true, cell: (row) => shareOf(String(row['cost']), total) },
      { head: 'Direct', isNumber: true, cell: cell('direct_cost') },
      { head: 'Shared', isNumber: true, cell: cell('shared_cost') },
      ...others.map(({ head, name, isSigned }) => ({ head, isNumber: true, cell: cell(name, isSigned) })),
      { head: 'Change', isNumber: true, cell: cell('change', true) },
      { head: 'Budget', isNumber: true, cell: cell('budget') },
    ],
    rows,
    'The month has no costs.',
    [
      'Total',
      money(total),
      '',
      money(costsOf(rows, 'direct_cost')),
      money(costsOf(rows, 'shared_cost')),
      ...others.map(({ name, isSigned }) => money(costsOf(rows, name), { isSigned })),
      money(costsOf(rows, 'change'), { isSigned: true }),
      '',
    ],
  )}${
    typeof comparedEnd === 'string'
      ? html`<p class="empty"><a href="${costsPage(asked)}">By ${dimension} and day</a>, <a href="${costsPage(asked, sharedOwner)}">shared costs by resource</a>. ${
          Date.parse(`${comparedEnd.slice(0, 16)}Z`) < asked.end
            ? `Amounts have all hours in the books. Change compares those before ${comparedEnd.slice(0, 16)} UTC, which are complete, with the same hours of the month before.`
            : 'Change: against the month before.'
        }</p>`
      : ''
  }`;
}

function unallocatedTable(rows: readonly SqlRow[]): Markup {
  return table(
    'Without an owner, largest first',
    [
      {
        head: 'Resource',
        cell: (row) =>
          html`${resourceLink(textOf(row, 'resource_type'), textOf(row, 'workspace'), textOf(row, 'resource_name'))} <span class="empty">${named(textOf(row, 'workspace'), 'no workspace')}</span>`,
      },
      { head: 'USD', isNumber: true, cell: (row) => money(String(row['cost'])) },
      { head: 'What would assign it', cell: (row) => named(textOf(row, 'fix'), '') },
    ],
    [...rows].sort((a, b) => Number(a['rank']) - Number(b['rank'])),
    'Every cost of the month has an owner.',
    undefined,
    { most: unallocatedShown },
  );
}

function labelsTable(month: string, rows: readonly SqlRow[]): Markup {
  const ofMonth = rows
    .filter((row) => String(row['month']).startsWith(month))
    .sort((a, b) => Number(b['labelled_share']) - Number(a['labelled_share']));
  return table(
    'Coverage of labels',
    [
      { head: 'Label', cell: (row) => named(String(row['label']), '') },
      {
        head: 'Share of cost',
        isNumber: true,
        cell: (row) => {
          const percent = Number(row['labelled_share'] ?? 0) * 100;
          return html`<span class="share">${share(percent)}<meter min="0" max="100" value="${percent.toFixed(1)}" aria-label="Share of cost with the label ${named(String(row['label']), '')}"></meter></span>`;
        },
      },
      { head: 'USD', isNumber: true, cell: (row) => money(String(row['labelled_cost'])) },
      {
        head: 'Resources',
        isNumber: true,
        cell: (row) => `${row['labelled_resources']} of ${row['resources']}`,
      },
    ],
    ofMonth,
    'No resource has labels, and no rule reads any.',
  );
}

/** Volumes have no labels: a volume belongs to the owner of the resources that mount it, unless a rule names it. */
function volumesTable(rows: readonly SqlRow[]): Markup {
  return table(
    'Volumes',
    [
      {
        head: 'Volume',
        cell: (row) =>
          html`${resourceLink('volume', textOf(row, 'workspace'), textOf(row, 'resource_name'))} <span class="empty">${named(textOf(row, 'workspace'), 'no workspace')}</span>`,
      },
      { head: 'USD', isNumber: true, cell: (row) => money(String(row['cost'])) },
      { head: 'Mounted by', cell: (row) => named(textOf(row, 'mounters'), 'nobody') },
      { head: 'Owner', cell: (row) => (row['is_split'] === true ? 'split over owners' : ownerWords(row)) },
      {
        head: 'Decided by',
        cell: (row) =>
          row['is_mounted'] === true
            ? `its mounts (${named(textOf(row, 'rule'), '')})`
            : named(textOf(row, 'rule'), ''),
      },
    ],
    rows,
    'No volume has costs.',
  );
}

function ownerWords(row: SqlRow): string {
  const owner = JSON.parse(textOf(row, 'owner') ?? '{}') as Record<string, string | null>;
  const values = Object.values(owner).filter((value) => value !== null);
  return values.length === 0 ? 'nobody' : values.map((value) => named(value, '')).join(', ');
}
