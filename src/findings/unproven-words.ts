import { centsAddingUp, type Money, moneyOf, roundDecimal, sumOf, usd, usdDecimals } from '../money/money.ts';
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
interface Difference extends WindowText {
  /** USD, decimal text without sign; null if no cost differs. */
  readonly costDifference: string | null;
}

/**
 * The windows that differ, each once with its largest difference, in their order. Of a window and the windows within it,
 * such as a month and its days, only those with the larger sum are named: both show the same difference. Pure.
 */
export function windowsOf<
  T extends Difference & { readonly nights?: number | undefined; readonly failingSince?: string | undefined },
>(comparisons: readonly T[]): readonly T[] {
  const windows = new Map<string, T>();
  for (const one of comparisons) {
    const name = `${one.start}/${one.end}`;
    const largest = windows.get(name);
    if (largest === undefined || costOf(one) > costOf(largest)) windows.set(name, one);
  }
  const all = [...windows.values()];
  const named = new Set(outermost(all).named);
  return all
    .filter((one) => named.has(one))
    .map((one) => {
      // Nobody waits longer because a window that has differed for more nights is not named.
      const longest = all
        .filter((other) => overlaps(one, other))
        .reduce((a, b) => ((b.nights ?? 0) > (a.nights ?? 0) ? b : a), one);
      return longest === one ? one : { ...one, nights: longest.nights, failingSince: longest.failingSince };
    });
}

function overlaps(one: WindowText, other: WindowText): boolean {
  return other.start < one.end && one.start < other.end;
}

/** Windows that show each difference once, and their sum. */
interface Counted<T> {
  readonly named: T[];
  sum: bigint;
}

/** Chooses, from the innermost windows outwards, between a window and what it contains: what has the larger sum. */
function outermost<T extends Difference>(windows: readonly T[]): Counted<T> {
  const all: Counted<T> & { readonly window?: T } = { named: [], sum: 0n };
  const around: (Counted<T> & { readonly window?: T })[] = [all];
  function leave(): void {
    const [left, outer] = [around.pop(), around.at(-1)];
    if (left?.window === undefined || outer === undefined) return;
    const own = costOf(left.window);
    const isOwn = left.named.length === 0 || own >= left.sum;
    outer.named.push(...(isOwn ? [left.window] : left.named));
    outer.sum += isOwn ? own : left.sum;
  }
  for (const window of windows.toSorted((a, b) => a.start.localeCompare(b.start) || b.end.localeCompare(a.end))) {
    while ((around.at(-1)?.window?.end ?? '\uffff') < window.end) leave();
    around.push({ window, named: [], sum: 0n });
  }
  while (around.length > 1) leave();
  return all;
}

/** A difference may have more decimals than the books. */
export function costOf({ costDifference }: { readonly costDifference?: string | null | undefined }): Money {
  return moneyOf(roundDecimal(costDifference ?? '0', usdDecimals));
}

/** The sum of the differences of all windows: USD, decimal text. Undefined if no cost differs. Pure. */
export function sumOfDifferences(comparisons: readonly Difference[]): string | undefined {
  const windows = windowsOf(comparisons).filter(({ costDifference }) => costDifference !== null);
  return windows.length === 0 ? undefined : sumOf(windows.map(costOf));
}

/** The first comparison of a reason, without its rounding; `…` stands for the others, which the books have. Pure. */
export function firstComparison(reason: string): string {
  const [first = '', ...others] = reason.split('; ');
  return `${first.replace(/, rounding explains [\d.]+$/, '')}${others.length > 0 ? ' …' : ''}`;
}

/** `0.25 USD: costs of acc_one in 2025-01 to 2025-12 differ from the platform's totals (3 windows)`. */
export function unprovenWords(account: string, comparisons: readonly Difference[]): string {
  const difference = sumOfDifferences(comparisons);
  const amount = difference === undefined ? '' : `${usd(difference)}: `;
  const months = monthWords(monthsTouched(comparisons));
  const windows = counted(windowsOf(comparisons).length, 'window');
  return `${amount}costs of ${account} in ${months} differ from the platform's totals (${windows})`;
}

/** `differ by 0.25 USD from the platform's totals in 3 windows of 2025-01 to 2025-12`: with the amount of all windows. */
export function differenceWords(difference: string | undefined, windows: number, months: readonly string[]): string {
  const amount = difference === undefined ? '' : `by ${usd(difference)} `;
  const where = windows > 1 ? `${windows} windows of ` : '';
  return `differ ${amount}from the platform's totals in ${where}${monthWords(months)}`;
}

/** A line for each window: its first hour and end, then what differs, in cents that add up to the difference of all. Pure. */
export function windowLines(comparisons: readonly (Difference & { readonly reason: string })[]): readonly string[] {
  const windows = windowsOf(comparisons);
  const shown = centsAddingUp(windows.map(costOf), sumOfDifferences(comparisons) ?? '0');
  return windows.map((one, index) => windowLine(one, shown[index]));
}

/** `2026-10-14T00:00:00Z/2026-10-21T00:00:00Z: 7.26 USD, check "…" …: found 1, expected 2`: what differs, then the first comparison that failed. */
export function windowLine(
  {
    start,
    end,
    reason,
    costDifference,
  }: WindowText & { readonly reason: string; readonly costDifference?: string | null | undefined },
  shown: string | undefined,
): string {
  const first = firstComparison(reason);
  const window = `${start}/${end}`;
  if (costDifference == null || shown === undefined) return `${window}: ${first}`;
  // The largest difference may be another one than the first.
  const join = first.endsWith('…') ? '; first difference: ' : ', ';
  return `${window}: ${usd(shown)}${join}${first.replace(/, difference -?[\d.]+(?= …$|$)/, '')}`;
}
