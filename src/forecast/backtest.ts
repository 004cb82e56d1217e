import { median } from '../median.ts';
import { lastSeason, type Model, type Past, pastOf } from './models.ts';
import { sum } from './numbers.ts';
import type { Prepared } from './series.ts';

/** An instant in the series' past from which models forecast. */
export interface Origin {
  /** Steps before the end of the series. */
  readonly back: number;
  readonly past: Past;
  /** The actual values after it, as far as the series and the horizon reach. */
  readonly outcomes: readonly number[];
  readonly isKnown: readonly boolean[];
}

/** The forecast of a model, or of the mean of several: now, and at every origin. */
export interface PredictedPaths {
  readonly model: Pick<Model, 'name' | 'transform' | 'forecast'>;
  /** The forecast over the horizon. */
  readonly path: readonly number[];
  /** The forecast at the origin of that index, with as many steps as its outcomes. */
  readonly pathAt: (origin: number) => readonly number[];
}

/** The forecasts of one model, and their losses. */
export interface Trial extends PredictedPaths {
  /** By origin and number of first steps: the mean absolute error and the absolute mean error over these steps. */
  readonly losses: readonly (readonly number[])[];
}

const mostOrigins = 26;
/** An origin counts half as much after this many newer origins. */
const weightHalvesAfter = 12;
/** As a share of the usual size of a series: below this loss, all models are equally good. */
const leastLoss = 1e-9;
/** A simpler model wins unless the next one is better by more than this. */
const sameWithin = 1e-6;
/**
 * Models with nearly the lowest loss count too: more the nearer they are, and not at all from this relative difference
 * on. Their errors differ, so their mean is more accurate, as measured on synthetic series, the demo's and public ones.
 */
const togetherWithin = 0.3;

/**
 * Origins at equal distances, the newest first: at least a season apart, and spread over several horizons. Each has at
 * least `least` earlier steps.
 */
export function originsOf(
  series: Prepared,
  horizon: number,
  seasons: readonly number[],
  least: number,
  nonNegative: boolean,
): Origin[] {
  const { values, isKnown } = series;
  const stride = strideOf(seasons, horizon);
  const origins: Origin[] = [];
  for (let back = stride; back <= mostOrigins * stride; back += stride) {
    const end = values.length - back;
    if (end < least) break;
    origins.push({
      back,
      past: pastOf(values, end, seasons, nonNegative),
      outcomes: values.slice(end, end + horizon),
      isKnown: isKnown.slice(end, end + horizon),
    });
  }
  return origins;
}

/** Steps between two origins. */
function strideOf(seasons: readonly number[], horizon: number): number {
  const shortest = seasons[0] ?? 1;
  const season = shortest <= 31 ? shortest : 1;
  return season * Math.max(1, Math.ceil(horizon / 8 / season));
}

/** Forecasts with a model now and at the origins; undefined if it cannot forecast at one of them. */
export function tryModel(
  model: Model,
  past: Past,
  origins: readonly Origin[],
  horizon: number,
  floor: number,
): Trial | undefined {
  const path = model.forecast(past, horizon)?.map((value) => Math.max(floor, value));
  if (path === undefined) return undefined;
  const paths: (readonly number[])[] = [];
  for (const origin of origins) {
    const said = model.forecast(origin.past, horizon);
    if (said === undefined) return undefined;
    paths.push(said.slice(0, origin.outcomes.length).map((value) => Math.max(floor, value)));
  }
  const pathAt = (index: number) => paths[index] ?? [];
  return { model, path, pathAt, losses: origins.map((origin, index) => lossesOf(origin, pathAt(index))) };
}

/** Half the loss of single steps, plus the full loss of their sum, which budgets use. */
function lossesOf({ outcomes, isKnown }: Origin, path: readonly number[]): number[] {
  let [absolute, total] = [0, 0];
  return outcomes.map((outcome, h) => {
    const error = isKnown[h] ? outcome - (path[h] ?? 0) : 0;
    absolute += Math.abs(error);
    total += error;
    return (0.5 * absolute + Math.abs(total)) / (h + 1);
  });
}

/**
 * The most accurate model as of `back` steps before the end of the series; near-ties are averaged. Uses only outcomes
 * known by then, and recent ones weigh more. Undefined if they cover less than a whole horizon.
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
    // After an event that no model can foresee, all have large errors, which say little about which is better.
    const usual = median(trials.map((trial) => trial.losses[index]?.[known - 1] ?? 0));
    return [{ index, known, weight, perLoss: weight / Math.max(usual, leastLoss) }];
  });
  if (seen.reduce((total, { weight }) => total + weight, 0) < (back === 0 ? 0 : 1)) return undefined;
  const tried = trials.map((trial) => ({ trial, loss: lossAt(trial, seen) }));
  let [best] = tried;
  for (const one of tried) if (best === undefined || one.loss < best.loss * (1 - sameWithin)) best = one;
  if (best === undefined) return undefined;
  const { trial, loss } = best;
  // The last season has all of its noise as error: it is never averaged with others, and if it wins, it is used alone.
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
  // Paths are computed on demand, because each origin needs only its own choice.
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
