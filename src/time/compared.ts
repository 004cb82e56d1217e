import { addCalendarMonths, dayMs, floorMonth, formatMonth, type Instant, type Window } from './time.ts';

/** What a window is compared with: the window before, or the same part of the month before. */
export type Comparison = 'before' | 'month';

/** Two windows with the same hours, or whole months; or why there are none. */
export type Compared =
  | { readonly kind: 'compared'; readonly window: Window; readonly before: Window }
  | { readonly kind: 'none'; readonly reason: string };

/** What the books have: undefined if it is not known since when. */
export interface BooksKnown {
  /** The first instant from which every account is in the books. */
  readonly completeFrom: Instant | undefined;
}

const weekMs = 7 * dayMs;

/**
 * What a window of complete hours is compared with, on pages, in messages and in summaries: a window with the same hours.
 * Whole months, and a month so far, with as many months before; any other one so many whole weeks before that the two do not
 * overlap, so that both have the same weekdays and hours. Time before the books is unknown, and compared with nothing. Pure.
 */
export function comparedWith(
  window: Window,
  { completeFrom }: BooksKnown,
  comparison: Comparison = 'before',
): Compared {
  const before = windowBefore(window, comparison);
  if (before === undefined) {
    return { kind: 'none', reason: `${formatMonth(addCalendarMonths(window.start, -1))} has fewer hours` };
  }
  if (completeFrom === undefined) return { kind: 'none', reason: 'it is not known since when the books are complete' };
  if (before.start < completeFrom) {
    return {
      kind: 'none',
      reason: `the books are complete from ${new Date(completeFrom).toISOString().slice(0, 10)} on`,
    };
  }
  return { kind: 'compared', window, before };
}

/** The window that one is compared with; undefined if the month before does not have its hours. */
export function windowBefore({ start, end }: Window, comparison: Comparison = 'before'): Window | undefined {
  const startsMonth = floorMonth(start) === start;
  if (comparison === 'before' && !startsMonth) {
    const shift = Math.ceil((end - start) / weekMs) * weekMs;
    return { start: start - shift, end: end - shift };
  }
  const months = comparison === 'month' ? 1 : monthsIn({ start, end });
  const earlier = addCalendarMonths(start, -months);
  if (startsMonth && floorMonth(end) === end) return { start: earlier, end: addCalendarMonths(end, -months) };
  // The running month of the window, moved to an earlier month that has the same hours.
  const [from, to] =
    comparison === 'month'
      ? [earlier, start]
      : [addCalendarMonths(floorMonth(end), -months), addCalendarMonths(floorMonth(end), 1 - months)];
  const sameEnd = from + (end - (comparison === 'month' ? start : floorMonth(end)));
  return sameEnd <= to ? { start: earlier, end: sameEnd } : undefined;
}

/** The months that a window touches, which starts one. */
function monthsIn({ start, end }: Window): number {
  let months = 1;
  while (addCalendarMonths(start, months) < end) months += 1;
  return months;
}
