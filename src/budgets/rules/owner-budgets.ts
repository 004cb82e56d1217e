import { moneyText } from '../../money/money.ts';
import { type Budget, budgetCalendar, plannedIn } from './budget.ts';

/** How many months of an amount that grows are passed to reports. */
const monthsAhead = 240;

/**
 * The monthly budgets of single owners, as the JSON that reports take as `budgets`: an entry for the usual amount, where
 * `month` is null, or one a month (`2026-10`) for budgets whose months differ. Budgets whose scope names more than one
 * owner, or anything else, are left out: they cannot be compared with what one owner costs. Amounts are without what is
 * left of earlier months.
 */
export function ownerBudgets(budgets: readonly Budget[]): string {
  const entries = budgets.flatMap((budget) => {
    const { scope, period, timeZone, amount, per } = budget;
    const owners = Object.entries(scope.owner ?? {});
    const [[dimension = '', values = []] = []] = owners;
    // A budget in a unit of usage has a second key.
    const isOfOneOwner = Object.keys(scope).length === 1 && owners.length === 1 && values.length === 1;
    if (!isOfOneOwner || per !== undefined || period !== 'monthly' || timeZone !== 'UTC') return [];
    const usual = { dimension, owner: values[0], month: null, amount: moneyText(amount) };
    const months = [...new Set([...budget.limits.keys(), ...plannedMonths(budget)])].sort();
    const own = months.map((month) => ({
      ...usual,
      month,
      amount: moneyText(plannedIn(budget, month)),
    }));
    return [usual, ...own];
  });
  return JSON.stringify(entries);
}

/** The months whose amounts follow from a list, a table or growth. */
function plannedMonths(budget: Budget): string[] {
  const calendar = budgetCalendar(budget);
  const start = budget.steps?.[0]?.from ?? (budget.growth && calendar.periodNamed(budget.growth.from)?.start);
  if (start === undefined) return [];
  const months: string[] = [];
  for (let month = calendar.periodAt(start); months.length < monthsAhead; month = calendar.periodAt(month.end)) {
    months.push(month.name);
  }
  return months;
}
