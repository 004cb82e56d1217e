import type { Choice, Tried } from './choose-model.ts';
import { type Fold, type Margin, pointMargins, sumMargins } from './intervals.ts';
import type { Past } from './models.ts';
import { mean } from './numbers.ts';

/** Errors grow with the size of a series, but less than it does. */
const sizePower = 0.75;
/** A step that is quieter than this by its season has errors of this size. */
const leastShare = 0.1;

/** An origin's errors count half as much after this many newer origins, because the noise of series changes. */
const errorsHalveAfter = 20;

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
function sharesOf({ seasonal, values }: Past, horizon: number): number[] {
  return Array.from({ length: horizon }, (_, h) =>
    seasonal.action === 'factor' ? Math.max(leastShare, seasonal.seasonAt(values.length + h)) ** sizePower : 1,
  );
}

/**
 * Margins for a forecast from `back` steps before the end of the series, real or hypothetical: from the errors of the
 * models that would have been chosen at older origins with less knowledge. They use only the outcomes known by then;
 * recent ones weigh more.
 */
export function marginsFor(
  { back, past }: { readonly back: number; readonly past: Past },
  { origins, steps, sums }: Tried,
  horizon: number,
  level: number,
): Margins {
  const [ofPoints, ofSums]: [Fold[], Fold[]] = [[], []];
  const stride = origins[0]?.back ?? 1;
  for (const [index, origin] of origins.entries()) {
    if (origin.back <= back) continue;
    const size = sizeOf(origin.past);
    const shares = sharesOf(origin.past, origin.outcomes.length);
    const weight = 0.5 ** ((origin.back - back) / stride / errorsHalveAfter);
    const errorsOf = ({ chosen, chosenAt }: Choice) => {
      const path = (chosenAt[index] ?? chosen).pathAt(index);
      return origin.outcomes
        .slice(0, origin.back - back)
        .map((outcome, h) => (origin.isKnown[h] ? (outcome - (path[h] ?? 0)) / size : Number.NaN));
    };
    const fold = { back: origin.back - back, weight };
    ofPoints.push({ ...fold, errors: errorsOf(steps).map((error, h) => error / (shares[h] ?? 1)) });
    ofSums.push({ ...fold, errors: runningSums(errorsOf(sums)) });
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
