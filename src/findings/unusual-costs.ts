import { type AnomalyFact, anomalySubject, anomalyWords, type PressedBudget } from '../anomalies/index.ts';
import { type AnomalyShares, isPartOf, noShares, partInBudget } from '../budgets/forecasts/index.ts';
import { amountIn, type Budget } from '../budgets/rules/index.ts';
import { dayIn, type EndOfBudget, endOfBudget, type SpendNow } from '../budgets/spend/index.ts';
import { largerOf, moneyOf, moneyText } from '../money/money.ts';
import { dayMs } from '../time/time.ts';
import type { AnomalyRow, KnownAlert } from '../warehouse/watch/index.ts';
import type { BudgetAlertFact, BudgetEnd, UnusualCost } from './budget-fact.ts';
import { holdsIfStopped } from './budget-outlook.ts';

/** A budget message names what is unusual if it is at least this part of the amount, in percent. */
const namedPercent = 5n;
const mostNamed = 3;

/** The anomalies that budgets may name, and their parts in budgets of owners, labels and names. */
export interface NamedAnomalies {
  readonly named: readonly AnomalyFact[];
  readonly shares?: AnomalyShares;
}

/** The most budgets that an anomaly names. */
const mostPressed = 20;

/**
 * Facts of anomalies that go on, each with the budgets whose amount it helps to exceed, the most exceeded first; if there is
 * none, with the one that ends closest to its amount. `shares` are the parts of anomalies in budgets of resources. Pure.
 */
export function withPressedBudgets(
  anomalies: readonly AnomalyFact[],
  budgets: readonly Budget[],
  spends: readonly SpendNow[],
  shares: AnomalyShares = noShares,
): AnomalyFact[] {
  return anomalies.map((fact) => {
    if (!isOfInterest(fact) || fact.isOver) return fact;
    const pressed = budgets
      .filter((budget) => partOf(budget, fact, shares) > 0)
      .flatMap((budget) => pressedBudget(budget, fact, spends, shares))
      .toSorted((a, b) => Number(b.excess - a.excess) || (a.budget.name < b.budget.name ? -1 : 1));
    const over = pressed.filter(({ excess }) => excess > 0n).slice(0, mostPressed);
    const shown = (over.length === 0 ? pressed.slice(0, 1) : over).map(({ budget }) => budget);
    return shown.length === 0 ? fact : { ...fact, budgets: shown };
  });
}

/** A budget in the period of an anomaly, with the excess at its end in millionths of its amount; empty if it is unknown. */
function pressedBudget(
  budget: Budget,
  fact: AnomalyFact,
  spends: readonly SpendNow[],
  shares: AnomalyShares,
): { budget: PressedBudget; excess: bigint }[] {
  const last = lastInstant(fact);
  const spend = spends.find(({ budget: name, period }) => name === budget.name && includes(period, last));
  if (spend?.spent === undefined) return [];
  const { period, spent } = spend;
  const end = endOfBudget(budget, spend);
  if (end === undefined) return [];
  const { expected } = end;
  const toCome = end.addedBy(keysOf(fact));
  const continued = expected + addedIfContinued(fact, partOf(budget, fact, shares), spend);
  const amount = amountIn(budget, period.name);
  return [
    {
      budget: {
        ...{ name: budget.name, period: period.name, amount: moneyText(amount), spent: moneyText(spent) },
        ...{
          expected: moneyText(expected),
          stopped: toCome > 0n ? moneyText(largerOf(expected - toCome, spent)) : null,
        },
        ...(continued > expected ? { continued: moneyText(continued) } : {}),
      },
      excess: ((largerOf(continued, spent) - amount) * 1_000_000n) / amount,
    },
  ];
}

/**
 * What an anomaly of one day adds to a period if it continues at its pace: no forecast counts on that, as most expensive days
 * stay alone. 0 for all others. In trillionths of a USD. Pure.
 */
function addedIfContinued(fact: AnomalyFact, share: number, { period, completeThrough }: SpendNow): bigint {
  const daily = dailyOf(fact);
  const isOneDay = fact.firstDay === fact.lastDay && fact.hours === undefined && fact.monthEnd != null;
  if (!isOneDay || daily === null || fact.feedback !== undefined || completeThrough === undefined) return 0n;
  const leftMs = Math.max(0, period.end - completeThrough);
  return (moneyOf(partOfAmount(daily, share)) * BigInt(leftMs)) / BigInt(dayMs);
}

/** The unusual costs of the spend in a budget's period. What began before it counts if it goes on. */
function costsIn(
  budget: Budget,
  anomalies: readonly AnomalyFact[],
  { start, end }: SpendNow['period'],
  shares: AnomalyShares,
): UnusualCost[] {
  return anomalies.flatMap((one) => {
    const share = isOfInterest(one) ? partOf(budget, one, shares) : 0;
    const isInPeriod = lastInstant(one) < end && (Date.parse(one.firstDay) >= start || !one.isOver);
    return share > 0 && isInPeriod ? [unusualCost(one, share)] : [];
  });
}

function unusualCost(fact: AnomalyFact, share: number): UnusualCost {
  const { key, parts, firstDay, lastDay, isOver, impact, excluded } = fact;
  const keys = parts === undefined ? {} : { parts: parts.map((part) => part.key) };
  const daily = dailyOf(fact);
  return {
    ...{ key, ...keys, subject: subjectOf(fact), firstDay, lastDay, isOver },
    ...(fact.anomaly === 'price' ? { isPrice: true } : {}),
    ...{ impact: partOfAmount(impact, share), daily: daily === null ? null : partOfAmount(daily, share) },
    ...(excluded === undefined ? {} : { excluded }),
  };
}

/** What may stop or go on. */
function subjectOf(fact: AnomalyFact): string {
  const subject = anomalySubject(fact);
  return fact.anomaly === 'price' ? `the ${fact.isUp ? 'higher' : 'lower'} price of ${subject}` : subject;
}

/** A part of an amount: a millionth of it is close enough for an estimate. */
function partOfAmount(text: string, share: number): string {
  if (share === 1) return text;
  return moneyText((moneyOf(text) * BigInt(Math.round(share * 1_000_000))) / 1_000_000n);
}

function keysOf({ key, parts = [] }: AnomalyFact): string[] {
  return [key, ...parts.map((part) => part.key)];
}

/**
 * Facts of budgets, each with where its period ends, what of its spend is not complete yet, the budgets that are a part of it, and
 * the reported anomalies of its period that explain it, the largest first. Pure.
 */
export function withUnusualCosts(
  facts: readonly BudgetAlertFact[],
  budgets: readonly Budget[],
  spends: readonly SpendNow[],
  { named: anomalies, shares = noShares }: NamedAnomalies,
): BudgetAlertFact[] {
  return facts.map((fact): BudgetAlertFact => {
    const budget = budgets.find(({ name }) => name === fact.budget);
    const spend = spends.find(({ budget: name, period }) => name === fact.budget && period.name === fact.period);
    if (budget === undefined || spend === undefined || fact.state !== 'raised') return fact;
    const end = endOfBudget(budget, spend);
    const unusual = largestOf(
      costsIn(budget, anomalies, spend.period, shares),
      end,
      amountIn(budget, spend.period.name),
    );
    const owner = ownerOf(budget, unusual, anomalies);
    const isRunning = unusual.some(({ daily }) => daily !== null);
    const added = anomalies
      .filter(({ key }) => unusual.some((one) => one.key === key))
      .reduce((sum, one) => sum + addedIfContinued(one, partOf(budget, one, shares), spend), 0n);
    return {
      ...fact,
      ...(unusual.length === 0 ? {} : { unusual }),
      ...(owner === undefined ? {} : { owner }),
      ...(end === undefined ? {} : { end: endOfFact(budget, end, { isRunning, added }) }),
      ...(isOnCourse(budget, fact, end) ? { severity: 'info' as const } : {}),
      ...(fact.of === 'forecast' ? previousOf(budget, spend, spends, { named: anomalies, shares }) : {}),
      ...containedIn(budget, fact.period, facts, budgets),
      ...((spend.spentSince ?? 0n) > 0n ? { incomplete: moneyText(spend.spentSince ?? 0n) } : {}),
    };
  });
}

/** Who can stop what is unusual; of a budget without any, whose costs it covers. */
function ownerOf(
  { scope }: Budget,
  unusual: readonly UnusualCost[],
  anomalies: readonly AnomalyFact[],
): string | undefined {
  const running = unusual.find(({ isOver }) => !isOver);
  const anomaly = running && anomalies.find(({ key }) => key === running.key);
  if (running !== undefined) return anomaly && anomalyWords(anomaly).next?.by;
  const owners = Object.entries(scope.owner ?? {});
  const named = owners.flatMap(([dimension, [name, ...others]]) =>
    name === undefined || name === '' || others.length > 0 ? [] : [`${dimension} ${name}`],
  );
  return named.length === 0 || named.length < owners.length ? undefined : named.join(', ');
}

/** The revision of a budget that was to hold if what is unusual stops, and no longer does. */
const noLongerHolds = 'exceeded_even_if_stopped';

/**
 * Facts of budgets, marked as news once if their budget was to hold if what is unusual stops, and will be exceeded even
 * then. Their alerts were raised before. Pure.
 */
export function withBudgetNews(facts: readonly BudgetAlertFact[], known: readonly KnownAlert[]): BudgetAlertFact[] {
  const open = new Map(known.flatMap((alert) => (alert.isOpen ? [[alert.key, alert.fact]] : [])));
  return facts.map((fact) => {
    const text = open.get(fact.key);
    const before = text === undefined ? undefined : (JSON.parse(text) as BudgetAlertFact);
    const isNews =
      before !== undefined &&
      holdsIfStopped(before.end?.stopped, before.amount) === true &&
      holdsIfStopped(fact.end?.stopped, fact.amount) === false;
    const revision = before?.revision ?? (isNews ? noLongerHolds : undefined);
    return revision === undefined ? fact : { ...fact, revision };
  });
}

/** A fact names this many budgets and counts the others: hundreds may have one scope. */
const partsNamed = 5;

/** The budgets with a reached threshold of the same period that are a part of a budget, by name; empty if there are none. */
function containedIn(
  budget: Budget,
  period: string,
  facts: readonly BudgetAlertFact[],
  budgets: readonly Budget[],
): Pick<BudgetAlertFact, 'contains' | 'containsMore'> {
  const reached = facts.filter((fact) => fact.state === 'raised' && fact.period === period && isOverExpected(fact));
  const names = new Set(reached.map((fact) => fact.budget));
  const contains = budgets.filter((one) => names.has(one.name) && isPartOf(one, budget)).map(({ name }) => name);
  if (contains.length === 0) return {};
  const more = contains.length - partsNamed;
  return { contains: contains.slice(0, partsNamed), ...(more > 0 ? { containsMore: more } : {}) };
}

/** Whether a budget is exceeded, or forecast to be. */
function isOverExpected({ value, forecast, amount }: BudgetAlertFact): boolean {
  const planned = moneyOf(amount);
  return [value, forecast?.value ?? value].some((text) => moneyOf(text) > planned);
}

/** A period that has just begun: this percentage of it. Its own costs say little yet. */
const begunPercent = 5;

/** The period before a forecast that has just begun; empty if it is not known, or not complete. */
function previousOf(
  budget: Budget,
  { period, completeThrough = Number.NEGATIVE_INFINITY }: SpendNow,
  spends: readonly SpendNow[],
  { named, shares = noShares }: NamedAnomalies,
): Pick<BudgetAlertFact, 'previous'> {
  const previous = spends.find((spend) => spend.budget === budget.name && spend.period.end === period.start);
  const known = completeThrough - period.start;
  const isYoung = known >= 0 && known * 100 <= (period.end - period.start) * begunPercent;
  // Of a period that is not whole in the books, a day says nothing.
  if (!isYoung || previous?.spent === undefined || previous.gaps.length > 0) return {};
  const ended = costsIn(budget, named, previous.period, shares).filter(
    ({ isOver, lastDay }) => isOver && Date.parse(lastDay) < period.start,
  );
  const unusual = ended.reduce((sum, { impact }) => sum + moneyOf(impact), 0n);
  return {
    previous: {
      ...{
        period: previous.period.name,
        value: moneyText(previous.spent),
        unusual: unusual > 0n ? moneyText(unusual) : null,
      },
      days: Math.round((previous.period.end - previous.period.start) / dayMs),
      ended: ended.map(({ subject }) => subject),
      drivers: previous.drivers,
    },
  };
}

/** The unusual costs that matter beside an amount in trillionths, with what is still to come of them. */
function largestOf(costs: readonly UnusualCost[], end: EndOfBudget | undefined, amount: bigint): UnusualCost[] {
  return costs
    .map((cost) => {
      const toCome = end?.addedBy([cost.key, ...(cost.parts ?? [])]) ?? 0n;
      return { cost, size: moneyOf(cost.impact) + toCome };
    })
    .filter(({ size }) => size >= (amount * namedPercent) / 100n)
    .toSorted((a, b) => Number(b.size - a.size))
    .slice(0, mostNamed)
    .map(({ cost }) => cost);
}

/** Whether spend has reached a part of the amount, and the period is expected to end within it. */
function isOnCourse({ thresholds }: Budget, fact: BudgetAlertFact, end: EndOfBudget | undefined): boolean {
  const isUsual = thresholds.some(
    ({ code, of, isUsualSeverity }) =>
      isUsualSeverity === true && of === (fact.of ?? 'spent') && code === fact.threshold,
  );
  return isUsual && end !== undefined && end.expected <= moneyOf(fact.amount);
}

/** What a whole day of an anomaly costs more lately; null if it has ended or its pace is unknown. */
function dailyOf({ isOver, dailyImpact, pace, hours }: AnomalyFact): string | null {
  return isOver ? null : (hours?.pace ?? dailyImpact ?? pace ?? null);
}

/**
 * The anomalies that budgets may name: the present facts, and those of alerts that ended before, with their present amounts.
 * `rows` are the anomalies of the last months. Pure.
 */
export function namedAnomalies(
  facts: readonly AnomalyFact[],
  ended: readonly AnomalyFact[],
  rows: readonly AnomalyRow[],
): AnomalyFact[] {
  const byKey = new Map(rows.map((row) => [row.anomaly_key, row]));
  const present = new Set(facts.map(({ key }) => key));
  const before = ended.flatMap((fact): AnomalyFact[] => {
    const parts = (fact.parts ?? [fact]).flatMap(({ key }) => byKey.get(key) ?? []);
    // What became usual goes on as a usual cost.
    if (present.has(fact.key) || parts.length === 0 || parts.some(({ state }) => state !== 'over')) return [];
    const impact = parts.reduce((sum, row) => sum + moneyOf(row.impact), 0n);
    const [lastDay = ''] = parts.map(({ last_day: day }) => day).toSorted((a, b) => (a < b ? 1 : -1));
    return [{ ...fact, state: 'resolved', isOver: true, impact: moneyText(impact), lastDay }];
  });
  return [...facts, ...before];
}

/** Whether it adds costs that are there. */
function isOfInterest({ isUp, state, impact, isRestated, isUsual }: AnomalyFact): boolean {
  return (
    isUp && !isRestated && isUsual !== true && (state === 'raised' || state === 'resolved') && !impact.startsWith('-')
  );
}

/**
 * The part of an anomaly that is in a budget. Of several parts, a budget of places has all or none; one of resources has what
 * each part has there.
 */
function partOf(budget: Budget, { account, ...fact }: AnomalyFact, shares: AnomalyShares): number {
  const parts = (fact.parts ?? [fact]).map((part) => ({
    share: partInBudget(budget, { ...part, account }, shares),
    size: Math.abs(Number(part.impact)),
  }));
  const whole = parts.reduce((sum, { size }) => sum + size, 0);
  const { owner, label, resource_name: names } = budget.scope;
  const isOfPlaces = owner === undefined && label === undefined && names === undefined;
  if (whole === 0 || (isOfPlaces && parts.some(({ share }) => share === 0))) return 0;
  return parts.reduce((sum, { share, size }) => sum + share * size, 0) / whole;
}

/** The end of a period as its message has it. */
function endOfFact(
  budget: Budget,
  { expected, stopped, spentAt }: EndOfBudget,
  { isRunning, added }: { readonly isRunning: boolean; readonly added: bigint },
): BudgetEnd {
  return {
    expected: moneyText(expected),
    stopped: isRunning && stopped !== undefined ? moneyText(stopped) : null,
    ...(added > 0n ? { continued: moneyText(expected + added) } : {}),
    spentOn: spentAt === undefined ? null : dayIn(budget, spentAt),
  };
}

function includes({ start, end }: { readonly start: number; readonly end: number }, instant: number): boolean {
  return instant >= start && instant < end;
}

/** The middle of its last day, which is in the same period in every time zone but a few. */
function lastInstant({ lastDay }: AnomalyFact): number {
  return Date.parse(lastDay) + dayMs / 2;
}
