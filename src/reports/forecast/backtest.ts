import { type Model, type Past, pastOf } from './models.ts';
import { median } from './numbers.ts';
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

/** What one model said at every origin. */
export interface Trial {
  readonly model: Model;
  /** By origin, as long as its outcomes. */
  readonly paths: readonly (readonly number[])[];
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

/** Lets a model speak at the origins; undefined where it has nothing to say at one of them. */
export function tryModel(model: Model, origins: readonly Origin[], horizon: number, floor: number): Trial | undefined {
  const paths: (readonly number[])[] = [];
  for (const { past, outcomes } of origins) {
    const path = model.forecast(past, horizon);
    if (path === undefined) return undefined;
    paths.push(path.slice(0, outcomes.length).map((value) => Math.max(floor, value)));
  }
  return { model, paths, losses: origins.map((origin, index) => lossesOf(origin, paths[index] ?? [])) };
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
 * The model that erred least as seen `back` steps before the end of the series: only outcomes that were known by then
 * count, the newer the more. Undefined where less than a whole horizon of them is.
 */
export function chooseAt(
  trials: readonly Trial[],
  origins: readonly Origin[],
  back: number,
  horizon: number,
): Trial | undefined {
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
  let best: { trial: Trial; loss: number } | undefined;
  for (const trial of trials) {
    const loss = lossAt(trial, seen);
    if (best === undefined || loss < best.loss * (1 - sameWithin)) best = { trial, loss };
  }
  return best?.trial;
}

function lossAt(trial: Trial, seen: readonly { index: number; known: number; perLoss: number }[]): number {
  let total = 0;
  for (const { index, known, perLoss } of seen) total += perLoss * (trial.losses[index]?.[known - 1] ?? 0);
  return total;
}
