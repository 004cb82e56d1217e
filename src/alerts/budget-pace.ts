import { aboutDay, type BudgetFact } from '../budgets/index.ts';
import { wholeOfDecimal } from '../decimals.ts';
import { percentOf, roughly, usdDecimals } from '../money.ts';
import { wholeInUnit } from '../unit-format.ts';

/** What a reached threshold means for its period. */
export interface BudgetPace {
  /** Undefined if no hour of the period is known to be complete. */
  readonly sentence: string | undefined;
  /** Undefined if there is something to do. */
  readonly next: string | undefined;
}

/**
 * Whether a budget of which a part is spent keeps to its amount: how much of the period is over, and where the spend ends
 * at the pace so far. Pure.
 */
export function budgetPace({
  value,
  amount,
  periodStart,
  periodEnd,
  completeThrough,
  unit,
}: Pick<BudgetFact, 'value' | 'amount' | 'periodStart' | 'periodEnd' | 'completeThrough' | 'unit'>): BudgetPace {
  const [start, end] = [Date.parse(periodStart), Date.parse(periodEnd)];
  const through = Math.min(end, completeThrough === null ? start : Date.parse(completeThrough));
  const over = wholeOfDecimal(value, usdDecimals) - wholeOfDecimal(amount, usdDecimals);
  const overWords = over > 0n ? [`It is ${wholeInUnit(over, unit)} over its budget.`] : [];
  if (through <= start) return { sentence: overWords[0], next: undefined };
  if (through === end) {
    return over <= 0n
      ? {
          sentence: `The period is over, and the ${unit === undefined ? 'spend' : 'usage'} stayed within the budget.`,
          next: 'No action is needed.',
        }
      : { sentence: [...overWords, 'The period is over.'].join(' '), next: undefined };
  }
  const [spent, planned] = [Number(value), Number(amount)];
  const atEnd = (spent * (end - start)) / (through - start);
  const ending = `ends at about ${roughly(atEnd.toFixed(2), unit)}`;
  if (over >= 0n) return { sentence: [...overWords, `At this pace it ${ending}.`].join(' '), next: undefined };
  const passed = `${percentOf(String(through - start), String(end - start))} % of the period is over.`;
  if (atEnd <= planned) {
    return { sentence: `${passed} At this pace it ${ending}, within the budget.`, next: 'No action is needed yet.' };
  }
  const spentAt = new Date(start + (planned / spent) * (through - start)).toISOString().slice(0, 10);
  const when = aboutDay(spentAt, end - start);
  return {
    sentence: `${passed} At this pace it is ${unit === undefined ? 'spent' : 'used up'} ${when}, and the period ${ending}.`,
    next: undefined,
  };
}
