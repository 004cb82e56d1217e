import { recurringTimes } from './tuning.ts';

/** The costs of a scope by hour: hours are numbers since 1970-01-01T00:00Z. */
export interface HourlyCosts {
  readonly firstHour: number;
  /** USD, one for each hour; the last one is the newest hour that has ended. */
  readonly costs: readonly number[];
}

/** The rules of the hourly watch. */
export interface WatchRules {
  /** A cost this many times the usual is a runaway; undefined if the watch is off. */
  readonly hourlyTimes: number | undefined;
  /** What it must cost more in a day at its pace, USD. */
  readonly minAmount: number;
  /** The days of history that a scope needs. */
  readonly minDays: number;
}

/** A cost that runs away in the newest hours. */
export interface Runaway {
  /** Its first hour. */
  readonly firstHour: number;
  /** The first hour after those that were read. */
  readonly endHour: number;
  /** USD a day beyond the usual, at the pace of its hours. */
  readonly pace: number;
  /** How many times the usual its hours cost; undefined if nothing was usual. */
  readonly times: number | undefined;
}

/** hours. A batch that comes on the first Monday of each month comes at most 35 days after the last one, or some hours later. */
export const historyHours = 57 * 24;
/** times. The two newest hours cost at least this many times the largest hour of the day before yesterday's same hours. */
export const largerTimes = 2.5;
/** hours. A runaway that began earlier is for the daily rule. */
export const mostHours = 24;
/** hours. One hour may be a single job; two in a row are the least that runs. */
export const leastHours = 2;
/** days. The usual hour is learned from this many days. */
const usualDays = 28;
/** Of the same hour on these days, this one in order of size is usual: a batch of each Monday has come four times. */
const usualPlace = 3;
/** share. Each of the two newest hours must be this share of a runaway hour, as young hours may be incomplete. */
const runningShare = 0.25;
/** hours. The lengths of time that are compared with the largest such time before. */
const lengths = [leastHours, 3, 6, 12] as const;
/** share. A scope with few days must cost this share of a runaway beyond its largest time before. */
const sparseShare = 0.8;
/** times. A new scope is reported once it has cost this many times `minAmount`: 100 USD. A smaller one waits for its day. */
const newTimes = 20;

/**
 * The runaway in the newest hours of a scope; undefined if there is none. Its hours cost many times what the same hours of
 * the day and an average hour cost before, and clearly more than the largest hours of the last five weeks, so that a batch
 * that comes once a day, week or month is none. `wasReported` says of an earlier hour that its cost was reported as unusual.
 * Pure.
 */
export function runawayOf(
  { firstHour, costs }: HourlyCosts,
  { hourlyTimes, minAmount, minDays }: WatchRules,
  wasReported: (hour: number) => boolean = () => false,
): Runaway | undefined {
  const end = costs.length;
  if (hourlyTimes === undefined || end < minDays * 24 + leastHours) return undefined;
  if (sumOf(costs, end - leastHours, end) * (24 / leastHours) < minAmount) return undefined;
  // The runaway is left out of what is usual, however long it has lasted.
  const before = end - mostHours;
  if (sumOf(costs, 0, before) <= 0) return newScope({ firstHour, costs }, before, minAmount);
  const unreported = costs.map((cost, place) => (wasReported(firstHour + place) ? 0 : cost));
  const known = sumOf(unreported, 0, before) > 0 ? unreported : costs;
  const mean = Math.max(meanOf(known, Math.max(0, before - usualDays * 24), before), meanOf(known, 0, before));
  const usualAt = (place: number) => Math.max(usualOf(known, place, before), mean);
  let start = end;
  while (start > before && (costs[start - 1] ?? 0) >= runningShare * hourlyTimes * usualAt(start - 1)) start -= 1;
  if (end - start < leastHours) return undefined;
  const history = known.slice(0, start);
  // A scope that costs on few days has shown too little of its sizes.
  const isSparse = activeDays({ firstHour, costs: history }) < minDays;
  const beyond = isSparse ? sparseShare * hourlyTimes : recurringTimes;
  const usualFrom = (from: number) => sumUp(end - from, (back) => usualAt(end - back));
  const isRunaway = lengths.some((length) => {
    if (end - start < length) return false;
    const cost = sumOf(costs, end - length, end);
    const usual = usualFrom(end - length);
    if (cost < hourlyTimes * usual || ((cost - usual) / length) * 24 < minAmount) return false;
    return cost >= beyond * largestSum(history, length);
  });
  if (!isRunaway) return undefined;
  const [cost, usual] = [sumOf(costs, start, end), usualFrom(start)];
  return {
    ...{ firstHour: firstHour + start, endHour: firstHour + end },
    pace: ((cost - usual) / (end - start)) * 24,
    times: cost / usual,
  };
}

/**
 * Whether the costs of a day were reported as unusual, so that a second runaway is not measured by the first. A day a week,
 * two weeks or about a month before counts all the same: a batch may recur. Pure.
 */
export function isReported(
  reported: readonly { readonly firstDay: number; readonly lastDay: number }[],
  day: number,
  today: number,
): boolean {
  const apart = today - day;
  if (apart === 7 || apart === 14 || (apart >= 27 && apart <= 36)) return false;
  return reported.some(({ firstDay, lastDay }) => day >= firstDay && day <= lastDay);
}

/** A scope without costs in eight weeks, if its first hours are already a lot of money. */
function newScope({ firstHour, costs }: HourlyCosts, before: number, minAmount: number): Runaway | undefined {
  const end = costs.length;
  let start = end;
  while (start > Math.max(0, before) && (costs[start - 1] ?? 0) > 0) start -= 1;
  if (end - start < leastHours) return undefined;
  const cost = sumOf(costs, start, end);
  if (cost < newTimes * minAmount) return undefined;
  const pace = (cost / (end - start)) * 24;
  return { firstHour: firstHour + start, endHour: firstHour + end, pace, times: undefined };
}

/** What an hour usually costs: the mean of the same hour of the day in the four weeks before a runaway. Pure. */
export function usualHourAt({ firstHour, costs }: HourlyCosts, from: number): (hour: number) => number {
  return (hour) => {
    const days = Array.from({ length: usualDays }, (_, day) => hour - (day + 1) * 24).filter(
      (at) => at >= firstHour && at < from,
    );
    return days.length === 0 ? 0 : days.reduce((sum, at) => sum + (costs[at - firstHour] ?? 0), 0) / days.length;
  };
}

/** share. An hour that costs this share of a runaway's hours so far beyond the usual still runs. */
const goesOnShare = 0.25;

/** How far a runaway has run since its first hour, and at what pace; undefined if not at all. Pure. */
export function runningHours(
  hours: HourlyCosts,
  from: number,
): { readonly endHour: number; readonly pace: number } | undefined {
  const { firstHour, costs } = hours;
  const usual = usualHourAt(hours, from);
  let sum = 0;
  let best: { endHour: number; pace: number } | undefined;
  for (let hour = from; hour < firstHour + costs.length; hour += 1) {
    const beyond = (costs[hour - firstHour] ?? 0) - usual(hour);
    const rate = best === undefined ? 0 : best.pace / 24;
    sum += beyond;
    if (beyond > 0 && beyond >= goesOnShare * rate) best = { endHour: hour + 1, pace: (sum / (hour + 1 - from)) * 24 };
  }
  return best;
}

/** What an hour usually costs at most: a large one of the same hour of the day, and the largest of the same hour of the week. */
function usualOf(costs: readonly number[], place: number, before: number): number {
  const sameHour: number[] = [];
  let weekly = 0;
  for (let days = 1; days <= usualDays + 7; days += 1) {
    const at = place - days * 24;
    if (at < 0) break;
    if (at >= before) continue;
    const cost = costs[at] ?? 0;
    if (days <= usualDays) sameHour.push(cost);
    if (days % 7 === 0) weekly = Math.max(weekly, cost);
  }
  sameHour.sort((a, b) => b - a);
  return Math.max(weekly, sameHour[Math.min(usualPlace, sameHour.length) - 1] ?? 0);
}

function activeDays({ firstHour, costs }: HourlyCosts): number {
  return new Set(costs.flatMap((cost, place) => (cost > 0 ? [Math.floor((firstHour + place) / 24)] : []))).size;
}

/** The largest sum of so many hours in a row. */
function largestSum(costs: readonly number[], length: number): number {
  let sum = 0;
  let largest = 0;
  for (const [place, cost] of costs.entries()) {
    sum += cost - (place >= length ? (costs[place - length] ?? 0) : 0);
    largest = Math.max(largest, sum);
  }
  return largest;
}

function meanOf(costs: readonly number[], from: number, to: number): number {
  return to <= from ? 0 : sumOf(costs, from, to) / (to - from);
}

function sumOf(costs: readonly number[], from: number, to: number): number {
  let sum = 0;
  for (let place = Math.max(0, from); place < to; place += 1) sum += costs[place] ?? 0;
  return sum;
}

function sumUp(count: number, of: (back: number) => number): number {
  let sum = 0;
  for (let back = 1; back <= count; back += 1) sum += of(back);
  return sum;
}
