import type { PredictedPaths } from './backtest.ts';
import type { Tried } from './choose-model.ts';
import { type Fold, type Margin, pointMargins, sumMargins } from './intervals.ts';
import type { Past } from './models.ts';
import { mean } from './numbers.ts';

/** Errors grow with the size of a series, but less than it does. */
const sizePower = 0.75;
/** A step that is quieter than this by its season has errors of this size. */
const leastShare = 0.1;

/**
 * The weight of the chosen model's own errors. It was chosen because they were small, so they alone are too optimistic.
 */
const chosenShare = 1 / 3;
/** An origin's errors count half as much after this many newer origins, because the noise of series changes. */
const errorsHalveAfter = 8;

/** Margins by step, of single steps and of sums up to them. */
export interface Margins {
  readonly points: readonly Margin[];
  readonly sums: readonly Margin[];
}

/** The size of a series before an origin; errors there are measured in it. */
export function sizeOf(past: Past): number {
  const { values, cycle } = past;
  const recent = mean(values.slice(-8 * cycle).map(Math.abs));
  return Math.max(recent, 0.2 * mean(values.map(Math.abs)), 1e-9) ** sizePower;
}

/** The share of that size in each of the next steps, by season: busy steps have larger errors than quiet ones. */
function sharesOf({ factors, values }: Past, horizon: number): number[] {
  return Array.from({ length: horizon }, (_, h) =>
    factors.action === 'factor' ? Math.max(leastShare, factors.seasonAt(values.length + h)) ** sizePower : 1,
  );
}

/** A forecast from `back` steps before the end of the series, real or hypothetical. */
export interface MarginInputs {
  readonly back: number;
  readonly past: Past;
  readonly chosen: PredictedPaths;
}

/**
 * Margins for a forecast. They use only older origins and the outcomes known by then; recent ones weigh more. A third
 * of the weight is on the chosen model's errors, the rest on those of the models that would have been chosen at these
 * origins with less knowledge.
 */
export function marginsFor(
  { back, past, chosen }: MarginInputs,
  tried: Tried,
  horizon: number,
  level: number,
): Margins {
  const [ofPoints, ofSums]: [Fold[], Fold[]] = [[], []];
  const stride = tried.origins[0]?.back ?? 1;
  for (const [index, origin] of tried.origins.entries()) {
    if (origin.back <= back) continue;
    const size = sizeOf(origin.past);
    const shares = sharesOf(origin.past, origin.outcomes.length);
    const recency = 0.5 ** ((origin.back - back) / stride / errorsHalveAfter);
    for (const [trial, share] of [
      [chosen, chosenShare],
      [tried.chosenAt[index], 1 - chosenShare],
    ] as const) {
      if (trial === undefined) continue;
      const path = trial.pathAt(index);
      const errors = origin.outcomes
        .slice(0, origin.back - back)
        .map((outcome, h) => (origin.isKnown[h] ? (outcome - (path[h] ?? 0)) / size : Number.NaN));
      const fold = { back: origin.back - back, weight: recency * share };
      ofPoints.push({ ...fold, errors: errors.map((error, h) => error / (shares[h] ?? 1)) });
      ofSums.push({ ...fold, errors: runningSums(errors) });
    }
  }
  const size = sizeOf(past);
  const shares = sharesOf(past, horizon);
  return {
    points: pointMargins(ofPoints, horizon, level).map((margin, h) => times(margin, size * (shares[h] ?? 1))),
    sums: sumMargins(ofSums, horizon, level).map((margin) => times(margin, size)),
  };
}

/** The margins scaled by a factor. */
export function timesAll({ points, sums }: Margins, factor: number): Margins {
  return { points: points.map((margin) => times(margin, factor)), sums: sums.map((margin) => times(margin, factor)) };
}

function times([below, above]: Margin, factor: number): Margin {
  return [below * factor, above * factor];
}

/** Sums of errors; unknown outcomes add nothing. */
function runningSums(errors: readonly number[]): number[] {
  let total = 0;
  return errors.map((error) => {
    if (Number.isFinite(error)) total += error;
    return total;
  });
}
