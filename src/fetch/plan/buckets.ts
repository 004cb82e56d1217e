import type { Resolution } from '../../platform/interface/index.ts';
import {
  addCalendarMonths,
  dayMs,
  floorDay,
  floorHour,
  floorMonth,
  hourMs,
  type Instant,
  type Window,
} from '../../time/time.ts';

/** The resolutions that Costbook queries; weeks cross months, so they prove nothing. */
export type AskedResolution = Exclude<Resolution, 'weekly'>;

/** The name of one bucket of a resolution. */
export const bucketNames: Readonly<Record<AskedResolution, string>> = {
  hourly: 'hour',
  daily: 'day',
  monthly: 'month',
};

/**
 * A window in one or two parts: unless it starts at midnight UTC, the first part ends with the day in which it starts.
 * Where daily buckets of such a window start is not documented (4.6), but one day's part is one bucket.
 */
export function splitAtMidnight(window: Window): Window[] {
  const midnight = floorDay(window.start) + dayMs;
  if (floorDay(window.start) === window.start || midnight >= window.end) return [window];
  return [
    { start: window.start, end: midnight },
    { start: midnight, end: window.end },
  ];
}

/** The start of the hour, UTC day or UTC month that contains an instant. */
export function floorBucket(instant: Instant, resolution: AskedResolution): Instant {
  if (resolution === 'hourly') return floorHour(instant);
  return resolution === 'daily' ? floorDay(instant) : floorMonth(instant);
}

/**
 * The buckets of a window in order: the first starts with the window, each other one with a whole hour, UTC day or UTC
 * month; the last ends with the window.
 */
export function bucketsOf(window: Window, resolution: AskedResolution): Window[] {
  const buckets: Window[] = [];
  for (let { start } = window; start < window.end; ) {
    const floor = floorBucket(start, resolution);
    const next =
      resolution === 'monthly' ? addCalendarMonths(floor, 1) : floor + (resolution === 'daily' ? dayMs : hourMs);
    buckets.push({ start, end: Math.min(next, window.end) });
    start = next;
  }
  return buckets;
}
