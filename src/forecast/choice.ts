import { loadAugurs } from './augurs.ts';
import { chooseAt, type Origin, originsOf, type PredictedPaths, type Trial, tryModel } from './backtest.ts';
import { type Model, modelsWith, type Past } from './models.ts';
import { mean } from './numbers.ts';
import type { Prepared } from './series.ts';

/** The least history before an origin, if there is no season. */
const leastPast = 8;
/** The least history before an origin, as a share of the current history. */
const leastPastShare = 0.3;
/**
 * A slow model is first tried at every sixth origin, and at all of them only if its loss there is below this share of
 * the best.
 */
const screening = { every: 6, share: 0.97 };

/** The models' forecasts at the origins, and the chosen one. */
export interface Tried {
  readonly origins: readonly Origin[];
  readonly chosen: PredictedPaths;
  /** The choice as of each origin; undefined if too little was known then. */
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
  // With much less history, a model has different errors than now.
  const least = Math.max(seasons[0] === undefined ? leastPast : 2 * seasons[0], leastPastShare * series.values.length);
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
    if (model.isDear && isWorthTrying(model, trials, past, origins, some, horizon, floor)) add(model);
  const chosen = chooseAt(trials, origins, 0, horizon);
  if (chosen === undefined) throw new Error('the seasonal naive model has no forecast');
  return { origins, chosen, chosenAt: origins.map(({ back }) => chooseAt(trials, origins, back, horizon)) };
}

/** Whether a slow model is good enough at a few origins, compared with the best other model there. */
function isWorthTrying(
  model: Model,
  trials: readonly Trial[],
  past: Past,
  origins: readonly Origin[],
  some: readonly Origin[],
  horizon: number,
  floor: number,
): boolean {
  const trial = some.length === 0 ? undefined : tryModel(model, past, some, horizon, floor);
  if (trial === undefined) return false;
  const lossOf = (losses: readonly (readonly number[])[]) => mean(losses.map((one) => one.at(-1) ?? 0));
  const others = trials.map((other) => lossOf(some.map((origin) => other.losses[origins.indexOf(origin)] ?? [])));
  return lossOf(trial.losses) < screening.share * Math.min(...others);
}
