import { expectedEnd, type PeriodEnd } from '../../outlook/index.ts';
import { amountIn, type Budget } from '../rules/budget.ts';
import type { SpendNow } from './spend.ts';

/** Where a budget's period ends, and whether its forecast or its pace says so. Amounts are trillionths of its unit. */
export interface EndOfBudget extends PeriodEnd {
  readonly from: 'forecast' | 'pace';
}

/**
 * Where a budget's period ends, by its forecast or, without one, by its pace. Undefined if that is unknown, if the period is
 * over, or for a cost per unit, which does not add up. Pure.
 */
export function endOfBudget(budget: Budget, spend: SpendNow): EndOfBudget | undefined {
  const { period, completeThrough, spent, spentSince = 0n, forecast } = spend;
  const rest = forecast?.kind === 'forecast' ? forecast : forecast?.atPace;
  if (budget.per !== undefined || spent === undefined || completeThrough === undefined || rest === undefined) {
    return undefined;
  }
  const amount = amountIn(budget, period.name);
  const end = expectedEnd({ period, amount, completeThrough, spent, spentComplete: spent - spentSince, rest });
  return end && { ...end, from: forecast?.kind === 'forecast' ? 'forecast' : 'pace' };
}
