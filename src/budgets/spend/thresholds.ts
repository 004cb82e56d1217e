import { moreSevere, type Severity } from '../../base/severity.ts';
import { decimalOfWhole, moneyOf, moneyText, rounded, trimmedDecimal, usdUnit } from '../../money/money.ts';
import { forecastLevel, type NoPeriodForecast, type PeriodForecast, reachedOn } from '../../outlook/index.ts';
import { type CalendarPeriod, calendarOf, formatInstant, type Instant } from '../../time/time.ts';
import { amountIn, type Budget, budgetCalendar, carriedIn, type Threshold, unitOf } from '../rules/budget.ts';
import { hundredPercent, shareOfAmount } from '../rules/planned-amount.ts';
import { changeWords } from '../rules/planned-change.ts';

/** Known spend of a budget in one of its periods. Amounts are trillionths of the budget's unit: USD, or a unit of usage. */
export interface Spend {
  readonly budget: string;
  readonly period: CalendarPeriod;
  /** Undefined, not 0, if no hour of the period is in the books. */
  readonly spent: bigint | undefined;
  /** Complete through, over all accounts of the budget; undefined if one of them has no complete hour. */
  readonly completeThrough: Instant | undefined;
  /** Missing data that should be there by now, one sentence each. */
  readonly gaps: readonly string[];
  /** Whether an account's books are older than they should be by now. */
  readonly isOutOfDate?: boolean;
  /** The most expensive resources, in descending order; as many as fit a message. */
  readonly drivers: readonly Driver[];
  /** Only set for a shared budget. */
  readonly parts?: readonly PartSpend[];
  /** Only set for a cost per unit: what `spent` is made of. Without counts, `spent` is undefined. */
  readonly per?: CountedCost;
  /** The forecast of the period; undefined if none was requested, or if the period has ended. */
  readonly forecast?: PeriodForecast | NoPeriodForecast | undefined;
}

/** The costs of counted days, and their counts. */
export interface CountedCost {
  /** `order`. */
  readonly name: string;
  /** Trillionths, like the next field. */
  readonly count: bigint;
  /** USD. */
  readonly cost: bigint;
  /** The last counted day, or month; undefined if there is none. */
  readonly lastName: string | undefined;
}

/** The spend of a part of a shared budget, in trillionths of its unit; undefined if unknown. */
export interface PartSpend {
  readonly name: string;
  readonly spent: bigint | undefined;
}

/** A resource and its part of a spend. A name is null if the platform reports none. */
export interface Driver {
  readonly account: string;
  readonly workspace: string | null;
  readonly resourceType: string | null;
  readonly resourceName: string | null;
  /** USD, or the unit of the budget: decimal text. */
  readonly cost: string;
}

/**
 * Whether a threshold is reached in a period. Its key is the same in every evaluation, so that the caller can report each
 * change of state once.
 */
export interface BudgetFact {
  /** `budget/acc_main/research/2026-10/80%`. */
  readonly key: string;
  readonly kind: 'budget';
  /** The account of the budget; null if it covers several, or all. */
  readonly account: string | null;
  readonly budget: string;
  /** The period's name: `2026-10`. */
  readonly period: string;
  readonly periodStart: string;
  /** Exclusive. */
  readonly periodEnd: string;
  /** Of a budget in a unit of usage: that unit, in which all amounts of this fact are, instead of USD. */
  readonly unit?: string;
  /** `80%`, `4500 USD` or `4500 GB-seconds`. */
  readonly threshold: string;
  /** Only set for a forecast threshold; the others compare spend. */
  readonly of?: 'forecast';
  readonly severity: Severity;
  /** Names of the sinks to notify. */
  readonly notify: readonly string[];
  /** Present if crossing the threshold runs a command. */
  readonly run?: true;
  /**
   * raised: at least the limit is spent, or forecast. reached: nobody is notified, because another threshold reports it
   * (the forecast came true, or a higher threshold is raised too), or because the period has ended within its budget.
   */
  readonly state: 'raised' | 'resolved' | 'reached';
  /** USD spent, decimal text, like the next three. */
  readonly value: string;
  /** The amount at which the threshold is reached. */
  readonly limit: string;
  /** The budget's amount in this period. */
  readonly amount: string;
  /** The file with the amount, `jobs/finance.csv`; left out if it is the budget file. */
  readonly amountFile?: string | undefined;
  /** Only set if a part of the amount is left of earlier periods: USD. */
  readonly carried?: string;
  /** Only set for a shared budget: USD spent by each part, null if unknown. */
  readonly parts?: readonly { readonly name: string; readonly value: string | null }[];
  /** Only set for a cost per unit: the count, and the USD that were divided by it, through the last counted day or month. */
  readonly per?: { readonly name: string; readonly count: string; readonly cost: string; readonly through: string };
  /** Null if one of its accounts has no complete hour yet. */
  readonly completeThrough: string | null;
  /** Data that the value should include by now and does not, one sentence each. Messages must show them. */
  readonly gaps: readonly string[];
  /** The most expensive resources, in descending order. */
  readonly drivers: readonly Driver[];
  /** Only set for a forecast threshold; null if the period has ended, or if there is no forecast. */
  readonly forecast?: ForecastFact | null;
}

/** The forecast of a period, for a fact. Amounts are USD, decimal text; instants and days are text. */
export interface ForecastFact {
  readonly value: string;
  readonly low: string;
  readonly high: string;
  /** The percentage of outcomes that should fall into the interval. */
  readonly level: number;
  /** When the forecast reaches the limit, and that day in the budget's time zone; null if it does not. */
  readonly exceedsAt: string | null;
  readonly exceedsOn: string | null;
  readonly model: string;
  /** The planned changes that it includes, as sentences; present if there are any. */
  readonly changes?: readonly string[];
  /** What anomalies that go on add to a day and to the rest of the period, which it includes; missing if none does. */
  readonly goingOn?: { readonly daily: string; readonly added: string };
  /** The history it used: this many steps. */
  readonly step: 'hour' | 'day';
  readonly historyStart: string;
  readonly historyEnd: string;
  readonly observations: number;
}

/**
 * The facts of every threshold in every period with known spend. Without known spend there is no fact: the threshold is
 * neither reached nor resolved. `open` are the keys of open alerts: a reported forecast is resolved only if it falls
 * clearly below its limit. Pure; the same spends give the same facts in the same order.
 */
export function evaluateBudgets(
  budgets: readonly Budget[],
  spends: readonly Spend[],
  open: ReadonlySet<string> = new Set(),
): BudgetFact[] {
  return budgets.flatMap((budget) =>
    spends
      .filter((spend) => spend.budget === budget.name)
      .flatMap((spend) =>
        onlyHighest(
          budget.thresholds.flatMap((threshold) => factOf(budget, threshold, spend, open) ?? []),
          open,
        ),
      ),
  );
}

/** Of the spend thresholds of a period that are newly raised, only the highest is reported to a sink. Pure. */
function onlyHighest(facts: readonly BudgetFact[], open: ReadonlySet<string>): BudgetFact[] {
  return facts.map((fact) => {
    const isCovered = facts.some((other) => other.state === 'raised' && covers(other, fact));
    return fact.state === 'raised' && !open.has(fact.key) && isCovered ? { ...fact, state: 'reached' } : fact;
  });
}

/** Whether a raised threshold says more than another, to the same sinks and at least as severely. */
function covers(higher: BudgetFact, lower: BudgetFact): boolean {
  if (lower.run === true) return false; // its command must run
  const isHigher = moneyOf(higher.limit) > moneyOf(lower.limit);
  if (!isHigher || higher.of === 'forecast' || lower.of === 'forecast') return false;
  if (moreSevere(lower.severity, higher.severity)) return false;
  // Without names, the default sinks get it.
  if (lower.notify.length === 0 || higher.notify.length === 0) return lower.notify.length === higher.notify.length;
  return lower.notify.every((sink) => higher.notify.includes(sink));
}

/** A reported forecast is resolved once it is this many percent below its limit, because forecasts vary from night to night. */
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
  return (forecast.mean >= limit && isLikely(forecast, limit)) || stays ? 'raised' : 'resolved';
}

/**
 * Whether the middle of the interval reaches a limit too, on a logarithmic scale. The mean alone can be far above what is
 * likely: with an interval of 21 to 6,308 USD, 1,444 USD are no reason to act. The lower end is
 * without the anomalies that go on; here they do.
 */
function isLikely({ low: without, high, anomalies = [] }: PeriodForecast, limit: bigint): boolean {
  const low = anomalies.reduce((sum, { added }) => sum + added, without);
  return limit <= 0n || (low > 0n && low * high >= limit * limit);
}

function forecastFact(budget: Budget, threshold: Threshold, { period, forecast }: Spend): ForecastFact | null {
  if (forecast?.kind !== 'forecast') return null;
  const exceedsAt = reachedOn(forecast, limitOf(budget, threshold, period));
  return {
    value: moneyText(forecast.mean),
    low: moneyText(forecast.low),
    high: moneyText(forecast.high),
    level: forecastLevel,
    exceedsAt: exceedsAt === undefined ? null : formatInstant(exceedsAt),
    exceedsOn: exceedsAt === undefined ? null : dayIn(budget, exceedsAt),
    model: forecast.model,
    ...plannedWords(forecast),
    ...goingOnOf(forecast),
    step: forecast.stepHours === 1 ? 'hour' : 'day',
    historyStart: formatInstant(forecast.history.start),
    historyEnd: formatInstant(forecast.history.end),
    observations: forecast.observations,
  };
}

function goingOnOf({ anomalies = [] }: PeriodForecast): Pick<ForecastFact, 'goingOn'> {
  const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n);
  const added = sum(anomalies.map((one) => one.added));
  return added === 0n
    ? {}
    : { goingOn: { daily: moneyText(sum(anomalies.map(({ daily = 0n }) => daily))), added: moneyText(added) } };
}

function plannedWords({ changes = [] }: PeriodForecast): { readonly changes?: readonly string[] } {
  const words = changes.filter(({ added }) => added !== 0n).map(changeWords);
  return words.length === 0 ? {} : { changes: words };
}

/** The day of an instant in a budget's time zone: `2026-10-23`. */
export function dayIn({ timeZone }: Budget, instant: Instant): string {
  return calendarOf('daily', timeZone).periodAt(instant).name;
}

function factOf(budget: Budget, threshold: Threshold, spend: Spend, open: ReadonlySet<string>): BudgetFact | undefined {
  const { period, spent, completeThrough, gaps, drivers, parts, per } = spend;
  if (spent === undefined) return undefined;
  const account = accountOf(budget);
  const key = thresholdKey(budget, period.name, threshold);
  const isForecast = threshold.of === 'forecast';
  const isSpent = isReached(budget, threshold, period, spent);
  const found = isForecast ? forecastState(budget, threshold, spend, open.has(key)) : isSpent ? 'raised' : 'resolved';
  if (found === undefined) return undefined;
  const isTooLate = found === 'raised' && !open.has(key) && hasEndedWithin(budget, spend);
  const state = isTooLate ? 'reached' : found;
  return {
    key,
    kind: 'budget',
    account,
    budget: budget.name,
    ...(unitOf(budget) === usdUnit ? {} : { unit: unitOf(budget) }),
    period: period.name,
    periodStart: formatInstant(period.start),
    periodEnd: formatInstant(period.end),
    threshold: threshold.code,
    ...(isForecast ? { of: 'forecast' as const } : {}),
    severity: threshold.severity,
    notify: threshold.notify,
    ...(threshold.run === undefined ? {} : { run: true as const }),
    state,
    value: moneyText(spent),
    limit: moneyText(limitOf(budget, threshold, period)),
    amount: moneyText(amountIn(budget, period.name)),
    ...(budget.amountFile === undefined ? {} : { amountFile: budget.amountFile }),
    ...(carriedIn(budget, period.name) === 0n ? {} : { carried: moneyText(carriedIn(budget, period.name)) }),
    ...(parts === undefined ? {} : { parts: parts.map(partFact) }),
    ...(per === undefined ? {} : { per: perFact(per) }),
    completeThrough: completeThrough === undefined ? null : formatInstant(completeThrough),
    gaps,
    drivers,
    ...(isForecast ? { forecast: forecastFact(budget, threshold, spend) } : {}),
  };
}

/** Whether a period is over and complete, and less than its amount is spent: a threshold below it needs no action any more. */
function hasEndedWithin(budget: Budget, { period, spent, completeThrough = period.start }: Spend): boolean {
  return completeThrough >= period.end && spent !== undefined && spent < amountIn(budget, period.name);
}

function perFact({ name, count, cost, lastName = '' }: CountedCost): NonNullable<BudgetFact['per']> {
  return { name, count: trimmedDecimal(moneyText(count)), cost: moneyText(cost), through: lastName };
}

function partFact({ name, spent }: PartSpend): { readonly name: string; readonly value: string | null } {
  return { name, value: spent === undefined ? null : moneyText(spent) };
}

/** The key of a threshold's fact in a named period. */
export function thresholdKey(budget: Budget, period: string, { code, of }: Threshold): string {
  const account = accountOf(budget);
  const point = of === 'spent' ? code : `${of}:${code}`;
  return ['budget', account === null ? '@all' : encodeURIComponent(account), budget.name, period, point]
    .join('/')
    .replaceAll(' ', '');
}

/** Whether a budget still has the threshold of a fact, for the same account and kind of period. */
export function isAskedBy(budget: Budget, { key, period }: Pick<BudgetFact, 'key' | 'period'>): boolean {
  return (
    budget.thresholds.some((threshold) => thresholdKey(budget, period, threshold) === key) &&
    budgetCalendar(budget).periodNamed(period) !== undefined
  );
}

/** The one account of a budget; null if it covers several, or all. */
export function accountOf({ scope }: Budget): string | null {
  const [account, second] = scope.account ?? [];
  return account === undefined || second !== undefined ? null : account;
}

/** Whether a threshold is reached, which includes the exact limit. Exact arithmetic. */
export function isReached(budget: Budget, { at }: Threshold, { name }: CalendarPeriod, spent: bigint): boolean {
  return 'amount' in at ? spent >= at.amount : spent * hundredPercent >= amountIn(budget, name) * at.percent;
}

/** The amount at which a threshold is reached, in trillionths of the budget's unit. */
export function limitOf(budget: Budget, { at }: Threshold, { name }: CalendarPeriod): bigint {
  return shareOfAmount(at, amountIn(budget, name));
}

/**
 * A budget's state in a period: the worst that applies. EXCEEDED: its amount is spent. FORECAST: the forecast reaches its
 * amount or a forecast threshold. WARNING: spend reaches a threshold. NO COUNTS: nothing is counted yet of a cost per unit.
 */
export type BudgetState = 'OK' | 'WARNING' | 'FORECAST' | 'EXCEEDED' | 'NO COUNTS';

/** A budget's state; undefined if its spend is unknown, or if nothing speaks against OK but books that are out of date. */
export function stateOf(
  budget: Budget,
  period: CalendarPeriod,
  { spent, per, isOutOfDate }: Pick<Spend, 'spent' | 'per' | 'isOutOfDate'>,
  forecast?: Pick<PeriodForecast, 'kind' | 'mean'> | Pick<NoPeriodForecast, 'kind'>,
): BudgetState | undefined {
  if (spent === undefined) return per === undefined ? undefined : 'NO COUNTS';
  if (spent >= amountIn(budget, period.name)) return 'EXCEEDED';
  const isAt = (of: Threshold['of'], amount: bigint) =>
    budget.thresholds.some((threshold) => threshold.of === of && isReached(budget, threshold, period, amount));
  // Even without a forecast threshold, a budget whose forecast exceeds it is not OK.
  const isForecast =
    forecast?.kind === 'forecast' &&
    (forecast.mean >= amountIn(budget, period.name) || isAt('forecast', forecast.mean));
  if (isForecast) return 'FORECAST';
  if (isAt('spent', spent)) return 'WARNING';
  return isOutOfDate === true ? undefined : 'OK';
}

/** Whether a budget has a forecast threshold. */
export function isForecastAsked({ thresholds }: Budget): boolean {
  return thresholds.some(({ of }) => of === 'forecast');
}

/**
 * The spent share of a budget's amount, in percent, by default with two decimals: `82.35`. It is rounded, but not up to the amount
 * or a threshold that is not reached.
 */
export function shareOf(budget: Budget, { name }: Pick<CalendarPeriod, 'name'>, spent: bigint, decimals = 2): string {
  const amount = amountIn(budget, name);
  const scale = 10n ** BigInt(decimals);
  const nearest = rounded(spent * 100n * scale, amount);
  const limits = [hundredPercent, ...budget.thresholds.flatMap(({ at }) => ('percent' in at ? [at.percent] : []))];
  const isTooMuch = limits.some(
    (limit) => spent * hundredPercent < amount * limit && nearest * hundredPercent >= limit * 100n * scale,
  );
  return decimalOfWhole(isTooMuch ? nearest - 1n : nearest, decimals);
}

/**
 * The periods of a budget to evaluate at an instant, oldest first: the current one, and earlier ones with hours from
 * `changingFrom` on, which are not settled or arrived since the last evaluation. If `changingFrom` is undefined, nothing is
 * settled yet and the previous period is included. `alsoNamed` adds periods by name, such as those with open alerts. Throws
 * UsageError if the time zone puts a boundary within an hour.
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
