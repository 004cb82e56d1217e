import { UsageError } from '../base/errors.ts';
import { addCalendarMonths, dayMs, formatInstant, hourMs, parseRfc3339 } from '../time/time.ts';

/** Steps of whole months. The days of `month end` are the last of their months, whichever these are. */
export const monthsOfSteps = {
  month: 1,
  quarter: 3,
  year: 12,
  'month end': 1,
  'quarter end': 3,
  'year end': 12,
} as const;
export type MonthsStep = keyof typeof monthsOfSteps;

/** The distance from one value of a series to the next: a calendar step, or any number of milliseconds. */
export type Step = 'hour' | 'day' | 'week' | MonthsStep | number;

const lengths = { hour: hourMs, day: dayMs, week: 7 * dayMs } as const;

/** The UTC instant `count` steps after `start`. Throws UsageError if `start` is not an instant. */
export function stepsAfter(start: string, step: Step, count: number): string {
  const instant = parseRfc3339(start);
  if (instant === undefined) throw new UsageError(`start: "${start}" is not an instant; expected 2026-10-01T00:00:00Z`);
  if (!isOfMonths(step)) return formatInstant(instant + count * stepMsOf(step));
  const months = count * monthsOfSteps[step];
  const isEnd = step !== stepName(step);
  return formatInstant(isEnd ? addCalendarMonths(instant + dayMs, months) - dayMs : addCalendarMonths(instant, months));
}

/** The default seasons of a step, in steps. */
export function usualSeasons(step: Step): readonly number[] {
  if (isOfMonths(step)) return [12 / monthsOfSteps[step]].filter((season) => season > 1);
  const length = stepMsOf(step);
  if (length >= dayMs) return length === dayMs ? [7] : [];
  return [dayMs, 7 * dayMs].map((season) => season / length).filter(Number.isInteger);
}

/** Whether a step has months, whose lengths differ. */
export function isOfMonths(step: Step): step is MonthsStep {
  return Object.hasOwn(monthsOfSteps, step);
}

/** The length of a step in milliseconds. */
export function stepMsOf(step: Exclude<Step, MonthsStep>): number {
  return typeof step === 'number' ? step : lengths[step];
}

/** `month`, or `900s`. */
export function stepName(step: Step): string {
  return typeof step === 'number' ? `${step / 1000}s` : step.replace(' end', '');
}

/** `one month`, or `900 s`. */
export function describeStep(step: Step): string {
  return typeof step === 'number' ? `${step / 1000} s` : `one ${stepName(step)}`;
}
