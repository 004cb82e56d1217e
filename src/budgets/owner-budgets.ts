import { decimalOfWhole } from '../decimals.ts';
import { usdDecimals } from '../money.ts';
import type { Budget } from './budget.ts';

/**
 * The monthly budgets of single owners, as the JSON that reports take as `budgets`: an entry for the usual amount, where
 * `month` is null, or one a month (`2026-10`) for budgets whose months differ. Budgets whose scope names more than one
 * owner, or anything else, are left out: they cannot be compared with what one owner costs.
 */
export function ownerBudgets(budgets: readonly Budget[]): string {
  const entries = budgets.flatMap(({ scope, period, timeZone, amount, limits }) => {
    const owners = Object.entries(scope.owner ?? {});
    const [[dimension = '', values = []] = []] = owners;
    const isOfOneOwner = Object.keys(scope).length === 1 && owners.length === 1 && values.length === 1;
    if (!isOfOneOwner || period !== 'monthly' || timeZone !== 'UTC') return [];
    const usual = { dimension, owner: values[0], month: null, amount: decimalOfWhole(amount, usdDecimals) };
    const own = [...limits].map(([month, other]) => ({ ...usual, month, amount: decimalOfWhole(other, usdDecimals) }));
    return [usual, ...own];
  });
  return JSON.stringify(entries);
}
