import {
  type Chart,
  costOverTime,
  exactMonth,
  keysOf,
  monthKeys,
  monthSoFar,
  pageTheme,
  type RunningMonth,
  runningMonth,
} from '../charts/index.ts';
import type { OpenAlert } from '../findings/index.ts';
import { textOrUndefined } from '../tables/optional-text.ts';
import { anomalyAddress, budgetAddress } from '../text/dashboard-address.ts';
import { type BooksKnown, comparedWith } from '../time/compared.ts';
import {
  addCalendarMonths,
  dayMs,
  formatInstant,
  formatMonth,
  type Instant,
  monthName,
  shownInstant,
} from '../time/time.ts';
import { type BooksView, shownSql } from './books/index.ts';
import {
  type BooksState,
  type DifferingMonth,
  differingWords,
  readBooksState,
  readDifferingMonths,
} from './books-state.ts';
import { mostUrgentBudgets } from './budgets.ts';
import { changesTile } from './changes.ts';
import { actionsOf } from './explore-actions.ts';
import { costsAddress, lastDays } from './explore-question.ts';
import { longDetails } from './explore-tables.ts';
import { readExplored } from './explored.ts';
import { amount, money, quantity, relative } from './format.ts';
import { type Column, figure, named, table } from './layout.ts';
import { html, type Markup } from './markup.ts';
import { moversSection } from './movers.ts';
import type { Page, PageRequest } from './page.ts';
import { problemsSection, type Shown, statusOf } from './problems.ts';
import { readSavings, savingsTile } from './savings.ts';

const trendDays = 30;
const causesShown = 5;
/** The page that answers: what does this month cost, what will it cost, what changed, and can I trust it? */
export async function overviewPage(request: PageRequest): Promise<Page> {
  const { view, now } = request;
  const state = await readBooksState(view);
  if (state.month === undefined || state.completeThrough === null) {
    return {
      path: '/',
      title: 'Overview',
      body: html`<p class="empty">The books have no complete hour yet. Run "costbook ingest" and reload this page.</p>`,
    };
  }
  const through = Date.parse(state.completeThrough);
  const isAll = view.scope.kind === 'all';
  const [month, trend, movers, status, budgets, trust, differing, savings, changed] = await Promise.all([
    readMonth(view, state.month.start, { through, completeFrom: state.completeFrom }),
    readTrend(view, through),
    moversSection(request, { through, completeFrom: state.completeFrom }),
    // Alerts name budgets and workspaces that others may not see.
    isAll ? statusOf(request) : undefined,
    isAll ? mostUrgentBudgets(request) : '',
    isAll ? readTrust(view, now) : undefined,
    readDifferingMonths(view),
    readSavings(view),
    isAll ? changesTile(request) : html``,
  ]);
  return {
    path: '/',
    title: 'Overview',
    body: html`${tiles(month, state, { trust, differing, savings, changed })}
<div class="grid">
${figure(monthChart(month, state), { numbers: exactMonth(month), pages: pagesOfDays(month) })}
${figure(trendChart(trend, state), { actions: actionsOf(trend.asked, trend.explored), details: longDetails(trend.asked, trend.explored) })}
</div>
${status === undefined ? '' : problemsSection(status.problems)}
${movers}
${budgets}
${status === undefined ? '' : alertsSection(alertsOf(status), request.query.get('alerts') === 'all')}`,
  };
}

/** The open alerts that no problem is about. */
function alertsOf({ alerts, problems }: Shown): readonly OpenAlert[] {
  const above = problems.flatMap(({ key = '', followKeys = [] }) => [key, ...followKeys]);
  return alerts.list.filter(({ key }) => !above.includes(key));
}

/** One line a cause, the first ones; or all alerts with what to do. */
function alertsSection(alerts: readonly OpenAlert[], isAll: boolean): Markup {
  const keys = new Set(alerts.map(({ key }) => key));
  const causes = alerts.filter(({ cause }) => cause === undefined || !keys.has(cause));
  const severity = { head: 'Severity', cell: (alert: OpenAlert) => severityWord(alert.severity) };
  const since = {
    head: 'Since',
    cell: (alert: OpenAlert) => html`<span class="state">${shownInstant(alert.since)}</span>`,
  };
  const columns: Column<OpenAlert>[] = isAll
    ? [
        severity,
        {
          head: 'What',
          cell: ({ key, title, detail }) => html`<b>${linked(key, title)}</b>${detail ? html`<br>${detail}` : ''}`,
        },
        { head: 'Next step', cell: ({ next }) => next ?? '' },
        since,
      ]
    : [
        severity,
        { head: 'What', cell: (alert) => html`${linked(alert.key, alert.title)}${consequences(alert, alerts)}` },
        since,
      ];
  const shown = isAll ? alerts : causes.slice(0, causesShown);
  return html`<section class="alerts" id="alerts">${table('Open alerts', columns, shown, 'No alert is open.')}${
    alerts.length === 0 || isAll
      ? ''
      : html`<p class="empty"><a href="/?alerts=all#alerts">${alerts.length === 1 ? 'This alert' : `All ${alerts.length} alerts`} with the next step</a></p>`
  }</section>`;
}

/** The budgets whose alerts have the same cause. */
function consequences({ key }: OpenAlert, alerts: readonly OpenAlert[]): Markup | '' {
  const budgets = alerts.flatMap((alert) => (alert.cause === key ? [alert.key.split('/')[2] ?? ''] : []));
  const others = [...new Set(budgets)].filter((budget) => !key.startsWith(`budget/`) || key.split('/')[2] !== budget);
  if (others.length === 0) return '';
  return html` <span class="empty">and so ${others.length === 1 ? 'budget' : 'budgets'} ${others.map((budget, place) => html`${place === 0 ? '' : ', '}<a href="${budgetAddress(budget)}">${named(budget, '')}</a>`)}</span>`;
}

/** The title of an alert, with a link to the page of its budget or anomaly. */
function linked(key: string, title: string): Markup | string {
  const [kind, , budget] = key.split('/');
  if (kind === 'anomaly') return html`<a href="${anomalyAddress(key)}">${title}</a>`;
  return kind === 'budget' ? html`<a href="${budgetAddress(budget ?? '')}">${title}</a>` : title;
}

interface Month extends RunningMonth {
  /** Why there is no month before; undefined if there is one. */
  readonly notCompared: string | undefined;
  readonly name: string;
  readonly beforeName: string;
  /** The cost with that of hours which are not complete yet, as months and budgets have it. */
  readonly all: string;
  readonly sql: string;
  /** Why "alert" made none; undefined if it made one, or has not run. */
  readonly noForecast: string | undefined;
  readonly forecast: (NonNullable<RunningMonth['forecast']> & { readonly basis: string }) | undefined;
}

async function readMonth(
  view: BooksView,
  start: Instant,
  { through, ...books }: BooksKnown & { readonly through: Instant },
): Promise<Month> {
  const beforeStart = addCalendarMonths(start, -1);
  const compared = comparedWith({ start, end: through }, books);
  const window = (from: Instant, to: Instant) => ({ from: formatInstant(from), to: formatInstant(to) });
  const [days, daysBefore, spent, all, before, forecasts] = await Promise.all([
    view.rows('days', window(start, through)),
    view.rows('days', window(beforeStart, start)),
    view.rows('total', window(start, through)),
    view.rows('total', window(start, addCalendarMonths(start, 1))),
    compared.kind === 'none' ? [] : view.rows('total', window(compared.before.start, compared.before.end)),
    // A forecast of a workspace includes the costs of all its owners.
    view.scope.kind === 'owner'
      ? []
      : view.rows('month_forecast', { month: formatInstant(start), is_all: view.scope.kind === 'all' }),
  ]);
  const byDay = (rows: typeof days) => new Map(rows.map((row) => [String(row['day']), String(row['cost'])]));
  const [found] = forecasts;
  return {
    name: monthName(start),
    beforeName: monthName(beforeStart),
    ...{ start, through },
    sql: await shownSql('shown_days', window(start, through)),
    spent: String(spent[0]?.['cost'] ?? '0'),
    all: String(all[0]?.['cost'] ?? '0'),
    before: compared.kind === 'none' ? undefined : String(before[0]?.['cost'] ?? '0'),
    notCompared: compared.kind === 'none' ? compared.reason : undefined,
    days: byDay(days),
    daysBefore: byDay(daysBefore),
    noForecast: textOrUndefined(found?.['reason']),
    forecast:
      found === undefined || found['forecast'] === null
        ? undefined
        : {
            mean: String(found['forecast']),
            low: String(found['low']),
            high: String(found['high']),
            basis: String(found['basis']),
            amount: found['amount'] === null ? null : String(found['amount']),
          },
  };
}

/** Whether the numbers can be trusted: windows that do not match now, comparisons of the last week, and the last run. */
interface Trust {
  readonly compared: number;
  /** As `status` and the page of the health count them. */
  readonly unproven: number;
  readonly run: { readonly command: string; readonly outcome: string; readonly endedAt: string } | undefined;
}

async function readTrust(view: BooksView, now: Instant): Promise<Trust> {
  const [accounts, days, [run]] = await Promise.all([
    view.rows('account_health'),
    view.rows('reconciled_days', { rows: null, since: formatInstant(Math.floor((now - 7 * dayMs) / dayMs) * dayMs) }),
    view.rows('last_runs', { rows: 1 }),
  ]);
  const total = (rows: typeof days, name: string) => rows.reduce((all, row) => all + Number(row[name]), 0);
  return {
    ...{ compared: total(days, 'comparisons'), unproven: total(accounts, 'unproven') },
    run: run && {
      ...{ command: String(run['command']), outcome: String(run['outcome'] ?? 'running') },
      endedAt: String(run['ended_at'] ?? run['started_at']),
    },
  };
}

function trustWords({ compared, unproven, run }: Trust): Markup {
  const matched =
    unproven > 0
      ? html`<span class="state bad">${unproven === 1 ? '1 window does' : `${unproven} windows do`} not match the platform’s totals</span>`
      : compared === 0
        ? html`<span class="state warn">Nothing was compared with the platform in the last 7 days</span>`
        : `All hours match the platform’s totals, by ${quantity(String(compared))} comparisons in the last 7 days`;
  const last =
    run === undefined
      ? ''
      : html`<br>Last run: ${named(run.command, '')}, <span class="state ${run.outcome === 'failed' ? 'bad' : ''}">${run.outcome}</span>, ${shownInstant(run.endedAt)}`;
  return html`<br>${matched}. <a href="/health">Health</a>${last}`;
}

function tiles(
  { name, beforeName, start, spent, all, before, notCompared, noForecast, forecast }: Month,
  state: BooksState,
  {
    trust,
    differing,
    savings,
    changed,
  }: {
    readonly trust: Trust | undefined;
    readonly differing: readonly DifferingMonth[];
    readonly savings: Awaited<ReturnType<typeof readSavings>>;
    readonly changed: Markup;
  },
): Markup {
  const change = before === undefined ? undefined : relative(spent, before);
  return html`<dl class="tiles">
<div class="tile"><dt>${name} so far, complete hours</dt><dd><span class="big">${money(spent, { figure: ['month_cost_complete', formatMonth(start)] })}</span> USD<div class="note">${
    before === undefined
      ? `Not compared with ${beforeName}: ${notCompared}`
      : change === undefined
        ? `${beforeName} cost nothing until the same hour`
        : `${change} against ${beforeName} at the same hour (${amount(before)})`
  }${all === spent ? '' : html`. ${money(all, { figure: ['month_cost', formatMonth(start)] })} with incomplete hours, as <a href="/months/${formatMonth(start)}">Months</a> has it`}</div></dd></div>
<div class="tile"><dt>Forecast for ${name}</dt><dd>${
    forecast === undefined
      ? html`<span class="big">none</span><div class="note">${noForecast === undefined ? '"costbook alert" makes and stores a forecast.' : `"costbook alert" could make none yet: ${noForecast}.`}</div>`
      : html`<span class="big">${money(forecast.mean, { figure: ['month_end', formatMonth(start)] })}</span> USD<div class="note">80 of 100 end between ${amount(forecast.low)} and ${amount(forecast.high)} (${forecast.basis})</div>`
  }</dd></div>
${savingsTile(savings)}
${changed}
<div class="tile"><dt>Complete through</dt><dd><span class="medium">${state.completeThrough === null ? 'nothing yet' : shownInstant(state.completeThrough)}</span><div class="note">Settled through ${
    state.settledThrough === null ? 'nothing yet' : shownInstant(state.settledThrough)
  }.${differingWords(differing).map((line) => html`<br>${line}`)}${trust === undefined ? '' : trustWords(trust)}</div></dd></div>
</dl>`;
}

function monthChart(month: Month, { completeThrough }: BooksState): Chart {
  const { title, description, rows } = runningMonth(month);
  return {
    id: 'month',
    title,
    description,
    sql: month.sql,
    completeThrough,
    keys: monthKeys(rows),
    option: monthSoFar(rows, pageTheme),
  };
}

/** The costs of each day of the month that has any yet. */
function pagesOfDays({ start, through }: Month): (string | null)[] {
  const count = Math.round((addCalendarMonths(start, 1) - start) / dayMs);
  return Array.from({ length: count }, (_, index) => {
    const from = start + index * dayMs;
    if (from >= through) return null;
    return costsAddress({ window: { from, to: from + dayMs }, through, step: 'hour', groupBy: 'workspace' });
  });
}

type Trend = Awaited<ReturnType<typeof readTrend>>;

async function readTrend(view: BooksView, through: Instant) {
  const question = { ...lastDays(trendDays, through), step: 'day', groupBy: 'workspace', top: 6, filters: {} } as const;
  const asked = { ...question, shape: 'bars', measure: 'cost', compare: 'before', through } as const;
  return { explored: await readExplored(view, question), asked, through };
}

function trendChart({ explored, through }: Trend, { completeThrough }: BooksState): Chart {
  const { labels, series } = explored;
  const [largest] = series;
  const isCut = through % dayMs !== 0;
  return {
    id: 'trend',
    title:
      largest === undefined
        ? 'Nothing was spent in the last 30 days'
        : `${largest.name} costs most: ${amount(largest.total)} of ${amount(explored.total)} USD in 30 days`,
    description: `Cost by day and workspace. ${series.map(({ name, total }) => `${name}: ${amount(total)} USD`).join('. ')}.`,
    sql: explored.sql,
    completeThrough,
    keys: keysOf(series),
    option: costOverTime(
      {
        labels: labels.map((day) => day.slice(5, 10)),
        series,
        shape: 'bars',
        incompleteFrom: isCut ? labels.length - 1 : undefined,
      },
      pageTheme,
    ),
  };
}

function severityWord(severity: string): Markup {
  return html`<span class="state ${severity === 'critical' ? 'bad' : severity === 'warning' ? 'warn' : ''}">${severity}</span>`;
}
