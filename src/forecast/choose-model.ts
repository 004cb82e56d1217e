import { median } from '../base/median.ts';
import { loadAugurs } from './augurs.ts';
import {
  lossesOf,
  type Origin,
  originsOf,
  type PredictedPaths,
  pathFrom,
  strideOf,
  type Trial,
  tryModel,
} from './backtest.ts';
import { lastSeason, type Model, modelsWith, type Past } from './models.ts';
import { sum } from './numbers.ts';
import type { Prepared } from './series.ts';

/** Steps that must be before an origin, if there is no season. */
const leastPast = 8;
/** The share of the whole history that must be before an origin. */
const leastPastShare = 0.3;
/** How often the longest season must be before an origin, as long as this many origins are left. */
const leastSeasons = { seen: 2, origins: 8 };
/** A slow model is first tried at every sixth origin; it needs less than this share of the best loss there. */
const screening = { every: 6, share: 0.97 };
/** The least loss of an origin, as a share of the series' usual size: below it all models do equally well. */
const leastLoss = 1e-9;
/** After this many more origins, an origin counts half. */
const weightHalvesAfter = 12;
/** A simpler model wins unless a later one is better by more than this share. */
const sameWithin = 1e-6;
/**
 * Models whose loss exceeds the best by less than this share are averaged with it, with more weight the nearer they
 * are. Their errors differ, so the mean is more accurate: measured on generated series, the demo's and public ones.
 */
const togetherWithin = 0.3;

/** The chosen models, now and at each origin. */
export interface Tried {
  readonly origins: readonly Origin[];
  readonly chosen: PredictedPaths;
  /** By origin: the choice as of then; undefined if too little was known. */
  readonly chosenAt: readonly (PredictedPaths | undefined)[];
}

/**
 * Tries every model at every origin and chooses one. Slow models are tried everywhere only if they are good at a few
 * origins.
 */
export async function tryModels(
  series: Prepared,
  past: Past,
  horizon: number,
  seasons: readonly number[],
  floor: number,
): Promise<Tried> {
  // With much less history, or without the longest season, a model has different errors than now.
  const { length } = series.values;
  const leastLength = Math.max(seasons[0] === undefined ? leastPast : 2 * seasons[0], leastPastShare * length);
  const left = length - leastSeasons.origins * strideOf(seasons, horizon);
  const least = Math.max(leastLength, Math.min(leastSeasons.seen * (seasons.at(-1) ?? 1), left));
  const origins = originsOf(series, horizon, seasons, least, floor === 0);
  const models = modelsWith(await loadAugurs());
  const trials: Trial[] = [];
  function add(model: Model): void {
    const trial = tryModel(model, past, origins, horizon, floor);
    if (trial !== undefined) trials.push(trial);
  }
  for (const model of models) if (!model.isDear) add(model);
  const some = origins.filter((_, index) => index % screening.every === screening.every - 1);
  for (const model of models)
    if (model.isDear && isWorthTrying(model, trials, origins, some, horizon, floor)) add(model);
  const chosen = chooseAt(trials, origins, 0, horizon);
  if (chosen === undefined) throw new Error('the seasonal naive model has no forecast');
  return { origins, chosen, chosenAt: origins.map(({ back }) => chooseAt(trials, origins, back, horizon)) };
}

/**
 * Whether a slow model is better at a few origins than the best of the others there. It is fitted at no more of them
 * than it takes to know.
 */
function isWorthTrying(
  model: Model,
  trials: readonly Trial[],
  origins: readonly Origin[],
  some: readonly Origin[],
  horizon: number,
  floor: number,
): boolean {
  if (some.length === 0) return false;
  const lossOf = (losses: readonly (readonly number[])[]) => sum(losses.map((one) => one.at(-1) ?? 0));
  const others = trials.map((other) => lossOf(some.map((origin) => other.losses[origins.indexOf(origin)] ?? [])));
  const bound = screening.share * Math.min(...others);
  let loss = 0;
  for (const origin of some) {
    const path = pathFrom(model, origin, horizon, floor);
    if (path === undefined) return false;
    loss += lossOf([lossesOf(origin, path)]);
    if (!(loss < bound)) return false;
  }
  return true;
}

/**
 * The most accurate model as of `back` steps before the end of the series, averaged with near-ties. Only outcomes that
 * were known by then count, newer ones more. Undefined if they are fewer than a whole horizon.
 */
export function chooseAt(
  trials: readonly Trial[],
  origins: readonly Origin[],
  back: number,
  horizon: number,
): PredictedPaths | undefined {
  const stride = origins[0]?.back ?? 1;
  const seen = origins.flatMap((origin, index) => {
    const known = Math.min(horizon, origin.back - back);
    if (known <= 0) return [];
    const weight = (0.5 ** ((origin.back - back) / stride / weightHalvesAfter) * known) / horizon;
    // If all models have large errors, something unforeseen happened: that origin counts less.
    const usual = median(trials.map((trial) => trial.losses[index]?.[known - 1] ?? 0));
    return [{ index, known, weight, perLoss: weight / Math.max(usual, leastLoss) }];
  });
  if (seen.reduce((total, { weight }) => total + weight, 0) < (back === 0 ? 0 : 1)) return undefined;
  const tried = trials.map((trial) => ({ trial, loss: lossAt(trial, seen) }));
  let [best] = tried;
  for (const one of tried) if (best === undefined || one.loss < best.loss * (1 - sameWithin)) best = one;
  if (best === undefined) return undefined;
  const { trial, loss } = best;
  // Repeating the last season repeats all of its noise: it is never averaged with others.
  if (trial.model.name === lastSeason) return trial;
  const others = tried.flatMap((one) => {
    const weight = loss > 0 ? 1 - (one.loss / loss - 1) / togetherWithin : 0;
    const isUsed = one.trial !== trial && one.trial.model.name !== lastSeason && weight > 0;
    return isUsed ? [{ trial: one.trial, weight }] : [];
  });
  return others.length === 0 ? trial : together(trial, others);
}

/** The weighted mean of the best model and its near-ties: `trend-26-1+2` has three models. */
function together(best: Trial, others: readonly { readonly trial: Trial; readonly weight: number }[]): PredictedPaths {
  const all = [{ trial: best, weight: 1 }, ...others];
  const total = sum(all.map(({ weight }) => weight));
  function meanOf(pathOf: (trial: Trial) => readonly number[] | undefined): number[] | undefined {
    const means: number[] = [];
    for (const { trial, weight } of all) {
      const path = pathOf(trial);
      if (path === undefined) return undefined;
      for (const [step, value] of path.entries()) means[step] = (means[step] ?? 0) + (weight / total) * value;
    }
    return means;
  }
  // A choice at an origin is only used there, so each path is computed when it is needed.
  const paths: number[][] = [];
  return {
    model: {
      name: `${best.model.name}+${others.length}`,
      transform: best.model.transform,
      forecast: (past, horizon) => meanOf(({ model }) => model.forecast(past, horizon)),
    },
    path: meanOf(({ path }) => path) ?? [],
    pathAt(index) {
      paths[index] ??= meanOf(({ pathAt }) => pathAt(index)) ?? [];
      return paths[index];
    },
  };
}

function lossAt(trial: Trial, seen: readonly { index: number; known: number; perLoss: number }[]): number {
  let total = 0;
  for (const { index, known, perLoss } of seen) total += perLoss * (trial.losses[index]?.[known - 1] ?? 0);
  return total;
}
