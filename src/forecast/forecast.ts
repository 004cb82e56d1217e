import { UsageError } from '../base/errors.ts';
import { dayMs, floorDay, type Holidays, type Instant, zoneOf } from '../time/time.ts';
import { type CalendarEffect, effectWords, withCalendar, withoutCalendar } from './calendar.ts';
import { tryModels } from './choose-model.ts';
import { findEndedRun, findLevelShift, type LevelShift } from './level-shift.ts';
import { byLocalTime } from './local-hours.ts';
import { marginsFor } from './margins.ts';
import { type Past, pastOf } from './models.ts';
import { studentQuantile } from './numbers.ts';
import { type OddRun, oddAsked, oddRuns, recurringOf, withoutRuns, withRecurring } from './odd-steps.ts';
import { either, type Range, type Ranges, rangesAround, widened } from './ranges.ts';
import { type Backtest, backtestOf } from './scores.ts';
import { type Prepared, prepare } from './series.ts';
import { isOfMonths, type Step, stepMsOf, stepsAfter, usualSeasons } from './step.ts';

/** The values of one series at a regular step, without gaps in time. An unknown value is null. */
export interface CostHistory {
  /** UTC instant of the first value's bucket: `2026-10-01T00:00:00Z`. */
  readonly start: string;
  readonly step: Step;
  readonly values: readonly (number | null)[];
}

export interface ForecastOptions {
  /** Lengths of the seasons in steps; by default 7 for days, 24 and 168 for hours. */
  readonly seasons?: readonly number[];
  /** The share of outcomes that the intervals should contain; 0.8 by default. */
  readonly level?: number;
  /** True (the default) if the series cannot be below zero. */
  readonly nonNegative?: boolean;
  /** The name of the zone whose time the daily pattern of shorter steps follows; UTC by default. */
  readonly zone?: string;
  /** Dates on which days may cost more or less than usual: `2026-12-25`. */
  readonly holidays?: Holidays;
}

export interface SeriesForecast {
  readonly kind: 'forecast';
  /**
   * The name of the model of sums, for people and for the books: `level-8`, `lags`, `stopped`, …; `level-8+2` is averaged
   * with two others.
   */
  readonly model: string;
  /** What former engines could do to values; it stays a column of the books. */
  readonly transform: 'none';
  /** The seasons that the model follows, in steps. */
  readonly seasons: readonly number[];
  /** Remarks on the forecast; may be empty. */
  readonly notes: readonly string[];
  /** One for each step of the horizon. */
  readonly points: readonly Range[];
  /**
   * The sum of the first k steps, for k from 1 to the horizon. The models that err least in sums forecast it, so it may
   * differ a little from the sum of the points. Its interval is calibrated on sums.
   */
  readonly cumulative: readonly Range[];
  readonly backtest: Backtest;
  /** The start of the history that the model was fitted to, a UTC instant. */
  readonly from: string;
  /** The end of the history and start of the forecast, a UTC instant. */
  readonly through: string;
}

export interface NoForecast {
  readonly kind: 'none';
  /** Why there is no forecast, as a sentence. */
  readonly reason: string;
}

export type Forecast = SeriesForecast | NoForecast;

/** The least number of known seasons. */
const leastSeasons = 3;
/** The least number of known steps, if there is no season. */
const leastSteps = 12;

/**
 * Forecasts the next `horizon` steps of a series from its past. A rolling back-test chooses the model, and the errors
 * of these choices calibrate the intervals. The same history gives the same bytes. The result has the unit of the
 * values. Throws UsageError if the horizon or an option is invalid.
 */
export async function forecastSeries(
  history: CostHistory,
  horizon: number,
  options: ForecastOptions = {},
): Promise<Forecast> {
  const { level = 0.8, nonNegative = true } = options;
  const { start, step, values } = history;
  const asked = options.seasons ?? usualSeasons(step);
  checkAsked(horizon, level, asked);
  const seasons = [...new Set(asked)].sort((a, b) => a - b);
  const stepMs = isOfMonths(step) ? undefined : stepMsOf(step);
  const isShort = stepMs !== undefined && stepMs < dayMs;
  const zone = zoneOf(options.zone ?? 'UTC');
  const local = isShort ? byLocalTime(values, horizon, Date.parse(start), stepMs, zone) : undefined;
  const instantAt = (index: number) => stepsAfter(start, step, local?.indexOf(index) ?? index);
  const forecast = forecastValues({
    values: local?.values ?? values,
    horizon: local?.horizon ?? horizon,
    seasons,
    level,
    nonNegative,
    stepMs,
    // The day in which most of the first step is: days of a zone begin at another hour.
    firstDay: stepMs === dayMs ? floorDay(Date.parse(start) + zone.offsetAt(Date.parse(start)) + dayMs / 2) : undefined,
    holidays: options.holidays ?? new Set(),
    instantAt,
  });
  if (local === undefined || forecast.kind === 'none') return forecast;
  return { ...forecast, ...local.restore(forecast), through: stepsAfter(start, step, values.length) };
}

/** A series without its calendar, and what is asked of it. */
interface Asked {
  readonly values: readonly (number | null)[];
  readonly horizon: number;
  /** In steps, the shortest first. */
  readonly seasons: readonly number[];
  readonly level: number;
  readonly nonNegative: boolean;
  /** The length of a step; undefined for months. */
  readonly stepMs: number | undefined;
  /** The first day of a series of days. */
  readonly firstDay: Instant | undefined;
  readonly holidays: Holidays;
  /** The UTC instant of a step. */
  instantAt(index: number): string;
}

function forecastValues(asked: Asked): Forecast {
  const { horizon, seasons: known, level, firstDay, holidays, instantAt } = asked;
  const { length } = asked.values;
  const given = prepare(asked.values, known[0] ?? 1);
  if (given.known > 0 && isStill(given, known[0])) {
    const since = length - given.zerosAtEnd;
    const note = given.zerosAtEnd < given.known ? `stopped: zero since ${instantAt(since)}` : 'always zero';
    return still(horizon, note, instantAt(since), instantAt(length));
  }
  const reason = reasonForNone(given, known[0], horizon);
  if (reason !== undefined) return { kind: 'none', reason };

  const from = firstDay === undefined ? undefined : firstDay + given.skipped * dayMs;
  const { series: first, effects, odd } = ordinary(given, known[0], from, asked);
  const seasons = known.filter((season) => first.values.length >= 2 * season);
  // One credit does not make the rest of a series negative.
  const nonNegative = asked.nonNegative || (odd.length > 0 && first.values.every((value) => value >= 0));
  const floor = nonNegative ? 0 : Number.NEGATIVE_INFINITY;
  const pastOfSeries = ({ values }: Prepared) => pastOf(values, values.length, seasons, nonNegative);
  const firstPast = pastOfSeries(first);
  const ended = nonNegative ? findEndedRun(firstPast) : undefined;
  const offset = first.values.length - firstPast.values.length;
  const endedRuns = ended === undefined ? [] : [{ ...ended, first: offset + ended.first }];
  const series = withoutRuns(first, endedRuns, known[0] ?? 1);
  const past = series === first ? firstPast : pastOfSeries(series);
  const shift = nonNegative ? findLevelShift(series, past, level) : undefined;
  function made(of: Prepared, own: Past) {
    const tried = tryModels(of, own, horizon, seasons, floor);
    const margins = marginsFor({ back: 0, past: own }, tried, horizon, level);
    const paths = { steps: tried.steps.chosen.path, sums: tried.sums.chosen.path };
    const ranges = rangesAround(paths, margins, floor, of.scale);
    return { tried, ranges, backtest: backtestOf(tried, of, horizon, level, seasons.at(-1) ?? 1, floor) };
  }
  const {
    tried,
    ranges: usual,
    backtest,
  } = shift === undefined ? made(series, past) : madeOfShift(shift, (of) => made(of, pastOfSeries(of)), level);
  const notes = [
    ...(first.values.length < 2 * horizon ? ['the history is short for this horizon, so the intervals are wide'] : []),
    ...past.shifts.map(({ back, by }) => {
      const direction = by > 0 ? 'earlier' : 'later';
      return `the pattern moved ${Math.abs(by)} ${Math.abs(by) === 1 ? 'step' : 'steps'} ${direction} at ${instantAt(length - back)}; the forecast follows it`;
    }),
    ...(shift === undefined ? [] : [noteOf(shift)]),
    ...notesOfOdd([...odd, ...endedRuns], (index) => instantAt(given.skipped + index)),
    ...effects.map((effect) => effectWords(effect, series.scale)),
  ];
  const ranges = withRecurring(usual, recurringOf(odd, given.known), {
    ...{ level, scale: series.scale, floor: asked.nonNegative ? 0 : Number.NEGATIVE_INFINITY },
  });
  const start = from === undefined ? undefined : from + first.values.length * dayMs;
  return {
    kind: 'forecast',
    model: tried.sums.chosen.model.name,
    transform: 'none',
    seasons,
    notes,
    ...(start === undefined || effects.length === 0
      ? ranges
      : withCalendar(ranges, effects, { start, holidays, scale: series.scale, floor })),
    backtest,
    from: instantAt(length - past.values.length),
    through: instantAt(length),
  };
}

/** A forecast of a series after a shift: as if it lasts, as if it were over, or both. */
function madeOfShift<T extends { readonly ranges: Ranges }>(
  { lasts, lasting, over, uncertainty, steps }: LevelShift,
  made: (series: Prepared) => T,
  level: number,
): T {
  if (lasts === 0) return made(over);
  const stays = made(lasting);
  const deviations = studentQuantile((1 + level) / 2, Math.max(2, steps - 1));
  const ranges = widened(stays.ranges, uncertainty * deviations);
  return { ...stays, ranges: lasts === 1 ? ranges : either(ranges, made(over).ranges, lasts) };
}

/** A series without what its calendar and odd events change. */
function ordinary(
  given: Prepared,
  season: number | undefined,
  from: Instant | undefined,
  { stepMs, holidays }: Asked,
): { readonly series: Prepared; readonly effects: readonly CalendarEffect[]; readonly odd: readonly OddRun[] } {
  const asked = oddAsked(stepMs, season ?? 1);
  // A single one would hide what the calendar does; what comes every month is the calendar's.
  const single = oddRuns(given.values, given.isKnown, asked).filter(({ isSingle }) => isSingle);
  const first = withoutRuns(given, single, asked.season);
  const { values, effects } =
    from === undefined ? { ...first, effects: [] } : withoutCalendar(first.values, first.isKnown, from, holidays);
  const left = oddRuns(values, first.isKnown, asked);
  return { series: withoutRuns({ ...first, values }, left, asked.season), effects, odd: [...single, ...left] };
}

/** Notes name so many odd events. */
const mostOddNamed = 3;

function notesOfOdd(odd: readonly OddRun[], instantAt: (index: number) => string): string[] {
  return [true, false].flatMap((isOne) => {
    const own = odd.filter(({ isSingle }) => isSingle === isOne);
    if (own.length === 0) return [];
    const named = own.slice(-mostOddNamed).map(({ first }) => instantAt(first));
    const times = `${named.join(', ')}${own.length === named.length ? '' : ` and ${own.length - named.length} earlier`}`;
    return isOne
      ? [`the forecast leaves out what was unlike all other steps: ${times}`]
      : [`unusual steps that came back at no fixed time count by how often they came: ${times}`];
  });
}

function noteOf({ steps, factor, lasts }: LevelShift): string {
  const last = steps === 1 ? 'the last step was' : `the last ${steps} steps were`;
  const times = factor >= 0.1 && factor < 100 ? factor.toFixed(1) : factor.toPrecision(2);
  const what =
    lasts === 0
      ? 'the forecast leaves that out until it lasts'
      : lasts === 1
        ? 'the forecast is at that level'
        : 'the interval includes both outcomes, that it lasts and that it ends';
  return `${last} ${times} times the expected value: ${what}`;
}

function checkAsked(horizon: number, level: number, seasons: readonly number[]): void {
  const problems = [
    ...(Number.isSafeInteger(horizon) && horizon > 0
      ? []
      : [`horizon: ${horizon} is not a whole number of at least 1`]),
    ...(level > 0 && level < 1 ? [] : [`level: ${level} is not between 0 and 1`]),
    ...seasons
      .filter((season) => !(Number.isSafeInteger(season) && season > 1))
      .map((season) => `seasons: ${season} is not a whole number of at least 2`),
  ];
  if (problems.length > 0) throw new UsageError(problems);
}

/** Whether the series has stopped: it has been zero for more than twice its longest pause. */
function isStill(series: Prepared, season: number | undefined): boolean {
  const least = season !== undefined && season >= 24 ? 2 * season : (season ?? 7);
  return series.zerosAtEnd >= Math.max(least, 2 * series.longestPause + 1);
}

function still(horizon: number, note: string, from: string, through: string): SeriesForecast {
  const zeros = Array.from({ length: horizon }, () => ({ mean: 0, lower: 0, upper: 0 }));
  return {
    kind: 'forecast',
    model: 'stopped',
    transform: 'none',
    seasons: [],
    notes: [note],
    points: zeros,
    cumulative: zeros,
    backtest: { folds: 0, mase: null, smape: null, coverage: null, sumCoverage: null },
    from,
    through,
  };
}

function reasonForNone(series: Prepared, season: number | undefined, horizon: number): string | undefined {
  const { known, values } = series;
  if (known === 0) return 'it has no values';
  const needed = season === undefined ? leastSteps : leastSeasons * season;
  const since = series.skipped > 0 ? ' since its first value' : '';
  if (known < needed) return `too little history: ${known} known steps${since}, at least ${needed} needed`;
  if (2 * known < values.length) {
    return `too many gaps: ${values.length - known} of ${values.length} steps are unknown`;
  }
  if (horizon > 2 * values.length) {
    return `too little history: ${values.length} steps${since} allow a horizon of at most ${2 * values.length}, not ${horizon}`;
  }
  return undefined;
}
