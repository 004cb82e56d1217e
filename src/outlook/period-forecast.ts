import {
  type Backtest,
  type CostHistory,
  type Forecast,
  type ForecastOptions,
  oddAsked,
  oddRuns,
} from '../forecast/index.ts';
import { usdDecimals } from '../money/money.ts';
import {
  type CalendarPeriod,
  formatInstant,
  type Holidays,
  hourMs,
  type Instant,
  type PeriodKind,
  type Window,
} from '../time/time.ts';
import type { KnownSpend } from './pace.ts';

/** The percentage of outcomes that should fall into the interval. */
export const forecastLevel = 80;

/** The longest history: for days, a year plus enough to see the yearly season repeat; for hours, six weeks. */
export const historyDays = { 24: 400, 1: 42 } as const;

/** Daily budgets are forecast from hours, budgets of longer periods from days. */
export function stepHoursOf(kind: PeriodKind): 1 | 24 {
  return kind === 'daily' ? 1 : 24;
}

/** A history of complete hours or days. Amounts are USD. */
export interface Steps extends Window {
  readonly stepHours: 1 | 24;
  /** The cost of each step; 0 without costs, because all of its hours are complete. */
  readonly values: readonly number[];
  /** For daily steps, the complete hours after the last complete day. */
  readonly beginning: {
    readonly hours: number;
    /** The share of a day's cost that usually falls into these hours: 0 to 1. */
    readonly share: number;
  };
}

/** The steps of a history that say nothing of others, and what each differs from its usual cost. Pure. */
export function oddSteps(values: readonly number[], stepHours: 1 | 24): ReadonlyMap<number, number> {
  const runs = oddRuns(
    values,
    values.map(() => true),
    oddAsked(stepHours * hourMs, stepHours === 24 ? 7 : 24),
  );
  return new Map(
    runs.flatMap(({ first, length, excess }) =>
      Array.from({ length }, (_, index) => [first + index, excess / length] as const),
    ),
  );
}

/** A period, and what is known when its rest is forecast. */
export interface PeriodAsked {
  readonly period: CalendarPeriod;
  /** Within the period, or at its start. */
  readonly completeThrough: Instant;
  /** In the complete hours of the period, trillionths of a USD. */
  readonly spent: bigint;
  readonly steps: Steps;
  /** Whose time daily patterns follow; UTC by default. */
  readonly timeZone?: string;
  /** Dates on which days may cost more or less than usual. */
  readonly holidays?: Holidays;
}

/** What a change adds to the forecast of a period. */
export interface AddedChange {
  readonly name: string;
  readonly on: Instant;
  readonly effectText: string;
  /** Trillionths of the forecast's unit; 0 if `reason` says why it adds nothing. */
  readonly added: bigint;
  /** Undefined for USD. */
  readonly unit?: string | undefined;
  readonly reason?: string | undefined;
}

/** An anomaly that a forecast did not learn from. Amounts are trillionths of a USD. */
export interface ForecastAnomaly {
  readonly key: string;
  readonly workspace: string | null;
  readonly resourceType: string | null;
  readonly driver: string | undefined;
  /** `2026-11-15`, like the next field. */
  readonly firstDay: string;
  readonly lastDay: string;
  /** What it differed from the usual so far, negative if it cost less. */
  readonly impact: bigint;
  /** What it adds to a day from now on; undefined if it has ended. */
  readonly daily: bigint | undefined;
  /** What it adds to the rest of the period, as likely as it goes on. */
  readonly added: bigint;
  /** What it adds if it goes on through the rest of the period. */
  readonly addedIfItGoesOn: bigint;
}

/** The forecast of a period. Amounts are trillionths of a USD. */
export interface PeriodForecast {
  readonly kind: 'forecast';
  readonly mean: bigint;
  /** The interval that should contain `forecastLevel` percent of outcomes. */
  readonly low: bigint;
  readonly high: bigint;
  /** The expected spend at the end of each remaining step, in order; the last is the mean. */
  readonly path: readonly { readonly start: Instant; readonly spent: bigint }[];
  readonly model: string;
  readonly transform: string;
  /** Lengths in steps. */
  readonly seasons: readonly number[];
  readonly notes: readonly string[];
  readonly stepHours: 1 | 24;
  /** The history that the model used. */
  readonly history: Window;
  readonly observations: number;
  readonly backtest: Backtest;
  /** Planned changes, which mean, interval and path include. */
  readonly changes?: readonly AddedChange[] | undefined;
  /** The anomalies that it did not learn from; mean, upper end and path include what goes on of them. */
  readonly anomalies?: readonly ForecastAnomaly[] | undefined;
}

/** Why there is no forecast. */
export interface NoPeriodForecast {
  readonly kind: 'none';
  readonly reason: string;
  /** Where a budget ends at the pace of its complete hours; undefined if none of them says. */
  readonly atPace?: PaceForecast | undefined;
}

/** The spend at the end of a period without a forecast: usual costs go on at their pace, and anomalies at theirs. */
export interface PaceForecast {
  readonly mean: bigint;
  readonly path: PeriodForecast['path'];
  /** The hours that the pace is computed from, and their usual cost. */
  readonly known: KnownSpend;
  readonly anomalies?: readonly ForecastAnomaly[] | undefined;
}

/** Forecasts a series: the engine, or a replacement in a test. */
export type Forecaster = (history: CostHistory, horizon: number, options: ForecastOptions) => Promise<Forecast>;

/** The engine. It is loaded for the first forecast that is not known. */
export const forecastByEngine: Forecaster = async (history, horizon, options) => {
  const { forecastSeries } = await import('../forecast/index.ts');
  return forecastSeries(history, horizon, options);
};

/** The longest horizon, as a multiple of the history. */
const reach = 4;

/**
 * Forecasts a period: the cost of its complete hours plus a forecast of the rest, which starts after the last complete
 * step. Complete hours after that step count as spent, so their usual share is subtracted from the forecast. Throws what
 * the forecaster throws.
 */
export async function forecastPeriod(
  { period, completeThrough, spent, steps, timeZone = 'UTC', holidays = new Set() }: PeriodAsked,
  forecaster: Forecaster = forecastByEngine,
): Promise<PeriodForecast | NoPeriodForecast> {
  const stepMs = steps.stepHours * hourMs;
  const horizon = Math.round((period.end - steps.end) / stepMs);
  const begun = steps.values.findIndex((value) => value !== 0);
  const noun = steps.stepHours === 1 ? 'hour' : 'day';
  if (begun === -1) return { kind: 'none', reason: 'nothing was spent yet' };
  // The first cost falls within a step, so that step is not complete.
  const first = begun === 0 ? 0 : begun + 1;
  const values = steps.values.slice(first);
  if (horizon > reach * values.length) {
    return {
      kind: 'none',
      reason: `too little history: ${values.length} complete ${noun}s since its first cost, for ${horizon} to come`,
    };
  }
  const start = steps.start + first * stepMs;
  const nonNegative = values.every((value) => value >= 0); // credits are negative costs
  const forecast = await forecaster({ start: formatInstant(start), step: noun, values }, horizon, {
    level: forecastLevel / 100,
    nonNegative,
    zone: timeZone,
    holidays,
  });
  if (forecast.kind === 'none') return forecast;
  const [firstPoint] = forecast.points;
  const whole = forecast.cumulative.at(-1);
  if (firstPoint === undefined || whole === undefined) throw new Error(`no forecast of ${horizon} steps`);
  const done = steps.beginning.share * firstPoint.mean;
  // The interval of a sum grows roughly with the square root of its uncertain part.
  const left = Math.sqrt(Math.max(0, horizon - steps.beginning.share) / horizon);
  // A single credit is no reason to expect more of them.
  const staysPositive = nonNegative || forecast.cumulative.every(({ lower }) => lower >= 0);
  const at = (more: number) => spent + toTrillionths(staysPositive ? Math.max(0, more) : more);
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

/** The start of the hour or day in which the forecast reaches an amount; undefined if it does not. */
export function reachedOn({ path }: PeriodForecast, limit: bigint): Instant | undefined {
  return path.find(({ spent }) => spent >= limit)?.start;
}

/** Decimals of USD in a forecast: more would be false precision. */
const forecastDecimals = 6;

/** An estimate of USD, or of a unit of usage, in trillionths. */
export function toTrillionths(usd: number): bigint {
  return BigInt(Math.round(usd * 10 ** forecastDecimals)) * 10n ** BigInt(usdDecimals - forecastDecimals);
}
