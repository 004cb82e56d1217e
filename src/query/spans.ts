import { addCalendarMonths, floorMonth, type Instant, type Window } from '../time/time.ts';
import type { HoursBetween } from '../warehouse/store/index.ts';

/**
 * The hours from an instant on (undefined: all) in spans of whole months, each with at most `most` rows if the rows of the
 * books are spread evenly over their months. The first span has everything before it, the last one everything after it.
 */
export function spansOf(
  from: Instant | undefined,
  books: { readonly window: Window; readonly rowCount: number },
  most: number,
): HoursBetween[] {
  const { window, rowCount } = books;
  const rowsOfMonth = rowCount / monthsBetween(window.start, window.end);
  const length = Math.max(1, Math.floor(most / rowsOfMonth));
  const first = Math.max(from ?? window.start, window.start);
  const count = Math.ceil(monthsBetween(first, window.end) / length);
  if (count <= 1) return [{ from, to: undefined }];
  const starts = Array.from({ length: count }, (_, index) => addCalendarMonths(floorMonth(first), index * length));
  return starts.map((start, index) => ({ from: index === 0 ? from : start, to: starts[index + 1] }));
}

/** How many calendar months a window touches; at least one. */
function monthsBetween(start: Instant, end: Instant): number {
  const [first, last] = [new Date(start), new Date(Math.max(start, end - 1))];
  return (last.getUTCFullYear() - first.getUTCFullYear()) * 12 + last.getUTCMonth() - first.getUTCMonth() + 1;
}
