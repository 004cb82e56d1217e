import { normalQuantile, quantilesByWeight, studentQuantile } from './numbers.ts';

/** The errors after one origin, in units of the expected error there. */
export interface Fold {
  /** Steps from the origin to the time of the forecast. */
  readonly back: number;
  /** Outcome minus forecast, per step or summed up to it; NaN if the outcome is unknown. */
  readonly errors: readonly number[];
  readonly weight: number;
}

/** How far outcomes are from the forecast: below (at most 0) and above (at least 0). */
export type Margin = readonly [below: number, above: number];

/**
 * Assumptions about errors before any is known, and their limits. They were fitted to the last months of synthetic
 * series (eleven families, by seed).
 */
interface Belief {
  /** With which power of the step the mean square grows: 1 for sums of independent errors, 3 for a wandering level. */
  readonly power: number;
  readonly leastPower: number;
  readonly mostPower: number;
  /** The assumption that errors are normal weighs as much as this many independent folds. */
  readonly normalFolds: number;
}

const ofPoints: Belief = { power: 0.15, leastPower: 0, mostPower: 1.5, normalFolds: 1 };
const ofSums: Belief = { power: 2, leastPower: 0.8, mostPower: 3.2, normalFolds: 3 };

/** The most that neighbouring windows count as alike, as a correlation. */
const mostAlike = 0.6;

/** Degrees of freedom of the spread before any fold. */
const priorDegrees = 2;

/** That sizes grow by a power of the step weighs as much as this many independent folds: within a day, they do not. */
const powerFolds = 3;

/** How many folds tell something of their own, by step or by number of steps. */
type Independent = (steps: number) => number;

/** Margins of single steps, from the errors at each. */
export function pointMargins(folds: readonly Fold[], horizon: number, level: number): Margin[] {
  return marginsAlong(folds, horizon, level, ofPoints, () => folds.length);
}

/** Margins of the sum of the first steps, from the errors of the sum up to each. */
export function sumMargins(folds: readonly Fold[], horizon: number, level: number): Margin[] {
  const independent = independentOf(folds, horizon);
  return marginsAlong(folds, horizon, level, ofSums, (step) => independent(step + 1));
}

/**
 * How many windows of some steps tell something of their own: those that do not overlap, and fewer if errors resemble
 * those of the window of `length` steps before.
 */
function independentOf(folds: readonly Fold[], length: number): Independent {
  const longest = Math.max(0, ...folds.map(({ back }) => back));
  let [both, own] = [0, 0];
  for (const { back, errors } of folds) {
    const before = folds.find((other) => other.back >= back + length)?.errors ?? [];
    for (const [step, error] of errors.entries()) {
      const other = before[step] ?? Number.NaN;
      if (!Number.isFinite(error * other)) continue;
      both += error * other;
      own += (error * error + other * other) / 2;
    }
  }
  const alike = own > 0 ? Math.min(mostAlike, Math.max(0, both / own)) : 0;
  return (steps) => (Math.min(folds.length, longest / steps) * (1 - alike)) / (1 + alike);
}

/**
 * Calibrates intervals on past errors (normalized split conformal prediction). The size of errors is smoothed over the
 * horizon, and the quantiles are those of all errors in units of these sizes. Because folds overlap, their number means
 * little: the fewer independent ones there are, the wider the intervals.
 */
function marginsAlong(
  folds: readonly Fold[],
  horizon: number,
  level: number,
  belief: Belief,
  independentAt: Independent,
): Margin[] {
  const independent = independentAt(horizon - 1);
  const sizes = sizesOf(folds, horizon, belief, independentAt);
  if (sizes === undefined) return Array.from({ length: horizon }, () => [0, 0]);
  const units: number[] = [];
  const weights: number[] = [];
  for (const { errors, weight } of folds) {
    for (const [step, error] of errors.entries()) {
      if (!Number.isFinite(error)) continue;
      units.push(error / (sizes[step] ?? 1));
      weights.push(weight);
    }
  }
  const tail = (1 - level) / 2;
  const normal = normalQuantile(1 - tail);
  const [low = 0, high = 0] = quantilesByWeight(units, weights, [tail, 1 - tail]);
  const share = independent / (independent + belief.normalFolds);
  const below = Math.min(0, low) * share - normal * (1 - share);
  const above = Math.max(0, high) * share + normal * (1 - share);
  return sizes.map((size, step) => {
    const wider = studentQuantile(1 - tail, independentAt(step) + priorDegrees) / normal;
    return [below * size * wider, above * size * wider];
  });
}

/** The root mean square of errors at each step, between its own and a power of the step; undefined if all are 0. */
function sizesOf(folds: readonly Fold[], horizon: number, belief: Belief, at: Independent): number[] | undefined {
  // The line log(mean square) = start + power × log(step + 1), by least squares.
  let [weights, x1, y1, xx, xy] = [0, 0, 0, 0, 0];
  const squares = Array.from({ length: horizon }, (_, step) => meanSquareAt(folds, step));
  for (const [step, { square, count }] of squares.entries()) {
    if (!(square > 0)) continue;
    const [x, y, weight] = [Math.log(step + 1), Math.log(square), count];
    weights += weight;
    x1 += weight * x;
    y1 += weight * y;
    xx += weight * x * x;
    xy += weight * x * y;
  }
  if (weights === 0) return undefined;
  const spread = Math.max(0, xx - (x1 * x1) / weights);
  const prior = Math.max(spread, 1e-9) / Math.max(0.25, at(horizon - 1));
  const found = (xy - (x1 * y1) / weights + prior * belief.power) / (spread + prior);
  const power = Math.min(belief.mostPower, Math.max(belief.leastPower, found));
  const start = (y1 - power * x1) / weights;
  return squares.map(({ square }, step) => {
    const line = start + power * Math.log(step + 1);
    const own = square > 0 ? Math.log(square) : line;
    return Math.exp((line + (at(step) / (at(step) + powerFolds)) * (own - line)) / 2);
  });
}

function meanSquareAt(folds: readonly Fold[], step: number): { square: number; count: number } {
  let [total, weights, count] = [0, 0, 0];
  for (const { errors, weight } of folds) {
    const error = errors[step];
    if (error === undefined || !Number.isFinite(error)) continue;
    total += weight * error * error;
    weights += weight;
    count += 1;
  }
  return { square: weights > 0 ? total / weights : 0, count };
}
