import { median } from '../base/median.ts';
import {
  type Losses,
  type Origin,
  originsOf,
  type PredictedPaths,
  strideOf,
  type Trial,
  tryModel,
} from './backtest.ts';
import { lastSeason, models, type Past, typicalLevel } from './models.ts';
import { sum } from './numbers.ts';
import type { Prepared } from './series.ts';

/** Steps that must be before an origin, if there is no season. */
const leastPast = 8;
/** The share of the whole history that must be before an origin. */
const leastPastShare = 0.3;
/** How often the longest season must be before an origin, as long as this many origins are left. */
const leastSeasons = { seen: 2, origins: 8 };
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

/** What a choice is for: single steps, or their sum. One sum says little, so its steps count too. */
const lossFor = {
  steps: ({ steps }: Losses) => steps,
  sums: ({ steps, sums }: Losses) => 0.5 * steps + sums,
};

/** The chosen models, now and at each origin. */
export interface Choice {
  readonly chosen: PredictedPaths;
  /** By origin: the choice as of then; undefined if too little was known. */
  readonly chosenAt: readonly (PredictedPaths | undefined)[];
}

/** The models chosen for single steps and for their sums. */
export interface Tried extends Readonly<Record<keyof Losses, Choice>> {
  readonly origins: readonly Origin[];
}

/** Tries every model at every origin, and chooses those for steps and for sums. */
export function tryModels(
  series: Prepared,
  past: Past,
  horizon: number,
  seasons: readonly number[],
  floor: number,
): Tried {
  // With much less history, or without the longest season, a model has different errors than now.
  const { length } = series.values;
  const leastLength = Math.max(seasons[0] === undefined ? leastPast : 2 * seasons[0], leastPastShare * length);
  const left = length - leastSeasons.origins * strideOf(seasons, horizon);
  const least = Math.max(leastLength, Math.min(leastSeasons.seen * (seasons.at(-1) ?? 1), left));
  const origins = originsOf(series, horizon, seasons, least, floor === 0);
  const trials = models.flatMap((model) => tryModel(model, past, origins, horizon, floor) ?? []);
  function choiceFor(what: keyof Losses): Choice {
    const own = trials.filter(({ model }) => what === 'steps' || model.name !== typicalLevel);
    const at = (back: number) => chooseAt(own, origins, back, horizon, lossFor[what]);
    const chosen = at(0);
    if (chosen === undefined) throw new Error('the seasonal naive model has no forecast');
    return { chosen, chosenAt: origins.map(({ back }) => at(back)) };
  }
  return { origins, steps: choiceFor('steps'), sums: choiceFor('sums') };
}

/**
 * The most accurate model as of `back` steps before the end of the series, averaged with near-ties. Only outcomes that
 * were known by then count, newer ones more. Undefined if they are fewer than a whole horizon.
 */
function chooseAt(
  trials: readonly Trial[],
  origins: readonly Origin[],
  back: number,
  horizon: number,
  lossOf: (losses: Losses) => number,
): PredictedPaths | undefined {
  const stride = origins[0]?.back ?? 1;
  const lossAt = ({ losses }: Trial, index: number, known: number) => {
    const one = losses[index]?.[known - 1];
    return one === undefined ? 0 : lossOf(one);
  };
  const seen = origins.flatMap((origin, index) => {
    const known = Math.min(horizon, origin.back - back);
    if (known <= 0) return [];
    const weight = (0.5 ** ((origin.back - back) / stride / weightHalvesAfter) * known) / horizon;
    // If all models have large errors, something unforeseen happened: that origin counts less.
    const usual = median(trials.map((trial) => lossAt(trial, index, known)));
    return [{ index, known, weight, perLoss: weight / Math.max(usual, leastLoss) }];
  });
  if (sum(seen.map(({ weight }) => weight)) < (back === 0 ? 0 : 1)) return undefined;
  const tried = trials.map((trial) => ({
    trial,
    loss: sum(seen.map(({ index, known, perLoss }) => perLoss * lossAt(trial, index, known))),
  }));
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

/** The weighted mean of the best model and its near-ties: `trend-26+2` has three models. */
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
      forecast: (past, horizon) => meanOf(({ model }) => model.forecast(past, horizon)),
    },
    path: meanOf(({ path }) => path) ?? [],
    pathAt(index) {
      paths[index] ??= meanOf(({ pathAt }) => pathAt(index)) ?? [];
      return paths[index];
    },
  };
}
