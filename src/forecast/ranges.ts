import type { Losses } from './backtest.ts';
import type { Margin } from './intervals.ts';
import type { Margins } from './margins.ts';

/** As a share of the expected value. */
const rounding = 1e-9;

/** An expected value, and the interval that contains the outcome with the given probability. */
export interface Range {
  readonly mean: number;
  readonly lower: number;
  readonly upper: number;
}

/** One range per step, and one per sum up to it. */
export interface Ranges {
  readonly points: readonly Range[];
  readonly cumulative: readonly Range[];
}

/** Ranges of the steps around a path, and of the sums of another one, in units of `scale`. */
export function rangesAround(
  { steps, sums }: Readonly<Record<keyof Losses, readonly number[]>>,
  margins: Margins,
  floor: number,
  scale: number,
): Ranges {
  const points = steps.map((value, h) => rangeAround(value, margins.points[h] ?? [0, 0], floor));
  let total = 0;
  let before: Range | undefined;
  const cumulative = sums.map((value, h): Range => {
    total += value;
    const own = h === 0 ? points[0] : undefined;
    const range = own ?? rangeAround(total, margins.sums[h] ?? [0, 0], floor);
    // If values cannot be negative, sums cannot decrease.
    if (floor === 0 && before !== undefined) {
      before = {
        mean: Math.max(range.mean, before.mean),
        lower: Math.max(range.lower, before.lower),
        upper: Math.max(range.upper, before.upper),
      };
    } else before = range;
    return before;
  });
  const inUnits = ({ mean, lower, upper }: Range): Range => ({
    mean: finite(mean * scale),
    lower: finite(lower * scale),
    upper: finite(upper * scale),
  });
  return { points: points.map(inUnits), cumulative: cumulative.map(inUnits) };
}

function rangeAround(value: number, [below, above]: Margin, floor: number): Range {
  // The order of addition changes sums slightly, so no interval is narrower than that.
  const least = rounding * Math.abs(value);
  return {
    mean: value,
    lower: Math.max(floor, value + Math.min(below, -least)),
    upper: value + Math.max(above, least),
  };
}

/** Keeps sums of very large numbers finite, and turns -0 into 0. */
function finite(value: number): number {
  return Math.min(Number.MAX_VALUE, Math.max(-Number.MAX_VALUE, value)) + 0;
}

/** Ranges that are also uncertain by a share of their means. */
export function widened(ranges: Ranges, share: number): Ranges {
  const of = ({ mean, lower, upper }: Range) => ({
    mean,
    lower: Math.max(Math.min(0, lower), mean - Math.hypot(mean - lower, share * mean)),
    upper: mean + Math.hypot(upper - mean, share * mean),
  });
  return { points: ranges.points.map(of), cumulative: ranges.cumulative.map(of) };
}

/** Ranges that include two outcomes, of which one has the given likelihood. */
export function either(one: Ranges, other: Ranges, likelihood: number): Ranges {
  const both = (some: readonly Range[], others: readonly Range[]) =>
    some.map((range, index): Range => {
      const { mean, lower, upper } = others[index] ?? range;
      return {
        mean: range.mean * likelihood + mean * (1 - likelihood),
        lower: Math.min(range.lower, lower),
        upper: Math.max(range.upper, upper),
      };
    });
  return { points: both(one.points, other.points), cumulative: both(one.cumulative, other.cumulative) };
}
