import { CostbookError } from '../base/errors.ts';
import {
  type BudgetWithStored,
  type BurnStep,
  burnUpRows,
  perWords,
  readBurnUp,
  readPastPeriods,
} from '../budgets/forecasts/index.ts';
import { amountIn, type Budget, carriedIn, scopeWords, unitOf } from '../budgets/rules/index.ts';
import { daysLeft, othersOf } from '../budgets/show/index.ts';
import { isReached, limitOf, type PartSpend } from '../budgets/spend/index.ts';
import { burnUp, type Chart, exactBurnUp, monthKeys, monthSoFar, pageTheme } from '../charts/index.ts';
import { groupedAmount, moneyOf, moneyText, rounded, usdUnit } from '../money/money.ts';
import { toSaveDaily } from '../outlook/index.ts';
import { counted } from '../text/counted.ts';
import { dayMs, formatInstant, shownInstant } from '../time/time.ts';
import { shownSql } from './books/index.ts';
import { readBooksState } from './books-state.ts';
import { amountCell, budgetKey, shareWords, stateWords } from './budget-words.ts';
import { refusal } from './child-work.ts';
import { type Filters, only } from './dimensions.ts';
import { costsAddress } from './explore-question.ts';
import { type Figure, money } from './format.ts';
import { figure, named, resourceLink, table } from './layout.ts';
import { BusyError } from './limiter.ts';
import { html, type Markup } from './markup.ts';
import type { Page, PageRequest } from './page.ts';

/** How many periods before the present one are shown. */
const pastPeriods = 12;
const backtestDays = { min: 30, max: 400, step: 10, usual: 90 } as const;

/** One budget: burn-up, thresholds, what drives it, and what it would have sent in the past. */
export async function budgetDetail(request: PageRequest, line: BudgetWithStored): Promise<Page> {
  const { view, query } = request;
  const { budget, spend } = line;
  const { period, completeThrough } = spend;
  const through = completeThrough ?? period.start;
  const driverUnit = budget.scope.unit ?? usdUnit;
  const steps =
    budget.per !== undefined
      ? []
      : await view.once(`burn-up ${period.name} ${through} ${budgetKey(budget)}`, (connection) =>
          readBurnUp(connection, budget, period, through),
        );
  const { completeFrom } = await readBooksState(view);
  const past =
    budget.per !== undefined || completeFrom === undefined
      ? []
      : await view.once(`past ${period.name} ${budgetKey(budget)}`, (connection) =>
          readPastPeriods(connection, budget, { before: period.start, since: completeFrom, count: pastPeriods }),
        );
  const backtest =
    budget.per === undefined
      ? await backtestSection(request, line, query.get('backtest'))
      : { status: 200 as const, body: html`` };
  return {
    path: '/budgets',
    title: `Budget ${named(budget.name, '')}`,
    status: backtest.status,
    body: html`<p><a href="/budgets">All budgets</a></p>
${tiles(request, line)}
${spend.gaps.map((gap) => html`<p class="warning">Not complete: ${gap}</p>`)}
${
  budget.per !== undefined
    ? ''
    : figure(await burnUpChart(line, steps), {
        height: 320,
        numbers: exactBurnUp(burnUpRows(budget, spend, steps, line.forecast)),
        pages: pagesOfSteps(line, steps),
      })
}
${await endsSection(request, line)}
<div class="grid">
<section>${table(
      budget.scope.unit === undefined ? 'What costs most in it' : 'What is used most in it',
      [
        {
          head: 'Resource',
          cell: (driver) =>
            html`${resourceLink(driver.resourceType, driver.workspace, driver.resourceName)} <span class="empty">${named(driver.resourceType, '')}</span>`,
        },
        { head: 'Workspace', cell: ({ workspace }) => named(workspace, 'no workspace') },
        { head: driverUnit, isNumber: true, cell: ({ cost }) => money(cost, { unit: driverUnit }) },
      ],
      spend.drivers,
      'Nothing in this period yet.',
    )}</section>
<section class="cards">${thresholdsTable(line)}</section>
${partsSection(line)}
${past.length === 0 ? '' : html`<section>${pastTable(line, past)}</section>`}
</div>
${backtest.body}`,
  };
}

/** The part of the JSON of "costbook budgets" that says where periods end. */
interface EndsAnswer {
  readonly budgets: readonly {
    readonly name: string;
    readonly end: { readonly expected: string; readonly ifStopped: string | null } | null;
  }[];
}

/**
 * Where the period ends if what is unusual goes on, and if it stops now, each with what to save a day. A link if nobody asked
 * for it, because all budgets are forecast for it; nothing of a period that is over, or whose spend is not known.
 */
async function endsSection({ view, query, project, signal }: PageRequest, line: BudgetWithStored): Promise<Markup> {
  const { budget, spend, forecast } = line;
  const { period, spent, completeThrough } = spend;
  if (budget.per !== undefined || spent === undefined || completeThrough === undefined || completeThrough >= period.end)
    return html``;
  if (!query.has('ends'))
    return html`<p class="actions"><a href="?ends=1#ends">Where does it end if what is unusual goes on, and if it stops now?</a></p>`;
  const amount = amountIn(budget, period.name);
  const answer = await view
    .computed('ends of budgets', (work) => project.work.show('budgets', {}, work))
    .catch((error: unknown) => refusal(error, signal).words);
  if (typeof answer === 'string') return html`<section id="ends"><p class="state bad">${answer}</p></section>`;
  const end = (answer as EndsAnswer).budgets.find(({ name }) => name === budget.name)?.end;
  const mean = forecast.kind === 'none' || end?.ifStopped == null ? undefined : moneyText(forecast.mean);
  const goesOn = end?.ifStopped == null ? 'nothing unusual goes on' : 'what is unusual goes on';
  const ends = [
    { words: goesOn, at: end?.expected },
    ...(mean === end?.expected ? [] : [{ words: 'it goes on as likely as it does, as in the forecast', at: mean }]),
    { words: 'it stops now', at: end?.ifStopped },
  ].flatMap(({ words, at }) => {
    if (at == null) return [];
    return [{ words, at: moneyOf(at), daily: toSaveDaily({ period, amount, completeThrough, spent }, moneyOf(at)) }];
  });
  const daily = (saved: bigint | undefined) => (saved === undefined ? '' : amountCell(budget, saved, false));
  return html`<section id="ends">${table(
    `Where ${period.name} ends`,
    [
      { head: 'If', cell: ({ words }) => words },
      { head: unitOf(budget), isNumber: true, cell: ({ at }) => amountCell(budget, at, false) },
      { head: 'Above the budget', isNumber: true, cell: ({ at }) => amountCell(budget, at - amount, false) },
      ...(ends.every((each) => each.daily === undefined)
        ? []
        : [{ head: 'To save a day', isNumber: true, cell: (each: (typeof ends)[number]) => daily(each.daily) }]),
    ],
    ends,
    'It is not known.',
  )}</section>`;
}

/** The last periods before the present one, each with its amount. */
function pastTable(
  { budget, spend: { completeThrough = 0 } }: BudgetWithStored,
  past: Awaited<ReturnType<typeof readPastPeriods>>,
): Markup {
  return table(
    counted(past.length, 'period before', 'periods before'),
    [
      {
        head: 'Period',
        cell: ({ period }) =>
          html`<span class="state">${period.name}</span>${period.end > completeThrough ? html` <span class="empty">not complete</span>` : ''}`,
      },
      { head: unitOf(budget), isNumber: true, cell: ({ spent }) => amountCell(budget, spent, false) },
      {
        head: 'Budget',
        isNumber: true,
        cell: ({ period }) => amountCell(budget, amountIn(budget, period.name), false),
      },
      {
        head: 'Share',
        isNumber: true,
        cell: ({ period, spent }) =>
          html`<span class="${spent > amountIn(budget, period.name) ? 'state bad' : ''}">${shareWords(budget, period, spent)}</span>`,
      },
    ],
    past,
    '',
  );
}

function tiles({ now }: PageRequest, line: BudgetWithStored): Markup {
  const { budget, spend, forecast } = line;
  const { period, spent, burnRate, completeThrough, per } = spend;
  const limit = amountIn(budget, period.name);
  const unit = unitOf(budget);
  const shown = (whole: bigint, name: Figure[0]) =>
    amountCell(budget, whole, false, [name, `${budget.name}/${period.name}`]);
  const grouped = (whole: bigint) => groupedAmount(whole, unit);
  const left = daysLeft(period, completeThrough, now);
  const daily =
    forecast.kind === 'none' || spent === undefined || completeThrough === undefined
      ? undefined
      : toSaveDaily({ period, amount: limit, completeThrough, spent }, forecast.mean);
  // The same days and spend as what to save a day: the three amounts add up.
  const end = Math.max(period.start, completeThrough ?? period.end);
  const within =
    daily === undefined || spent === undefined
      ? undefined
      : rounded((limit - spent) * BigInt(dayMs), BigInt(period.end - end));
  const unspent = spent === undefined ? undefined : limit - spent;
  return html`<dl class="tiles">
<div class="tile"><dt>${budget.per !== undefined ? 'Cost' : unit === usdUnit ? 'Spent' : 'Used'} in ${period.name}</dt><dd><span class="big">${spent === undefined ? (per === undefined ? 'not known' : 'no counts') : shown(spent, 'budget_spent')}</span>${
    spent === undefined
      ? ''
      : html` ${unit}<div class="note">${shareWords(budget, period, spent)} of ${shown(limit, 'budget_amount')}${carriedWords(budget, period.name)}; ${unspent !== undefined && unspent < 0n ? html`${shown(-unspent, 'budget_over')} over` : html`${shown(unspent ?? 0n, 'budget_left')} left`}${(spend.spentSince ?? 0n) > 0n ? html`. ${shown(spend.spentSince ?? 0n, 'budget_young')} of it is in hours that are not complete yet` : ''}</div>`
  }</dd></div>
<div class="tile"><dt>Forecast for ${period.name}</dt><dd>${
    forecast.kind === 'none'
      ? html`<span class="big">none</span><div class="note">${forecast.reason}</div>`
      : html`<span class="big">${shown(forecast.mean, 'budget_end')}</span> ${unit}<div class="note">80 of 100 end between ${grouped(forecast.low)} and ${grouped(forecast.high)}; made with costs through ${shownAt(forecast.completeThrough)}${forecast.isGoingOn ? ', with anomalies that go on' : ''}${forecast.isPlanned ? ', with planned changes' : ''}${daily === undefined ? '' : html`. To end within the budget, save <b>${shown(daily, 'budget_save_daily')}</b> ${unit} a day`}</div>`
  }</dd></div>
<div class="tile"><dt>State</dt><dd><span class="big">${stateWords(line)}</span><div class="note">${left.toFixed(1)} days left; ${
    per !== undefined
      ? perWords(per)
      : within === undefined
        ? burnRate === undefined
          ? 'pace not known'
          : html`${shown(burnRate.perDay, 'budget_pace')} ${unit} a day in the last week`
        : html`the forecast has ${shown(within + (daily ?? 0n), 'budget_daily')} ${unit} a day for them, ${shown(within, 'budget_within_daily')} a day stays within`
  }${line.state === 'OK' || line.state === undefined || per !== undefined ? '' : html`. Next: see <a href="/savings">what could be stopped</a>, or raise the budget${forecast.kind === 'forecast' && forecast.mean > limit ? html` to about ${shown(forecast.mean, 'budget_end')}, as forecast` : ''}`}</div></dd></div>
<div class="tile"><dt>Covers</dt><dd>${scopeWords(budget.scope)}<div class="note">${spend.dimensions === undefined || budget.scope.billing_dimension !== undefined ? '' : html`${unit} of ${spend.dimensions.join(', ') || 'no billing dimension yet'}; `}${budget.period} in ${budget.timeZone}; complete through ${completeThrough === undefined ? 'nothing yet' : shownAt(completeThrough)}</div></dd></div>
</dl>`;
}

const shownAt = (at: number) => shownInstant(formatInstant(at));

/** What the amount includes from earlier periods. */
function carriedWords(budget: Budget, period: string): Markup | string {
  const carried = carriedIn(budget, period);
  return carried === 0n ? '' : html` (${amountCell(budget, carried, false)} of it left from earlier periods)`;
}

/** The parts of a shared budget, and the costs in none of them. */
function partsSection({ budget, spend }: BudgetWithStored): Markup | string {
  const { parts, spent, period } = spend;
  if (parts === undefined) return '';
  const others = othersOf(spent, parts);
  const rest = others === undefined || others === 0n ? [] : [{ name: 'Others', spent: others }];
  return html`<section>${table(
    'Parts of this budget',
    [
      { head: 'Part', cell: (part: PartSpend) => named(part.name, '') },
      {
        head: unitOf(budget),
        isNumber: true,
        cell: (part: PartSpend) => (part.spent === undefined ? 'not known' : amountCell(budget, part.spent, false)),
      },
      {
        head: 'Share of the budget',
        isNumber: true,
        cell: (part: PartSpend) => (part.spent === undefined ? '' : shareWords(budget, period, part.spent)),
      },
    ],
    [...parts, ...rest],
    '',
  )}</section>`;
}

/** The filters of Explore that match the same costs; undefined for patterns of names. */
function filtersOf({ owner = {}, label = {}, unit: _, ...scope }: Budget['scope']): Filters | undefined {
  const entries = [
    ...Object.entries(scope),
    ...Object.entries(owner).map(([dimension, values]) => [`owner:${dimension}`, values] as const),
    ...Object.entries(label).map(([key, values]) => [`label:${key}`, values] as const),
  ].flatMap(([name, values]) => (values === undefined ? [] : [{ name, values }]));
  const hasPattern = entries.some(
    ({ name, values }) => name === 'resource_name' && values.some((each) => each.includes('*')),
  );
  return hasPattern ? undefined : only(Object.fromEntries(entries.map(({ name, values }) => [name, values])));
}

async function burnUpChart({ budget, spend, forecast }: BudgetWithStored, steps: readonly BurnStep[]): Promise<Chart> {
  const { completeThrough } = spend;
  const { title, description, rows } = burnUp(burnUpRows(budget, spend, steps, forecast));
  return {
    id: 'burn-up',
    title,
    description,
    sql: await shownSql('shown_budget', { budget: budget.name }),
    completeThrough: completeThrough === undefined ? null : formatInstant(completeThrough),
    keys: monthKeys(rows),
    option: monthSoFar(rows, pageTheme),
  };
}

/** The costs of each step of the period that has any yet; none where Explore has no filter for what the budget covers. */
function pagesOfSteps(
  { budget, spend: { completeThrough } }: BudgetWithStored,
  steps: readonly BurnStep[],
): (string | null)[] {
  const filters = filtersOf(budget.scope);
  return steps.map(({ start, end, spent }) => {
    if (filters === undefined || spent === undefined || completeThrough === undefined) return null;
    const window = { from: start, to: end };
    return costsAddress({ window, through: completeThrough, step: 'hour', groupBy: 'resource_name', filters });
  });
}

function thresholdsTable({ budget, spend, forecast }: BudgetWithStored): Markup {
  const { period, spent } = spend;
  return table(
    'Thresholds',
    [
      { head: 'At', cell: ({ code }) => code },
      { head: 'Of', cell: ({ of }) => of },
      {
        head: unitOf(budget),
        isNumber: true,
        cell: (threshold) => amountCell(budget, limitOf(budget, threshold, period), false),
      },
      { head: 'Severity', cell: ({ severity }) => severity },
      {
        head: 'Reached',
        cell: (threshold) => {
          const value = threshold.of === 'spent' ? spent : forecast.kind === 'none' ? undefined : forecast.mean;
          if (value === undefined) return 'not known';
          return isReached(budget, threshold, period, value) ? html`<span class="state bad">reached</span>` : 'no';
        },
      },
      { head: 'Notifies', cell: ({ notify }) => notify.map((sink) => named(sink, '')).join(', ') || 'no sink' },
    ],
    budget.thresholds,
    'It has no threshold.',
  );
}

/** The parts of the JSON of "costbook budgets backtest" that the page shows. */
interface BacktestAnswer {
  readonly from: string;
  readonly to: string;
  readonly recordedSince: string | null;
  readonly events: readonly {
    readonly day: string;
    readonly threshold: string;
    readonly of?: string;
    readonly severity: string;
    readonly state: 'raised' | 'resolved' | 'reached';
    readonly period: string;
    readonly value: string;
    readonly limit: string;
    readonly forecast?: { readonly value: string } | null;
  }[];
  readonly periods: readonly {
    readonly period: string;
    readonly spent: string | null;
    readonly amount: string;
    readonly share: string | null;
    readonly state: string | null;
  }[];
}

async function backtestSection(
  { view, project }: PageRequest,
  { budget }: BudgetWithStored,
  asked: string | null,
): Promise<{ body: Markup; status: 200 | 400 | 503 }> {
  const { min, max, step, usual } = backtestDays;
  const days = asked === null ? usual : Number(asked);
  const isValid = Number.isInteger(days) && days >= 1 && days <= max;
  const form = html`<form class="filters" method="get" action="#backtest">
<label for="days">Over the last days
<input type="range" id="days" name="backtest" min="${min}" max="${max}" step="${step}" value="${isValid ? days : usual}" list="ranges" data-output="days-shown"></label>
<datalist id="ranges"><option value="30">30</option><option value="90">90</option><option value="180">180</option><option value="360">360</option></datalist>
<output id="days-shown" for="days">${isValid ? days : usual} days</output>
<button>Back-test</button>
</form>`;
  const frame = (body: Markup) => html`<section id="backtest"><h2>What would it have sent?</h2>
<p class="empty">A back-test replays the budget and its forecasts day by day. A long range takes up to two minutes.</p>
${form}${body}</section>`;
  if (asked === null) return { status: 200, body: frame(html``) };
  if (!isValid) {
    const problem = html`<p class="state bad">backtest: expected a number of days from 1 to ${max}</p>`;
    return { status: 400, body: frame(problem) };
  }
  try {
    const key = `backtest ${days} ${budgetKey(budget)}`;
    const answer = await view.computed(key, (signal) => project.work.budgetBacktest(budget.name, days, signal));
    return { status: 200, body: frame(backtestTables(answer as BacktestAnswer, budget)) };
  } catch (error) {
    if (!(error instanceof CostbookError)) throw error;
    return {
      status: error instanceof BusyError ? 503 : 400,
      body: frame(html`<p class="state bad">${error.message}</p>`),
    };
  }
}

const whatHappens = { raised: 'fires', resolved: 'resolves', reached: 'comes true' } as const;

function backtestTables({ from, to, recordedSince, events, periods }: BacktestAnswer, budget: Budget): Markup {
  const unit = unitOf(budget);
  const fired = events.filter(({ state }) => state === 'raised').length;
  const known = periods.filter(({ spent }) => spent !== null);
  const over = known.filter(({ state }) => state === 'EXCEEDED').length;
  return html`<p><b>It would have fired ${fired} ${fired === 1 ? 'time' : 'times'}; it was exceeded in ${over} of ${known.length} periods with known costs.</b>
From ${from.slice(0, 10)} through ${to.slice(0, 10)}.${
    recordedSince === null || recordedSince > from
      ? html` Costs before ${recordedSince === null ? 'today' : recordedSince.slice(0, 10)} count as known once their hour was over.`
      : ''
  }</p>
<div class="grid"><div>${table(
    'Notifications',
    [
      { head: 'Day', cell: ({ day }) => html`<span class="state">${day}</span>` },
      { head: 'Threshold', cell: ({ threshold, of }) => (of === undefined ? threshold : `${threshold} of ${of}`) },
      { head: 'What', cell: ({ state, severity }) => `${whatHappens[state]} (${severity})` },
      {
        head: `${unit} then`,
        isNumber: true,
        cell: ({ value, forecast }) => money(forecast?.value ?? value, { unit }),
      },
      { head: 'Limit', isNumber: true, cell: ({ limit }) => money(limit, { unit }) },
    ],
    [...events].reverse(),
    'It would have sent nothing.',
  )}</div><div>${table(
    'Periods',
    [
      { head: 'Period', cell: ({ period }) => html`<span class="state">${period}</span>` },
      { head: 'Spent', isNumber: true, cell: ({ spent }) => (spent === null ? 'not known' : money(spent, { unit })) },
      { head: 'Budget', isNumber: true, cell: (row) => money(row.amount, { unit }) },
      {
        head: 'Share',
        isNumber: true,
        cell: (row) => (row.spent === null ? '' : shareWords(budget, { name: row.period }, moneyOf(row.spent))),
      },
      {
        head: 'State',
        cell: ({ state }) =>
          html`<span class="state ${state === 'EXCEEDED' ? 'bad' : state === 'OK' ? 'good' : 'warn'}">${state === null ? 'not known' : state.toLowerCase()}</span>`,
      },
    ],
    [...periods].reverse(),
    'No period.',
  )}</div></div>`;
}
