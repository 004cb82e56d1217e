import { UsageError } from '../errors.ts';
import { addCalendarMonths, dayMs, formatInstant, hourMs, parseRfc3339 } from '../time.ts';

/** The distance from one value of a series to the next: a calendar step, or any number of milliseconds. */
export type Step = 'hour' | 'day' | 'week' | 'month' | number;

const lengths = { hour: hourMs, day: dayMs, week: 7 * dayMs } as const;

/** The UTC instant `count` steps after `start`. Throws UsageError if `start` is not an instant. */
export function stepsAfter(start: string, step: Step, count: number): string {
  const instant = parseRfc3339(start);
  if (instant === undefined) throw new UsageError(`start: "${start}" is not an instant; expected 2026-10-01T00:00:00Z`);
  const length = stepMsOf(step);
  return formatInstant(length === undefined ? addCalendarMonths(instant, count) : instant + count * length);
}

/** The default seasons of a step, in steps. */
export function usualSeasons(step: Step): readonly number[] {
  const length = stepMsOf(step);
  if (length === undefined) return [12];
  if (length >= dayMs) return length === dayMs ? [7] : [];
  return [dayMs, 7 * dayMs].map((season) => season / length).filter(Number.isInteger);
}

/** The length of a step in milliseconds; undefined for months. */
export function stepMsOf(step: Step): number | undefined {
  if (step === 'month') return undefined;
  return typeof step === 'number' ? step : lengths[step];
}
