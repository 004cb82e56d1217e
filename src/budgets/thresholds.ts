import { decimalOfWhole, rounded } from '../decimals.ts';
import { usdDecimals } from '../money.ts';
import type { Severity } from '../severity.ts';
import { type Calendar, type CalendarPeriod, calendarOf, formatInstant, type Instant } from '../time.ts';
import { amountIn, type Budget, percentDecimals, type Threshold } from './budget.ts';
import { forecastLevel, type NoPeriodForecast, type PeriodForecast, reachedOn } from './period-forecast.ts';

/** What is known of what was spent on a budget in one of its periods. Amounts are trillionths of a USD. */
export interface Spend {
  readonly budget: string;
  readonly period: CalendarPeriod;
  /** Undefined where no hour of the period is in the books: that is not nothing. */
  readonly spent: bigint | undefined;
  /** Through when it is complete in every account that it is of; undefined where some account has nothing complete. */
  readonly completeThrough: Instant | undefined;
  /** What is not known though it should be by now, a sentence each; none where nothing is missing. */
  readonly gaps: readonly string[];
  /** The resources that cost most of it, the dearest first; not more than a message holds. */
  readonly drivers: readonly Driver[];
  /** What the period is expected to come to; undefined where nobody asked, or where it is over. */
  readonly forecast?: PeriodForecast | NoPeriodForecast | undefined;
}

/** A resource and what of a spend is its own. A name is null where the platform tells none. */
export interface Driver {
  readonly account: string;
  readonly workspace: string | null;
  readonly resourceType: string | null;
  readonly resourceName: string | null;
  /** USD, decimal text. */
  readonly cost: string;
}

/**
 * Whether a threshold is reached in a period. Its key is the same however often, and by whomever, it is evaluated;
 * telling each change of its state once is for whoever keeps what was told.
 */
export interface BudgetFact {
  /** `budget/acc_main/research/2026-10/80%`. */
  readonly key: string;
  readonly kind: 'budget';
  /** The account that it is of; null where it is of several, or of all. */
  readonly account: string | null;
  readonly budget: string;
  /** The period's name: `2026-10`. */
  readonly period: string;
  readonly periodStart: string;
  /** Exclusive. */
  readonly periodEnd: string;
  /** `80%` or `4500 USD`. */
  readonly threshold: string;
  /** Only of a threshold of what is forecast; the others are of what is spent. */
  readonly of?: 'forecast';
  readonly severity: Severity;
  /** Names of the sinks that are told. */
  readonly notify: readonly string[];
  /**
   * raised: at least the limit is spent, or forecast. reached: what was forecast was spent, which a threshold of what is
   * spent tells.
   */
  readonly state: 'raised' | 'resolved' | 'reached';
  /** USD spent, decimal text, as the next three. */
  readonly value: string;
  /** At which the threshold is reached. */
  readonly limit: string;
  /** Of the budget in this period. */
  readonly amount: string;
  /** Null where some account that it is of is complete through nothing yet. */
  readonly completeThrough: string | null;
  /** What the value does not hold though it should by now, a sentence each: who tells it must say so. */
  readonly gaps: readonly string[];
  /** The resources that cost most of the value, the dearest first. */
  readonly drivers: readonly Driver[];
  /** Of a threshold of what is forecast; null where the period is over, or nothing is forecast any more. */
  readonly forecast?: ForecastFact | null;
}

/** What a period is expected to come to, for a fact. Amounts are USD, decimal text; instants and days are text. */
export interface ForecastFact {
  readonly value: string;
  readonly low: string;
  readonly high: string;
  /** Of how many outcomes in a hundred the interval should hold. */
  readonly level: number;
  /** When the limit is expected to be reached, and the day of it by the budget's own clocks; null where it is not. */
  readonly exceedsAt: string | null;
  readonly exceedsOn: string | null;
  readonly model: string;
  /** What it was made from: so many values of a step each. */
  readonly step: 'hour' | 'day';
  readonly historyStart: string;
  readonly historyEnd: string;
  readonly observations: number;
}

/**
 * The facts of every threshold in every period of which something is known. Where nothing is known there is no fact: it
 * is neither reached nor resolved. `open` are the keys of alerts that hold: a forecast that was told is over only where it
 * has fallen clearly below its limit. Pure; the same spends give the same facts in the same order.
 */
export function evaluateBudgets(
  budgets: readonly Budget[],
  spends: readonly Spend[],
  open: ReadonlySet<string> = new Set(),
): BudgetFact[] {
  return budgets.flatMap((budget) =>
    spends
      .filter((spend) => spend.budget === budget.name)
      .flatMap((spend) => budget.thresholds.flatMap((threshold) => factOf(budget, threshold, spend, open) ?? [])),
  );
}

/** A forecast that was told is over where it has fallen by so many hundredths of the limit below it: it wavers nightly. */
const forecastSlackPercent = 5n;

function forecastState(
  budget: Budget,
  threshold: Threshold,
  { period, spent, completeThrough, forecast }: Spend,
  isOpen: boolean,
): BudgetFact['state'] | undefined {
  if (spent === undefined) return undefined;
  const limit = limitOf(budget, threshold, period);
  const isNotified = budget.thresholds.some(
    (other) =>
      other.of === 'spent' && limitOf(budget, other, period) >= limit && isReached(budget, other, period, spent),
  );
  if (isNotified) return 'reached';
  if (spent >= limit) return 'raised';
  if (completeThrough !== undefined && completeThrough >= period.end) return 'resolved';
  if (forecast?.kind !== 'forecast') return undefined;
  const stays = isOpen && forecast.mean * 100n >= limit * (100n - forecastSlackPercent);
  return forecast.mean >= limit || stays ? 'raised' : 'resolved';
}

function forecastFact(budget: Budget, threshold: Threshold, { period, forecast }: Spend): ForecastFact | null {
  if (forecast?.kind !== 'forecast') return null;
  const exceedsAt = reachedOn(forecast, limitOf(budget, threshold, period));
  return {
    value: usd(forecast.mean),
    low: usd(forecast.low),
    high: usd(forecast.high),
    level: forecastLevel,
    exceedsAt: exceedsAt === undefined ? null : formatInstant(exceedsAt),
    exceedsOn: exceedsAt === undefined ? null : dayOf(budget, exceedsAt),
    model: forecast.model,
    step: forecast.stepHours === 1 ? 'hour' : 'day',
    historyStart: formatInstant(forecast.history.start),
    historyEnd: formatInstant(forecast.history.end),
    observations: forecast.observations,
  };
}

/** The day in which an instant lies by a budget's own clocks: `2026-10-23`. */
export function dayOf({ timeZone }: Budget, instant: Instant): string {
  return calendarOf('daily', timeZone).periodAt(instant).name;
}

function factOf(budget: Budget, threshold: Threshold, spend: Spend, open: ReadonlySet<string>): BudgetFact | undefined {
  const { period, spent, completeThrough, gaps, drivers } = spend;
  if (spent === undefined) return undefined;
  const account = accountOf(budget);
  const key = thresholdKey(budget, period.name, threshold);
  const isForecast = threshold.of === 'forecast';
  const isSpent = isReached(budget, threshold, period, spent);
  const state = isForecast ? forecastState(budget, threshold, spend, open.has(key)) : isSpent ? 'raised' : 'resolved';
  if (state === undefined) return undefined;
  return {
    key,
    kind: 'budget',
    account,
    budget: budget.name,
    period: period.name,
    periodStart: formatInstant(period.start),
    periodEnd: formatInstant(period.end),
    threshold: threshold.code,
    ...(isForecast ? { of: 'forecast' as const } : {}),
    severity: threshold.severity,
    notify: threshold.notify,
    state,
    value: usd(spent),
    limit: usd(limitOf(budget, threshold, period)),
    amount: usd(amountIn(budget, period.name)),
    completeThrough: completeThrough === undefined ? null : formatInstant(completeThrough),
    gaps,
    drivers,
    ...(isForecast ? { forecast: forecastFact(budget, threshold, spend) } : {}),
  };
}

/** The key of a threshold's fact in a period of a name. */
export function thresholdKey(budget: Budget, period: string, { code, of }: Threshold): string {
  const account = accountOf(budget);
  const point = of === 'spent' ? code : `${of}:${code}`;
  return ['budget', account === null ? '@all' : encodeURIComponent(account), budget.name, period, point]
    .join('/')
    .replaceAll(' ', '');
}

/** Whether a budget still asks what a fact answered: for the same threshold, of the same account, in such a period. */
export function isAskedBy(budget: Budget, { key, period }: Pick<BudgetFact, 'key' | 'period'>): boolean {
  return (
    budget.thresholds.some((threshold) => thresholdKey(budget, period, threshold) === key) &&
    budgetCalendar(budget).periodNamed(period) !== undefined
  );
}

/** The one account that a budget is of; null where it is of several, or of all. */
export function accountOf({ scope }: Budget): string | null {
  const [account, second] = scope.account ?? [];
  return account === undefined || second !== undefined ? null : account;
}

/** USD as decimal text with all the places that the books keep. */
function usd(whole: bigint): string {
  return decimalOfWhole(whole, usdDecimals);
}

/** A whole of percent is so many of its last places. */
const hundredPercent = 100n * 10n ** BigInt(percentDecimals);

/** Whether a threshold is reached: at the limit it is. Exact, whatever places the share has. */
export function isReached(budget: Budget, { at }: Threshold, { name }: CalendarPeriod, spent: bigint): boolean {
  return 'usd' in at ? spent >= at.usd : spent * hundredPercent >= amountIn(budget, name) * at.percent;
}

/** Trillionths of a USD from which on a threshold is reached. */
export function limitOf(budget: Budget, { at }: Threshold, { name }: CalendarPeriod): bigint {
  if ('usd' in at) return at.usd;
  const product = amountIn(budget, name) * at.percent;
  return (product + hundredPercent - 1n) / hundredPercent;
}

/**
 * A budget's state in a period, the worst that holds. EXCEEDED: its amount is spent. FORECAST: the forecast reaches its
 * amount, or one of its thresholds of what is forecast. WARNING: what is spent reaches one of its thresholds.
 */
export type BudgetState = 'OK' | 'WARNING' | 'FORECAST' | 'EXCEEDED';

/** A budget's state; undefined where nothing is known of what was spent. */
export function stateOf(
  budget: Budget,
  period: CalendarPeriod,
  spent: bigint | undefined,
  forecast?: Spend['forecast'],
): BudgetState | undefined {
  if (spent === undefined) return undefined;
  if (spent >= amountIn(budget, period.name)) return 'EXCEEDED';
  const isAt = (of: Threshold['of'], amount: bigint) =>
    budget.thresholds.some((threshold) => threshold.of === of && isReached(budget, threshold, period, amount));
  // Also where no threshold asks for it: a budget that its own forecast exceeds is not OK.
  const isForecast =
    forecast?.kind === 'forecast' &&
    (forecast.mean >= amountIn(budget, period.name) || isAt('forecast', forecast.mean));
  if (isForecast) return 'FORECAST';
  return isAt('spent', spent) ? 'WARNING' : 'OK';
}

/** Whether a budget has a threshold of what is forecast. */
export function isForecastAsked({ thresholds }: Budget): boolean {
  return thresholds.some(({ of }) => of === 'forecast');
}

/** What of a budget's amount is spent, in percent rounded to two places: `82.35`. */
export function shareOf(budget: Budget, period: CalendarPeriod, spent: bigint): string {
  return decimalOfWhole(rounded(spent * 10_000n, amountIn(budget, period.name)), 2);
}

/**
 * The periods of a budget that are evaluated at an instant, oldest first: the current one, and those before it that hold
 * hours from `changingFrom` on, which are not settled or have come since the last evaluation; undefined is nothing settled
 * yet, and then the one before the current one is among them. `alsoNamed` are periods by their names, such as those of
 * which something was told and not resolved. Throws UsageError where the time zone puts a boundary between two hours.
 */
export function watchedPeriods(
  budget: Budget,
  now: Instant,
  changingFrom: Instant | undefined,
  alsoNamed: readonly string[] = [],
): CalendarPeriod[] {
  const calendar = budgetCalendar(budget);
  const current = calendar.periodAt(now);
  const periods = new Map([[current.name, current]]);
  for (let end = current.start; end > (changingFrom ?? current.start - 1); ) {
    const period = calendar.periodAt(end - 1);
    periods.set(period.name, period);
    end = period.start;
  }
  for (const name of alsoNamed) {
    const period = calendar.periodNamed(name);
    if (period !== undefined) periods.set(name, period);
  }
  return [...periods.values()].sort((a, b) => a.start - b.start);
}

/** The calendar by which a budget's periods are told. */
export function budgetCalendar({ period, timeZone }: Budget): Calendar {
  return calendarOf(period, timeZone);
}
