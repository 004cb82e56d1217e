import { UTCDate, utc } from '@date-fns/utc';
import { addMonths } from 'date-fns/addMonths';
import { startOfMonth } from 'date-fns/startOfMonth';
import { UsageError } from './errors.ts';

/** Milliseconds since 1970-01-01T00:00:00Z. All of Costbook counts in UTC. */
export type Instant = number;

/** A half-open UTC interval `[start, end)`. */
export interface Window {
  readonly start: Instant;
  /** Exclusive. */
  readonly end: Instant;
}

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** `2026-10-01T00:00:00Z`; milliseconds only where there are any. */
export function formatInstant(instant: Instant): string {
  const text = new Date(instant).toISOString();
  return text.endsWith('.000Z') ? `${text.slice(0, 19)}Z` : text;
}

/** `2026-10-01T00:00:00Z/2026-10-08T00:00:00Z`, end exclusive, as ISO 8601 writes intervals. */
export function formatWindow(window: Window): string {
  return `${formatInstant(window.start)}/${formatInstant(window.end)}`;
}

/** `2026-10` of the month in which the instant lies. */
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
  return startOfMonth(new UTCDate(instant), { in: utc }).getTime();
}

/** The instant the given number of calendar months later (earlier where negative), in UTC. */
export function addCalendarMonths(instant: Instant, months: number): Instant {
  return addMonths(new UTCDate(instant), months, { in: utc }).getTime();
}

const durationUnits = new Map([
  ['s', 1000],
  ['m', 60_000],
  ['h', hourMs],
  ['d', dayMs],
]);

/** Milliseconds of a duration such as `90s`, `10m`, `26h` or `2d`; undefined where the text is none. */
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
const calendarDate = /^\d{4}-\d{2}-\d{2}$/;
const calendarMonth = /^\d{4}-\d{2}$/;
const daysAgo = /^-(\d{1,5})d$/;

/**
 * The instant that an RFC 3339 text with an offset names, or undefined where it is none (or names no real date).
 * Fractions finer than a millisecond are cut, as everything here counts in hours.
 */
export function parseRfc3339(text: string): Instant | undefined {
  const match = rfc3339.exec(text);
  if (!match) return undefined;
  const [, date = '', clock = '', fraction = '', offset = 'Z'] = match;
  // Date.parse rolls 2026-02-30 over into March; a date that does not come back as it went in is none.
  const day = Date.parse(`${date}T00:00:00Z`);
  if (Number.isNaN(day) || formatInstant(day).slice(0, 10) !== date) return undefined;
  const instant = Date.parse(`${date}T${clock}${fraction.slice(0, 4)}${offset.toUpperCase()}`);
  return Number.isNaN(instant) ? undefined : instant;
}

/**
 * The instant that a person wrote: `2026-10-01`, `2026-10` (its first instant), a full RFC 3339 instant, or `-7d`
 * (the start of the UTC day seven days before today). Throws UsageError naming `what`.
 */
export function parseInstant(text: string, what: string, now: Instant): Instant {
  const relative = daysAgo.exec(text);
  if (relative) return floorDay(now) - Number(relative[1]) * dayMs;
  const full = calendarMonth.test(text) ? `${text}-01` : text;
  const instant = parseRfc3339(calendarDate.test(full) ? `${full}T00:00:00Z` : full);
  if (instant === undefined) {
    throw new UsageError(
      `${what}: "${text}" is no date; expected 2026-10-01, 2026-10, 2026-10-01T00:00:00Z or -7d (all UTC)`,
    );
  }
  return instant;
}

/** The window of a calendar month written `2026-10`. Throws UsageError naming `what`. */
export function parseMonth(text: string, what: string): Window {
  const start = calendarMonth.test(text) ? parseRfc3339(`${text}-01T00:00:00Z`) : undefined;
  if (start === undefined) throw new UsageError(`${what}: "${text}" is no month; expected for example 2026-10`);
  return { start, end: addCalendarMonths(start, 1) };
}

/** The same instants as sorted, disjoint windows that do not touch; empty ones are left out. */
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

/** What of `windows` is in none of `others`, as sorted, disjoint windows. */
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

/** What of a window lies within another; undefined where nothing does. */
export function intersectWindows(a: Window, b: Window): Window | undefined {
  const window = { start: Math.max(a.start, b.start), end: Math.min(a.end, b.end) };
  return window.start < window.end ? window : undefined;
}
