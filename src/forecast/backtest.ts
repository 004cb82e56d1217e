import { median } from '../median.ts';
import { lastSeason, type Model, type Past, pastOf } from './models.ts';
import { sum } from './numbers.ts';
import type { Prepared } from './series.ts';

/** A moment of the series' own past from which models are asked to go on. */
export interface Origin {
  /** How many steps it lies before the end of the series. */
  readonly back: number;
  readonly past: Past;
  /** What came, as far as the series and the horizon go. */
  readonly outcomes: readonly number[];
  readonly isKnown: readonly boolean[];
}

/** What a model, or the mean of a few, says of what comes, and said at every origin. */
export interface PredictedPaths {
  readonly model: Pick<Model, 'name' | 'transform' | 'forecast'>;
  /** Of the horizon. */
  readonly path: readonly number[];
  /** At the origin of that index, as long as its outcomes. */
  readonly pathAt: (origin: number) => readonly number[];
}

/** What one model said, and how it did. */
export interface Trial extends PredictedPaths {
  /** By origin and number of first steps: the mean absolute error, and the absolute mean error, up to there. */
  readonly losses: readonly (readonly number[])[];
}

const mostOrigins = 26;
/** The choice forgets half of what an origin said after so many origins more. */
const weightHalvesAfter = 12;
/** As a share of the usual size of a series: below it all models do as well. */
const leastLoss = 1e-9;
/** A plainer model is kept where the next one is better by less than this. */
const sameWithin = 1e-6;
/**
 * What errs hardly more than the best has a say: the nearer its loss, the more, and none from so much of a share more on.
 * They err differently, so that together they err less: measured on invented series, on the demo's and on public ones.
 */
const togetherWithin = 0.3;

/**
 * Origins at equal distances, the newest first: at least a season apart, and so far that they span some horizons. None
 * sees less of the past than `least` steps.
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

/** Steps from one origin to the next. */
function strideOf(seasons: readonly number[], horizon: number): number {
  const shortest = seasons[0] ?? 1;
  const season = shortest <= 31 ? shortest : 1;
  return season * Math.max(1, Math.ceil(horizon / 8 / season));
}

/** Lets a model speak now and at the origins; undefined where it has nothing to say at one of them. */
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

/** Half for the single steps, and all for their sum, which is what budgets are about. */
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
 * The model that erred least as seen `back` steps before the end of the series, together with what erred hardly
 * more: only outcomes that were known by then count, the newer the more. Undefined where less than a whole horizon of
 * them is.
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
    // Where something happened that none foresaw all err much, and it says little of which is better.
    const usual = median(trials.map((trial) => trial.losses[index]?.[known - 1] ?? 0));
    return [{ index, known, weight, perLoss: weight / Math.max(usual, leastLoss) }];
  });
  if (seen.reduce((total, { weight }) => total + weight, 0) < (back === 0 ? 0 : 1)) return undefined;
  const tried = trials.map((trial) => ({ trial, loss: lossAt(trial, seen) }));
  let [best] = tried;
  for (const one of tried) if (best === undefined || one.loss < best.loss * (1 - sameWithin)) best = one;
  if (best === undefined) return undefined;
  const { trial, loss } = best;
  // The last season errs by all of its chance: it has no say beside others, and where it is the best it is let alone.
  if (trial.model.name === lastSeason) return trial;
  const others = tried.flatMap((one) => {
    const weight = loss > 0 ? 1 - (one.loss / loss - 1) / togetherWithin : 0;
    const isUsed = one.trial !== trial && one.trial.model.name !== lastSeason && weight > 0;
    return isUsed ? [{ trial: one.trial, weight }] : [];
  });
  return others.length === 0 ? trial : together(trial, others);
}

/** The weighted mean of the best and of what errs hardly more: `trend-26-1+2` of three. */
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
  // What is chosen at an origin is asked about that one alone: paths are made when they are asked for.
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
