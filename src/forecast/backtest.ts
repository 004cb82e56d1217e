import { type Model, type Past, pastOf } from './models.ts';
import type { Prepared } from './series.ts';

/** A point in the series' past from which models forecast, to compare them with what really came. */
export interface Origin {
  /** Steps before the end of the series. */
  readonly back: number;
  readonly past: Past;
  /** The values after it, up to the end of the series or the horizon. */
  readonly outcomes: readonly number[];
  readonly isKnown: readonly boolean[];
}

/** The forecasts of a model, or of the mean of several: from now on, and from every origin. */
export interface PredictedPaths {
  readonly model: Model;
  /** One value for each step of the horizon. */
  readonly path: readonly number[];
  /** From the origin with that index; as long as its outcomes. */
  readonly pathAt: (origin: number) => readonly number[];
}

/** The mean absolute error of steps, and the absolute error of their sum, per step. */
export interface Losses {
  readonly steps: number;
  readonly sums: number;
}

/** The forecasts of one model and their losses. */
export interface Trial extends PredictedPaths {
  /** By origin and number of steps so far. */
  readonly losses: readonly (readonly Losses[])[];
}

const mostOrigins = 26;

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
export function strideOf(seasons: readonly number[], horizon: number): number {
  const shortest = seasons[0] ?? 1;
  const season = shortest <= 31 ? shortest : 1;
  return season * Math.max(1, Math.ceil(horizon / 8 / season));
}

/** Forecasts with a model from now and from every origin; undefined if it cannot forecast from one of them. */
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
  for (const { past: before, outcomes } of origins) {
    const said = model.forecast(before, horizon);
    if (said === undefined) return undefined;
    paths.push(said.slice(0, outcomes.length).map((value) => Math.max(floor, value)));
  }
  const pathAt = (index: number) => paths[index] ?? [];
  return { model, path, pathAt, losses: origins.map((origin, index) => lossesOf(origin, pathAt(index))) };
}

/** Losses by number of steps so far: what single steps err in the mean, and what their sum errs. */
function lossesOf({ outcomes, isKnown }: Origin, path: readonly number[]): Losses[] {
  let [absolute, total] = [0, 0];
  return outcomes.map((outcome, h) => {
    const error = isKnown[h] ? outcome - (path[h] ?? 0) : 0;
    absolute += Math.abs(error);
    total += error;
    return { steps: absolute / (h + 1), sums: Math.abs(total) / (h + 1) };
  });
}
