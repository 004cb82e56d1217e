import {
  type AnomalyFact,
  type AnomalyRules,
  anomalyFacts,
  daysAround,
  exclusionWords,
  feedbackOn,
  loadAnomalyRules,
  readFeedback,
  readKnownAnomalies,
  type StoredFeedback,
  usualRules,
} from '../anomalies/index.ts';
import { UsageError } from '../base/errors.ts';
import { budgetsFile } from '../budgets/rules/index.ts';
import {
  anomalyDays,
  type Chart,
  type ExactNumbers,
  exactAnomalyDays,
  expectedBand,
  expectedBandKeys,
  pageTheme,
} from '../charts/index.ts';
import { parseFact, wordsOf } from '../findings/index.ts';
import { difference } from '../money/money.ts';
import { anomalyAddress } from '../text/dashboard-address.ts';
import { oneLine } from '../text/safe-text.ts';
import { shellWord } from '../text/shell-word.ts';
import { dayMs, formatInstant, shownInstant } from '../time/time.ts';
import type { SqlRow } from '../warehouse/store/index.ts';
import { shownSql } from './books/index.ts';
import { readBooksState } from './books-state.ts';
import { deploymentsBeforeTable } from './deployments.ts';
import { only } from './dimensions.ts';
import { costsAddress } from './explore-question.ts';
import { sum } from './explored.ts';
import { amount, money, share } from './format.ts';
import { figure, named, resourceLink, table } from './layout.ts';
import { html, type Markup } from './markup.ts';
import type { Page, PageRequest } from './page.ts';
import { firstRows } from './table-files.ts';

const page = { path: '/anomalies' } as const;
/** The page shows this many; the files have all. */
const shown = 200;
const everyDay = { from: null, to: null, rows: null };

/** Unusual costs, open ones first, then by money. Anomalies are of all costs: for unrestricted viewers only. */
export async function anomaliesPage(request: PageRequest): Promise<Page> {
  const { view } = request;
  const [listed, [total = {}]] = await Promise.all([
    firstRows(view, 'anomalies', { ...everyDay, key: null, key_md5: null, most: shown }),
    view.rows('open_anomalies'),
  ]);
  const [open, excluded] = [Number(total['open']), Number(total['excluded'])];
  return {
    ...page,
    title: 'Anomalies',
    body: html`<p class="finding">${
      open === 0
        ? 'No anomaly is open.'
        : html`<b>${money(String(total['more']), { figure: ['open_impact', 'books'] })} USD</b> more than usual so far: ${open} ${open === 1 ? 'anomaly is' : 'anomalies are'} open${excluded === 0 ? '' : `, ${excluded} of them excluded from alerts`}.`
    }</p>
<section class="alerts">${table(
      'Open first, then by money',
      listColumns,
      listed.rows,
      'Nothing unusual was found. "costbook alert" looks for it; run it after each ingest.',
      undefined,
      listed,
    )}</section>
${exclusionsList(request)}`,
  };
}

/** The exclusions of the project, and which no longer act. */
function exclusionsList({ project, now }: PageRequest): Markup {
  const { exclude } = rulesOf(project.dir);
  if (exclude.length === 0) return html``;
  return html`<section><h2>Exclusions</h2><p>No alert is sent about these costs:</p><ul>${exclude.map((one) => html`<li>${exclusionWords(one, now)}</li>`)}</ul></section>`;
}

function text(row: SqlRow, name: string): string | null {
  const value = row[name];
  return value === null || value === undefined ? null : String(value);
}

function impactOf(row: SqlRow): Markup {
  return money(String(row['impact']), { isSigned: true, figure: ['anomaly_impact', String(row['anomaly_key'])] });
}

const listColumns = [
  {
    head: 'Total difference, USD',
    isNumber: true,
    cell: (row: SqlRow) => html`<b class="${row['is_up'] === true ? 'up' : 'down'}">${impactOf(row)}</b>`,
  },
  {
    head: 'What',
    cell: (row: SqlRow) =>
      html`<a href="${anomalyAddress(String(row['anomaly_key']))}">${subjectOf(row)}</a><br><span class="empty">${named(text(row, 'billing_dimension'), 'no billing dimension')} in ${named(text(row, 'workspace'), 'no workspace')}</span>${exclusionOf(row)}`,
  },
  { head: 'Kind', cell: (row: SqlRow) => kindWords[String(row['kind'])] ?? String(row['kind']) },
  { head: 'State', cell: stateWords },
  { head: 'Severity', cell: (row: SqlRow) => severityWord(String(row['severity'])) },
  {
    head: 'Days',
    cell: (row: SqlRow) =>
      html`<span class="state">${row['first_day']}${row['first_day'] === row['last_day'] ? '' : html` –<br>${row['last_day']}`}</span>`,
  },
];

function exclusionOf(row: SqlRow): Markup {
  const reason = text(row, 'excluded_reason');
  return reason === null ? html`` : html`<div class="empty">Excluded from alerts: ${oneLine(reason)}</div>`;
}

const kindWords: Readonly<Record<string, string>> = {
  spike: 'spike',
  step: 'new level',
  drop: 'stopped',
  new: 'new cost',
  price: 'price change',
  missing: 'did not come',
  dip: 'dip',
};

/** The resource that explains most of it, or where it happened. */
function subjectOf(row: SqlRow): string {
  const isMain = Number(row['driver_part'] ?? 0) >= 50;
  if (isMain) return named(text(row, 'driver'), 'a resource without a name');
  return `${named(text(row, 'resource_type'), 'no resource type')} in ${named(text(row, 'workspace'), 'no workspace')}`;
}

function stateWords(row: SqlRow): Markup {
  const state = String(row['state']);
  const words: Readonly<Record<string, string>> = {
    open: 'open',
    over: 'over',
    usual: 'now usual',
    grown: 'became another',
  };
  return html`<span class="state ${state === 'open' ? 'warn' : ''}">${words[state] ?? state}</span>`;
}

function severityWord(severity: string): Markup {
  return html`<span class="state ${severity === 'critical' ? 'bad' : severity === 'warning' ? 'warn' : ''}">${severity}</span>`;
}

/** One anomaly: its days against what was expected, who drives it, price or usage, and what was deployed before. */
export async function anomalyPage(request: PageRequest): Promise<Page> {
  const { view, parts } = request;
  const [part] = parts;
  const asked =
    parts.length > 1 || part === undefined || part.kind === 'any'
      ? undefined
      : part.kind === 'md5'
        ? { ...everyDay, key: null, key_md5: part.md5 }
        : { ...everyDay, key: part.name ?? '', key_md5: null };
  const [row] = asked === undefined ? [] : await view.rows('anomalies', asked);
  if (row === undefined) {
    return {
      ...page,
      title: 'Anomaly',
      status: 404,
      body: html`<section><h2>There is no such anomaly</h2><p>Corrected costs may have removed it. <a href="/anomalies">All anomalies</a></p></section>`,
    };
  }
  const fact = await presentFact(request, row);
  const words = fact === undefined ? undefined : wordsOf(fact);
  const band = await bandChart(request, row);
  const drivers = JSON.parse(String(row['drivers'] ?? '[]')) as readonly Driver[];
  return {
    ...page,
    title: `${subjectOf(row)}: ${kindWords[String(row['kind'])] ?? row['kind']}`,
    body: html`<p><a href="/anomalies">All anomalies</a></p>
${words === undefined ? '' : html`<p class="finding"><b>${words.title}.</b> ${words.detail ?? ''} ${words.next ?? ''}</p>`}
${exclusionOf(row)}
${tiles(row, fact)}
${partsTable(fact)}
${figure(band.chart, { height: 320, ...band })}
<div class="grid">
<section>${driversTable(row, drivers)}</section>
<section>${effectsTable(row)}</section>
</div>
<section>${deploymentsBeforeTable(text(row, 'deployments'))}</section>
<section>${await feedbackSection(request, row)}</section>
<section>${await statesTable(request, row, drivers)}</section>`,
  };
}

/** The anomaly as the books have it now: its alert has the amount of its last message. Undefined without an alert. */
async function presentFact({ view }: PageRequest, row: SqlRow): Promise<AnomalyFact | undefined> {
  const stored = text(row, 'fact');
  const before = stored === null ? undefined : parseFact(stored);
  if (before?.kind !== 'anomaly') return undefined;
  const all = await view.once('known anomalies', (connection) => readKnownAnomalies(connection, '1970-01-01'));
  const keys = new Set([before.key, ...(before.parts ?? []).map(({ key }) => key)]);
  const own = all.filter(({ anomaly_key }) => keys.has(anomaly_key));
  const known = new Map([[before.key, { isOpen: true, fact: before }]]);
  const { completeThrough } = await readBooksState(view);
  const feedback = await feedbackOf(view);
  const [fact] = anomalyFacts(own, known, { notify: [], completeThroughOf: () => completeThrough, feedback });
  return fact;
}

/** A resource and its part of the anomaly, as the books have it. */
interface Driver {
  readonly resourceName: string | null;
  readonly cost: string;
  readonly expected: string;
  readonly part: number;
}

/** What people said that anomalies were. */
function feedbackOf(view: PageRequest['view']): Promise<readonly StoredFeedback[]> {
  return view.once('feedback', (connection) => readFeedback(connection));
}

/** What people said that it was, the bar that follows, and how to say it. */
async function feedbackSection({ view }: PageRequest, row: SqlRow): Promise<Markup> {
  const key = String(row['anomaly_key']);
  const given = feedbackOn(await feedbackOf(view), key);
  const words =
    given === undefined
      ? 'Nobody said what it was.'
      : `Somebody called it ${given.as} on ${shownInstant(given.givenAt)}, for days from ${given.appliesFrom} on.`;
  const bar =
    given === undefined || given.bar === null
      ? ''
      : html` Costbook reports a day only above <b>${money(given.bar)} USD</b>, 1.2 times its largest day (${money(given.largestCost)} USD).`;
  const command = `costbook alerts ack ${shellWord(key)} --as ${given === undefined ? 'expected' : 'none'}`;
  return html`<h2>Feedback</h2><p>${words}${bar}</p><p class="empty">${given === undefined ? 'To say that it was expected' : 'To take it back'}, run <code>${command}</code>.</p>`;
}

/** The parts of an alert of one cause, and their sum. */
function partsTable(fact: AnomalyFact | undefined): Markup {
  if (fact?.parts === undefined) return html``;
  return html`<section>${table(
    'Parts of one cause, reported together',
    [
      {
        head: 'Part',
        cell: ({ key, driver, billingDimension }) =>
          html`<a href="${anomalyAddress(key)}">${named(driver ?? billingDimension, 'no billing dimension')}</a>`,
      },
      {
        head: 'Where',
        cell: ({ billingDimension, resourceType, workspace }) =>
          `${named(billingDimension, 'no billing dimension')}, ${named(resourceType, 'no resource type')} in ${named(workspace, 'no workspace')}`,
      },
      { head: 'Difference, USD', isNumber: true, cell: ({ impact }) => money(impact, { isSigned: true }) },
    ],
    fact.parts,
    '',
    ['All', '', money(fact.impact, { isSigned: true })],
  )}</section>`;
}

function tiles(row: SqlRow, fact: AnomalyFact | undefined): Markup {
  const firstHour = text(row, 'first_hour');
  const key = String(row['anomaly_key']);
  return html`<dl class="tiles">
<div class="tile"><dt>Total difference</dt><dd><span class="big">${impactOf(row)}</span> USD<div class="note">difference from what was expected, over all of its days${fact?.parts === undefined ? '' : html`; with the other parts of its cause ${amount(fact.impact)} USD`}</div></dd></div>
<div class="tile"><dt>First day</dt><dd><span class="big">${money(String(row['cost']), { figure: ['anomaly_day_cost', key] })}</span> USD<div class="note">expected ${money(String(row['expected']), { figure: ['anomaly_day_expected', key] })}, usually ${amount(String(row['expected_low']))} to ${amount(String(row['expected_high']))}</div></dd></div>
<div class="tile"><dt>State</dt><dd><span class="big">${stateWords(row)}</span><div class="note">${severityWord(String(row['severity']))}; ${row['first_day']} through ${row['last_day']}${firstHour === null ? '' : html`; started about ${shownInstant(firstHour)}`}</div></dd></div>
<div class="tile"><dt>Where</dt><dd>${named(text(row, 'billing_dimension'), 'no billing dimension')}<div class="note">${named(text(row, 'resource_type'), 'no resource type')} in ${named(text(row, 'workspace'), 'no workspace')}, account ${named(text(row, 'account'), '')}</div></dd></div>
</dl>`;
}

function dayNumber(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) / dayMs;
}

/** The chart of an anomaly, its exact numbers, and the page of each day. */
async function bandChart(
  request: PageRequest,
  row: SqlRow,
): Promise<{ readonly chart: Chart; readonly numbers: ExactNumbers; readonly pages: readonly string[] }> {
  const { view } = request;
  const state = await readBooksState(view);
  const scope = Object.fromEntries(
    ['account', 'workspace', 'resource_type', 'billing_dimension'].map((name) => [name, text(row, name)]),
  );
  const around = await daysAround(
    { firstDay: String(row['first_day']), lastDay: String(row['last_day']), ...state },
    (window) => view.rows('anomaly_days', { ...scope, ...window }),
  );
  const { from, to } = around;
  const rules = rulesOf(request.project.dir);
  const key = `band ${row['anomaly_key']} ${row['last_day']} ${rules.minDays}`;
  const shown = {
    ...around,
    subject: subjectOf(row),
    isUp: row['is_up'] === true,
    impact: String(row['impact']),
    cost: String(row['cost']),
    expected: String(row['expected']),
    expectedLow: String(row['expected_low']),
    expectedHigh: String(row['expected_high']),
    usual: await view.computed(key, async () => around.usual(rules)),
  };
  const { title, description, rows } = anomalyDays(shown);
  const window = { from: formatInstant(from * dayMs), to: formatInstant(to * dayMs) };
  const filters = only(Object.fromEntries(Object.entries(scope).map(([name, value]) => [name, value ?? ''])));
  const chart = {
    id: 'band',
    title,
    description,
    sql: await shownSql('shown_anomaly', { ...scope, ...window }),
    completeThrough: state.completeThrough,
    keys: expectedBandKeys,
    option: expectedBand(rows, pageTheme),
  };
  const through = state.completeThrough === null ? to * dayMs : Date.parse(state.completeThrough);
  return {
    chart,
    numbers: exactAnomalyDays(shown, around.exactCosts),
    pages: around.exactCosts.map((_, index) => {
      const day = (from + index) * dayMs;
      const question = { step: 'hour', groupBy: 'resource_name', filters } as const;
      return costsAddress({ window: { from: day, to: day + dayMs }, through, ...question });
    }),
  };
}

function rulesOf(dir: string): AnomalyRules {
  try {
    return loadAnomalyRules(budgetsFile(dir), undefined);
  } catch (error) {
    if (error instanceof UsageError) return usualRules; // the page of budgets shows the mistake
    throw error;
  }
}

/** What each resource adds to the difference; all others have the rest of it. */
function driversTable(row: SqlRow, drivers: readonly Driver[]): Markup {
  const impact = String(row['impact']);
  const lines = drivers.map((driver) => ({ ...driver, more: difference(driver.cost, driver.expected) }));
  const rest = difference(impact, sum(lines.map(({ more }) => more)));
  return table(
    'Driven by',
    [
      {
        head: 'Resource',
        cell: ({ driver }) =>
          driver === undefined
            ? 'All others'
            : resourceLink(text(row, 'resource_type'), text(row, 'workspace'), driver.resourceName),
      },
      { head: 'Difference, USD', isNumber: true, cell: ({ more }) => money(more, { isSigned: true }) },
      { head: 'USD', isNumber: true, cell: ({ driver }) => (driver === undefined ? '' : money(driver.cost)) },
      { head: 'Expected', isNumber: true, cell: ({ driver }) => (driver === undefined ? '' : money(driver.expected)) },
      { head: 'Part', isNumber: true, cell: ({ driver }) => (driver === undefined ? '' : share(driver.part)) },
    ],
    drivers.length === 0
      ? []
      : [...lines.map((driver) => ({ driver, more: driver.more })), { driver: undefined, more: rest }],
    'No resource is known.',
    ['Total', impactOf(row), '', '', ''],
  );
}

function effectsTable(row: SqlRow): Markup {
  const [price, volume] = [text(row, 'price_effect'), text(row, 'volume_effect')];
  const effects =
    price === null || volume === null
      ? []
      : [
          { name: 'Price of a unit', usd: price },
          { name: 'Usage', usd: volume },
        ];
  const moved = text(row, 'moved');
  const words =
    moved === 'both' ? 'Price and usage both changed.' : `${moved === 'price' ? 'The price' : 'The usage'} changed.`;
  return html`${table(
    'Price against usage',
    [
      { head: 'Effect', cell: ({ name }) => name },
      { head: 'USD', isNumber: true, cell: ({ usd }) => money(usd, { isSigned: true }) },
    ],
    effects,
    'What changed is unknown: there was no usage before to compare with.',
    effects.length === 0 ? undefined : ['Impact', money(String(row['impact']), { isSigned: true })],
  )}${moved === null ? '' : html`<p class="empty">${words}</p>`}`;
}

/** States of its resources that started in the two weeks before it, newest first. */
async function statesTable({ view }: PageRequest, row: SqlRow, drivers: readonly Driver[]): Promise<Markup> {
  const first = dayNumber(String(row['first_day']));
  const states = await view.rows('states_before', {
    ...Object.fromEntries(['account', 'workspace', 'resource_type'].map((name) => [name, text(row, name)])),
    names: JSON.stringify(drivers.map(({ resourceName }) => resourceName)),
    from: formatInstant((first - 14) * dayMs),
    to: formatInstant((first + 1) * dayMs),
  });
  return table(
    'States that started in the two weeks before',
    [
      { head: 'When', cell: (state) => html`<span class="state">${shownInstant(String(state['valid_from']))}</span>` },
      { head: 'Resource', cell: (state) => named(text(state, 'resource_name'), 'no name') },
      { head: 'Status', cell: (state) => named(text(state, 'status'), '') },
      { head: 'Memory, MB', isNumber: true, cell: (state) => text(state, 'memory_mb') },
      { head: 'Region', cell: (state) => named(text(state, 'region'), '') },
      { head: 'Plan', cell: (state) => named(text(state, 'plan'), '') },
    ],
    states,
    'No listing shows a change of these resources in that time.',
  );
}
