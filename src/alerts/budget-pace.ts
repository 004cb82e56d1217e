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
  const { value, amount, unit } = fact;
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
  const goesOn = goingOnWords(fact);
  const { atEnd } = endsOf(fact);
  const ending = `ends at about ${roughly(atEnd.toFixed(2), unit)}`;
  if (over >= 0n) {
    return { sentence: [...overWords, goesOn ?? `At this pace it ${ending}.`].join(' '), next: undefined };
  }
  const passed = `${percentOf(String(through - start), String(end - start))} % of the period is over.`;
  const planned = Number(amount);
  if (atEnd <= planned) {
    const isClose = atEnd > planned * closeShare;
    const words = goesOn ?? `At this pace it ${ending}, ${isClose ? 'close to' : 'within'} the budget.`;
    return { sentence: `${passed} ${words}`, next: `No action is needed yet${isClose ? ', but little is left' : ''}.` };
  }
  const words = goesOn ?? `At this pace ${spentWords(fact, atEnd)}, and the period ${ending}.`;
  return { sentence: `${passed} ${words}`, next: undefined };
}

/** `the budget is spent around the 21st`. */
function spentWords(fact: Pace, atEnd: number): string {
  const { start, end, through } = timesOf(fact);
  const left = (Number(fact.amount) - Number(fact.value)) / (atEnd - Number(fact.value));
  const day = new Date(through + left * (end - through)).toISOString().slice(0, 10);
  return `the budget is ${fact.unit === undefined ? 'spent' : 'used up'} ${aboutDay(day, end - start)}`;
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
  const [spent, planned] = [Number(fact.value), Number(fact.amount)];
  const when = spent < planned && atEnd > planned ? `${spentWords(fact, atEnd)}, and ` : '';
  const verdict = spent >= planned ? '' : withoutThem > planned ? ', over the budget too' : ', within the budget';
  return `If ${goOn}, ${when}the period ends at about ${more}; if ${stopped}, at about ${less}${verdict}.`;
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
    const ofDays = (ms: number) => (Number(daily ?? 0) * ms) / dayMs;
    // Of one that began before the period, only its days in the period are in the spend.
    unusual += Date.parse(firstDay) >= start ? Number(impact) : ofDays(through - start);
    toCome += ofDays(end - through);
  }
  const withoutThem = ((Number(fact.value) - unusual) * (end - start)) / (through - start) + unusual;
  return { atEnd: withoutThem + toCome, withoutThem };
}
