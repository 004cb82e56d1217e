import { type Step, stepsAfter } from './step.ts';

/** The values of one series at a regular step, without holes in time: a value that is not known is null. */
export interface History {
  /** UTC instant of the first value's bucket: `2026-10-01T00:00:00Z`. */
  readonly start: string;
  readonly step: Step;
  readonly values: readonly (number | null)[];
}

export interface ForecastOptions {
  /** Lengths of the seasons in steps; by default 7 for days, 24 and 168 for hours. */
  readonly seasons?: readonly number[];
  /** The share of outcomes that the intervals should hold; 0.8 by default. */
  readonly level?: number;
  /** True (the default) where the series cannot be below zero. */
  readonly nonNegative?: boolean;
}

/** A number that is expected, and the interval that holds the outcome as often as the level says. */
export interface Range {
  readonly mean: number;
  readonly lower: number;
  readonly upper: number;
}

/** How the chosen model did on the series' own past, at origins after which the outcome is known. */
export interface Backtest {
  readonly folds: number;
  /** Mean absolute error as a multiple of what the season before, repeated, would have erred; null where that is 0. */
  readonly mase: number | null;
  /** Symmetric mean absolute percentage error, 0 to 200; null where there is nothing to divide by. */
  readonly smape: number | null;
  /** Share of the outcomes that the intervals would have held, 0 to 1. */
  readonly coverage: number | null;
}

export interface SeriesForecast {
  readonly kind: 'forecast';
  /** The name of the model, for people and for the books: `weekday-profile`, `ets`, `stopped`, … */
  readonly model: string;
  readonly transform: 'none' | 'log1p' | 'sqrt';
  /** The seasons that the model follows, in steps. */
  readonly seasons: readonly number[];
  /** What a person should know of how it came about; empty where there is nothing. */
  readonly notes: readonly string[];
  /** One for each step of the horizon. */
  readonly points: readonly Range[];
  /**
   * The sum of the first k points, for k from 1 to the horizon. The intervals are those of the sum, calibrated on sums:
   * not sums of bounds.
   */
  readonly cumulative: readonly Range[];
  readonly backtest: Backtest;
  /** Where the history begins that the model was fitted to, a UTC instant. */
  readonly from: string;
  /** Where the history ends and the forecast begins, a UTC instant. */
  readonly through: string;
}

export interface NoForecast {
  readonly kind: 'none';
  /** Why there is none, in plain words. */
  readonly reason: string;
}

export type Forecast = SeriesForecast | NoForecast;

/**
 * Forecasts the next `horizon` steps of a series from its own history. The same history gives the same bytes; nothing
 * is read but what is given. Values need no unit, and all that comes out has theirs.
 */
export async function forecastSeries(
  history: History,
  horizon: number,
  options: ForecastOptions = {},
): Promise<Forecast> {
  const level = options.level ?? 0.8;
  const season = options.seasons?.[0] ?? (history.step === 'hour' ? 24 : 7);
  const known = history.values.filter((value) => value !== null);
  if (known.length < 2 * season) {
    return { kind: 'none', reason: `too little history: ${known.length} steps are known, and it takes ${2 * season}` };
  }
  const recent = history.values.slice(-8 * season);
  const first = history.values.length - recent.length;
  const bySeason = Array.from({ length: season }, (_, place) =>
    mean(recent.filter((value, index) => value !== null && (first + index) % season === place) as number[]),
  );
  const errors = recent.flatMap((value, index) =>
    value === null ? [] : [value - (bySeason[(first + index) % season] ?? 0)],
  );
  const spread = Math.sqrt(mean(errors.map((error) => error * error)));
  const width = spread * Math.sqrt(2) * inverseErf(level);
  const floor = (options.nonNegative ?? true) ? 0 : Number.NEGATIVE_INFINITY;
  const points: Range[] = [];
  const cumulative: Range[] = [];
  for (let k = 1, sum = 0; k <= horizon; k += 1) {
    const point = bySeason[(history.values.length + k - 1) % season] ?? 0;
    sum += point;
    points.push({ mean: point, lower: Math.max(floor, point - width), upper: point + width });
    const sumWidth = width * Math.sqrt(k);
    cumulative.push({ mean: sum, lower: Math.max(floor, sum - sumWidth), upper: sum + sumWidth });
  }
  return {
    kind: 'forecast',
    model: 'season-mean',
    transform: 'none',
    seasons: [season],
    notes: [],
    points,
    cumulative,
    backtest: { folds: 0, mase: null, smape: null, coverage: null },
    from: stepsAfter(history.start, history.step, first),
    through: stepsAfter(history.start, history.step, history.values.length),
  };
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function inverseErf(x: number): number {
  const a = 0.147;
  const log = Math.log(1 - x * x);
  const first = 2 / (Math.PI * a) + log / 2;
  return Math.sign(x) * Math.sqrt(Math.sqrt(first * first - log / a) - first);
}
