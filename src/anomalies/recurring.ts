import { median } from '../base/median.ts';
import { firstWorkingDays, type Holidays, lastWorkingDays, type MonthDays, monthOf, weekdayOf } from '../time/time.ts';
import { missingMonths, recurringMonths, recurringTimes } from './tuning.ts';

/** What each day cost; days are numbers since 1970-01-01. */
interface DayCosts {
  readonly firstDay: number;
  readonly costs: readonly number[];
}

/** A place in a month: a rule that names one day of it, or none. Days are numbers since 1970-01-01. */
type Place = (month: MonthDays) => number | undefined;

/** What a day cost beyond the same weekdays around it: USD, and as a share of those. */
export interface Excess {
  readonly day: number;
  readonly amount: number;
  readonly share: number;
  readonly usual: number;
}

const none: Holidays = new Set();

/** Days from the start or the end of a month that count as its first or last ones. */
const edgeDays = 3;

/**
 * The places that a day has in its month: its date, its distance from the month's end, its weekday (the first Monday, the
 * last Friday), and its place among the first or last working days.
 */
function placesOf(day: number, holidays: Holidays): Place[] {
  const month = monthOf(day);
  const date = day - month.first;
  const fromEnd = month.last - day;
  const weekday = weekdayOf(day);
  const early = (other: MonthDays) => firstWorkingDays(other, holidays, edgeDays);
  const late = (other: MonthDays) => lastWorkingDays(other, holidays, edgeDays);
  const [fromStart, toEnd] = [early(month).indexOf(day), late(month).indexOf(day)];
  return [
    ({ first, last }) => (first + date <= last ? first + date : undefined),
    ...(fromEnd < edgeDays ? [({ last }: MonthDays) => last - fromEnd] : []),
    ({ first, last }) => {
      const same = first + ((weekday - weekdayOf(first) + 7) % 7) + 7 * Math.floor(date / 7);
      return same <= last ? same : undefined;
    },
    ...(fromEnd < 7 ? [({ last }: MonthDays) => last - ((weekdayOf(last) - weekday + 7) % 7)] : []),
    ...(fromStart < 0 ? [] : [(other: MonthDays) => early(other)[fromStart]]),
    ...(toEnd < 0 ? [] : [(other: MonthDays) => late(other)[toEnd]]),
  ];
}

/** What a day cost beyond the same weekdays of three weeks around it, as far as they are known before `asOf`. */
function excessOf({ firstDay, costs }: DayCosts, day: number, asOf: number): Excess | undefined {
  const near = [-21, -14, -7, 7, 14, 21].flatMap((apart) => {
    const other = day + apart;
    return other >= firstDay && other < asOf ? [Math.max(0, costs[other - firstDay] ?? 0)] : [];
  });
  if (day < firstDay || near.length < 3) return undefined;
  const usual = median(near);
  const amount = (costs[day - firstDay] ?? 0) - usual;
  return { day, amount, share: usual > 0 ? amount / usual : Number.POSITIVE_INFINITY, usual };
}

/** The excesses of the holidays before a day that are known. */
function earlierHolidays(series: DayCosts, day: number, holidays: Holidays): Excess[] {
  return [...holidays].filter((past) => past < day).flatMap((past) => excessOf(series, past, day) ?? []);
}

/** The excesses of the same place in each of the last months, newest first; only of months that are known. */
function earlier(series: DayCosts, place: Place, day: number, months: number): Excess[] {
  return Array.from({ length: months }, (_, index) => place(monthOf(day, -1 - index))).flatMap((past) =>
    past === undefined ? [] : (excessOf(series, past, day) ?? []),
  );
}

/** Shares of earlier ones that differ by no more than this factor are the same. */
const steadyTimes = 2;

function timesApart(values: readonly number[]): number {
  return Math.max(...values) / Math.min(...values);
}

/**
 * Whether an increase recurs by date: in two or more of the last months there was one on the same date, at the same distance
 * from the month's end, on the same weekday of the month or on the same working day of it, or on two or more of the last
 * holidays if the day is one; and this one is at most `recurringTimes` as large. `expected` is what the day would cost without it, and `least` what an increase must come to
 * beyond what is usual to be one. Pure.
 */
export function recursByDate(
  series: DayCosts,
  day: number,
  {
    expected,
    least,
    holidays = none,
  }: { readonly expected: number; readonly least: (usual: number) => number; readonly holidays?: Holidays | undefined },
): boolean {
  const amount = (series.costs[day - series.firstDay] ?? 0) - expected;
  const share = expected > 0 ? amount / expected : Number.POSITIVE_INFINITY;
  const alikeOf = (past: readonly Excess[]) => {
    const known = past.filter((one) => one.amount >= least(one.usual));
    // A batch may grow with the other costs, as after a step, or be small on a weekend: then its share is the same.
    const isOfShare =
      timesApart(known.map((one) => one.share)) <= Math.max(steadyTimes, timesApart(known.map((one) => one.amount)));
    return known.filter(
      (one) =>
        one.amount * recurringTimes >= amount || (isOfShare && one.usual > 0 && one.share * recurringTimes >= share),
    );
  };
  if (holidays.has(day) && alikeOf(earlierHolidays(series, day, holidays)).length >= 2) return true;
  return placesOf(day, holidays).some((place) => {
    const past = earlier(series, place, day, recurringMonths);
    const like = alikeOf(past);
    const [newest] = like;
    if (newest === undefined || like.length < 2) return false;
    if (like.length === past.length) return true;
    // Another place of the calendar may explain the earlier ones better: then this day is none of them.
    return !placesOf(newest.day, holidays).some(
      (other) => alikeOf(earlier(series, other, day, recurringMonths)).length > like.length,
    );
  });
}

/** A recurring increase that did not come. */
export interface Missing {
  readonly day: number;
  readonly cost: number;
  /** What the day would have cost with it. */
  readonly expected: number;
  readonly least: number;
  readonly most: number;
}

/** So many days a recurring increase may be late, or early, before it is missing. */
export const lateDays = 2;
/** It came on a day with this share of the smallest earlier one. */
const cameShare = 0.4;
/** It may have come so many days earlier, by another rule of the calendar; it is missed once in so many. */
export const earlyDays = 10;

/**
 * Returns the increase that came in each of the last three months at the same place, and this time neither on its day, which is
 * `lateDays` before `day`, nor on the days around it. `expectedOf` is what a day costs without it, and `least` what an increase
 * must come to there to matter, `sure` to stand out. Pure.
 */
export function missingByDate(
  series: DayCosts,
  day: number,
  {
    expectedOf,
    least,
    sure,
    holidays = none,
  }: Readonly<Record<'expectedOf', (day: number) => number> & Record<'least' | 'sure', (usual: number) => number>> & {
    readonly holidays?: Holidays | undefined;
  },
): Missing | undefined {
  const due = day - lateDays;
  for (const place of placesOf(due, holidays)) {
    const past = earlier(series, place, due, missingMonths);
    const [newest] = past;
    if (newest === undefined || past.length < missingMonths) continue;
    if (past.some(({ amount, usual }) => amount < least(usual))) continue;
    const amounts = past.map(({ amount }) => amount);
    // On a weekday without costs, chance is that of the others.
    const around = Math.max(expectedOf(due), median(past.map(({ usual }) => usual)));
    if (median(amounts) < sure(around)) continue;
    // The earlier ones may follow another place of the calendar, whose day is still to come, or on which it came.
    const costOf = (other: number) => series.costs[other - series.firstDay] ?? 0;
    const leastShare = cameShare * Math.min(...past.map(({ share }) => share));
    const isElsewhere = placesOf(newest.day, holidays).some((other) => {
      const same = earlier(series, other, due, missingMonths);
      const isAsGood = same.length === missingMonths && same.every(({ amount, usual }) => amount >= least(usual));
      const there = other(monthOf(due, 0)) ?? due;
      // On a weekend it may be smaller, but not as a share.
      const hasCome = there < due && costOf(there) - expectedOf(there) >= leastShare * expectedOf(there);
      return isAsGood && (there > due || hasCome);
    });
    if (isElsewhere) continue;
    const smallest = Math.min(...amounts);
    const near = Array.from({ length: earlyDays + lateDays + 1 }, (_, index) => due - earlyDays + index);
    if (near.some((other) => costOf(other) - expectedOf(other) >= cameShare * smallest)) continue;
    const usual = expectedOf(due);
    return {
      ...{ day: due, cost: costOf(due), expected: usual + median(amounts) },
      ...{ least: usual + smallest, most: usual + Math.max(...amounts) },
    };
  }
  return undefined;
}

/** So many days of a month's cost are checked at most for others of the same place. */
const mostPairs = 12;

/** Those of some days that share a place of the calendar in `months` or more consecutive months. Pure. */
export function recurringOf(days: readonly number[], months: number, holidays: Holidays = none): ReadonlySet<number> {
  const found = new Set<number>();
  if (days.length < months || days.length > mostPairs) return found;
  const all = new Set(days);
  for (const day of days) {
    for (const place of placesOf(day, holidays)) {
      const same = Array.from({ length: months }, (_, index) => place(monthOf(day, -index)));
      if (same.some((other) => other === undefined || !all.has(other))) continue;
      for (const other of same) found.add(other ?? day);
    }
  }
  return found;
}
