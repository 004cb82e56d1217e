import { type AnomalyFact, anomalySubject } from '../anomalies/index.ts';
import { amountIn, type Budget, type SpendNow } from '../budgets/index.ts';
import { decimalOfWhole, wholeOfDecimal } from '../decimals.ts';
import { usdDecimals } from '../money.ts';
import { dayMs, type Instant } from '../time.ts';
import type { AnomalyRow } from '../warehouse/index.ts';
import type { BudgetAlertFact, UnusualCost } from './alert-fact.ts';

/** A budget message names what is unusual if it is at least this part of the amount, in percent. */
const namedPercent = 5n;
const mostNamed = 3;

/**
 * Facts of anomalies, each with the budget that it presses most: the one of which it leaves the smallest part. Only
 * budgets whose scope covers the whole anomaly count. Pure.
 */
export function withBudgetsLeft(
  anomalies: readonly AnomalyFact[],
  budgets: readonly Budget[],
  spends: readonly SpendNow[],
): AnomalyFact[] {
  return anomalies.map((fact) => {
    if (!isOfInterest(fact) || fact.isOver) return fact;
    const last = lastInstant(fact);
    const pressed = budgets
      .filter((budget) => covers(budget, fact))
      .flatMap((budget) => {
        const spend = spends.find(({ budget: name, period }) => name === budget.name && includes(period, last));
        if (spend?.spent === undefined) return [];
        const amount = amountIn(budget, spend.period.name);
        const left = amount - spend.spent;
        const toCome = costToCome(fact, spend.period.end);
        // By how much of its amount it ends below it, in millionths.
        const margin = ((left - (toCome ?? 0n)) * 1_000_000n) / amount;
        return [{ budget: budget.name, period: spend.period.name, amount, left, toCome, margin }];
      })
      .toSorted((a, b) => (a.margin < b.margin ? -1 : a.margin > b.margin ? 1 : 0));
    const [tightest] = pressed;
    if (tightest === undefined) return fact;
    const { budget: name, period, amount, left, toCome } = tightest;
    return {
      ...fact,
      budgetLeft: {
        name,
        period,
        amount: usd(amount),
        left: usd(left),
        toCome: toCome === undefined ? null : usd(toCome),
      },
    };
  });
}

/**
 * Facts of budgets, each with the reported anomalies that explain it, the largest first: those that have cost something in
 * its period, or that go on. Pure.
 */
export function withUnusualCosts(
  facts: readonly BudgetAlertFact[],
  budgets: readonly Budget[],
  anomalies: readonly AnomalyFact[],
): BudgetAlertFact[] {
  return facts.map((fact): BudgetAlertFact => {
    const budget = budgets.find(({ name }) => name === fact.budget);
    if (budget === undefined || fact.state !== 'raised') return fact;
    const [start, end] = [Date.parse(fact.periodStart), Date.parse(fact.periodEnd)];
    // A forecast does not learn from what ended before its period.
    const isOfPeriod = (one: AnomalyFact) =>
      fact.of === 'forecast' ? !one.isOver || lastInstant(one) >= start : Date.parse(one.firstDay) >= start;
    const through = fact.completeThrough === null ? start : Date.parse(fact.completeThrough);
    const least = (wholeOfDecimal(fact.amount, usdDecimals) * namedPercent) / 100n;
    const unusual = anomalies
      .filter((one) => isOfInterest(one) && covers(budget, one))
      .filter((one) => isOfPeriod(one) && lastInstant(one) < end)
      .map((one) => ({ one, size: wholeOfDecimal(one.impact, usdDecimals) + toCome(dailyOf(one), through, end) }))
      .filter(({ size }) => size >= least)
      .toSorted((a, b) => (a.size > b.size ? -1 : a.size < b.size ? 1 : 0))
      .slice(0, mostNamed)
      .map(({ one }): UnusualCost => {
        const { key, firstDay, lastDay, isOver, impact } = one;
        return { key, subject: anomalySubject(one), firstDay, lastDay, isOver, impact, daily: dailyOf(one) };
      });
    return unusual.length === 0 ? fact : { ...fact, unusual };
  });
}

/** What a daily cost adds from an instant to the end of a period, in trillionths of a USD. */
function toCome(daily: string | null, from: Instant, end: Instant): bigint {
  if (daily === null || end <= from) return 0n;
  return (wholeOfDecimal(daily, usdDecimals) * BigInt(end - from)) / BigInt(dayMs);
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
    const impact = parts.reduce((sum, row) => sum + wholeOfDecimal(row.impact, usdDecimals), 0n);
    const [lastDay = ''] = parts.map(({ last_day: day }) => day).toSorted((a, b) => (a < b ? 1 : -1));
    return [{ ...fact, state: 'resolved', isOver: true, impact: usd(impact), lastDay }];
  });
  return [...facts, ...before];
}

/** Whether it adds costs that are there. */
function isOfInterest({ isUp, state, impact, isRestated, isUsual }: AnomalyFact): boolean {
  return (
    isUp && !isRestated && isUsual !== true && (state === 'raised' || state === 'resolved') && !impact.startsWith('-')
  );
}

/** Whether every cost of an anomaly is in the scope of a budget. Names, owners and labels of resources cannot be known. */
function covers({ scope, per }: Budget, fact: AnomalyFact): boolean {
  // What is left of a budget in another unit says nothing about costs.
  if (per !== undefined || scope.unit !== undefined) return false;
  const { account, workspace, resource_type, billing_dimension, ...others } = scope;
  if (Object.keys(others).length > 0) return false;
  const has = (values: readonly string[] | undefined, value: string | null) =>
    values === undefined || (value !== null && values.includes(value));
  return (
    has(account, fact.account) &&
    (fact.parts ?? [fact]).every(
      (part) =>
        has(workspace, part.workspace) &&
        has(resource_type, part.resourceType) &&
        has(billing_dimension, part.billingDimension),
    )
  );
}

function includes({ start, end }: { readonly start: number; readonly end: number }, instant: number): boolean {
  return instant >= start && instant < end;
}

/** The middle of its last day, which is in the same period in every time zone but a few. */
function lastInstant({ lastDay }: AnomalyFact): number {
  return Date.parse(lastDay) + dayMs / 2;
}

/** What it costs from now to the end of the month if it stays, in trillionths of a USD; undefined if a period ends before. */
function costToCome({ monthEnd, impact }: AnomalyFact, periodEnd: Instant): bigint | undefined {
  if (monthEnd === null || monthEnd === undefined) return undefined;
  const [year = 0, month = 0] = monthEnd.month.split('-').map(Number);
  // Time zones differ by less than a day.
  if (periodEnd <= Date.UTC(year, month, 0)) return undefined;
  const toCome = wholeOfDecimal(monthEnd.impact, usdDecimals) - wholeOfDecimal(impact, usdDecimals);
  return toCome > 0n ? toCome : undefined;
}

function usd(whole: bigint): string {
  return decimalOfWhole(whole, usdDecimals);
}
