import { moneyOf, roughly, usd } from '../money/money.ts';
import { nowWords } from '../text/through.ts';

/** A budget that covers an anomaly, in the period of its last day. Amounts are USD, decimal text. */
export interface PressedBudget {
  readonly name: string;
  readonly period: string;
  readonly amount: string;
  readonly spent: string;
  /** Where the period ends if everything goes on, an estimate. */
  readonly expected: string;
  /** Where it ends if this anomaly stops now; null if it does not go on. */
  readonly stopped: string | null;
  /** Where it ends if this anomaly of one day continues, which `expected` leaves out; missing if it has more days. */
  readonly continued?: string | undefined;
}

/** Budgets with a sentence of their own. */
const inFull = 3;

/** What an anomaly means for budgets: where each ends, and whether it helps to stop it. The others are named. Pure. */
export function pressedSentences(budgets: readonly PressedBudget[], completeThrough: string | null): string[] {
  const others = budgets.slice(inFull).map(({ name }) => name);
  return [
    ...budgets.slice(0, inFull).map((budget, index) => sentenceOf(budget, index === 0 ? completeThrough : null)),
    ...(others.length === 0 ? [] : [`Also expected to end over: ${others.join(', ')}.`]),
  ];
}

function sentenceOf({ name, period, ...texts }: PressedBudget, completeThrough: string | null): string {
  const [amount, spent] = [moneyOf(texts.amount), moneyOf(texts.spent)];
  const about = (sum: bigint) => `about ${roughly(sum)}`;
  const isOver = spent > amount;
  const head = isOver
    ? `Budget ${name} is ${usd(spent - amount)} over its ${usd(texts.amount)} for ${period}. It is expected to end at`
    : `Budget ${name} (${usd(texts.amount)})`;
  const isOneDay = texts.continued !== undefined;
  const expected = moneyOf(texts.continued ?? texts.expected);
  const ifStopped = isOneDay ? texts.expected : texts.stopped;
  if (ifStopped === null) {
    if (isOver) return `${head} ${about(expected)}.`;
    return `${head} is expected to end ${period} at ${about(expected)}, ${expected > amount ? 'over' : 'within'} the budget.`;
  }
  const stopped = moneyOf(ifStopped);
  const stops = `at ${about(stopped)} if ${isOneDay ? 'this was one day' : `it stops ${nowWords(completeThrough)}`}`;
  if (isOver) return `${head} ${about(expected)} if this continues, ${stops}.`;
  if (stopped > amount) {
    // Not "in any case": something else that is unusual may stop, too.
    const even = isOneDay ? 'was one day' : 'stops';
    return `${head} will be exceeded in ${period} even if this ${even}: it ends at ${about(expected)} if this continues, ${stops}.`;
  }
  return expected > amount
    ? `${head} will be exceeded in ${period} if this continues: it ends at ${about(expected)}, but ${stops}.`
    : `${head} will not be exceeded in ${period}: it ends at ${about(expected)} if this continues, ${stops}.`;
}
