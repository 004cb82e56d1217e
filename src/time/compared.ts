import { addCalendarMonths, dayMs, floorMonth, formatMonth, type Instant, type Window } from './time.ts';

/** What a window is compared with: the window before, the same part of the month before, or an earlier time from an instant on. */
export type Comparison = 'before' | 'month' | { readonly from: Instant };

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
 * overlap, so that both have the same weekdays and hours; from a chosen instant on, as many hours, or as many months. Time before the books is unknown, and compared with nothing. Pure.
 */
export function comparedWith(
  window: Window,
  { completeFrom }: BooksKnown,
  comparison: Comparison = 'before',
): Compared {
  const before = windowBefore(window, comparison);
  if (before === undefined && typeof comparison === 'object') {
    return { kind: 'none', reason: 'the other period has to have as many hours, and to end before this one starts' };
  }
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

/** The window that one is compared with; undefined if no time that ends before it has its hours there. */
export function windowBefore(window: Window, comparison: Comparison = 'before'): Window | undefined {
  const before = earlierWindow(window, comparison);
  return before === undefined || before.end > window.start ? undefined : before;
}

function earlierWindow({ start, end }: Window, comparison: Comparison): Window | undefined {
  const startsMonth = floorMonth(start) === start;
  if (typeof comparison === 'object') {
    const { from } = comparison;
    if (from >= start) return undefined;
    const isOfMonths = startsMonth && floorMonth(from) === from;
    return isOfMonths
      ? monthsBefore({ start, end }, monthsIn({ start: from, end: start }))
      : { start: from, end: from + end - start };
  }
  if (comparison === 'before' && !startsMonth) {
    const shift = Math.ceil((end - start) / weekMs) * weekMs;
    return { start: start - shift, end: end - shift };
  }
  if (startsMonth && (comparison === 'before' || floorMonth(end) === end))
    return monthsBefore({ start, end }, comparison === 'month' ? 1 : monthsIn({ start, end }));
  const earlier = addCalendarMonths(start, -1);
  return { start: earlier, end: earlier + (end - start) };
}

/** A window that starts a month, so many months before: whole months, or a running one that has the same hours there. */
function monthsBefore({ start, end }: Window, months: number): Window | undefined {
  const earlier = addCalendarMonths(start, -months);
  if (floorMonth(end) === end) return { start: earlier, end: addCalendarMonths(end, -months) };
  const running = floorMonth(end);
  const sameEnd = addCalendarMonths(running, -months) + (end - running);
  return sameEnd <= addCalendarMonths(running, 1 - months) ? { start: earlier, end: sameEnd } : undefined;
}

/** The months that a window touches, which starts one. */
function monthsIn({ start, end }: Window): number {
  let months = 1;
  while (addCalendarMonths(start, months) < end) months += 1;
  return months;
}
