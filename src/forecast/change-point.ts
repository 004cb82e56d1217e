import type { Tried } from './choose-model.ts';
import type { Margin } from './intervals.ts';
import { type Margins, marginsFor, sizeOf, timesAll } from './margins.ts';
import type { Past } from './models.ts';
import { mean, studentQuantile, sum } from './numbers.ts';
import { type Ranges, rangesAround } from './ranges.ts';

/** An end of a series that is unlike anything before it: it may stay so, or be over tomorrow. */
export interface ChangePoint {
  /** How many steps it has lasted. */
  readonly steps: number;
  /** How many times as much as expected they were. */
  readonly factor: number;
  /** What was expected of the horizon before it began. */
  readonly before: readonly number[];
  /** How much smaller the series was before it than it is with it. */
  readonly sizeBefore: number;
  /** What it was at each of its steps, where that follows no profile of before: it is a level of its own. */
  readonly ownLevel: readonly number[] | undefined;
}

/** So many margins away lies what is unlike anything before. */
const farMargins = 3;
/** What is less than so many times as much, or as little, is no turn. */
const leastFactor = 1.4;
/** What erred by this share of it before is like it. */
const likeness = 0.6;
/** With fewer steps nobody knows whether a turn is a level of its own. */
const leastOfLevel = 3;
/** With fewer origins nobody knows what is unusual. */
const leastOrigins = 5;

/**
 * The turn at the end of a series, as seen from the newest origin; undefined where its last step is as expected. A
 * turn that has lasted longer than to that origin is known to the models.
 */
export function findChangePoint(tried: Tried, past: Past, horizon: number, level: number): ChangePoint | undefined {
  const { chosen, origins } = tried;
  const [origin] = origins;
  if (origin === undefined || origins.length < leastOrigins || origin.back > horizon) return undefined;
  const { points } = marginsFor({ ...origin, chosen }, tried, horizon, level);
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

/** The steps of a turn where they lie nearer to one level than to what was expected, times so much. */
function ownLevelOf(turned: readonly { outcome: number; path: number }[], factor: number): number[] | undefined {
  if (turned.length < leastOfLevel) return undefined;
  const outcomes = turned.map(({ outcome }) => outcome);
  const level = mean(outcomes);
  const fromLevel = sum(outcomes.map((outcome) => Math.abs(outcome - level)));
  const fromProfile = sum(turned.map(({ outcome, path }) => Math.abs(outcome - factor * path)));
  return fromLevel < fromProfile ? outcomes : undefined;
}

/** Whether so many steps in a row erred about as much in the same direction at an older origin. */
function hasHappenedBefore({ chosen, origins }: Tried, steps: number, error: number): boolean {
  return origins.slice(1).some(({ past, outcomes, isKnown }, index) => {
    const size = sizeOf(past);
    const path = chosen.pathAt(index + 1);
    // Outcomes that the newest origin is asked about are not before it.
    const seen = outcomes.slice(0, (index + 1) * (origins[0]?.back ?? 1));
    const errors = seen.map((outcome, h) => (isKnown[h] ? (outcome - (path[h] ?? 0)) / size : 0));
    return errors.some((_, first) => {
      if (first + steps > errors.length) return false;
      const inRow = sum(errors.slice(first, first + steps));
      return error > 0 ? inRow > likeness * error : inRow < likeness * error;
    });
  });
}

/** Ranges that hold both that the turn stays and that it is over, their mean half way: nothing tells which. */
export function rangesAfterChangePoint(
  { before, factor, sizeBefore, ownLevel }: ChangePoint,
  margins: Margins,
  { scale, level }: { readonly scale: number; readonly level: number },
): Ranges {
  const over = rangesAround(before, timesAll(margins, sizeBefore), 0, scale);
  const stays =
    ownLevel === undefined
      ? rangesAround(
          before.map((value) => value * factor),
          timesAll(margins, sizeBefore * factor),
          0,
          scale,
        )
      : rangesOfLevel(ownLevel, before.length, { scale, level });
  return { points: both(over.points, stays.points), cumulative: both(over.cumulative, stays.cumulative) };
}

/** Ranges of a level of which nothing is known but these values: as of numbers that lie around it by chance. */
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
    // The steps differ by chance, and all of them by how far the level itself is known.
    const half = wide * Math.sqrt(steps + steps ** 2 / count);
    return [-half, half];
  };
  const path = Array.from({ length: horizon }, () => middle);
  const margins = { points: path.map(() => marginOf(1)), sums: path.map((_, step) => marginOf(step + 1)) };
  return rangesAround(path, margins, 0, scale);
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
