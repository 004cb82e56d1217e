import {
  costAtPace,
  type KnownSpend,
  knownHours,
  oddSteps,
  type PaceForecast,
  toTrillionths,
} from '../../outlook/index.ts';
import { type CalendarPeriod, dayMs, hourMs, type Instant, type Window } from '../../time/time.ts';
import type { AnswerCache, Connection } from '../../warehouse/store/index.ts';
import type { Budget } from '../rules/budget.ts';
import { costsOf } from '../spend/spend.ts';
import type { ScopeHistory } from './forecast-histories.ts';
import { withGoingOn } from './going-on.ts';
import type { KnownAnomaly } from './known-anomalies.ts';

/** What is known of a budget's running period without a forecast. */
interface PaceAsked {
  readonly period: CalendarPeriod;
  readonly completeThrough: Instant;
  /** The start of the books over all accounts of the budget. */
  readonly historyStart: Instant;
  /** In the complete hours of the period, trillionths of the budget's unit. */
  readonly spent: bigint;
  readonly history: ScopeHistory;
}

/**
 * Where a budget's period ends at the pace of its complete hours since the books and its costs began. Undefined if no hour of
 * the period is one of them.
 */
export async function forecastAtPace(
  connection: Connection,
  budget: Budget,
  { period, completeThrough, historyStart, spent, history }: PaceAsked,
  cache: AnswerCache | undefined,
): Promise<PaceForecast | undefined> {
  const firstCost = await firstHourWithCost(connection, budget, { history, completeThrough }, cache);
  const hours = knownHours(period, { begins: [historyStart, firstCost ?? historyStart], completeThrough });
  if (hours === undefined) return undefined;
  // Accounts whose books began earlier have costs before these hours.
  const [cost] = hours.start === period.start ? [] : await costsOf(connection, [{ budget, ...hours }], cache);
  const whole = hours.start === period.start ? spent : (cost?.total ?? 0n);
  const usual = usualPart(whole, hours, history.unusual) - oddPart(history.steps, hours);
  const known: KnownSpend = { ...hours, spent: whole > 0n && usual < 0n ? 0n : usual };
  const atEnd = spent + costAtPace(known, period.end - hours.end);
  return withGoingOn({ mean: atEnd, path: [], known }, history.unusual, {
    ...{ since: hours.start, completeThrough, end: period.end },
  });
}

/** The first hour with a cost since the history began; undefined if there is none. */
async function firstHourWithCost(
  connection: Connection,
  budget: Budget,
  { history: { steps, values }, completeThrough }: Pick<PaceAsked, 'history' | 'completeThrough'>,
  cache: AnswerCache | undefined,
): Promise<Instant | undefined> {
  const first = values.findIndex((value) => value !== 0);
  const from = first === -1 ? steps.end : steps.start + first * steps.stepHours * hourMs;
  const end = Math.min(completeThrough, from + steps.stepHours * hourMs);
  const hours = Array.from({ length: (end - from) / hourMs }, (_, hour) => ({
    ...{ budget, start: from + hour * hourMs, end: from + (hour + 1) * hourMs },
  }));
  if (hours.length === 0) return undefined;
  const costs = await costsOf(connection, hours, cache);
  return hours.find((_, hour) => (costs[hour]?.total ?? 0n) !== 0n)?.start;
}

/** The cost of known hours without what anomalies added to them. */
function usualPart(whole: bigint, hours: Window, unusual: readonly KnownAnomaly[]): bigint {
  const extra = unusual.reduce((sum, { firstDay, impacts, goingOn }) => {
    const inHours = impacts.reduce((all, impact, index) => {
      const day = (firstDay + index) * dayMs;
      return day + dayMs > hours.start && day < hours.end ? all + impact : all;
    }, 0);
    // It goes on in the hours after its last evaluated day.
    const since = Math.max(hours.start, goingOn?.from ?? 0, (firstDay + impacts.length) * dayMs);
    const until = Math.min(hours.end, goingOn?.until ?? hours.end);
    return sum + inHours + ((goingOn?.daily ?? 0) * Math.max(0, until - since)) / dayMs;
  }, 0);
  return whole - toTrillionths(extra);
}

/** What odd days or hours add to the cost of known hours: they are spent, but they are no pace. */
function oddPart({ start, stepHours, values }: ScopeHistory['steps'], hours: Window): bigint {
  const stepMs = stepHours * hourMs;
  let extra = 0;
  for (const [index, excess] of oddSteps(values, stepHours)) {
    const at = start + index * stepMs;
    if (at + stepMs > hours.start && at < hours.end) extra += excess;
  }
  return toTrillionths(extra);
}
