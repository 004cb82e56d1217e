import { setImmediate } from 'node:timers/promises';
import { decimalOfWhole, wholeOfDecimal } from '../decimals.ts';
import { usdDecimals } from '../money.ts';
import {
  type CalendarPeriod,
  calendarOf,
  dayMs,
  formatInstant,
  hourMs,
  type Instant,
  type PeriodKind,
  type Window,
} from '../time.ts';
import {
  type Completeness,
  type Connection,
  completeness,
  type ForecastRow,
  type ForecastScopeRow,
  forecastKey,
  knownForecasts,
  readSql,
} from '../warehouse/index.ts';
import { amountIn, type Budget } from './budget.ts';
import {
  type Forecaster,
  forecastPeriod,
  historyDays,
  type NoPeriodForecast,
  type PeriodForecast,
  reachedOn,
  type Steps,
  stepHoursOf,
} from './period-forecast.ts';
import { costsOf, earliest, expectedOf, scopeForSql, unanswerableOf } from './spend.ts';
import { accountOf, budgetCalendar, dayOf, isForecastAsked, type Spend } from './thresholds.ts';

/** Of what costs a forecast is: a budget's, or those of one resource type in one workspace of an account. */
export type ForecastScope =
  | { readonly kind: 'budget'; readonly budget: Budget }
  | {
      readonly kind: 'workspace';
      readonly account: string;
      /** Null where the platform tells none. */
      readonly workspace: string | null;
      readonly resourceType: string | null;
    };

/** What a scope is expected to cost in the period of the first hour that is not complete. Amounts are trillionths of a USD. */
export interface ScopeForecast {
  readonly scope: ForecastScope;
  readonly periodKind: PeriodKind;
  readonly period: CalendarPeriod;
  /** Undefined where no hour is complete in every account that it is of. */
  readonly completeThrough: Instant | undefined;
  /** In the complete hours of the period; undefined where that is not known. */
  readonly spent: bigint | undefined;
  /** Of a budget what may be spent in the period. */
  readonly amount: bigint | undefined;
  readonly forecast: PeriodForecast | NoPeriodForecast;
  /** What the last complete hours or days cost, in USD, the newest last; undefined where that is not known. */
  readonly recent?: { readonly stepHours: 1 | 24; readonly values: readonly number[] } | undefined;
}

export interface ForecastsAsked {
  readonly now: Instant;
  /** Accounts of the configuration, where it names any: of others nothing more is expected. */
  readonly configured: readonly string[];
  readonly budgets: readonly Budget[];
  /** Whether every workspace and resource type that cost something lately is forecast as well, by the month. */
  readonly withWorkspaces: boolean;
  /** Only these workspaces, where any are named. */
  readonly workspaces?: readonly string[];
  readonly signal?: AbortSignal;
  /** Is told what is being forecast. */
  readonly progress?: ((text: string) => void) | undefined;
  readonly forecaster?: Forecaster;
  /**
   * Whether what the books have kept already is left out, but for budgets that have a threshold of what is forecast. Only
   * the first forecast of a scope from one instant is kept, so that another one would be thrown away.
   */
  readonly withoutKept?: boolean;
}

/** A workspace and resource type that cost nothing for so long is forecast no more. */
const activeDays = 35;
/**
 * The history of a workspace and resource type has so many days at most: there are many of them, and what choosing a model
 * takes grows with the history.
 */
const workspaceHistoryDays = 210;
/** So many workspaces and resource types of an account are forecast at most, those that cost most lately. */
export const mostWorkspaces = 500;
/** So many of the newest steps go with a forecast. */
const recentSteps = 14;
/** By so many days the usual day is known. */
const usualDays = 28;

/**
 * Forecasts every scope from the complete hours of the books: budgets in the order in which they are given, then
 * workspaces. Budgets of days are forecast from hours, the others from days, which begin at the hour of the day at which
 * the period ends. An hour that is not proven is never taken for one without cost: histories end before it.
 */
export async function readForecasts(connection: Connection, asked: ForecastsAsked): Promise<ScopeForecast[]> {
  const { budgets, configured, withWorkspaces, workspaces = [], now, signal, progress, forecaster } = asked;
  const { withoutKept = false } = asked;
  const accounts = await completeness(connection);
  const unanswerable = await unanswerableOf(connection, budgets);
  const ofBudgets = budgets.map((budget) => {
    const stretch = stretchOf(budget.period, budgetCalendar(budget), expectedOf(budget, accounts, configured), now);
    return { budget, reason: unanswerable.get(budget)?.[0], ...stretch };
  });
  const expected = accounts.filter(({ account }) => configured.length === 0 || configured.includes(account));
  const ofAccounts = (withWorkspaces ? expected : []).map((account) => ({
    account: account.account,
    ...stretchOf('monthly', calendarOf('monthly'), [account], now),
  }));
  const known: ReadonlySet<string> = withoutKept
    ? await keysKept(connection, [...ofBudgets, ...ofAccounts])
    : new Set();
  const spent = await spentOf(connection, ofBudgets);
  const histories: History[] = [];
  for (const cut of cutsOf([...ofBudgets, ...ofAccounts])) {
    histories.push(...(await readHistories(connection, cut, ofBudgets, ofAccounts)));
  }

  /** A signal is heard between two forecasts. */
  async function pause(): Promise<void> {
    progress?.(`forecast ${forecasts.length}`);
    await setImmediate();
    signal?.throwIfAborted();
  }
  function isKnown(of: ForecastScope, kind: PeriodKind, period: CalendarPeriod, through: Instant | undefined): boolean {
    return through !== undefined && known.has(forecastKey(scopeRow(of, kind, period, through)));
  }
  const forecasts: ScopeForecast[] = [];
  for (const { budget, reason = 'no hour of it is complete yet', period, completeThrough } of ofBudgets) {
    const scope = { kind: 'budget', budget } as const;
    if (!isForecastAsked(budget) && isKnown(scope, budget.period, period, completeThrough)) continue;
    const own = spent.get(budget);
    const steps = histories.find(({ scope }) => scope.kind === 'budget' && scope.budget === budget)?.steps;
    const forecast: ScopeForecast['forecast'] =
      completeThrough === undefined || own === undefined || steps === undefined
        ? { kind: 'none', reason }
        : await forecastPeriod({ period, completeThrough, spent: own, steps }, forecaster);
    const amount = amountIn(budget, period.name);
    forecasts.push({
      scope,
      periodKind: budget.period,
      period,
      completeThrough,
      spent: own,
      amount,
      forecast,
      recent: steps && { stepHours: steps.stepHours, values: steps.values.slice(-recentSteps) },
    });
    await pause();
  }
  for (const { scope, steps, spentFrom } of histories) {
    if (scope.kind === 'budget') continue;
    if (workspaces.length > 0 && (scope.workspace === null || !workspaces.includes(scope.workspace))) continue;
    const stretch = ofAccounts.find(({ account }) => account === scope.account);
    if (stretch?.completeThrough === undefined) continue;
    const { period, completeThrough } = stretch;
    if (isKnown(scope, 'monthly', period, completeThrough)) continue;
    const own = spentFrom(period.start);
    const forecast = await forecastPeriod({ period, completeThrough, spent: own, steps }, forecaster);
    forecasts.push({
      scope,
      periodKind: 'monthly',
      period,
      completeThrough,
      spent: own,
      amount: undefined,
      forecast,
    });
    await pause();
  }
  return forecasts;
}

/** What is kept of forecasts from where these stretches are complete through, or later. */
async function keysKept(connection: Connection, stretches: readonly Stretch[]): Promise<ReadonlySet<string>> {
  const through = stretches.flatMap(({ completeThrough }) => completeThrough ?? []);
  return through.length === 0 ? new Set() : knownForecasts(connection, formatInstant(Math.min(...through)));
}

/** The spends with what is forecast of the same period of the same budget. */
export function withForecasts<T extends Spend>(spends: readonly T[], forecasts: readonly ScopeForecast[]): T[] {
  return spends.map((spend) => {
    const own = forecasts.find(
      ({ scope, period }) =>
        scope.kind === 'budget' && scope.budget.name === spend.budget && period.start === spend.period.start,
    );
    return own === undefined ? spend : { ...spend, forecast: own.forecast };
  });
}

/** The period that is forecast, and how its history is cut into steps. */
interface Stretch {
  readonly period: CalendarPeriod;
  readonly completeThrough: Instant | undefined;
  /** Undefined where nothing is complete. */
  readonly cut: Cut | undefined;
  /** Where the books of all of its accounts have begun. */
  readonly historyStart: Instant;
}

/** How time is cut into steps, up to the last complete hour. */
interface Cut {
  readonly stepHours: 1 | 24;
  /** Hours after midnight at which a step of a day begins. */
  readonly align: number;
  readonly completeThrough: Instant;
}

/** The period of the first hour that is not complete, in accounts that are expected to be. */
function stretchOf(
  kind: PeriodKind,
  calendar: ReturnType<typeof calendarOf>,
  accounts: readonly Completeness[],
  now: Instant,
): Stretch {
  const completeThrough = earliest(accounts);
  const period = calendar.periodAt(completeThrough ?? now);
  const historyStart = Math.max(0, ...accounts.flatMap((account) => account.historyStart ?? []));
  const stepHours = stepHoursOf(kind);
  const align = stepHours === 1 ? 0 : Math.round(period.end / hourMs) % 24;
  const cut = completeThrough === undefined ? undefined : ({ stepHours, align, completeThrough } as const);
  return { period, completeThrough, cut, historyStart };
}

function cutsOf(stretches: readonly Stretch[]): Cut[] {
  const cuts = new Map(
    stretches.flatMap(({ cut }) => (cut === undefined ? [] : [[JSON.stringify(cut), cut] as const])),
  );
  return [...cuts.values()];
}

/** The last end of a whole step up to which all is complete, and the complete hours after it. */
function endOf({ stepHours, align, completeThrough }: Cut): { readonly end: Instant; readonly hours: number } {
  const hours = (Math.floor(completeThrough / hourMs) - align) % stepHours;
  return { end: completeThrough - hours * hourMs, hours };
}

/** What a scope cost, in steps. */
interface History {
  readonly scope: ForecastScope;
  readonly steps: Steps;
  /** What was spent in the complete hours since a step began, trillionths of a USD. */
  spentFrom(start: Instant): bigint;
}

/** The histories of the budgets and workspaces that are cut in one way: one pass over the amounts. */
async function readHistories(
  connection: Connection,
  cut: Cut,
  ofBudgets: readonly (Stretch & { readonly budget: Budget; readonly reason: string | undefined })[],
  ofAccounts: readonly (Stretch & { readonly account: string })[],
): Promise<History[]> {
  const isOurs = (stretch: Stretch) => JSON.stringify(stretch.cut) === JSON.stringify(cut);
  const budgets = ofBudgets.filter((line) => isOurs(line) && line.reason === undefined);
  const accounts = ofAccounts.filter(isOurs);
  if (budgets.length + accounts.length === 0) return [];
  const { end, hours } = endOf(cut);
  const stepMs = cut.stepHours * hourMs;
  const from = end - (budgets.length > 0 ? historyDays[cut.stepHours] : workspaceHistoryDays) * dayMs;
  const rows = await connection.rows(await readSql('forecasts', 'steps'), {
    scopes: JSON.stringify(budgets.map(({ budget }, scope) => ({ scope, ...scopeForSql(budget.scope) }))),
    has_label: budgets.some(({ budget }) => budget.scope.label !== undefined),
    has_owner: budgets.some(({ budget }) => budget.scope.owner !== undefined),
    with_workspaces: accounts.length > 0,
    align: cut.align,
    step_hours: cut.stepHours,
    first_hours: hours,
    from: formatInstant(from),
    to: formatInstant(cut.completeThrough),
    active_from: formatInstant(end - activeDays * dayMs),
    most: mostWorkspaces,
  });
  const costs = new Map<string, StepCost[]>();
  for (const row of rows) {
    const key = JSON.stringify([row['scope'], row['account'], row['workspace'], row['resource_type']]);
    const own = costs.get(key) ?? [];
    if (own.length === 0) costs.set(key, own);
    own.push({
      start: (Number(row['step']) * cut.stepHours + cut.align) * hourMs,
      cost: wholeOfDecimal(String(row['cost']), usdDecimals),
      firstCost: wholeOfDecimal(String(row['first_cost']), usdDecimals),
    });
  }
  function historyOf(scope: ForecastScope, own: readonly StepCost[], historyStart: Instant): History {
    const begin = scope.kind === 'budget' ? from : Math.max(from, end - workspaceHistoryDays * dayMs);
    // The first step in which every hour is in the books.
    const start = Math.max(begin, end - Math.floor(Math.max(0, end - historyStart) / stepMs) * stepMs);
    const values = new Array<number>(Math.round((end - start) / stepMs)).fill(0);
    for (const { start: at, cost } of own) {
      const place = Math.round((at - start) / stepMs);
      if (place >= 0 && place < values.length) values[place] = Number(cost) / 10 ** usdDecimals;
    }
    const usual = own.filter(({ start: at }) => at < end && at >= end - usualDays * dayMs);
    const beginning = { hours, share: hours === 0 ? 0 : shareOfFirst(usual, hours / cut.stepHours) };
    return {
      scope,
      steps: { start, end, stepHours: cut.stepHours, values, beginning },
      spentFrom: (since) => own.reduce((sum, { start: at, cost }) => (at >= since ? sum + cost : sum), 0n),
    };
  }
  const histories = budgets.map(({ budget, historyStart }, scope) =>
    historyOf({ kind: 'budget', budget }, costs.get(JSON.stringify([scope, null, null, null])) ?? [], historyStart),
  );
  for (const [key, own] of costs) {
    const [, name, workspace, resourceType] = JSON.parse(key) as [unknown, string | null, string | null, string | null];
    const account = accounts.find((line) => line.account === name);
    if (account === undefined) continue;
    const scope = { kind: 'workspace', account: account.account, workspace, resourceType } as const;
    histories.push(historyOf(scope, own, account.historyStart));
  }
  return histories;
}

interface StepCost {
  readonly start: Instant;
  /** Trillionths of a USD, as the next. */
  readonly cost: bigint;
  readonly firstCost: bigint;
}

/** What of steps lies in their first hours; `otherwise` where they cost nothing. */
function shareOfFirst(steps: readonly StepCost[], otherwise: number): number {
  const sum = (amounts: readonly bigint[]) => Number(amounts.reduce((total, amount) => total + amount, 0n));
  const whole = sum(steps.map(({ cost }) => cost));
  const share = whole > 0 ? sum(steps.map(({ firstCost }) => firstCost)) / whole : otherwise;
  return Math.min(1, Math.max(0, share));
}

/** What was spent on each budget in the complete hours of its period; nothing of those that cannot be answered. */
async function spentOf(
  connection: Connection,
  lines: readonly (Stretch & { readonly budget: Budget; readonly reason: string | undefined })[],
): Promise<ReadonlyMap<Budget, bigint>> {
  const asked = lines.flatMap(({ budget, reason, period, completeThrough }) =>
    completeThrough === undefined || reason !== undefined
      ? []
      : [{ budget, start: period.start, end: completeThrough } satisfies Window & { budget: Budget }],
  );
  const begun = asked.filter(({ start, end }) => start < end);
  const costs = begun.length === 0 ? [] : await costsOf(connection, begun);
  return new Map(asked.map((line) => [line.budget, costs[begun.indexOf(line)]?.total ?? 0n]));
}

/** What a forecast is of, as the ledger keeps it. */
function scopeRow(
  scope: ForecastScope,
  periodKind: PeriodKind,
  period: CalendarPeriod,
  completeThrough: Instant,
): ForecastScopeRow {
  const isBudget = scope.kind === 'budget';
  return {
    scope_kind: scope.kind,
    budget: isBudget ? scope.budget.name : null,
    account: isBudget ? accountOf(scope.budget) : scope.account,
    workspace: isBudget ? null : scope.workspace,
    resource_type: isBudget ? null : scope.resourceType,
    scope: isBudget ? JSON.stringify(scopeForSql(scope.budget.scope)) : null,
    period_kind: periodKind,
    period: period.name,
    complete_through: formatInstant(completeThrough),
  };
}

/** A forecast as the ledger keeps it; undefined where nothing was complete that it could have been made from. */
export function forecastRow({
  scope,
  periodKind,
  period,
  completeThrough,
  spent,
  amount,
  forecast,
}: ScopeForecast): ForecastRow | undefined {
  if (completeThrough === undefined || spent === undefined) return undefined;
  const made = forecast.kind === 'forecast' ? forecast : undefined;
  const exceedsOn = exceedsOnOf({ scope, spent, amount, forecast });
  return {
    ...scopeRow(scope, periodKind, period, completeThrough),
    period_start: formatInstant(period.start),
    period_end: formatInstant(period.end),
    step: made === undefined ? null : made.stepHours === 1 ? 'hour' : 'day',
    history_start: made === undefined ? null : formatInstant(made.history.start),
    history_end: made === undefined ? null : formatInstant(made.history.end),
    observations: made?.observations ?? null,
    model: made?.model ?? null,
    transform: made?.transform ?? null,
    seasons: made === undefined ? null : JSON.stringify(made.seasons),
    spent: decimalOfWhole(spent, usdDecimals),
    forecast: made === undefined ? null : decimalOfWhole(made.mean, usdDecimals),
    low: made === undefined ? null : decimalOfWhole(made.low, usdDecimals),
    high: made === undefined ? null : decimalOfWhole(made.high, usdDecimals),
    folds: made?.backtest.folds ?? null,
    mase: made?.backtest.mase ?? null,
    smape: made?.backtest.smape ?? null,
    coverage: made?.backtest.sumCoverage ?? null,
    amount: amount === undefined ? null : decimalOfWhole(amount, usdDecimals),
    exceeds_on: exceedsOn ?? null,
    reason: forecast.kind === 'none' ? forecast.reason : null,
  };
}

/** The day on which a budget's amount is expected to be reached; undefined where it is not, or was already. */
export function exceedsOnOf({
  scope,
  spent,
  amount,
  forecast,
}: Pick<ScopeForecast, 'scope' | 'spent' | 'amount' | 'forecast'>): string | undefined {
  if (scope.kind !== 'budget' || forecast.kind !== 'forecast') return undefined;
  if (spent === undefined || amount === undefined || spent >= amount) return undefined;
  const at = reachedOn(forecast, amount);
  return at === undefined ? undefined : dayOf(scope.budget, at);
}
