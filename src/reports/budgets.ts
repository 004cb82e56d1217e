import { decimalOfWhole } from '../decimals.ts';
import { type Calendar, type CalendarPeriod, calendarOf, formatInstant, type Instant } from '../time.ts';
import { amountIn, type Budget, percentDecimals, type Severity, type Threshold, usdDecimals } from './budget-file.ts';

/** What is known of what was spent on a budget in one of its periods. Amounts are trillionths of a USD. */
export interface Spend {
  readonly budget: string;
  readonly period: CalendarPeriod;
  /** Undefined where no hour of the period is in the books: that is not nothing. */
  readonly spent: bigint | undefined;
  /** Through when it is complete in every account that it is of; undefined where some account has nothing complete. */
  readonly completeThrough: Instant | undefined;
  /** What is not known though it should be by now, a sentence each; none where nothing is missing. */
  readonly lacking: readonly string[];
  /** The resources that cost most of it, the dearest first; not more than a message holds. */
  readonly drivers: readonly Driver[];
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
  readonly severity: Severity;
  /** Names of the sinks that are told. */
  readonly notify: readonly string[];
  /** `raised` where at least the limit is spent. */
  readonly state: 'raised' | 'resolved';
  /** USD spent, decimal text, as the next three. */
  readonly value: string;
  /** At which the threshold is reached. */
  readonly limit: string;
  /** Of the budget in this period. */
  readonly amount: string;
  /** Null where some account that it is of is complete through nothing yet. */
  readonly completeThrough: string | null;
  /** What the value does not hold though it should by now, a sentence each: who tells it must say so. */
  readonly lacking: readonly string[];
  /** The resources that cost most of the value, the dearest first. */
  readonly drivers: readonly Driver[];
}

/**
 * The facts of every threshold in every period of which something is known. Where nothing is known there is no fact: it
 * is neither reached nor resolved. Pure; the same spends give the same facts in the same order.
 */
export function evaluateBudgets(budgets: readonly Budget[], spends: readonly Spend[]): BudgetFact[] {
  return budgets.flatMap((budget) =>
    spends
      .filter((spend) => spend.budget === budget.name)
      .flatMap((spend) => budget.thresholds.flatMap((threshold) => factOf(budget, threshold, spend) ?? [])),
  );
}

function factOf(budget: Budget, threshold: Threshold, spend: Spend): BudgetFact | undefined {
  const { period, spent, completeThrough, lacking, drivers } = spend;
  if (spent === undefined) return undefined;
  const account = accountOf(budget);
  return {
    key: keyOf(budget, period.name, threshold),
    kind: 'budget',
    account,
    budget: budget.name,
    period: period.name,
    periodStart: formatInstant(period.start),
    periodEnd: formatInstant(period.end),
    threshold: threshold.code,
    severity: threshold.severity,
    notify: threshold.notify,
    state: isReached(budget, threshold, period, spent) ? 'raised' : 'resolved',
    value: usd(spent),
    limit: usd(limitOf(budget, threshold, period)),
    amount: usd(amountIn(budget, period.name)),
    completeThrough: completeThrough === undefined ? null : formatInstant(completeThrough),
    lacking,
    drivers,
  };
}

function keyOf(budget: Budget, period: string, { code }: Threshold): string {
  const account = accountOf(budget);
  return ['budget', account === null ? '@all' : encodeURIComponent(account), budget.name, period, code]
    .join('/')
    .replaceAll(' ', '');
}

/** Whether a budget still asks what a fact answered: for the same threshold, of the same account, in such a period. */
export function isAskedBy(budget: Budget, { key, period }: Pick<BudgetFact, 'key' | 'period'>): boolean {
  return (
    budget.thresholds.some((threshold) => keyOf(budget, period, threshold) === key) &&
    budgetCalendar(budget).periodNamed(period) !== undefined
  );
}

/** The one account that a budget is of; null where it is of several, or of all. */
function accountOf({ scope }: Budget): string | null {
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
function limitOf(budget: Budget, { at }: Threshold, { name }: CalendarPeriod): bigint {
  if ('usd' in at) return at.usd;
  const product = amountIn(budget, name) * at.percent;
  return (product + hundredPercent - 1n) / hundredPercent;
}

/** A budget's state in a period: what of its amount is spent, or only one of its thresholds. */
export type BudgetState = 'OK' | 'WARNING' | 'EXCEEDED';

/** A budget's state; undefined where nothing is known of what was spent. */
export function stateOf(budget: Budget, period: CalendarPeriod, spent: bigint | undefined): BudgetState | undefined {
  if (spent === undefined) return undefined;
  if (spent >= amountIn(budget, period.name)) return 'EXCEEDED';
  return budget.thresholds.some((threshold) => isReached(budget, threshold, period, spent)) ? 'WARNING' : 'OK';
}

/** What of a budget's amount is spent, in percent rounded to two places: `82.35`. */
export function shareOf(budget: Budget, period: CalendarPeriod, spent: bigint): string {
  return decimalOfWhole(rounded(spent * 10_000n, amountIn(budget, period.name)), 2);
}

/** A quotient to the nearest whole; `divisor` is above 0. */
export function rounded(dividend: bigint, divisor: bigint): bigint {
  const half = dividend < 0n ? -divisor / 2n : divisor / 2n;
  return (dividend + half) / divisor;
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
