import { loadAugurs } from './augurs.ts';
import { chooseAt, type Origin, originsOf, type PredictedPaths, type Trial, tryModel } from './backtest.ts';
import { type Model, modelsWith, type Past } from './models.ts';
import { mean } from './numbers.ts';
import type { Prepared } from './series.ts';

/** What a model must have seen before it is asked at an origin, where there is no season. */
const leastPast = 8;
/** And what share of the history that there is now. */
const leastPastShare = 0.3;
/** Origins that a dear model is first tried at, and what share of the best loss there makes it worth trying at all. */
const screening = { every: 6, share: 0.97 };

/** What the models said at the origins, and what is chosen of them. */
export interface Tried {
  readonly origins: readonly Origin[];
  readonly chosen: PredictedPaths;
  /** By origin: what would have been chosen there; undefined where too little was known to choose. */
  readonly chosenAt: readonly (PredictedPaths | undefined)[];
}

/** Tries every model at every origin and chooses; dear ones only where they err less at a few origins. */
export async function tryModels(
  series: Prepared,
  past: Past,
  horizon: number,
  seasons: readonly number[],
  floor: number,
): Promise<Tried> {
  // With much less history than there is now a model errs otherwise than now.
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
  if (chosen === undefined) throw new Error('the seasonal naive model has nothing to say');
  return { origins, chosen, chosenAt: origins.map(({ back }) => chooseAt(trials, origins, back, horizon)) };
}

/** Whether a model that takes long errs less at a few origins than the best of the others there. */
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
