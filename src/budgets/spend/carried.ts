import type { CalendarPeriod } from '../../time/time.ts';
import type { Connection } from '../../warehouse/store/index.ts';
import { type Budget, budgetCalendar, type Carried, plannedIn } from '../rules/budget.ts';
import { shareOfAmount } from '../rules/planned-amount.ts';
import { readSpends, type SpendsAsked } from './spend.ts';

/**
 * Budgets with what each period up to the present one gets from the one before: what is unspent of it, up to the cap. A
 * period without any hour in the books passes nothing on. Budgets without rollover are returned as they are.
 */
export async function withCarried(
  connection: Connection,
  budgets: readonly Budget[],
  asked: SpendsAsked,
): Promise<readonly Budget[]> {
  const lines = budgets.flatMap((budget) => earlierPeriods(budget, asked.now).map((period) => ({ budget, period })));
  if (lines.length === 0) return budgets;
  const spends = await readSpends(connection, lines, asked);
  return budgets.map((budget) => {
    const own = spends.filter((_, index) => lines[index]?.budget === budget);
    return own.length === 0 ? budget : { ...budget, carried: carriedOf(budget, own) };
  });
}

/** The periods from the first one with rollover up to the one before now. */
function earlierPeriods(budget: Budget, now: number): CalendarPeriod[] {
  const calendar = budgetCalendar(budget);
  const periods: CalendarPeriod[] = [];
  if (budget.rollover === undefined) return periods;
  for (
    let period = calendar.periodAt(budget.rollover.from);
    period.end <= now;
    period = calendar.periodAt(period.end)
  ) {
    periods.push(period);
  }
  return periods;
}

/** What the period after each of these gets, by its name. Pure. */
export function carriedOf(
  budget: Budget,
  spends: readonly Pick<
    Awaited<ReturnType<typeof readSpends>>[number],
    'period' | 'spent' | 'gaps' | 'completeThrough'
  >[],
): ReadonlyMap<string, Carried> {
  const calendar = budgetCalendar(budget);
  const carried = new Map<string, Carried>();
  let before: Carried = { amount: 0n, isFinal: true };
  for (const { period, spent, gaps, completeThrough } of spends) {
    const next = calendar.periodAt(period.end).name;
    const left = spent === undefined ? 0n : plannedIn(budget, period.name) + before.amount - spent;
    const cap = budget.rollover?.cap && shareOfAmount(budget.rollover.cap, plannedIn(budget, next));
    const amount = left <= 0n ? 0n : cap !== undefined && left > cap ? cap : left;
    const isComplete = gaps.length === 0 && (completeThrough ?? 0) >= period.end;
    before = { amount, isFinal: before.isFinal && isComplete };
    carried.set(next, before);
  }
  return carried;
}
