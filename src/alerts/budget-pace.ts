import { aboutDay } from '../budgets/index.ts';
import { wholeOfDecimal } from '../decimals.ts';
import { percentOf, roughly, usdDecimals } from '../money.ts';
import { dayMs } from '../time.ts';
import { wholeInUnit } from '../unit-format.ts';
import type { BudgetAlertFact } from './alert-fact.ts';

/** What a reached threshold means for its period. */
export interface BudgetPace {
  /** Undefined if no hour of the period is known to be complete. */
  readonly sentence: string | undefined;
  /** Undefined if there is something to do. */
  readonly next: string | undefined;
}

type Pace = Pick<
  BudgetAlertFact,
  'value' | 'amount' | 'periodStart' | 'periodEnd' | 'completeThrough' | 'unit' | 'unusual'
>;

/** An end of the period above this part of the amount is close to it. */
const closeShare = 0.97;

/**
 * Whether a budget of which a part is spent keeps to its amount: how much of the period is over, and where the spend ends.
 * Usual costs go on at their pace so far, anomalies at the pace of their last days; those that have ended cost no more. Pure.
 */
export function budgetPace(fact: Pace): BudgetPace {
  const { value, amount, periodEnd, unit } = fact;
  const { start, end, through } = timesOf(fact);
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
  const { atEnd } = endsOf(fact);
  const goesOn = goingOnWords(fact);
  const ending = `ends at about ${roughly(atEnd.toFixed(2), unit)}`;
  if (over >= 0n) {
    return { sentence: [...overWords, goesOn ?? `At this pace it ${ending}.`].join(' '), next: undefined };
  }
  const passed = `${percentOf(String(through - start), String(end - start))} % of the period is over.`;
  if (atEnd <= planned) {
    const isClose = atEnd > planned * closeShare;
    const words = goesOn ?? `At this pace it ${ending}, ${isClose ? 'close to' : 'within'} the budget.`;
    return { sentence: `${passed} ${words}`, next: isClose ? undefined : 'No action is needed yet.' };
  }
  const left = (planned - spent) / (atEnd - spent);
  const when = aboutDay(
    new Date(through + left * (Date.parse(periodEnd) - through)).toISOString().slice(0, 10),
    end - start,
  );
  const spentWords = `the budget is ${unit === undefined ? 'spent' : 'used up'} ${when}`;
  const words =
    goesOn === undefined ? `At this pace ${spentWords}, and the period ${ending}.` : `${goesOn} So ${spentWords}.`;
  return { sentence: `${passed} ${words}`, next: undefined };
}

/** Where the period ends if anomalies that go on stay, and if they stop; undefined if none goes on. Pure. */
export function goingOnWords(fact: Pace): string | undefined {
  const { start, end, through } = timesOf(fact);
  const [first, ...others] = (fact.unusual ?? []).filter(({ daily }) => daily !== null);
  if (first === undefined || through <= start || through >= end) return undefined;
  const { atEnd, withoutThem } = endsOf(fact);
  const [goOn, stopped] =
    others.length === 0
      ? [`${first.subject} goes on like this`, 'it stopped now']
      : ['these go on', 'they stopped now'];
  const [more, less] = [atEnd, withoutThem].map((usd) => roughly(usd.toFixed(2), fact.unit));
  return `If ${goOn}, the period ends at about ${more}; if ${stopped}, at about ${less}.`;
}

function timesOf({ periodStart, periodEnd, completeThrough }: Pace): { start: number; end: number; through: number } {
  const [start, end] = [Date.parse(periodStart), Date.parse(periodEnd)];
  return { start, end, through: Math.min(end, completeThrough === null ? start : Date.parse(completeThrough)) };
}

/** Estimates of the spend at the end of the period, in the budget's unit. */
function endsOf(fact: Pace): { readonly atEnd: number; readonly withoutThem: number } {
  const { start, end, through } = timesOf(fact);
  let [unusual, toCome] = [0, 0];
  for (const { firstDay, impact, daily } of fact.unusual ?? []) {
    if (Date.parse(firstDay) >= start) unusual += Number(impact);
    toCome += (Number(daily ?? 0) * (end - through)) / dayMs;
  }
  const withoutThem = ((Number(fact.value) - unusual) * (end - start)) / (through - start) + unusual;
  return { atEnd: withoutThem + toCome, withoutThem };
}
