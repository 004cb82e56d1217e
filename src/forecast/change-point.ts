import type { Tried } from './choose-model.ts';
import type { Margin } from './intervals.ts';
import { type Margins, marginsFor, sizeOf, timesAll } from './margins.ts';
import type { Past } from './models.ts';
import { mean, studentQuantile, sum } from './numbers.ts';
import { type Ranges, rangesAround } from './ranges.ts';

/** The end of a series that is unlike anything before it. It may last, or be over tomorrow. */
export interface ChangePoint {
  /** Number of steps so far. */
  readonly steps: number;
  /** Ratio of the actual to the expected values. */
  readonly factor: number;
  /** The forecast of the horizon from before it started. */
  readonly before: readonly number[];
  /** Ratio of the series' size before it to its size with it. */
  readonly sizeBefore: number;
  /** Its values, if they follow no earlier profile: it is a level of its own. */
  readonly ownLevel: readonly number[] | undefined;
}

/** Values this many margins away are unlike anything before. */
const farMargins = 3;
/** A smaller change than this factor is not a change point. */
const leastFactor = 1.4;
/** An earlier error of at least this share counts as similar. */
const likeness = 0.6;
/** With fewer steps, a level of its own cannot be recognized. */
const leastOfLevel = 3;
/** With fewer origins, it is unknown what is unusual. */
const leastOrigins = 5;

/**
 * The change point at the end of a series, seen from the newest origin; undefined if the last step is as expected. The
 * models already know a change that happened before that origin.
 */
export function findChangePoint(tried: Tried, past: Past, horizon: number, level: number): ChangePoint | undefined {
  const { origins, sums } = tried;
  const { chosen } = sums;
  const [origin] = origins;
  if (origin === undefined || origins.length < leastOrigins || origin.back > horizon) return undefined;
  const { points } = marginsFor(origin, tried, horizon, level);
  const said = chosen.pathAt(0);
  let [steps, came, expected] = [0, 0, 0];
  const turned: { outcome: number; path: number }[] = [];
  for (let h = origin.outcomes.length - 1; h >= 0; h -= 1) {
    const [outcome = 0, path = 0, [below, above] = [0, 0]] = [origin.outcomes[h], said[h], points[h]];
    const isFar = outcome < path + farMargins * below || outcome > path + farMargins * above;
    if (!isFar || !origin.isKnown[h]) break;
    steps += 1;
    came += outcome;
    expected += path;
    turned.unshift({ outcome, path });
  }
  const factor = came / expected;
  if (!Number.isFinite(factor) || (factor < leastFactor && factor > 1 / leastFactor)) return undefined;
  if (hasHappenedBefore(tried, steps, (came - expected) / sizeOf(origin.past))) return undefined;
  const before = chosen.model.forecast(origin.past, origin.back + horizon)?.slice(origin.back);
  return (
    before && {
      steps,
      factor,
      before: before.map((value) => Math.max(0, value)),
      sizeBefore: sizeOf(origin.past) / sizeOf(past),
      ownLevel: ownLevelOf(turned, factor),
    }
  );
}

/** The steps after a change point, if they are nearer to one level than to a multiple of the forecast. */
function ownLevelOf(turned: readonly { outcome: number; path: number }[], factor: number): number[] | undefined {
  if (turned.length < leastOfLevel) return undefined;
  const outcomes = turned.map(({ outcome }) => outcome);
  const level = mean(outcomes);
  const fromLevel = sum(outcomes.map((outcome) => Math.abs(outcome - level)));
  const fromProfile = sum(turned.map(({ outcome, path }) => Math.abs(outcome - factor * path)));
  return fromLevel < fromProfile ? outcomes : undefined;
}

/** Whether an older origin had about the same errors in the same direction for as many steps in a row. */
function hasHappenedBefore({ sums: { chosen }, origins }: Tried, steps: number, error: number): boolean {
  return origins.slice(1).some(({ past, outcomes, isKnown }, index) => {
    const size = sizeOf(past);
    const path = chosen.pathAt(index + 1);
    // Skips outcomes that belong to the newest origin.
    const seen = outcomes.slice(0, (index + 1) * (origins[0]?.back ?? 1));
    const errors = seen.map((outcome, h) => (isKnown[h] ? (outcome - (path[h] ?? 0)) / size : 0));
    return errors.some((_, first) => {
      if (first + steps > errors.length) return false;
      const inRow = sum(errors.slice(first, first + steps));
      return error > 0 ? inRow > likeness * error : inRow < likeness * error;
    });
  });
}

/**
 * Ranges that include both outcomes: the change lasts, or it ends. The mean is half way, because nothing decides
 * between them.
 */
export function rangesAfterChangePoint(
  { before, factor, sizeBefore, ownLevel }: ChangePoint,
  margins: Margins,
  { scale, level }: { readonly scale: number; readonly level: number },
): Ranges {
  const of = (path: readonly number[]) => ({ steps: path, sums: path });
  const over = rangesAround(of(before), timesAll(margins, sizeBefore), 0, scale);
  const stays =
    ownLevel === undefined
      ? rangesAround(of(before.map((value) => value * factor)), timesAll(margins, sizeBefore * factor), 0, scale)
      : rangesOfLevel(ownLevel, before.length, { scale, level });
  return { points: both(over.points, stays.points), cumulative: both(over.cumulative, stays.cumulative) };
}

/** Ranges of a level that is known only from these values, which vary by chance. */
function rangesOfLevel(
  values: readonly number[],
  horizon: number,
  { scale, level }: { readonly scale: number; readonly level: number },
): Ranges {
  const count = values.length;
  const middle = mean(values);
  const deviation = Math.sqrt(sum(values.map((value) => (value - middle) ** 2)) / (count - 1));
  const wide = studentQuantile((1 + level) / 2, count - 1) * deviation;
  const marginOf = (steps: number): Margin => {
    // Steps vary by chance, and the level itself is uncertain.
    const half = wide * Math.sqrt(steps + steps ** 2 / count);
    return [-half, half];
  };
  const path = Array.from({ length: horizon }, () => middle);
  const margins = { points: path.map(() => marginOf(1)), sums: path.map((_, step) => marginOf(step + 1)) };
  return rangesAround({ steps: path, sums: path }, margins, 0, scale);
}

function both(some: Ranges['points'], others: Ranges['points']): Ranges['points'] {
  return some.map((one, index) => {
    const other = others[index] ?? one;
    return {
      mean: one.mean / 2 + other.mean / 2,
      lower: Math.min(one.lower, other.lower),
      upper: Math.max(one.upper, other.upper),
    };
  });
}
