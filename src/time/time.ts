import { createRequire } from 'node:module';
import type { Instant } from '../base/effects.ts';
import { UsageError } from '../base/errors.ts';
import { once } from '../base/once.ts';
import { nearest } from '../text/choices.ts';
import {
  type FiscalKind,
  type FiscalYear,
  fiscalKinds,
  fiscalPeriodAt,
  fiscalPeriodNamed,
  type LocalPeriod,
} from './fiscal-year.ts';

export type { Instant };

// Loaded with the first week: that is many files, and short commands count none.
const require = createRequire(import.meta.url);
const weeks = once(() => ({
  inUtc: { in: (require('@date-fns/utc') as typeof import('@date-fns/utc')).utc },
  ...(require('date-fns/startOfISOWeek') as typeof import('date-fns/startOfISOWeek')),
  ...(require('date-fns/getISOWeek') as typeof import('date-fns/getISOWeek')),
  ...(require('date-fns/getISOWeekYear') as typeof import('date-fns/getISOWeekYear')),
}));

/** A half-open UTC interval `[start, end)`. */
export interface Window {
  readonly start: Instant;
  /** Exclusive. */
  readonly end: Instant;
}

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** `2026-10-01T00:00:00Z`; with milliseconds unless they are zero. */
export function formatInstant(instant: Instant): string {
  const text = new Date(instant).toISOString();
  return text.endsWith('.000Z') ? `${text.slice(0, 19)}Z` : text;
}

/** As `formatInstant`, without the fraction of a second: for people. */
export function formatSecond(instant: Instant): string {
  return formatInstant(Math.floor(instant / 1000) * 1000);
}

/** `2026-10-01T00:00:00Z/2026-10-08T00:00:00Z`, end exclusive, as ISO 8601 writes intervals. */
export function formatWindow(window: Window): string {
  return `${formatInstant(window.start)}/${formatInstant(window.end)}`;
}

/** The month of an instant: `2026-10`. */
export function formatMonth(instant: Instant): string {
  return formatInstant(instant).slice(0, 7);
}

export function floorHour(instant: Instant): Instant {
  return Math.floor(instant / hourMs) * hourMs;
}

export function floorDay(instant: Instant): Instant {
  return Math.floor(instant / dayMs) * dayMs;
}

export function floorMonth(instant: Instant): Instant {
  return firstOfMonth(instant, 0);
}

/**
 * The instant the given number of calendar months later (earlier where negative), in UTC. A day that the month does not
 * have becomes its last.
 */
export function addCalendarMonths(instant: Instant, count: number): Instant {
  const start = firstOfMonth(instant, count);
  const lastDay = firstOfMonth(instant, count + 1) - dayMs;
  const sinceDay = instant - floorDay(instant);
  return Math.min(start + (new Date(instant).getUTCDate() - 1) * dayMs, lastDay) + sinceDay;
}

function firstOfMonth(instant: Instant, monthsLater: number): Instant {
  const date = new Date(instant);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + monthsLater, 1);
}

/** A length of time for people, without its sign: `30 days`, `2.5 hours`, `3 minutes`, `40 seconds`. */
export function describeSpan(ms: number): string {
  const span = Math.abs(ms);
  if (span >= 2 * dayMs) return `${Math.floor(span / dayMs)} days`;
  if (span >= hourMs) return `${(span / hourMs).toFixed(1)} hours`;
  const [count, unit] = span >= 120_000 ? [Math.round(span / 60_000), 'minute'] : [Math.round(span / 1000), 'second'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** Whether an instant is known and more than so many hours ago. Pure. */
export function isOlder(at: string | null, now: Instant, hours: number): boolean {
  return at !== null && Date.parse(at) < now - hours * hourMs;
}

/** Whole hours since an instant; undefined for none. Pure. */
export function wholeHoursSince(at: string | null, now: Instant): number | undefined {
  return at === null ? undefined : Math.floor((now - Date.parse(at)) / hourMs);
}

const durationUnits = new Map([
  ['s', 1000],
  ['m', 60_000],
  ['h', hourMs],
  ['d', dayMs],
]);

/** Milliseconds of a duration such as `90s`, `10m`, `26h` or `2d`; undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,5})([smhd])$/.exec(text.trim()) ?? [];
  const unitMs = durationUnits.get(unit);
  return unitMs === undefined ? undefined : Number(count) * unitMs;
}

/** The number of whole hours in a window of whole hours. */
export function hoursIn(window: Window): number {
  return Math.round((window.end - window.start) / hourMs);
}

const rfc3339 = /^(\d{4}-\d{2}-\d{2})[Tt ]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
/** The years that DuckDB reads: 1 to 9999. */
const [earliest, latest] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z')];
const calendarDate = /^\d{4}-\d{2}-\d{2}$/;
const calendarMonth = /^\d{4}-\d{2}$/;
const daysAgo = /^-(\d{1,5})d$/;

/**
 * The instant of an RFC 3339 text with an offset; undefined for any other text, for an impossible date, or for one whose year
 * in UTC is none from 1 to 9999.
 * Fractions below a millisecond are cut.
 */
export function parseRfc3339(text: string): Instant | undefined {
  const match = rfc3339.exec(text);
  if (!match) return undefined;
  const [, date = '', clock = '', fraction = '', offset = 'Z'] = match;
  // Date.parse turns 2026-02-30 into a day in March; such a date does not format back to itself.
  const day = Date.parse(`${date}T00:00:00Z`);
  if (Number.isNaN(day) || formatInstant(day).slice(0, 10) !== date) return undefined;
  const instant = Date.parse(`${date}T${clock}${fraction.slice(0, 4)}${offset.toUpperCase()}`);
  return instant >= earliest && instant <= latest ? instant : undefined;
}

/** An instant without its seconds. */
const minuteOfDay = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(Z|[+-]\d\d:\d\d)$/i;

/**
 * Parses an instant written by a person: `2026-10-01`, `2026-10` (its first instant), an RFC 3339 instant, or `-7d`
 * (the start of the UTC day seven days before today). Throws UsageError naming `what`.
 */
export function parseInstant(text: string, what: string, now: Instant): Instant {
  const relative = daysAgo.exec(text);
  if (relative) return floorDay(now) - Number(relative[1]) * dayMs;
  const full = calendarMonth.test(text) ? `${text}-01` : text.replace(minuteOfDay, '$1:00$2');
  const instant = parseRfc3339(calendarDate.test(full) ? `${full}T00:00:00Z` : full);
  if (instant === undefined) {
    throw new UsageError(
      `${what}: "${text}" is not a date; expected 2026-10-01, 2026-10, 2026-10-01T00:00:00Z or -7d (all UTC)`,
    );
  }
  return instant;
}

/** Whether the text is relative to now: `-7d`. */
export function isRelative(text: string): boolean {
  return daysAgo.test(text);
}

/**
 * The window of a calendar month such as `2026-10`; with `now`, also of `last`, the latest month that is over then.
 * Throws UsageError naming `what`.
 */
export function parseMonth(text: string, what: string, now?: Instant): Window {
  const isLast = text === 'last' && now !== undefined;
  const written = isLast ? formatMonth(addCalendarMonths(now, -1)) : text;
  const start = calendarMonth.test(written) ? parseRfc3339(`${written}-01T00:00:00Z`) : undefined;
  if (start === undefined) {
    const expected =
      now === undefined
        ? 'a month such as 2026-10'
        : 'a month such as 2026-10, or last for the latest month that is over';
    throw new UsageError(`${what}: "${text}" is not a month; expected ${expected}`);
  }
  return { start, end: addCalendarMonths(start, 1) };
}

/** The union as sorted windows that neither overlap nor touch, without empty ones. */
export function unionWindows(windows: readonly Window[]): Window[] {
  const sorted = windows.filter((window) => window.start < window.end).sort((a, b) => a.start - b.start);
  const union: Window[] = [];
  for (const window of sorted) {
    const last = union.at(-1);
    if (last !== undefined && window.start <= last.end) {
      union[union.length - 1] = { start: last.start, end: Math.max(last.end, window.end) };
    } else {
      union.push(window);
    }
  }
  return union;
}

/** The parts of `windows` outside all of `others`, as sorted, disjoint windows. */
export function subtractWindows(windows: readonly Window[], others: readonly Window[]): Window[] {
  const holes = unionWindows(others);
  return unionWindows(windows).flatMap((window) => {
    const pieces: Window[] = [];
    let start = window.start;
    for (const hole of holes) {
      if (hole.end <= start || hole.start >= window.end) continue;
      if (hole.start > start) pieces.push({ start, end: hole.start });
      start = Math.max(start, hole.end);
    }
    if (start < window.end) pieces.push({ start, end: window.end });
    return pieces;
  });
}

/** The overlap of two windows; undefined if there is none. */
export function intersectWindows(a: Window, b: Window): Window | undefined {
  const window = { start: Math.max(a.start, b.start), end: Math.min(a.end, b.end) };
  return window.start < window.end ? window : undefined;
}

/** Kinds of consecutive periods. Weeks start on Monday, as in ISO 8601. */
const calendarKinds = ['daily', 'weekly', 'monthly', 'quarterly', 'yearly'] as const;
export const periodKinds = [...calendarKinds, ...fiscalKinds] as const;
export type PeriodKind = (typeof periodKinds)[number];
type CalendarKind = (typeof calendarKinds)[number];

/** Whether periods of a kind need a fiscal year. */
export function isFiscal(kind: PeriodKind): kind is FiscalKind {
  return fiscalKinds.some((other) => other === kind);
}

/** A period of a calendar: its window in UTC, and its name. Periods of one kind sort by name. */
export interface CalendarPeriod extends Window {
  /** `2026-10-01`, `2026-W40`, `2026-10`, `2026-Q4` or `2026`; `FY2027-P03`, `FY2027-Q1` or `FY2027`. */
  readonly name: string;
}

/**
 * The periods of a kind in a time zone. Boundaries must be whole hours of UTC, because the books count in hours: both
 * functions throw UsageError if the zone puts one elsewhere.
 */
export interface Calendar {
  /** The period that contains an instant. */
  periodAt(instant: Instant): CalendarPeriod;
  /** The period with a name; undefined if no period of the kind has it. */
  periodNamed(name: string): CalendarPeriod | undefined;
}

/**
 * The calendar of a kind of period in a zone. Throws UsageError unless the zone is `UTC` or an IANA name. Fiscal periods
 * need the fiscal year.
 */
export function calendarOf(kind: PeriodKind, timeZone = 'UTC', fiscalYear?: FiscalYear): Calendar {
  const zone = zoneOf(timeZone);
  const days = localPeriods(kind, fiscalYear);
  function toUtc({ start, end, name }: LocalPeriod): CalendarPeriod {
    return { start: beginOf(zone, start, name), end: beginOf(zone, end, days.at(end).name), name };
  }
  return {
    periodAt: (instant) => toUtc(days.at(floorDay(instant + zone.offsetAt(instant)))),
    periodNamed(name) {
      const period = days.named(name);
      return period === undefined ? undefined : toUtc(period);
    },
  };
}

/** The periods of a kind, in local days. */
function localPeriods(
  kind: PeriodKind,
  fiscalYear: FiscalYear | undefined,
): { at(day: LocalDay): LocalPeriod; named(name: string): LocalPeriod | undefined } {
  if (isFiscal(kind)) {
    if (fiscalYear === undefined) throw new Error(`${kind} without a fiscal year`);
    return {
      at: (day) => fiscalPeriodAt(kind, day, fiscalYear),
      named: (name) => fiscalPeriodNamed(kind, name, fiscalYear),
    };
  }
  const calendarKind: CalendarKind = kind;
  function at(day: LocalDay): LocalPeriod {
    const start = firstDay(calendarKind, day);
    return { start, end: endOf(calendarKind, start), name: nameOf(calendarKind, start) };
  }
  return {
    at,
    named(name) {
      const day = dayWithin(calendarKind, name);
      const period = day === undefined ? undefined : at(day);
      return period?.name === name ? period : undefined;
    },
  };
}

/** A local day: its midnight, written as if the zone were UTC. */
type LocalDay = number;

function endOf(kind: CalendarKind, start: LocalDay): LocalDay {
  if (kind === 'daily') return start + dayMs;
  if (kind === 'weekly') return start + 7 * dayMs;
  return addCalendarMonths(start, kind === 'monthly' ? 1 : kind === 'quarterly' ? 3 : 12);
}

/** `2026-W48`. */
function isoWeekName(start: LocalDay): string {
  const { getISOWeek, getISOWeekYear, inUtc } = weeks();
  return `${getISOWeekYear(start, inUtc)}-W${String(getISOWeek(start, inUtc)).padStart(2, '0')}`;
}

function firstDay(kind: CalendarKind, day: LocalDay): LocalDay {
  const date = new Date(day);
  switch (kind) {
    case 'daily':
      return floorDay(day);
    case 'weekly':
      return weeks().startOfISOWeek(day, weeks().inUtc).getTime();
    case 'monthly':
      return floorMonth(day);
    case 'quarterly':
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - (date.getUTCMonth() % 3), 1);
    case 'yearly':
      return Date.UTC(date.getUTCFullYear(), 0, 1);
  }
}

function nameOf(kind: CalendarKind, start: LocalDay): string {
  const date = new Date(start);
  const text = formatInstant(start);
  switch (kind) {
    case 'daily':
      return text.slice(0, 10);
    case 'weekly':
      return isoWeekName(start);
    case 'monthly':
      return text.slice(0, 7);
    case 'quarterly':
      return `${text.slice(0, 4)}-Q${date.getUTCMonth() / 3 + 1}`;
    case 'yearly':
      return text.slice(0, 4);
  }
}

const periodNames: Readonly<Record<CalendarKind, RegExp>> = {
  daily: /^(\d{4})-(\d{2})-(\d{2})$/,
  weekly: /^(\d{4})-W(\d{2})$/,
  monthly: /^(\d{4})-(\d{2})$/,
  quarterly: /^(\d{4})-Q([1-4])$/,
  yearly: /^(\d{4})$/,
};

/** Any day in the period with this name; undefined if the name has another form. */
function dayWithin(kind: CalendarKind, name: string): LocalDay | undefined {
  const match = periodNames[kind].exec(name);
  if (!match) return undefined;
  const [year = 0, second = 1, third = 1] = match.slice(1).map(Number);
  if (year < 1000) return undefined; // Date.UTC reads 26 as 1926
  // The fourth of January is always in the first week.
  if (kind === 'weekly') return Date.UTC(year, 0, 4 + 7 * (second - 1));
  return Date.UTC(year, kind === 'quarterly' ? 3 * (second - 1) : second - 1, third);
}

/** A time zone by its name. */
export interface Zone {
  readonly name: string;
  /** The zone's offset from UTC in milliseconds, positive if ahead. */
  offsetAt(instant: Instant): number;
}

/** The zones that were asked for: making the format of one takes as long as hundreds of its offsets. */
const zones = new Map<string, Zone>([['UTC', { name: 'UTC', offsetAt: () => 0 }]]);

/** Throws UsageError unless the name is `UTC` or an IANA name. */
export function zoneOf(name: string): Zone {
  const known = zones.get(name) ?? newZone(name);
  zones.set(name, known);
  return known;
}

function newZone(name: string): Zone {
  let format: Intl.DateTimeFormat;
  try {
    // Some versions of Node accept an offset such as +05:30, which is not a zone name.
    if (!/^[A-Za-z]/.test(name)) throw new RangeError(name);
    format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  } catch (error) {
    const guess = nearest(name, Intl.supportedValuesOf('timeZone'));
    const hint = guess === undefined ? '' : `; did you mean ${guess}?`;
    throw new UsageError(`found ${JSON.stringify(name)}, expected a time zone such as UTC or Europe/Berlin${hint}`, {
      cause: error,
    });
  }
  return {
    name,
    offsetAt(instant) {
      const text = format.formatToParts(instant).find(({ type }) => type === 'timeZoneName')?.value ?? '';
      const [, sign, hours = 0, minutes = 0, seconds = 0] =
        /^GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text) ?? [];
      const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
      return sign === '-' ? -ms : ms;
    },
  };
}

/**
 * The first instant of a local day. If the clocks change at midnight, that is the earlier of two midnights, or, if
 * midnight is skipped, the instant at which it would have been.
 */
function beginOf(zone: Zone, day: LocalDay, name: string): Instant {
  const before = zone.offsetAt(day - dayMs);
  const midnights = [before, zone.offsetAt(day + dayMs)]
    .map((offset) => ({ instant: day - offset, offset }))
    .filter(({ instant, offset }) => zone.offsetAt(instant) === offset)
    .map(({ instant }) => instant);
  const begin = midnights.length > 0 ? Math.min(...midnights) : day - before;
  if (floorHour(begin) !== begin) {
    throw new UsageError(
      `${name} in ${zone.name} starts at ${formatInstant(begin)}, which is not a whole hour of UTC, but the books ` +
        'count in whole hours: choose a time zone that differs from UTC by whole hours, such as UTC itself',
    );
  }
  return begin;
}

/** The number of a UTC day since 1970-01-01. */
export function dayNumber(instant: Instant): number {
  return Math.round(floorDay(instant) / dayMs);
}

/** The number of `2026-10-03`. */
export function dayNamed(text: string): number {
  return dayNumber(Date.parse(`${text}T00:00:00Z`));
}

/** `2026-10-03`. */
export function dayName(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}

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

/** `October 2026`. */
export function monthName(month: Instant): string {
  return new Intl.DateTimeFormat('en-US', { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(month);
}

/** `2026-10-04T12:00:00Z` as people read it: `2026-10-04 12:00 UTC`. */
export function shownInstant(text: string): string {
  return `${text.slice(0, 16).replace('T', ' ')} UTC`;
}
