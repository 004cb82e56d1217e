import {
  type Backtest,
  type CostHistory,
  type Forecast,
  type ForecastOptions,
  forecastSeries,
} from '../forecast/index.ts';
import { usdDecimals } from '../money.ts';
import { type CalendarPeriod, formatInstant, hourMs, type Instant, type PeriodKind, type Window } from '../time.ts';

/** Of how many outcomes in a hundred an interval should hold. */
export const forecastLevel = 80;

/** Of days a history has so many at most, a year and what is needed to see it begin again; of hours six weeks. */
export const historyDays = { 24: 400, 1: 42 } as const;

/** Budgets of days are forecast from hours, those of longer periods from days. */
export function stepHoursOf(kind: PeriodKind): 1 | 24 {
  return kind === 'daily' ? 1 : 24;
}

/** A history in whole steps of hours or days, up to the last that is complete. Amounts are USD. */
export interface Steps extends Window {
  readonly stepHours: 1 | 24;
  /** What each step cost; a step without cost is 0, as its hours are all complete. */
  readonly values: readonly number[];
  /** The hours after the last whole step that are complete too, of a step of days. */
  readonly beginning: {
    readonly hours: number;
    /** What of a step lies in its first so many hours, as the steps before had it: 0 to 1. */
    readonly share: number;
  };
}

/** A period and what is known when the rest of it is forecast. */
export interface PeriodAsked {
  readonly period: CalendarPeriod;
  /** Within the period, or at its start. */
  readonly completeThrough: Instant;
  /** In the complete hours of the period, trillionths of a USD. */
  readonly spent: bigint;
  readonly steps: Steps;
}

/** What a period is expected to come to. Amounts are trillionths of a USD. */
export interface PeriodForecast {
  readonly kind: 'forecast';
  readonly mean: bigint;
  /** The ends of the interval that should hold the outcome as often as `forecastLevel` says. */
  readonly low: bigint;
  readonly high: bigint;
  /** What is expected to have been spent at the end of each step that is left, in order; the last is the mean. */
  readonly path: readonly { readonly start: Instant; readonly spent: bigint }[];
  readonly model: string;
  readonly transform: string;
  /** Lengths in steps. */
  readonly seasons: readonly number[];
  readonly notes: readonly string[];
  readonly stepHours: 1 | 24;
  /** The history that the model was made from. */
  readonly history: Window;
  readonly observations: number;
  readonly backtest: Backtest;
}

/** Why nothing is forecast, in plain words. */
export interface NoPeriodForecast {
  readonly kind: 'none';
  readonly reason: string;
}

/** What forecasts a series: the engine, which a test may put something else in the place of. */
export type Forecaster = (history: CostHistory, horizon: number, options: ForecastOptions) => Promise<Forecast>;

/** A history says nothing of a future that is so many times as long. */
const reach = 4;

/**
 * Forecasts what a period comes to: what its complete hours cost, and a forecast of the rest, which begins where the last
 * whole step ends. Of that step's beginning, where some hours after it are complete, what they would have cost by the
 * usual day is taken off: what they did cost is among what is spent. Throws what the forecaster throws.
 */
export async function forecastPeriod(
  { period, completeThrough, spent, steps }: PeriodAsked,
  forecaster: Forecaster = forecastSeries,
): Promise<PeriodForecast | NoPeriodForecast> {
  const stepMs = steps.stepHours * hourMs;
  const horizon = Math.round((period.end - steps.end) / stepMs);
  const begun = steps.values.findIndex((value) => value !== 0);
  const noun = steps.stepHours === 1 ? 'hour' : 'day';
  if (begun === -1) return { kind: 'none', reason: 'nothing was spent yet' };
  // What began within the history began within a step: that one is no whole one.
  const first = begun === 0 ? 0 : begun + 1;
  const values = steps.values.slice(first);
  if (horizon > reach * values.length) {
    return {
      kind: 'none',
      reason: `too little history: ${values.length} complete ${noun}s since its first cost, for ${horizon} to come`,
    };
  }
  const start = steps.start + first * stepMs;
  const nonNegative = values.every((value) => value >= 0); // credits are costs below nothing
  const forecast = await forecaster({ start: formatInstant(start), step: noun, values }, horizon, {
    level: forecastLevel / 100,
    nonNegative,
  });
  if (forecast.kind === 'none') return forecast;
  const [firstPoint] = forecast.points;
  const whole = forecast.cumulative.at(-1);
  if (firstPoint === undefined || whole === undefined) throw new Error(`no forecast of ${horizon} steps`);
  const done = steps.beginning.share * firstPoint.mean;
  // The interval of a sum grows with about the root of what is uncertain in it.
  const left = Math.sqrt(Math.max(0, horizon - steps.beginning.share) / horizon);
  const at = (more: number) => spent + toTrillionths(nonNegative ? Math.max(0, more) : more);
  const rest = whole.mean - done;
  return {
    kind: 'forecast',
    mean: at(rest),
    low: at(rest - (whole.mean - whole.lower) * left),
    high: at(rest + (whole.upper - whole.mean) * left),
    path: forecast.cumulative.map(({ mean }, index) => ({
      start: Math.max(completeThrough, steps.end + index * stepMs),
      spent: at(mean - done),
    })),
    model: forecast.model,
    transform: forecast.transform,
    seasons: forecast.seasons,
    notes: forecast.notes,
    stepHours: steps.stepHours,
    history: { start: Date.parse(forecast.from), end: steps.end },
    observations: Math.round((steps.end - Date.parse(forecast.from)) / stepMs),
    backtest: forecast.backtest,
  };
}

/** When so much is expected to be spent: the start of the hour or day in which it is reached; undefined where it is not. */
export function reachedOn({ path }: PeriodForecast, limit: bigint): Instant | undefined {
  return path.find(({ spent }) => spent >= limit)?.start;
}

/** Decimals of USD that a forecast has: it knows no more. */
const forecastDecimals = 6;

function toTrillionths(usd: number): bigint {
  return BigInt(Math.round(usd * 10 ** forecastDecimals)) * 10n ** BigInt(usdDecimals - forecastDecimals);
}
