import { dayMs, floorDay, type Instant } from './time.ts';

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
