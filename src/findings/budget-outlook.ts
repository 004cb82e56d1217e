import { type NextStep, noAction } from '../base/next-step.ts';
import { aboutDay } from '../budgets/forecasts/index.ts';
import { inUnit, moneyOf, percentOf, roughly } from '../money/money.ts';
import { nowWords } from '../text/through.ts';
import type { BudgetAlertFact } from './budget-fact.ts';

/** What a reached threshold means for its period. */
export interface BudgetOutlook {
  /** The end of a title: `about 828 USD over at the end`. Undefined if nothing is known. */
  readonly short: string | undefined;
  readonly sentences: readonly string[];
  /** Undefined if there is something to do. */
  readonly next: NextStep | undefined;
}

type Outlook = Pick<
  BudgetAlertFact,
  | 'value'
  | 'amount'
  | 'period'
  | 'periodStart'
  | 'periodEnd'
  | 'completeThrough'
  | 'unit'
  | 'unusual'
  | 'end'
  | 'revision'
>;

/** Where a period ends if what is unusual stops now; undefined if nothing goes on, or if its end is unknown. Pure. */
export function endIfStopped(end: BudgetAlertFact['end']): string | undefined {
  return end?.continued === undefined ? (end?.stopped ?? undefined) : end.expected;
}

/** Whether a budget holds if what is unusual stops now; undefined if nothing is, or its end is unknown. Pure. */
export function holdsIfStopped(stopped: string | null | undefined, amount: string): boolean | undefined {
  return stopped == null ? undefined : moneyOf(stopped) <= moneyOf(amount);
}

/** An end of the period above this part of the amount, in percent, is close to it. */
const closePercent = 97n;

/** Whether a budget of which a part is spent keeps to its amount: where it ends, and what that depends on. Pure. */
export function budgetOutlook(fact: Outlook): BudgetOutlook {
  const { value, amount, unit, end } = fact;
  const [spent, planned] = [moneyOf(value), moneyOf(amount)];
  const overWords = spent > planned ? [`It is ${inUnit(spent - planned, unit)} over its budget.`] : [];
  if (fact.completeThrough !== null && Date.parse(fact.completeThrough) >= Date.parse(fact.periodEnd)) {
    return spent > planned
      ? {
          short: undefined,
          sentences: [
            ...overWords,
            `The period is over. Its ${unit === undefined ? 'spend' : 'usage'} may still change until it is settled.`,
          ],
          next: undefined,
        }
      : {
          short: undefined,
          sentences: [
            `The period is over, and the ${unit === undefined ? 'spend' : 'usage'} stayed within the budget.`,
          ],
          next: noAction(),
        };
  }
  if (end === undefined) return { short: undefined, sentences: overWords, next: undefined };
  const expected = moneyOf(end.expected);
  const continued = end.continued === undefined ? undefined : moneyOf(end.continued);
  const ends = endWords(fact) ?? `It is expected to end ${fact.period} at about ${about(expected, unit)}`;
  const or = continued === undefined ? '' : `, or at about ${about(continued, unit)} if ${goingOnIn(fact)} continues`;
  if (expected > planned || spent >= planned) {
    const over = expected > planned ? overAtEndWords(fact, expected - planned) : undefined;
    return { short: over, sentences: [...overWords, `${ends}${or}.${spentOnWords(fact)}`], next: undefined };
  }
  const isClose = expected * 100n > planned * closePercent;
  const verdict = end.stopped === null ? `, ${isClose ? 'close to' : 'within'} its budget` : '';
  return {
    short: isClose ? `expected to end close to the budget (about ${about(expected, unit)})` : 'on course',
    sentences: [`${passedWords(fact)}${ends}${verdict}${or}.`],
    next:
      continued !== undefined && continued > planned
        ? undefined
        : noAction(isClose ? `${percentOf(planned - spent, amount)} % of the budget is left.` : ''),
  };
}

/** `about 828 USD over at the end`; if costs are unusual now, where it ends in both cases. */
function overAtEndWords(fact: Outlook, over: bigint): string {
  return bothEnds(fact) ?? `about ${about(over, fact.unit)} over at the end`;
}

/**
 * Where a period ends in both cases: `about 911 USD at the end if crawler stops now, about 2,461 USD if it continues`. Undefined
 * if nothing goes on. Pure.
 */
export function bothEnds({ unit, unusual, end }: Pick<Outlook, 'unit' | 'unusual' | 'end'>): string | undefined {
  const stopped = endIfStopped(end);
  if (end === undefined || stopped === undefined) return undefined;
  const [least, most] = [stopped, end.continued ?? end.expected].map((one) => about(moneyOf(one), unit));
  return `about ${least} at the end if ${goingOnIn({ unusual })} stops now, about ${most} if it continues`;
}

/**
 * Where the period ends if anomalies that go on do so, and if they stop now: a sentence without its full stop. Undefined if
 * none goes on.
 */
function endWords({
  period,
  value,
  amount,
  unit,
  unusual,
  end,
  revision,
  completeThrough,
}: Outlook): string | undefined {
  if (end === undefined || end.stopped === null) return undefined;
  const goesOn = goingOnIn({ unusual });
  const [expected, stopped, planned] = [moneyOf(end.expected), moneyOf(end.stopped), moneyOf(amount)];
  const now = nowWords(completeThrough);
  const ends = `about ${about(stopped, unit)} if ${goesOn} stops ${now}, about ${about(expected, unit)} if it continues`;
  if (stopped > planned) {
    return moneyOf(value) > planned
      ? `${period} will end at ${ends}`
      : `${period} will ${revision === undefined ? '' : 'now '}exceed its budget either way: ${ends}`;
  }
  return expected > planned
    ? `${period} will exceed its budget only if ${goesOn} continues: about ${about(expected, unit)}, or about ${about(stopped, unit)} if it stops ${now}`
    : `${period} will stay within its budget either way: ${ends}`;
}

/** What may go on, as the subject of a sentence. */
function goingOnIn({ unusual = [] }: Pick<Outlook, 'unusual'>): string {
  const [first, ...others] = unusual.filter(({ daily }) => daily !== null);
  return first !== undefined && others.length === 0 ? first.subject : 'all that is unusual';
}

/** ` The budget is spent around 26 Oct.`; the day is that of the case that all goes on. */
function spentOnWords(fact: Outlook): string {
  const { end, unit, periodStart } = fact;
  if (end === undefined || end.spentOn === null) return '';
  const head = end.stopped === null ? 'The' : 'If it continues, the';
  return ` ${head} budget is ${unit === undefined ? 'spent' : 'used up'} ${aboutDay(end.spentOn, periodStart)}${earlierWords(fact)}.`;
}

/** `, but within a day if crawler continues`: what is left, by the daily costs of what may go on. */
function earlierWords({ value, amount, end, unusual = [] }: Outlook): string {
  const daily = unusual.reduce((sum, one) => sum + (one.daily === null ? 0n : moneyOf(one.daily)), 0n);
  const left = moneyOf(amount) - moneyOf(value);
  if (end?.continued === undefined || daily <= 0n || left <= 0n) return '';
  const days = Number(left / daily) + 1;
  return `, but within ${days === 1 ? 'a day' : `${days} days`} if ${goingOnIn({ unusual })} continues`;
}

/** `53.3 % of the period is over. ` */
function passedWords({ periodStart, periodEnd, completeThrough }: Outlook): string {
  if (completeThrough === null) return '';
  const start = Date.parse(periodStart);
  const passed = percentOf(String(Date.parse(completeThrough) - start), String(Date.parse(periodEnd) - start));
  return `${passed} % of the period is over. `;
}

function about(amount: bigint, unit: string | undefined): string {
  return roughly(amount, unit);
}
