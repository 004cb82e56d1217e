import { UsageError } from '../../errors.ts';
import { loadAugurs } from './augurs.ts';
import { chooseAt, type Origin, originsOf, type Trial, tryModel } from './backtest.ts';
import { type Fold, type Margin, pointMargins, sumMargins } from './intervals.ts';
import { type Model, modelsWith, type Past, pastOf, type Transform } from './models.ts';
import { mean } from './numbers.ts';
import { type Prepared, prepare } from './series.ts';
import { type Step, stepsAfter, usualSeasons } from './step.ts';

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
  /** Share of the outcomes that the intervals would have held, made from what was known before them; 0 to 1. */
  readonly coverage: number | null;
  /** The same of the sums over the horizon (or what was known of it). */
  readonly sumCoverage: number | null;
}

export interface SeriesForecast {
  readonly kind: 'forecast';
  /** The name of the model, for people and for the books: `level-4`, `trend-16`, `mstl-ets`, `stopped`, … */
  readonly model: string;
  readonly transform: Transform;
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

/** Seasons that must be known before anything is said of what comes. */
const leastSeasons = 3;
/** Steps that must be known where there is no season. */
const leastSteps = 12;
/** What a model must have seen before it is asked at an origin, where there is no season. */
const leastPast = 8;
/** How many origins, the newest first, the intervals themselves are tried at. */
const coverageOrigins = 8;
/** Origins that a dear model is first tried at, and what share of the best loss there makes it worth trying at all. */
const screening = { every: 6, share: 0.97 };
/** Errors grow with the size of a series, but less. */
const sizePower = 0.75;
/** A step that is quieter than this by its season errs as if it were not. */
const leastShare = 0.1;

/**
 * Forecasts the next `horizon` steps of a series from its own past: the model is chosen by rolling backtest, and the
 * intervals are calibrated on what that way of choosing erred there. The same history gives the same bytes; values
 * need no unit, and all that comes out has theirs. Throws UsageError where the horizon or an option makes no sense.
 */
export async function forecastSeries(
  history: History,
  horizon: number,
  options: ForecastOptions = {},
): Promise<Forecast> {
  const { level = 0.8, nonNegative = true } = options;
  const asked = options.seasons ?? usualSeasons(history.step);
  checkAsked(horizon, level, asked);
  const known = [...new Set(asked)].sort((a, b) => a - b);
  const series = prepare(history.values, known[0] ?? 1);
  const { length } = history.values;
  const instantAt = (index: number) => stepsAfter(history.start, history.step, index);
  if (series.known > 0 && isStill(series, known[0])) {
    const since = length - series.zerosAtEnd;
    const note = series.zerosAtEnd < series.known ? `stopped: zero since ${instantAt(since)}` : 'always zero';
    return still(horizon, note, instantAt(since), instantAt(length));
  }
  const reason = reasonForNone(series, known[0], horizon);
  if (reason !== undefined) return { kind: 'none', reason };

  const seasons = known.filter((season) => series.values.length >= 2 * season);
  const floor = nonNegative ? 0 : Number.NEGATIVE_INFINITY;
  const past = pastOf(series.values, series.values.length, seasons, nonNegative);
  const tried = await tryModels(series, past, horizon, seasons, floor);
  const { chosen, path } = tried;
  const margins = marginsFor({ back: 0, past, chosen }, tried, horizon, level);
  return {
    kind: 'forecast',
    model: chosen.model.name,
    transform: chosen.model.transform,
    seasons,
    notes: series.values.length < 2 * horizon ? ['little history for so long a horizon: the intervals are wide'] : [],
    ...rangesAround(path, margins, floor, series.scale),
    backtest: backtestOf(tried, series, horizon, level, seasons.at(-1) ?? 1, floor),
    from: instantAt(length - past.values.length),
    through: instantAt(length),
  };
}

function checkAsked(horizon: number, level: number, seasons: readonly number[]): void {
  const problems = [
    ...(Number.isSafeInteger(horizon) && horizon > 0 ? [] : [`horizon: ${horizon} is no whole number of at least 1`]),
    ...(level > 0 && level < 1 ? [] : [`level: ${level} does not lie between 0 and 1`]),
    ...seasons
      .filter((season) => !(Number.isSafeInteger(season) && season > 1))
      .map((season) => `seasons: ${season} is no whole number of at least 2`),
  ];
  if (problems.length > 0) throw new UsageError(problems.join('\n'));
}

/** Whether it is zero for so long that it will not be otherwise: longer than twice any pause that it ever made. */
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
  if (known === 0) return 'no value is known';
  const needed = season === undefined ? leastSteps : leastSeasons * season;
  const since = series.skipped > 0 ? ' since it began' : '';
  if (known < needed) return `too little history: ${known} steps are known${since}, and it takes ${needed}`;
  if (2 * known < values.length) {
    return `too many gaps: ${values.length - known} of ${values.length} steps are not known`;
  }
  if (horizon > 2 * values.length) {
    return `too little history: ${values.length} steps${since} are too few to look ${horizon} ahead; at most ${2 * values.length}`;
  }
  return undefined;
}

/** Margins by step, of the single steps and of their sums up to there. */
interface Margins {
  readonly points: readonly Margin[];
  readonly sums: readonly Margin[];
}

/** What the models said at the origins, and which of them is chosen. */
interface Tried {
  readonly origins: readonly Origin[];
  readonly chosen: Trial;
  /** What the chosen model expects of the horizon. */
  readonly path: readonly number[];
  /** By origin: what would have been chosen there; undefined where too little was known to choose. */
  readonly chosenAt: readonly (Trial | undefined)[];
}

async function tryModels(
  series: Prepared,
  past: Past,
  horizon: number,
  seasons: readonly number[],
  floor: number,
): Promise<Tried> {
  const least = seasons[0] === undefined ? leastPast : 2 * seasons[0];
  const origins = originsOf(series, horizon, seasons, least, floor === 0);
  const models = modelsWith(await loadAugurs());
  const trials: Trial[] = [];
  const paths = new Map<Trial, number[]>();
  function add(model: Model): void {
    const trial = tryModel(model, origins, horizon, floor);
    const path = trial && model.forecast(past, horizon)?.map((value) => Math.max(floor, value));
    if (trial === undefined || path === undefined) return;
    trials.push(trial);
    paths.set(trial, path);
  }
  for (const model of models) if (!model.isDear) add(model);
  const some = origins.filter((_, index) => index % screening.every === screening.every - 1);
  for (const model of models)
    if (model.isDear && isWorthTrying(model, trials, origins, some, horizon, floor)) add(model);
  const chosen = chooseAt(trials, origins, 0, horizon);
  const path = chosen && paths.get(chosen);
  if (chosen === undefined || path === undefined) throw new Error('the seasonal naive model has nothing to say');
  return { origins, chosen, path, chosenAt: origins.map(({ back }) => chooseAt(trials, origins, back, horizon)) };
}

/** Whether a model that takes long errs less at a few origins than the best of the others there. */
function isWorthTrying(
  model: Model,
  trials: readonly Trial[],
  origins: readonly Origin[],
  some: readonly Origin[],
  horizon: number,
  floor: number,
): boolean {
  const trial = some.length === 0 ? undefined : tryModel(model, some, horizon, floor);
  if (trial === undefined) return false;
  const lossOf = (losses: readonly (readonly number[])[]) => mean(losses.map((one) => one.at(-1) ?? 0));
  const others = trials.map((other) => lossOf(some.map((origin) => other.losses[origins.indexOf(origin)] ?? [])));
  return lossOf(trial.losses) < screening.share * Math.min(...others);
}

/** How large a series is before an origin; what a model errs there is counted in this. */
function sizeOf(past: Past): number {
  const { values, cycle } = past;
  const recent = mean(values.slice(-8 * cycle).map(Math.abs));
  return Math.max(recent, 0.2 * mean(values.map(Math.abs)), 1e-9) ** sizePower;
}

/** How much of that size the next steps have by their seasons: what is busy errs by more than what is quiet. */
function sharesOf({ factors, values }: Past, horizon: number): number[] {
  return Array.from({ length: horizon }, (_, h) =>
    factors.action === 'factor' ? Math.max(leastShare, factors.seasonAt(values.length + h)) ** sizePower : 1,
  );
}

/** A forecast that is made, or could have been made, `back` steps before the end of the series. */
interface Stand {
  readonly back: number;
  readonly past: Past;
  readonly chosen: Trial;
}

/**
 * Margins for a forecast: from older origins alone, as far as their outcomes were known by then. Half of what counts is
 * what the chosen model erred, which it was chosen for, and half what the models erred that would have been chosen at
 * those origins, which knew less.
 */
function marginsFor({ back, past, chosen }: Stand, tried: Tried, horizon: number, level: number): Margins {
  const [ofPoints, ofSums]: [Fold[], Fold[]] = [[], []];
  for (const [index, origin] of tried.origins.entries()) {
    if (origin.back <= back) continue;
    const size = sizeOf(origin.past);
    const shares = sharesOf(origin.past, origin.outcomes.length);
    for (const { paths } of [chosen, tried.chosenAt[index]].filter((trial) => trial !== undefined)) {
      const errors = origin.outcomes
        .slice(0, origin.back - back)
        .map((outcome, h) => (origin.isKnown[h] ? (outcome - (paths[index]?.[h] ?? 0)) / size : Number.NaN));
      const fold = { back: origin.back - back, weight: 0.5 };
      ofPoints.push({ ...fold, errors: errors.map((error, h) => error / (shares[h] ?? 1)) });
      ofSums.push({ ...fold, errors: runningSums(errors) });
    }
  }
  const size = sizeOf(past);
  const shares = sharesOf(past, horizon);
  return {
    points: pointMargins(ofPoints, horizon, level).map((margin, h) => times(margin, size * (shares[h] ?? 1))),
    sums: sumMargins(ofSums, horizon, level).map((margin) => times(margin, size)),
  };
}

function times([below, above]: Margin, factor: number): Margin {
  return [below * factor, above * factor];
}

/** A step whose outcome is not known adds nothing. */
function runningSums(errors: readonly number[]): number[] {
  let total = 0;
  return errors.map((error) => {
    if (Number.isFinite(error)) total += error;
    return total;
  });
}

function rangesAround(
  path: readonly number[],
  margins: Margins,
  floor: number,
  scale: number,
): { points: Range[]; cumulative: Range[] } {
  const points = path.map((value, h) => rangeAround(value, margins.points[h] ?? [0, 0], floor));
  let total = 0;
  let before: Range | undefined;
  const cumulative = path.map((value, h): Range => {
    total += value;
    const own = h === 0 ? points[0] : undefined;
    const range = own ?? rangeAround(total, margins.sums[h] ?? [0, 0], floor);
    // What cannot be below zero cannot grow less in sum.
    if (floor === 0 && before !== undefined) {
      before = { ...range, lower: Math.max(range.lower, before.lower), upper: Math.max(range.upper, before.upper) };
    } else before = range;
    return before;
  });
  const inUnits = ({ mean, lower, upper }: Range): Range => ({
    mean: finite(mean * scale),
    lower: finite(lower * scale),
    upper: finite(upper * scale),
  });
  return { points: points.map(inUnits), cumulative: cumulative.map(inUnits) };
}

function rangeAround(value: number, [below, above]: Margin, floor: number): Range {
  return { mean: value, lower: Math.max(floor, value + below), upper: value + above };
}

/** Sums of the largest numbers there are stay numbers; and there is one zero. */
function finite(value: number): number {
  return Math.min(Number.MAX_VALUE, Math.max(-Number.MAX_VALUE, value)) + 0;
}

function backtestOf(
  tried: Tried,
  series: Prepared,
  horizon: number,
  level: number,
  season: number,
  floor: number,
): Backtest {
  const { origins, chosen } = tried;
  const [errors, shares]: [number[], number[]] = [[], []];
  for (const [index, { outcomes, isKnown }] of origins.entries()) {
    for (const [h, outcome] of outcomes.entries()) {
      if (!isKnown[h]) continue;
      const said = chosen.paths[index]?.[h] ?? 0;
      const both = Math.abs(outcome) + Math.abs(said);
      errors.push(Math.abs(outcome - said));
      if (both > 0) shares.push((200 * Math.abs(outcome - said)) / both);
    }
  }
  const { values, isKnown } = series;
  const naive = mean(
    values.flatMap((value, index) =>
      index >= season && isKnown[index] && isKnown[index - season]
        ? [Math.abs(value - (values[index - season] ?? 0))]
        : [],
    ),
  );
  const covered = coverageOf(tried, horizon, level, floor);
  return {
    folds: origins.length,
    mase: naive > 0 && errors.length > 0 ? mean(errors) / naive : null,
    smape: shares.length > 0 ? mean(shares) : null,
    ...covered,
  };
}

/** Makes the intervals as they would have been made at some origins, and counts what they held. */
function coverageOf(
  tried: Tried,
  horizon: number,
  level: number,
  floor: number,
): { coverage: number | null; sumCoverage: number | null } {
  const [points, sums]: [number[], number[]] = [[], []];
  const candidates = tried.origins.flatMap((origin, index) => {
    const trial = tried.chosenAt[index];
    return trial === undefined ? [] : [{ origin, chosen: trial, path: trial.paths[index] ?? [] }];
  });
  const every = Math.max(1, Math.ceil(candidates.length / coverageOrigins));
  for (const { origin, chosen, path } of candidates.filter((_, index) => index % every === 0)) {
    const margins = marginsFor({ ...origin, chosen }, tried, horizon, level);
    const { points: around, cumulative } = rangesAround(path, margins, floor, 1);
    let total = 0;
    for (const [h, outcome] of origin.outcomes.entries()) {
      total += origin.isKnown[h] ? outcome : (path[h] ?? 0);
      if (origin.isKnown[h]) points.push(isWithin(outcome, around[h]) ? 1 : 0);
    }
    sums.push(isWithin(total, cumulative[origin.outcomes.length - 1]) ? 1 : 0);
  }
  return {
    coverage: points.length === 0 ? null : mean(points),
    sumCoverage: sums.length === 0 ? null : mean(sums),
  };
}

function isWithin(value: number, range: Range | undefined): boolean {
  return range !== undefined && value >= range.lower && value <= range.upper;
}
