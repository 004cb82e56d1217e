import { moneyOf } from '../money/money.ts';
import type { BudgetAlertFact } from './budget-fact.ts';
import type { AlertFact } from './kinds/index.ts';

const urgency = { critical: 0, warning: 1, info: 2 } as const;

/**
 * The alerts that say what another one says: thresholds of one budget and period, by their key the key of the one that is
 * shown in full. That is the most severe one, spend before forecasts, then the highest. Pure.
 */
export function shownWithOthers(facts: readonly AlertFact[]): ReadonlyMap<string, string> {
  const groups = new Map<string, BudgetAlertFact[]>();
  for (const fact of facts) {
    if (fact.kind !== 'budget' || fact.state !== 'raised') continue;
    const name = JSON.stringify([fact.budget, fact.period]);
    groups.set(name, [...(groups.get(name) ?? []), fact]);
  }
  const shown = new Map<string, string>();
  for (const group of groups.values()) {
    const [first, ...others] = group.toSorted(compareThresholds);
    if (first !== undefined) for (const { key } of others) shown.set(key, first.key);
  }
  return shown;
}

function compareThresholds(a: BudgetAlertFact, b: BudgetAlertFact): number {
  const [forecastA, forecastB] = [a, b].map(({ of }) => Number(of === 'forecast')) as [number, number];
  const higher = moneyOf(b.limit) > moneyOf(a.limit) ? 1 : -1;
  return urgency[a.severity] - urgency[b.severity] || forecastA - forecastB || higher;
}
