import { dayMs } from './time.ts';

/** Holidays that a user named, as numbers of days since 1970-01-01. */
export type Holidays = ReadonlySet<number>;

/** The first and the last day of a month. Days are numbers since 1970-01-01. */
export interface MonthDays {
  readonly first: number;
  readonly last: number;
}

/** The month so many months after that of a day. Pure. */
export function monthOf(day: number, apart = 0): MonthDays {
  const date = new Date(day * dayMs);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + apart];
  return { first: Date.UTC(year, month, 1) / dayMs, last: Date.UTC(year, month + 1, 1) / dayMs - 1 };
}

/** The weekday of a day: Monday is 0, because 1970-01-01 was a Thursday. Pure. */
export function weekdayOf(day: number): number {
  return (day + 3) % 7;
}

/** Whether a day is neither on a weekend nor a holiday. Pure. */
export function isWorkingDay(day: number, holidays: Holidays): boolean {
  return weekdayOf(day) < 5 && !holidays.has(day);
}

/** The first `count` working days of a month, earliest first. Pure. */
export function firstWorkingDays({ first, last }: MonthDays, holidays: Holidays, count: number): number[] {
  const days: number[] = [];
  for (let day = first; day <= last && days.length < count; day += 1) if (isWorkingDay(day, holidays)) days.push(day);
  return days;
}

/** The last `count` working days of a month, latest first. Pure. */
export function lastWorkingDays({ first, last }: MonthDays, holidays: Holidays, count: number): number[] {
  const days: number[] = [];
  for (let day = last; day >= first && days.length < count; day -= 1) if (isWorkingDay(day, holidays)) days.push(day);
  return days;
}
