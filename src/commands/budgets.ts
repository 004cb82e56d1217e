import { resolve } from 'node:path';
import { groupGaps } from '../alerts/index.ts';
import { type AnomalyBacktest, type AnomalyRules, backtestAnomalies, loadAnomalyRules } from '../anomalies/index.ts';
import {
  amountIn,
  type Budget,
  type BudgetBacktest,
  type BudgetState,
  backtestBudget,
  budgetCalendar,
  budgetsFile,
  exceedsOnOf,
  forecastLevel,
  forecastSentence,
  isForecastAsked,
  isReached,
  limitOf,
  loadBudgets,
  namesNotFound,
  readForecasts,
  readSpends,
  type ScopeForecast,
  type SpendNow,
  shareOf,
  stateOf,
  type Threshold,
  thresholdKey,
} from '../budgets/index.ts';
import { type LocalConfig, loadConfig } from '../config/index.ts';
import { counted } from '../counted.ts';
import { decimalOfWhole } from '../decimals.ts';
import { nearest } from '../did-you-mean.ts';
import { exitCodes, UsageError, worstExitCode } from '../errors.ts';
import { cents, usdDecimals } from '../money.ts';
import { expectProject } from '../project-folder.ts';
import {
  type CompletenessState,
  completenessOf,
  describeCompleteness,
  formatTable,
  sparkline,
  type TableLayout,
  wrapped,
} from '../reports/index.ts';
import { type CalendarPeriod, dayMs, formatInstant, formatWindow, hoursIn, type Instant } from '../time.ts';
import { openBooks } from '../warehouse/index.ts';
import type { Command, CommandContext, CommandInput } from './command.ts';
import { optionReader } from './options.ts';

export const budgetsCommand: Command = {
  name: 'budgets',
  summary: 'Say what of each budget is spent, or try one on what the books knew each day (budgets backtest <name>).',
  arguments: [
    { name: '[action]', summary: 'test, to try a budget; without it every budget is told' },
    { name: '[name]', summary: 'the budget to try' },
  ],
  options: [
    { flags: '--exit-code', summary: 'exit 6 where a budget is exceeded, 4 where nothing is known of what was spent' },
    { flags: '--anomalies', summary: 'of test: the rules of anomalies in the place of a budget' },
    { flags: '--lookback <duration>', summary: 'of test: how far back, in days; 400d by default' },
    { flags: '--file <file>', summary: 'another file than jobs/budgets.yaml, such as a draft' },
  ],
  examples: [
    'costbook budgets',
    'costbook budgets --json --exit-code',
    'costbook budgets backtest everything --lookback 400d',
    'costbook budgets backtest everything --file draft.yaml',
    'costbook budgets backtest --anomalies --lookback 400d',
  ],
  async run(input, context) {
    const [action] = input.arguments;
    if (action === undefined) return showAll(input, context);
    if (action === 'backtest')
      return input.options['anomalies'] === true ? tryAnomalies(input, context) : tryOne(input, context);
    throw new UsageError(`budgets: "${action}" is no action; expected backtest, or nothing to see every budget`);
  },
};

function fileAsked(given: string | undefined, { dir }: Pick<CommandContext, 'dir'>): string {
  return given === undefined ? budgetsFile(dir) : resolve(given);
}

/** The budgets of the file that is asked for. Throws UsageError where there is none. */
function budgetsAsked(
  given: string | undefined,
  { sinks }: LocalConfig,
  { dir, effects }: CommandContext,
): readonly Budget[] {
  const file = fileAsked(given, { dir });
  const budgets = loadBudgets(file, { now: effects.now(), sinks: sinks.map(({ name }) => name) });
  if (budgets !== undefined && budgets.length > 0) return budgets;
  throw new UsageError(
    `${file}: found ${budgets === undefined ? 'no such file' : 'no budget in it'}, expected budgets such as\n${exampleBudget}`,
  );
}

/** A budget's present period. */
interface BudgetNow {
  readonly budget: Budget;
  readonly spend: SpendNow;
  readonly forecast: ScopeForecast['forecast'];
  readonly recent: ScopeForecast['recent'];
  /** The day on which the amount is expected to be reached; undefined where it is not, or was already. */
  readonly exceedsOn: string | undefined;
  readonly state: BudgetState | undefined;
}

async function showAll(input: CommandInput, context: CommandContext): Promise<number> {
  const now = context.effects.now();
  const options = optionReader(input, now);
  if (options.text('lookback') !== undefined) options.problem('--lookback is for "costbook budgets backtest <name>"');
  if (options.flag('anomalies')) options.problem('--anomalies is for "costbook budgets backtest"');
  options.check();
  const config = loadConfig({ dir: context.dir, env: context.env, now, requireAccounts: false });
  loadAnomalyRules(fileAsked(options.text('file'), context), undefined); // what is wrong there is told here as well
  const own = options.text('file') === undefined ? loadBudgets(budgetsFile(context.dir), { now }) : undefined;
  if (options.text('file') === undefined && (own ?? []).length === 0) return sayHowToBegin(context);
  const budgets = budgetsAsked(options.text('file'), config, context);
  const books = await openBooks(context.dir, { lockedDown: true, signal: context.signal });
  try {
    const { connection } = books;
    const asked = budgets.map((budget) => ({ budget, period: budgetCalendar(budget).periodAt(now) }));
    const configured = config.accounts.flatMap(({ id }) => id ?? []);
    const spends = await readSpends(connection, asked, { now, freshnessHours: config.freshnessHours, configured });
    const { signal } = context;
    const forecasts = await readForecasts(connection, { now, configured, budgets, withWorkspaces: false, signal });
    const lines = asked.flatMap(({ budget, period }, index): BudgetNow[] => {
      const [spend, made] = [spends[index], forecasts[index]];
      if (spend === undefined || made === undefined) return [];
      const isOfPeriod = made.period.start === period.start;
      const forecast = isOfPeriod ? made.forecast : notBegun(period, made.completeThrough);
      const exceedsOn = isOfPeriod ? exceedsOnOf(made) : undefined;
      return [
        {
          budget,
          spend,
          forecast,
          recent: made.recent,
          exceedsOn,
          state: stateOf(budget, period, spend.spent, forecast),
        },
      ];
    });
    const state = await completenessOf(connection);
    if (context.json) await context.write(`${JSON.stringify(toJson(lines, state, now))}\n`);
    else await context.write(`${describe(lines, now, context.layout)}\n${describeCompleteness(state)}\n`);
    for (const { of, isOne, sentence } of groupGaps(lines.map(({ spend }) => spend))) {
      context.tell(`warning: ${of} ${isOne ? 'is' : 'are'} not complete: ${sentence}`);
    }
    for (const sentence of await namesNotFound(connection, budgets)) context.tell(`warning: ${sentence}`);
    return options.flag('exitCode') ? worstExitCode(lines.map(exitCodeOf)) : exitCodes.done;
  } finally {
    books.close();
  }
}

/** A project without budgets has not done anything wrong: it is told how they begin. */
async function sayHowToBegin(context: CommandContext): Promise<number> {
  expectProject(context);
  if (context.json) {
    const nothing = { now: formatInstant(context.effects.now()), completeThrough: null, settledThrough: null };
    await context.write(`${JSON.stringify({ ...nothing, budgets: [] })}\n`);
    return exitCodes.done;
  }
  await context.write(
    `There are no budgets yet. Write them into ${budgetsFile(context.dir)}, for example:\n\n${exampleBudget}\n\n` +
      'Then "costbook budgets" shows what is spent and what is forecast, and "costbook alert" notifies you.\n',
  );
  return exitCodes.done;
}

const exampleBudget = 'budgets:\n  - name: everything\n    period: monthly\n    amount: 5000 USD';

function notBegun({ name }: CalendarPeriod, completeThrough: Instant | undefined): ScopeForecast['forecast'] {
  const through = completeThrough === undefined ? 'nothing yet' : formatInstant(completeThrough);
  return { kind: 'none', reason: `the books are complete through ${through}, before ${name} begins` };
}

function exitCodeOf({ state }: BudgetNow): number {
  if (state === undefined) return exitCodes.unproven;
  return state === 'EXCEEDED' ? exitCodes.overBudget : exitCodes.done;
}

function toJson(lines: readonly BudgetNow[], state: CompletenessState, now: Instant): Record<string, unknown> {
  return {
    now: formatInstant(now),
    completeThrough: state.completeThrough,
    settledThrough: state.settledThrough,
    budgets: lines.map(({ budget, spend, forecast, exceedsOn, state: ofBudget }) => {
      const { period, spent, spentSince, burnRate, completeThrough, gaps, drivers } = spend;
      return {
        name: budget.name,
        parent: budget.parent ?? null,
        scope: budget.scope,
        period: period.name,
        periodStart: formatInstant(period.start),
        periodEnd: formatInstant(period.end),
        timeZone: budget.timeZone,
        spent: spent === undefined ? null : decimalOfWhole(spent, usdDecimals),
        /** What of it lies in hours after completeThrough, of which there may be more. */
        spentSince: spentSince === undefined ? null : decimalOfWhole(spentSince, usdDecimals),
        amount: decimalOfWhole(amountIn(budget, period.name), usdDecimals),
        /** Percent of the amount. */
        share: spent === undefined ? null : shareOf(budget, period, spent),
        daysLeft: daysLeft(period.end, now),
        burnRate:
          burnRate === undefined
            ? null
            : {
                perDay: decimalOfWhole(burnRate.perDay, usdDecimals),
                from: formatInstant(burnRate.start),
                to: formatInstant(burnRate.end),
                hours: hoursIn(burnRate),
              },
        state: ofBudget ?? null,
        forecast:
          forecast.kind === 'none'
            ? null
            : {
                value: decimalOfWhole(forecast.mean, usdDecimals),
                low: decimalOfWhole(forecast.low, usdDecimals),
                high: decimalOfWhole(forecast.high, usdDecimals),
                level: forecastLevel,
                /** Day on which the amount is expected to be reached, by the budget's clocks. */
                exceedsOn: exceedsOn ?? null,
                model: forecast.model,
              },
        noForecastReason: forecast.kind === 'none' ? forecast.reason : null,
        completeThrough: completeThrough === undefined ? null : formatInstant(completeThrough),
        gaps,
        /** The resources that cost most of it. */
        drivers,
        thresholds: budget.thresholds.map((threshold) => ({
          key: thresholdKey(budget, period.name, threshold),
          threshold: threshold.code,
          of: threshold.of,
          severity: threshold.severity,
          limit: decimalOfWhole(limitOf(budget, threshold, period), usdDecimals),
          isReached: isThresholdReached(budget, threshold, spend, forecast),
          notify: threshold.notify,
        })),
      };
    }),
  };
}

/** Whether a threshold is reached; null where it is not known. */
function isThresholdReached(
  budget: Budget,
  threshold: Threshold,
  { period, spent }: SpendNow,
  forecast: ScopeForecast['forecast'],
): boolean | null {
  if (spent === undefined) return null;
  if (threshold.of === 'spent' || isReached(budget, threshold, period, spent)) {
    return isReached(budget, threshold, period, spent);
  }
  return forecast.kind === 'none' ? null : isReached(budget, threshold, period, forecast.mean);
}

/** Days until a period ends, to a tenth. */
function daysLeft(end: Instant, now: Instant): number {
  return Math.floor(((end - now) / dayMs) * 10) / 10;
}

/** Columns of the table by what a reader asks first. */
const importantColumns = ['budget', 'USD spent', 'of USD', 'state', '%', 'USD forecast', 'period', 'lately'];

function describe(lines: readonly BudgetNow[], now: Instant, layout: TableLayout): string {
  const amount = (usd: bigint) => (layout.isExact === true ? decimalOfWhole(usd, usdDecimals) : cents(usd));
  const text = (name: string) => ({ name, type: 'VARCHAR' });
  const number = (name: string) => ({ name, type: 'DECIMAL' });
  const hasBars = layout.width !== undefined && lines.some(({ recent }) => recent !== undefined);
  const table = formatTable(
    [
      ...[text('budget'), text('period'), number('USD spent'), number('of USD'), number('%'), number('days left')],
      ...[number('USD a day'), number('USD forecast'), text('state')],
      ...(hasBars ? [text('lately')] : []),
      text('complete through'),
    ],
    lines.map(({ budget, spend: { period, spent, burnRate, completeThrough }, forecast, recent, state }) => [
      budget.name,
      period.name,
      spent === undefined ? 'not known' : amount(spent),
      amount(amountIn(budget, period.name)),
      spent === undefined ? undefined : shareOf(budget, period, spent),
      daysLeft(period.end, now).toFixed(1),
      burnRate === undefined ? 'not known' : amount(burnRate.perDay),
      forecast.kind === 'none' ? 'none' : amount(forecast.mean),
      state ?? 'not known',
      ...(hasBars ? [recent && sparkline(recent.values)] : []),
      completeThrough === undefined ? 'nothing yet' : formatInstant(completeThrough),
    ]),
    { ...layout, important: importantColumns },
  );
  const burning = new Map(
    lines.flatMap(({ budget, spend: { burnRate } }) => {
      if (burnRate === undefined) return [];
      return [[budget.name, `${hoursIn(burnRate)} complete hours ${formatWindow(burnRate)}`] as const];
    }),
  );
  const computed = [...new Set(burning.values())].map((hours) => {
    const names = [...burning].filter(([, own]) => own === hours).map(([name]) => name);
    return `USD a day${names.length === lines.length ? '' : ` of ${names.join(', ')}`}: of the last ${hours}`;
  });
  const bars = hasBars ? [barsOf(lines)] : [];
  const words = [...bars, ...describeSince(lines), ...computed, ...describeForecasts(lines)];
  return [table, ...words.map((sentence) => wrapped(sentence, layout))].join('\n');
}

/** What the bars are of. */
function barsOf(lines: readonly BudgetNow[]): string {
  const hourly = lines.filter(({ recent }) => recent?.stepHours === 1).map(({ budget }) => budget.name);
  return `lately: cost of the last 14 complete days${hourly.length === 0 ? '' : `, hours for ${hourly.join(', ')}`}; each line has its own scale`;
}

/** What of the spends lies in hours that are not complete yet: a forecast does not count them as spent. */
function describeSince(lines: readonly BudgetNow[]): string[] {
  const parts = lines.flatMap(({ budget, spend: { spentSince = 0n } }) =>
    spentSince === 0n ? [] : [`${cents(spentSince)} of ${budget.name}`],
  );
  if (parts.length === 0) return [];
  return [`USD spent: also in hours after complete through, of which there may be more: ${parts.join(', ')}`];
}

/** What is worth saying of forecasts: of budgets that will be exceeded when, and why there is none. */
function describeForecasts(lines: readonly BudgetNow[]): string[] {
  const sentences = lines.flatMap(({ budget, spend: { period }, forecast, exceedsOn }) => {
    if (forecast.kind === 'none' || exceedsOn === undefined) return [];
    const alerts = isForecastAsked(budget)
      ? ''
      : '; no alert, as it has no threshold such as { at: 100%, of: forecast }';
    return [`${forecastSentence(budget, period, forecast, exceedsOn)}${alerts}`];
  });
  const reasons = lines.flatMap(({ forecast }) => (forecast.kind === 'none' ? [forecast.reason] : []));
  const none = [...new Set(reasons)].map((reason) => {
    const names = lines.flatMap(({ budget, forecast }) =>
      forecast.kind === 'none' && forecast.reason === reason ? [budget.name] : [],
    );
    return `no forecast of ${names.join(', ')}: ${reason}`;
  });
  const isFitted = lines.some(({ forecast }) => forecast.kind === 'forecast');
  const basis = isFitted ? ['USD forecast: of each budget by itself, so parts do not add up to their whole'] : [];
  return [...basis, ...sentences, ...none];
}

const usualDays = 400;

/** Says what the rules of anomalies would have told, and when. */
async function tryAnomalies(input: CommandInput, context: CommandContext): Promise<number> {
  const now = context.effects.now();
  const options = optionReader(input, now);
  const overMs = overAsked(options);
  if (input.arguments[1] !== undefined) options.problem('--anomalies is of no single budget: leave its name out');
  options.check();
  const config = loadConfig({ dir: context.dir, env: context.env, now, requireAccounts: false });
  const rules = loadAnomalyRules(
    fileAsked(options.text('file'), context),
    config.sinks.map(({ name }) => name),
  );
  const books = await openBooks(context.dir, { lockedDown: true, signal: context.signal });
  try {
    const asked = { from: now - overMs, now, lagHours: config.lagHours };
    const replay = await backtestAnomalies(books.connection, rules, asked);
    const state = await completenessOf(books.connection);
    if (context.json) await context.write(`${JSON.stringify(anomaliesToJson(replay, rules, state, now))}\n`);
    else
      await context.write(`${describeAnomalies(replay, rules, now, context.layout)}\n${describeCompleteness(state)}\n`);
    return exitCodes.done;
  } finally {
    books.close();
  }
}

function anomaliesToJson(
  { from, recordedSince, scopes, events }: AnomalyBacktest,
  rules: AnomalyRules,
  state: CompletenessState,
  now: Instant,
): Record<string, unknown> {
  return {
    from: formatInstant(from),
    to: formatInstant(now),
    recordedSince: recordedSince === undefined ? null : formatInstant(recordedSince),
    completeThrough: state.completeThrough,
    settledThrough: state.settledThrough,
    rules,
    scopes,
    events: events.map(({ at, ...event }) => ({
      day: dayOf(at),
      at: formatInstant(at),
      ...event,
      what: happenings[event.what],
      notice: event.what,
      wasRecorded: wasRecorded(at, recordedSince),
    })),
  };
}

/** What happens to the alert of an anomaly with each notice: the words of `budgets backtest --anomalies --json`. */
const happenings: Readonly<Record<AnomalyBacktest['events'][number]['what'], string>> = {
  first: 'raised',
  worse: 'escalated',
  continues: 'escalated',
  reminder: 'reminded',
  over: 'resolved',
  usual: 'resolved',
};

function describeAnomalies(
  { from, recordedSince, scopes, events }: AnomalyBacktest,
  rules: AnomalyRules,
  now: Instant,
  layout: TableLayout,
): string {
  const text = (name: string) => ({ name, type: 'VARCHAR' });
  const number = (name: string) => ({ name, type: 'DECIMAL' });
  const table = formatTable(
    [
      ...['day', 'what', 'severity', 'workspace', 'resource type', 'billing dimension', 'since'].map(text),
      ...['USD', 'expected', 'impact'].map(number),
    ],
    events.map((event) => [
      `${dayOf(event.at)}${wasRecorded(event.at, recordedSince) ? '' : ' *'}`,
      event.what === 'first'
        ? `${event.kind}${event.kind === 'step' ? (event.isUp ? ' up' : ' down') : ''}`
        : event.what,
      event.severity,
      event.workspace ?? '(none)',
      event.resourceType ?? '(none)',
      event.billingDimension ?? '(none)',
      event.firstDay,
      shortUsd(event.cost),
      shortUsd(event.expected),
      shortUsd(event.impact),
    ]),
    layout,
  );
  const found = events.filter(({ what }) => what === 'first').length;
  const again = events.filter(({ what }) => !['first', 'lookback', 'usual'].includes(what)).length;
  const months = (now - from) / (30 * dayMs);
  const sentences = [
    `Anomalies over ${formatWindow({ start: from, end: now })}, of at least ${rules.minAmount} USD and ` +
      `${Math.round(rules.minShare * 100)} % a day: ${counted(found, 'anomaly', 'anomalies')} in ${scopes} scopes, ` +
      `${(found / Math.max(months, 1 / 30)).toFixed(1)} in 30 days; reported again ${times(again)}.`,
    ...(rules.isOn ? [] : ['They are not enabled: "costbook alert" reports none of them.']),
  ];
  if (events.some(({ at }) => !wasRecorded(at, recordedSince))) {
    sentences.push(
      `* The books were kept day by day from ${recordedSince === undefined ? 'no day' : formatInstant(recordedSince)} on; costs ` +
        'before that count as known once their hour was over.',
    );
  }
  return [...(events.length === 0 ? [] : [table]), ...sentences.map((words) => wrapped(words, layout))].join('\n');
}

function overAsked(options: ReturnType<typeof optionReader>): number {
  const overMs = options.duration('lookback') ?? usualDays * dayMs;
  if (overMs < dayMs || overMs > 36_500 * dayMs)
    options.problem('--lookback: expected from 1 to 36500 days, such as 400d');
  if (options.flag('exitCode')) options.problem('--exit-code is for "costbook budgets" without test');
  return overMs;
}

async function tryOne(input: CommandInput, context: CommandContext): Promise<number> {
  const now = context.effects.now();
  const options = optionReader(input, now);
  const overMs = overAsked(options);
  options.check();
  const config = loadConfig({ dir: context.dir, env: context.env, now, requireAccounts: false });
  const budget = budgetNamed(input.arguments[1], budgetsAsked(options.text('file'), config, context));
  const books = await openBooks(context.dir, { lockedDown: true, signal: context.signal });
  try {
    const { connection } = books;
    const asked = {
      from: now - overMs,
      now,
      lagHours: config.lagHours,
      signal: context.signal,
      progress: context.progress,
    };
    context.progress(`trying ${budget.name} on what the books knew each day`);
    const replay = await backtestBudget(connection, budget, asked);
    const state = await completenessOf(connection);
    const { signal } = context;
    const configured = config.accounts.flatMap(({ id }) => id ?? []);
    // The running period has the state that "costbook budgets" shows.
    const made = context.json
      ? await readForecasts(connection, { now, configured, budgets: [budget], withWorkspaces: false, signal })
      : [];
    if (context.json) await context.write(`${JSON.stringify(replayToJson(budget, replay, made[0], state, now))}\n`);
    else
      await context.write(`${describeReplay(budget, replay, now, context.layout)}\n${describeCompleteness(state)}\n`);
    for (const sentence of await namesNotFound(connection, [budget])) context.tell(`warning: ${sentence}`);
    return exitCodes.done;
  } finally {
    books.close();
  }
}

/** The budget of a name; without one, the only one. Throws UsageError where there is none of it. */
function budgetNamed(name: string | undefined, budgets: readonly Budget[]): Budget {
  const names = budgets.map((budget) => budget.name);
  const found =
    name === undefined && budgets.length === 1 ? budgets[0] : budgets.find((budget) => budget.name === name);
  if (found !== undefined) return found;
  if (name === undefined) throw new UsageError(`name a budget: ${names.join(', ')}`);
  const guess = nearest(name, names);
  throw new UsageError(
    `there is no budget "${name}"${guess ? ` (did you mean "${guess}"?)` : ''}: expected one of ${names.join(', ')}`,
  );
}

/** The UTC day that ends at an instant, or in which it lies. */
function dayOf(at: Instant): string {
  return formatInstant(at - 1).slice(0, 10);
}

function replayToJson(
  budget: Budget,
  { from, recordedSince, periods, events }: BudgetBacktest,
  present: ScopeForecast | undefined,
  state: CompletenessState,
  now: Instant,
): Record<string, unknown> {
  const forecastOf = ({ start }: CalendarPeriod) => (start === present?.period.start ? present.forecast : undefined);
  return {
    budget: budget.name,
    from: formatInstant(from),
    to: formatInstant(now),
    recordedSince: recordedSince === undefined ? null : formatInstant(recordedSince),
    completeThrough: state.completeThrough,
    settledThrough: state.settledThrough,
    events: events.map(({ at, kind: _, ...event }) => ({
      day: dayOf(at),
      at: formatInstant(at),
      ...event,
      wasRecorded: wasRecorded(at, recordedSince),
    })),
    periods: periods.map(({ period, spent, gaps }) => ({
      period: period.name,
      start: formatInstant(period.start),
      end: formatInstant(period.end),
      spent: spent === undefined ? null : decimalOfWhole(spent, usdDecimals),
      amount: decimalOfWhole(amountIn(budget, period.name), usdDecimals),
      share: spent === undefined ? null : shareOf(budget, period, spent),
      state: stateOf(budget, period, spent, forecastOf(period)) ?? null,
      gaps,
    })),
  };
}

/** Whether what was known at an instant was kept then, and is not only what would have been known. */
function wasRecorded(at: Instant, recordedSince: Instant | undefined): boolean {
  return recordedSince !== undefined && at >= recordedSince;
}

function describeReplay(
  budget: Budget,
  { from, recordedSince, periods, events }: BudgetBacktest,
  now: Instant,
  layout: TableLayout,
): string {
  const text = (name: string) => ({ name, type: 'VARCHAR' });
  const number = (name: string) => ({ name, type: 'DECIMAL' });
  const table = formatTable(
    [
      ...[text('day'), text('threshold'), text('severity'), text('what'), text('period')],
      ...[number('USD then'), number('limit'), text('complete through')],
    ],
    events.map(({ at, threshold, of, severity, state, period, value, forecast, limit, completeThrough }) => [
      `${dayOf(at)}${wasRecorded(at, recordedSince) ? '' : ' *'}`,
      of === undefined ? threshold : `${threshold} of ${of}`,
      severity,
      whatHappens[state],
      period,
      shortUsd(forecast?.value ?? value),
      shortUsd(limit),
      completeThrough ?? 'nothing yet',
    ]),
    { ...layout, important: ['day', 'threshold', 'what', 'USD then', 'limit', 'severity', 'period'] },
  );
  const count = (state: string) => events.filter((event) => event.state === state).length;
  const known = periods.filter(({ spent }) => spent !== undefined).length;
  const over = periods.filter(({ period, spent }) => stateOf(budget, period, spent) === 'EXCEEDED').length;
  const sentences = [
    `${budget.name} over ${formatWindow({ start: from, end: now })}: fires ${times(count('raised'))}, resolves ` +
      `${times(count('resolved'))}; exceeded in ${over} of ${known} periods with known costs.`,
  ];
  if (events.some(({ at }) => !wasRecorded(at, recordedSince))) {
    sentences.push(
      `* The books were kept day by day from ${recordedSince === undefined ? 'no day' : formatInstant(recordedSince)} on; costs ` +
        'before that count as known once their hour was over.',
    );
  }
  const { owner, label } = budget.scope;
  if (isForecastAsked(budget)) {
    sentences.push('A forecast is what would have been forecast then; its USD are those of the whole period.');
  }
  if (owner !== undefined || label !== undefined) {
    sentences.push(
      `${owner === undefined ? 'Labels' : 'Owners'} are those that the books now have for each hour${owner === undefined ? '' : '; of shared cost an owner has its share of the whole month'}.`,
    );
  }
  for (const { period, spent, gaps } of periods) {
    if (spent === undefined || gaps.length === 0) continue;
    sentences.push(`${period.name} is not whole: ${gaps.join('; ')}.`);
  }
  return [...(events.length === 0 ? [] : [table]), ...sentences.map((words) => wrapped(words, layout))].join('\n');
}

const whatHappens = { raised: 'fires', resolved: 'resolves', reached: 'comes true' } as const;

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

/** USD as text to the cent. */
function shortUsd(text: string): string {
  return cents(BigInt(text.replace('.', '')));
}
