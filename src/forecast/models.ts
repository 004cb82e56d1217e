import { median } from '../base/median.ts';
import { lagged } from './lags.ts';
import { mean } from './numbers.ts';
import { alignPhase } from './phase.ts';
import { type Decomposed, decompose, withSeason } from './season.ts';

/** The past that a model sees: nothing after its end, and no more than can matter. */
export interface Past {
  readonly values: readonly number[];
  /** The values as they were, not moved into one phase. */
  readonly asTheyWere: readonly number[];
  readonly seasons: readonly number[];
  /** The steps of one cycle of the shortest season; levels and slopes are measured per cycle. */
  readonly cycle: number;
  readonly nonNegative: boolean;
  readonly seasonal: Decomposed;
  /** Where the shortest season moved to another phase: steps before the end, and how many steps earlier it comes. */
  readonly shifts: readonly { readonly back: number; readonly by: number }[];
}

/** A way to forecast from a past. */
export interface Model {
  readonly name: string;
  /** Its forecast of the next steps; undefined if it cannot forecast from this past. */
  forecast(past: Past, horizon: number): number[] | undefined;
}

/** The most steps of a cycle; a longer season is cut. */
const mostInCycle = 48;

/** The past of a series, which is its first `end` values: moved into one phase, if a season moved to another one. */
export function pastOf(values: readonly number[], end: number, seasons: readonly number[], nonNegative: boolean): Past {
  const cycle = Math.min(seasons[0] ?? 7, mostInCycle);
  const reach = Math.max(26 * Math.min(cycle, 14), 5 * (seasons.at(-1) ?? 1));
  const from = Math.max(0, end - reach);
  const asTheyWere = values.slice(from, end);
  const aligned = alignPhase(asTheyWere, seasons[0] ?? 1);
  const seen = aligned.values;
  return {
    values: seen,
    asTheyWere,
    shifts: aligned.shifts.map(({ at, by }) => ({ back: seen.length - at, by })),
    seasons,
    cycle,
    nonNegative,
    seasonal: decompose(seen, seasons, nonNegative ? 'factor' : 'addition'),
  };
}

/** The name of the model that repeats the last season. */
export const lastSeason = 'seasonal-naive';

/** The name of the model of the median: it errs least in single steps, but sums have the mean of their steps. */
export const typicalLevel = 'median-8';

/** Every model, the simplest first; of equal ones the simplest is chosen. */
export const models: readonly Model[] = [
  plain(lastSeason, ({ values, seasons }, horizon) => {
    const season = values.length >= (seasons.at(-1) ?? 1) ? (seasons.at(-1) ?? 1) : (seasons[0] ?? 1);
    return steps(horizon, (h) => values[values.length - season + (h % season)] ?? values.at(-1) ?? 0);
  }),
  ...[0.5, 1].map((share) => plain(`last-cycle-drift-${share}`, (past, horizon) => drifting(past, share, horizon))),
  plain('lags', lagged),
  ...[1, 8, 16, 26].map((cycles) => onRest(`level-${cycles}`, (rest, { cycle }) => mean(rest.slice(-cycles * cycle)))),
  onRest(typicalLevel, (rest, { cycle }) => median(rest.slice(-8 * cycle))),
  onRest('smoothed', (rest) => smoothed(rest)),
  onRest('trend-26', (rest, { cycle }) => trend(rest, 26, cycle)),
];

function plain(name: string, forecast: Model['forecast']): Model {
  return { name, forecast };
}

function steps(horizon: number, value: (h: number) => number): number[] {
  return Array.from({ length: horizon }, (_, h) => value(h));
}

/** A model of the level, to whose forecast the seasons are added again. */
function onRest(
  name: string,
  levelOf: (rest: readonly number[], past: Past) => number | ((h: number) => number),
): Model {
  return plain(name, (past, horizon) => {
    const { action, rest, seasonAt } = past.seasonal;
    const level = levelOf(rest, past);
    const at = typeof level === 'number' ? () => level : level;
    return steps(horizon, (h) => withSeason(at(h), seasonAt(rest.length + h), action));
  });
}

/** The last cycle again, with `share` times the usual change from a cycle to the next added for each. Undefined without two seasons. */
function drifting({ asTheyWere: values, seasons }: Past, share: number, horizon: number): number[] | undefined {
  const [season, longer] = seasons;
  if (season === undefined || longer === undefined) return undefined;
  const count = Math.min(8, Math.floor(values.length / season));
  const means = Array.from({ length: count }, (_, back) => {
    const end = values.length - back * season;
    return mean(values.slice(end - season, end));
  });
  const by = share * median(means.slice(1).map((before, back) => (means[back] ?? 0) - before));
  return steps(
    horizon,
    (h) => (values[values.length - season + (h % season)] ?? 0) + by * (Math.floor(h / season) + 1),
  );
}

/** A cycle below this share of a usual value says nothing of growth by a factor. */
const leastOfGrowth = 1e-3;

const smoothings = [0.03, 0.07, 0.15, 0.3, 0.5, 0.8];

/** The last level of simple exponential smoothing. The parameter minimizes the squared one-step errors. */
function smoothed(rest: readonly number[]): number {
  let best = { error: Number.POSITIVE_INFINITY, level: 0 };
  for (const alpha of smoothings) {
    let level = mean(rest.slice(0, 7));
    let error = 0;
    for (const value of rest) {
      error += (value - level) ** 2;
      level += alpha * (value - level);
    }
    if (error < best.error * (1 - 1e-9)) best = { error, level };
  }
  return best.level;
}

/**
 * Growth from the mean of the last four cycles, with the median slope (Theil-Sen) of the means of the last `cycles` cycles:
 * by a factor each cycle, or by an amount where some are nearly 0.
 */
function trend(rest: readonly number[], cycles: number, cycle: number): (h: number) => number {
  const count = Math.min(cycles, Math.floor(rest.length / cycle));
  const means = Array.from({ length: count }, (_, back) => {
    const end = rest.length - back * cycle;
    return mean(rest.slice(end - cycle, end));
  });
  const isFactor = means.every((value) => value > leastOfGrowth);
  const sizes = isFactor ? means.map(Math.log) : means;
  const slopes: number[] = [];
  for (let a = 0; a < count; a += 1) {
    for (let b = a + 1; b < count; b += 1) slopes.push(((sizes[a] ?? 0) - (sizes[b] ?? 0)) / (b - a));
  }
  // Fewer than four cycles show no slope.
  const slope = count < 4 ? 0 : median(slopes) / cycle;
  const after = (value: number, steps: number) => (isFactor ? value * Math.exp(slope * steps) : value + slope * steps);
  const level = mean(means.slice(0, 4).map((value, back) => after(value, (back + 0.5) * cycle)));
  return (h) => after(level, h + 0.5);
}
