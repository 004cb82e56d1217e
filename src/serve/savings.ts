import { readRunaways } from '../budgets/forecasts/index.ts';
import { moneyText, rounded } from '../money/money.ts';
import { factsOf } from '../reports/formats/index.ts';
import { exportTypes } from '../tables/file-formats.ts';
import { counted } from '../text/counted.ts';
import { anomalyAddress } from '../text/dashboard-address.ts';
import { dayName, shownInstant } from '../time/time.ts';
import type { SqlRow } from '../warehouse/store/index.ts';
import type { BooksView } from './books/index.ts';
import { readBooksState } from './books-state.ts';
import { sum } from './explored.ts';
import { money } from './format.ts';
import { type Column, named, resourceLink, table } from './layout.ts';
import { html, type Markup } from './markup.ts';
import type { Download, Page, PageRequest } from './page.ts';
import { ownerWords, useAsked } from './resource.ts';
import { sizeOf, textOf } from './resource-states.ts';
import { downloadLinks, type PageFormat, rowsFile } from './rows-file.ts';

/** A page shows this many of each table; the files have all. */
const shown = 200;

/** What somebody does about a row, by the code of its state. */
const steps: Readonly<Record<string, string>> = {
  'never used': 'Delete it, unless its owner needs its data.',
  'used before': 'Delete it, unless its owner needs its data.',
  'storage only': 'Delete it, unless its owner needs its data.',
  off: 'Delete it: although it is off, it costs money.',
  'runs unused': 'Stop it, or let it expire when nobody uses it.',
  'warm only': 'Let it start on demand: set its minimum of instances to 0.',
  'unused image': 'Delete the image.',
  'old snapshots': 'Delete the snapshots.',
  runaway: 'Find out why, and stop it.',
};

/** What could be stopped, the largest first, and what that saves. */
interface Savings {
  readonly rows: readonly SqlRow[];
  /** USD a month of all rows with a cost of their own. */
  readonly total: string;
  /** Through when it is complete: the end of a day, as in the report idle. */
  readonly through: string | null;
}

/** What the statement savings binds; undefined before the first complete hour. */
async function savingsAsked(view: BooksView) {
  const { scope } = view;
  const { completeThrough } = await readBooksState(view);
  if (completeThrough === null) return undefined;
  const through = Date.parse(completeThrough);
  // Anomalies are of all costs of a workspace and type.
  const runaways =
    scope.kind === 'owner' ? [] : await view.once('runaways', (connection) => readRunaways(connection, through));
  return {
    ...useAsked(view, through),
    workspaces: scope.kind === 'workspaces' ? JSON.stringify(scope.workspaces) : null,
    runaways: JSON.stringify(
      runaways.map(({ account, workspace, resourceType, driver = null, firstDay, key, daily }) => ({
        ...{ account, workspace, resource_type: resourceType, resource_name: driver, anomaly_key: key },
        ...{ first_day: dayName(firstDay), cost_per_month: moneyText(rounded(daily * 365n, 12n)) },
      })),
    ),
  };
}

/** What could be stopped in the costs that a viewer sees. */
export async function readSavings(view: BooksView): Promise<Savings> {
  const asked = await savingsAsked(view);
  const rows = asked === undefined ? [] : await view.rows('savings', asked);
  return { rows, total: sum(rows.map((row) => textOf(row, 'cost_per_month') ?? '0')), through: asked?.until ?? null };
}

/** The tile of the overview: what could be saved a month. */
export function savingsTile({ rows, total }: Savings): Markup {
  const priced = rows.filter(isPriced).length;
  return html`<div class="tile"><dt>You could save a month</dt><dd><span class="big">${savedOf(total)}</span> USD<div class="note">${
    rows.length === 0
      ? 'Nothing is known that could be stopped'
      : html`<a href="/savings">${counted(priced, 'resource')} to look at</a>`
  }</div></dd></div>`;
}

function savedOf(total: string): Markup {
  return money(total, { figure: ['savings', 'books'] });
}

function isPriced(row: SqlRow): boolean {
  return row['cost_per_month'] !== null;
}

/** What could be stopped: evidence, owner and amount of each, and the next step. */
export async function savingsPage({ view }: PageRequest): Promise<Page> {
  const { rows, total, through } = await readSavings(view);
  const [priced, others] = [rows.filter(isPriced), rows.filter((row) => !isPriced(row))];
  const runaways = priced.filter(({ state }) => state === 'runaway').length;
  return {
    ...{ path: '/savings', title: 'Savings' },
    body: html`<p class="finding">${
      priced.length === 0
        ? 'Nothing is known that could be stopped.'
        : html`<b>You could save ${savedOf(total)} USD a month</b>: ${counted(priced.length - runaways, 'resource')} that nobody uses, and ${counted(runaways, 'resource')} above usual cost.`
    }</p>
<section class="alerts">${table('What could be stopped', [costColumn, ...columnsFor(view)], priced, 'Everything that costs money is in use, as far as the books know.', [savedOf(total), 'Total', '', '', ''], { most: shown, hasFiles: true })}
<p class="empty">A month is 730 hours at the rate of the last complete day. Of what is above usual cost, it has what a day now costs more, as forecasts do. Each resource counts once. ${through === null ? 'No complete day yet' : `Complete through ${shownInstant(through)}`}.</p>
${downloadLinks((format) => `/savings.${format}`, `Download all ${counted(rows.length, 'row')}`)}</section>
${others.length === 0 ? '' : html`<section class="alerts">${table('Images and snapshots that nobody needs', [sizeColumn, ...columnsFor(view).filter(({ head }) => head !== 'Owner')], others, '', undefined, { most: shown })}<p class="empty">Their cost is part of other costs, so it is in no total.</p></section>`}`,
  };
}

const costColumn: Column<SqlRow> = {
  head: 'USD a month',
  isNumber: true,
  cell: (row) =>
    html`<b>${money(String(row['cost_per_month']), row['state'] === 'runaway' ? {} : { figure: ['idle_cost', subjectOf(row)] })}</b>`,
};

const sizeColumn: Column<SqlRow> = { head: 'Size', isNumber: true, cell: (row) => sizeOf(row) || 'not known' };

function subjectOf(row: SqlRow): string {
  return ['workspace', 'resource_type', 'resource_name'].map((name) => textOf(row, name) ?? '').join('/');
}

function columnsFor({ scope }: BooksView): readonly Column<SqlRow>[] {
  return [
    {
      head: 'Resource',
      cell: (row) => {
        const [type, workspace, name] = ['resource_type', 'workspace', 'resource_name'].map((each) =>
          textOf(row, each),
        );
        const isListed = row['cost_per_month'] === null || name === null;
        return html`${isListed ? named(name, 'several') : resourceLink(type, workspace, name)}<br><span class="empty">${named(type, 'no type')} in ${named(workspace, 'no workspace')}</span>`;
      },
    },
    {
      head: 'Owner',
      cell: (row) => {
        if (scope.kind === 'owner') return named(scope.owner, '');
        const owner = textOf(row, 'owner');
        return row['is_split'] === true ? 'shared' : owner === null ? 'no owner' : ownerWords(owner);
      },
    },
    {
      head: 'Why',
      cell: (row) => {
        const [key, reason] = [textOf(row, 'anomaly_key'), named(textOf(row, 'reason'), '')];
        return key === null || scope.kind !== 'all' ? reason : html`<a href="${anomalyAddress(key)}">${reason}</a>`;
      },
    },
    { head: 'Next step', cell: (row) => steps[String(row['state'])] },
  ];
}

/** The columns of a file, as the statement has them. */
const fileColumns = [
  ...['account', 'state', 'workspace', 'resource_type', 'resource_name', 'reason'].map((name) => ({
    name,
    type: 'VARCHAR',
  })),
  { name: 'cost_per_month', type: 'DECIMAL(38,12)' },
  { name: 'size_bytes', type: 'BIGINT' },
  { name: 'anomaly_key', type: 'VARCHAR' },
  { name: 'owner', type: 'VARCHAR' },
  { name: 'is_split', type: 'BOOLEAN' },
];

/** All rows as a file. */
export async function savingsFile(
  { view, signal }: Pick<PageRequest, 'view' | 'signal'>,
  format: PageFormat,
): Promise<Download> {
  const { rows, through } = await readSavings(view);
  const { settledThrough } = await readBooksState(view);
  const cells = rows.map((row) => fileColumns.map(({ name }) => textOf(row, name)));
  const facts = factsOf({ completeThrough: through, settledThrough, completeFrom: null, asOf: null, closedAt: null });
  return {
    name: `savings-${through?.slice(0, 10) ?? 'none'}.${format}`,
    type: exportTypes[format],
    body: await rowsFile({ columns: fileColumns, rows: cells, facts, title: 'Savings', signal }, format),
  };
}
