import { UsageError } from '../errors.ts';
import { addCalendarMonths, dayMs, formatInstant, hourMs, parseRfc3339 } from '../time.ts';

/** The distance from one value of a series to the next: a calendar step, or any number of milliseconds. */
export type Step = 'hour' | 'day' | 'week' | 'month' | number;

const lengths = { hour: hourMs, day: dayMs, week: 7 * dayMs } as const;

/** The UTC instant `count` steps after `start`. Throws UsageError if `start` is not an instant. */
export function stepsAfter(start: string, step: Step, count: number): string {
  const instant = parseRfc3339(start);
  if (instant === undefined) throw new UsageError(`start: "${start}" is not an instant; expected 2026-10-01T00:00:00Z`);
  if (step === 'month') return formatInstant(addCalendarMonths(instant, count));
  return formatInstant(instant + count * (typeof step === 'number' ? step : lengths[step]));
}

/** The default seasons of a step, in steps. */
export function usualSeasons(step: Step): readonly number[] {
  if (step === 'month') return [12];
  const length = typeof step === 'number' ? step : lengths[step];
  if (length >= dayMs) return length === dayMs ? [7] : [];
  return [dayMs, 7 * dayMs].map((season) => season / length).filter(Number.isInteger);
}
