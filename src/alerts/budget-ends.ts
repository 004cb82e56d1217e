import { amountIn, type Budget, dayIn, reachedOn, type SpendNow } from '../budgets/index.ts';
import { decimalOfWhole, largerOf, wholeOfDecimal } from '../decimals.ts';
import { usdDecimals } from '../money.ts';
import { dayMs, type Instant } from '../time.ts';
import type { BudgetEnd, UnusualCost } from './alert-fact.ts';

/** A cost beyond the usual, in the spend of a budget. */
export type CostInBudget = Pick<UnusualCost, 'key' | 'parts' | 'firstDay' | 'impact' | 'daily'>;

/** An end, and what anomalies add until then, in trillionths of the budget's unit. */
export interface KnownEnd extends BudgetEnd {
  addedBy(anomaly: Pick<UnusualCost, 'key' | 'parts' | 'daily'>): bigint;
}

/**
 * Where a period ends: by its forecast or, without one, at the pace of its usual costs so far. Anomalies go on at the pace
 * of their last days, and those that have ended cost no more. Undefined if no hour of the period is complete, if it is over,
 * or for a cost per unit, which does not add up. Pure.
 */
export function budgetEnd(budget: Budget, spend: SpendNow, unusual: readonly CostInBudget[]): KnownEnd | undefined {
  const { period, completeThrough, spent, forecast } = spend;
  if (budget.per !== undefined || spent === undefined || completeThrough === undefined) return undefined;
  const through = Math.min(completeThrough, period.end);
  if (through <= period.start || through >= period.end) return undefined;
  function addedBy({ key, parts = [key], daily }: Pick<UnusualCost, 'key' | 'parts' | 'daily'>): bigint {
    if (forecast?.kind !== 'forecast') return costToCome(daily, through, period.end);
    const own = (forecast.anomalies ?? []).filter((one) => parts.includes(one.key));
    return own.reduce((sum, { added }) => sum + added, 0n);
  }
  const running = unusual.filter(({ daily }) => daily !== null);
  const toCome = running.reduce((sum, one) => sum + addedBy(one), 0n);
  const expected = forecast?.kind === 'forecast' ? forecast.mean : usualPace(spend, spent, through, unusual) + toCome;
  const amount = amountIn(budget, period.name);
  return {
    expected: text(expected),
    stopped: running.length === 0 ? null : text(largerOf(expected - toCome, spent)),
    spentOn: spent >= amount || expected < amount ? null : spentOn(budget, spend, { spent, expected, amount, through }),
    addedBy,
  };
}

/** What a daily cost adds from an instant to the end of a period, in trillionths of a USD. */
export function costToCome(daily: string | null, from: Instant, end: Instant): bigint {
  if (daily === null || end <= from) return 0n;
  return (wholeOfDecimal(daily, usdDecimals) * BigInt(end - from)) / BigInt(dayMs);
}

/** The spend at the end if usual costs go on at their pace so far, and nothing else does. */
function usualPace(
  { period: { start, end } }: SpendNow,
  spent: bigint,
  through: Instant,
  unusual: readonly CostInBudget[],
): bigint {
  const extra = unusual.reduce((sum, { firstDay, impact, daily }) => {
    // Of one that began before the period, only its days in the period are in the spend.
    const isWhole = Date.parse(firstDay) >= start;
    return sum + (isWhole ? wholeOfDecimal(impact, usdDecimals) : costToCome(daily, start, through));
  }, 0n);
  return ((spent - extra) * BigInt(end - start)) / BigInt(through - start) + extra;
}

function spentOn(
  budget: Budget,
  { period, forecast }: SpendNow,
  { spent, expected, amount, through }: { spent: bigint; expected: bigint; amount: bigint; through: Instant },
): string {
  const reached = forecast?.kind === 'forecast' ? reachedOn(forecast, amount) : undefined;
  const share = Number(((amount - spent) * 1_000_000n) / (expected - spent)) / 1_000_000;
  const instant = reached ?? Math.min(period.end - 1, through + share * (period.end - through));
  return dayIn(budget, instant);
}

function text(whole: bigint): string {
  return decimalOfWhole(whole, usdDecimals);
}
