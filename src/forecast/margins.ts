import type { PredictedPaths } from './backtest.ts';
import type { Tried } from './choose-model.ts';
import { type Fold, type Margin, pointMargins, sumMargins } from './intervals.ts';
import type { Past } from './models.ts';
import { mean } from './numbers.ts';

/** Errors grow with the size of a series, but less. */
const sizePower = 0.75;
/** A step that is quieter than this by its season errs as if it were not. */
const leastShare = 0.1;

/** What the chosen model erred counts for so much: it was chosen for having erred little there. */
const chosenShare = 1 / 3;
/** What was erred counts half as much after so many origins more: series calm down and grow restless. */
const errorsHalveAfter = 8;

/** Margins by step, of the single steps and of their sums up to there. */
export interface Margins {
  readonly points: readonly Margin[];
  readonly sums: readonly Margin[];
}

/** How large a series is before an origin; what a model errs there is counted in this. */
export function sizeOf(past: Past): number {
  const { values, cycle } = past;
  const recent = mean(values.slice(-8 * cycle).map(Math.abs));
  return Math.max(recent, 0.2 * mean(values.map(Math.abs)), 1e-9) ** sizePower;
}

/** How much of that size the next steps have by their seasons: what is busy errs by more than what is quiet. */
function sharesOf({ factors, values }: Past, horizon: number): number[] {
  return Array.from({ length: horizon }, (_, h) =>
    factors.action === 'factor' ? Math.max(leastShare, factors.seasonAt(values.length + h)) ** sizePower : 1,
  );
}

/** A forecast that is made, or could have been made, `back` steps before the end of the series. */
export interface MarginInputs {
  readonly back: number;
  readonly past: Past;
  readonly chosen: PredictedPaths;
}

/**
 * Margins for a forecast: from older origins alone, as far as their outcomes were known by then, the newer the more. A
 * third of what counts is what the chosen model erred, and the rest what the models erred that would have been chosen at
 * those origins, which knew less.
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

/** The same margins around something that is so many times as large. */
export function timesAll({ points, sums }: Margins, factor: number): Margins {
  return { points: points.map((margin) => times(margin, factor)), sums: sums.map((margin) => times(margin, factor)) };
}

function times([below, above]: Margin, factor: number): Margin {
  return [below * factor, above * factor];
}

/** A step whose outcome is not known adds nothing. */
function runningSums(errors: readonly number[]): number[] {
  let total = 0;
  return errors.map((error) => {
    if (Number.isFinite(error)) total += error;
    return total;
  });
}
