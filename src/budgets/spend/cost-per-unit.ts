import { moneyOf, moneyText } from '../../money/money.ts';
import type { Window } from '../../time/time.ts';
import type { Budget } from '../rules/budget.ts';
import { costPer, countedDays } from '../rules/counts.ts';
import type { Driver, Spend } from './thresholds.ts';

/** As many of the most expensive resources as fit a message. */
const driverCount = 3;

/**
 * A spend of a budget for a cost per unit: the costs of its counted days, divided by their counts. Without counts `spent` is
 * undefined, and `per` says that there are none. `costsIn` sums the costs of the budget's scope.
 */
export async function perUnit<T extends Spend>(
  { per, timeZone }: Budget,
  spend: T,
  costsIn: (
    windows: readonly Window[],
  ) => Promise<readonly ({ readonly total: bigint; readonly drivers: readonly Driver[] } | undefined)[]>,
): Promise<T> {
  if (per === undefined || spend.spent === undefined) return spend;
  const days = countedDays(per, spend.period, spend.completeThrough, timeZone);
  const costs = days.windows.length === 0 ? [] : await costsIn(days.windows);
  const cost = costs.reduce((sum, each) => sum + (each?.total ?? 0n), 0n);
  return {
    ...spend,
    spent: costPer(cost, days.count),
    completeThrough: days.through,
    gaps: [...spend.gaps, ...days.gaps],
    drivers: together(costs.flatMap((each) => each?.drivers ?? [])),
    per: { name: per.name, count: days.count, cost, lastName: days.lastName },
  };
}

/** The most expensive of several windows, each resource once. */
function together(drivers: readonly Driver[]): Driver[] {
  const sums = new Map<string, { readonly driver: Driver; sum: bigint }>();
  for (const { cost, ...driver } of drivers) {
    const key = JSON.stringify(driver);
    const known = sums.get(key) ?? { driver: { ...driver, cost }, sum: 0n };
    known.sum += moneyOf(cost);
    sums.set(key, known);
  }
  return [...sums.values()]
    .sort((a, b) => Number(b.sum - a.sum))
    .slice(0, driverCount)
    .map(({ driver, sum }) => ({ ...driver, cost: moneyText(sum) }));
}
