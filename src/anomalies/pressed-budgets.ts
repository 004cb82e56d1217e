import { decimalOfWhole, wholeOfDecimal } from '../decimals.ts';
import { roughly, usd, usdDecimals } from '../money.ts';

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
}

/** Budgets with a sentence of their own. */
const inFull = 3;

/** What an anomaly means for budgets: where each ends, and whether it helps to stop it. The others are named. Pure. */
export function pressedSentences(budgets: readonly PressedBudget[]): string[] {
  const others = budgets.slice(inFull).map(({ name }) => name);
  return [
    ...budgets.slice(0, inFull).map(sentenceOf),
    ...(others.length === 0 ? [] : [`Also expected to end over: ${others.join(', ')}.`]),
  ];
}

function sentenceOf({ name, period, ...texts }: PressedBudget): string {
  const [amount, spent, expected] = [whole(texts.amount), whole(texts.spent), whole(texts.expected)];
  const about = (sum: bigint) => `about ${roughly(decimalOfWhole(sum, usdDecimals))}`;
  const isOver = spent > amount;
  const head = isOver
    ? `Budget ${name} is ${usd(decimalOfWhole(spent - amount, usdDecimals))} over its ${usd(texts.amount)} for ${period}. It`
    : `Budget ${name} (${usd(texts.amount)})`;
  const at = isOver ? 'at' : `${period} at`;
  if (texts.stopped === null) {
    const verdict = isOver ? '' : expected > amount ? ', over the budget' : ', within the budget';
    return `${head} is expected to end ${at} ${about(expected)}${verdict}.`;
  }
  const stopped = whole(texts.stopped);
  const verdict = isOver ? '' : eitherWay(expected, stopped, amount);
  return `${head} ends ${at} ${about(expected)} if this goes on; if it stops now, at ${about(stopped)}${verdict}.`;
}

/** Whether a budget keeps to its amount if what is unusual stops, and if not. Pure. */
export function eitherWay(expected: bigint, stopped: bigint, amount: bigint): string {
  if (stopped > amount) return ', over the budget either way';
  return expected > amount ? ', within the budget' : ', within the budget either way';
}

function whole(text: string): bigint {
  return wholeOfDecimal(text, usdDecimals);
}
