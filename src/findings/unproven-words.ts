import { largestMagnitude, roundDecimal, usd } from '../money/money.ts';
import { counted } from '../text/counted.ts';
import { addCalendarMonths, formatMonth, type Instant, parseInstant } from '../time/time.ts';

interface WindowText {
  readonly start: string;
  readonly end: string;
}

/** The months that windows touch, newest first: `2026-10`. */
export function monthsTouched(windows: readonly WindowText[]): string[] {
  const months = new Set<Instant>();
  for (const { start, end } of windows) {
    const until = parseInstant(end, 'end', 0);
    for (let month = parseInstant(start.slice(0, 7), 'start', 0); month < until; month = addCalendarMonths(month, 1)) {
      months.add(month);
    }
  }
  return [...months].sort((a, b) => b - a).map(formatMonth);
}

/** Months as text, oldest first, consecutive ones as a range: `2025-01 to 2025-12, 2026-10`. */
export function monthWords(months: readonly string[]): string {
  const ranges: { first: string; last: string }[] = [];
  for (const month of months.toSorted()) {
    const range = ranges.at(-1);
    if (range !== undefined && formatMonth(addCalendarMonths(parseInstant(range.last, 'month', 0), 1)) === month) {
      range.last = month;
    } else ranges.push({ first: month, last: month });
  }
  return ranges.map(({ first, last }) => (first === last ? first : `${first} to ${last}`)).join(', ');
}

/** What is known about the difference of an unproven window. */
interface Difference {
  /** USD, decimal text without sign; null if no cost differs. */
  readonly costDifference: string | null;
}

/** The largest cost difference of unproven windows: USD, decimal text. Undefined if no cost differs. Pure. */
export function largestDifference(windows: readonly Difference[]): string | undefined {
  return largestMagnitude(windows.flatMap(({ costDifference }) => costDifference ?? []));
}

/** The first comparison of a reason, without its rounding; `…` stands for the others, which the books have. Pure. */
export function firstComparison(reason: string): string {
  const [first = '', ...others] = reason.split('; ');
  return `${first.replace(/, rounding explains [\d.]+$/, '')}${others.length > 0 ? ' …' : ''}`;
}

/** `up to 0.25 USD: costs of acc_one in 2025-01 to 2025-12 differ from the platform's totals (3 windows)`. */
export function unprovenWords(account: string, windows: readonly (Difference & WindowText)[]): string {
  const difference = largestDifference(windows);
  const amount =
    difference === undefined ? '' : `${windows.length > 1 ? 'up to ' : ''}${usd(roundDecimal(difference, 12))}: `;
  const months = monthWords(monthsTouched(windows));
  return `${amount}costs of ${account} in ${months} differ from the platform's totals (${counted(windows.length, 'window')})`;
}

/** `differ by 0.25 USD from the platform's totals in 2025-01 to 2025-12`: with the largest amount of all windows. */
export function differenceWords(difference: string | undefined, windows: number, months: readonly string[]): string {
  const amount =
    difference === undefined ? '' : `by ${windows > 1 ? 'up to ' : ''}${usd(roundDecimal(difference, 12))} `;
  return `differ ${amount}from the platform's totals in ${monthWords(months)}`;
}
