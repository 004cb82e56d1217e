import { median } from '../base/median.ts';
import type { Augurs } from './augurs.ts';
import { mean, sum } from './numbers.ts';
import { alignPhase } from './phase.ts';
import { type Decomposed, decompose, withSeason } from './season.ts';

export type Transform = 'none' | 'log1p' | 'sqrt';

/** The past that a model sees: nothing after its end, and no more than can matter. */
export interface Past {
  readonly values: readonly number[];
  readonly seasons: readonly number[];
  /** The steps of one cycle of the shortest season; levels and slopes are measured per cycle. */
  readonly cycle: number;
  readonly nonNegative: boolean;
  readonly factors: Decomposed;
  readonly additions: Decomposed;
  /** Where the shortest season moved to another phase: steps before the end, and how many steps earlier it comes. */
  readonly shifts: readonly { readonly back: number; readonly by: number }[];
  /** Seasons of the last cycles only, because a pattern may change when resources are replaced. */
  readonly recent: Decomposed;
}

/** A way to forecast from a past. */
export interface Model {
  readonly name: string;
  readonly transform: Transform;
  /** True if it is slow, and is therefore first tried at few origins. */
  readonly isDear: boolean;
  /** Its forecast of the next steps; undefined if it cannot forecast from this past. */
  forecast(past: Past, horizon: number): number[] | undefined;
}

/** The number of recent cycles. */
const recentCycles = 8;

/** The most steps of a cycle; a longer season is cut. */
const mostInCycle = 48;

/** The past of a series, which is its first `end` values: moved into one phase, if a season moved to another one. */
export function pastOf(values: readonly number[], end: number, seasons: readonly number[], nonNegative: boolean): Past {
  const cycle = Math.min(seasons[0] ?? 7, mostInCycle);
  const reach = Math.max(26 * Math.min(cycle, 14), 5 * (seasons.at(-1) ?? 1));
  const from = Math.max(0, end - reach);
  const aligned = alignPhase(values.slice(from, end), seasons[0] ?? 1);
  const seen = aligned.values;
  const additions = decompose(seen, seasons, 'addition');
  const recentReach = Math.max(recentCycles * cycle, 3 * (seasons.at(-1) ?? 1));
  return {
    values: seen,
    shifts: aligned.shifts.map(({ at, by }) => ({ back: seen.length - at, by })),
    seasons,
    cycle,
    nonNegative,
    additions,
    factors: nonNegative ? decompose(seen, seasons, 'factor') : additions,
    recent: decompose(seen.slice(-recentReach), seasons, nonNegative ? 'factor' : 'addition'),
  };
}

/** The name of the model that repeats the last season. */
export const lastSeason = 'seasonal-naive';

/** Every model, the simplest first; of equal ones the simplest is chosen. */
export function modelsWith(augurs: Augurs): readonly Model[] {
  return [
    plain(lastSeason, ({ values, seasons }, horizon) => {
      const season = values.length >= (seasons.at(-1) ?? 1) ? (seasons.at(-1) ?? 1) : (seasons[0] ?? 1);
      return steps(horizon, (h) => values[values.length - season + (h % season)] ?? values.at(-1) ?? 0);
    }),
    plain('last-cycle', ({ values, seasons }, horizon) => {
      const [season, longer] = seasons;
      if (season === undefined || longer === undefined) return undefined;
      return steps(horizon, (h) => values[values.length - season + (h % season)] ?? 0);
    }),
    ...[0.3, 0.6].map((share) => plain(`adapting-${share}`, (past, horizon) => adapting(past, share, horizon))),
    ...[1, 2, 4, 8, 26].flatMap((cycles) => [
      onRest(`level-${cycles}`, 'factors', (rest, { cycle }) => mean(rest.slice(-cycles * cycle))),
      onRest(`level-${cycles}-add`, 'additions', (rest, { cycle }) => mean(rest.slice(-cycles * cycle))),
    ]),
    ...[4, 8].map((cycles) =>
      onRest(`median-${cycles}`, 'factors', (rest, { cycle }) => median(rest.slice(-cycles * cycle))),
    ),
    ...[1, 4].map((cycles) =>
      onRest(`level-${cycles}-recent`, 'recent', (rest, { cycle }) => mean(rest.slice(-cycles * cycle))),
    ),
    ...[0.5, 1].map((share) =>
      onRest(`trend-8-${share}-recent`, 'recent', (rest, { cycle }) => trend(rest, 8, share, cycle)),
    ),
    onRest('smoothed-recent', 'recent', (rest) => smoothed(rest)),
    onRest('level-since-change', 'factors', (rest, { cycle }) => mean(rest.slice(lastChange(rest, cycle)))),
    onRest('smoothed', 'factors', (rest) => smoothed(rest)),
    onRest('smoothed-add', 'additions', (rest) => smoothed(rest)),
    ...[8, 16, 26].flatMap((cycles) =>
      [0.5, 1].map((share) =>
        onRest(`trend-${cycles}-${share}`, 'factors', (rest, past) => trend(rest, cycles, share, past.cycle)),
      ),
    ),
    onRest(`trend-26-log`, 'factors', (rest, past) => {
      const floor = 0.05 * mean(rest);
      if (!(floor > 0)) return undefined;
      const line = trend(
        rest.map((value) => Math.log(Math.max(value, floor))),
        26,
        1,
        past.cycle,
      );
      const level = trend(rest, 26, 0, past.cycle);
      if (line === undefined || level === undefined) return undefined;
      return (h) => level(h) * Math.exp(Math.min(2, line(h) - line(0)));
    }),
    ...(['none', 'log1p', 'sqrt'] as const).map(
      (transform): Model => ({
        name: 'ets',
        transform,
        isDear: true,
        forecast: (past, horizon) => smoothedByAugurs(augurs, past, horizon, transform),
      }),
    ),
    // With a single season, one pass of removal does as well as repeated passes; with several, it does not.
    {
      name: 'mstl-ets',
      transform: 'log1p',
      isDear: true,
      forecast: (past, horizon) => decomposedByAugurs(augurs, past, horizon),
    },
  ];
}

function plain(name: string, forecast: Model['forecast']): Model {
  return { name, transform: 'none', isDear: false, forecast };
}

function steps(horizon: number, value: (h: number) => number): number[] {
  return Array.from({ length: horizon }, (_, h) => value(h));
}

/** A model of the level, to whose forecast the seasons are added again. */
function onRest(
  name: string,
  parts: 'factors' | 'additions' | 'recent',
  levelOf: (rest: readonly number[], past: Past) => number | ((h: number) => number) | undefined,
): Model {
  return plain(name, (past, horizon) => {
    const { action, rest, seasonAt } = past[parts];
    const level = levelOf(rest, past);
    if (level === undefined) return undefined;
    const at = typeof level === 'number' ? () => level : level;
    return steps(horizon, (h) => withSeason(at(h), seasonAt(rest.length + h), action));
  });
}

/**
 * Seasons that adapt: the value at each position of the shortest season is smoothed exponentially, with `share` for the
 * newest. Undefined without two seasons.
 */
function adapting({ values, seasons }: Past, share: number, horizon: number): number[] | undefined {
  const [season, longer] = seasons;
  if (season === undefined || longer === undefined || values.length < 2 * season) return undefined;
  const at = values.slice(0, season);
  for (let index = season; index < values.length; index += 1) {
    const place = index % season;
    at[place] = (at[place] ?? 0) + share * ((values[index] ?? 0) - (at[place] ?? 0));
  }
  return steps(horizon, (h) => at[(values.length + h) % season] ?? 0);
}

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
 * A line from the mean of the last four cycles, with `share` times the median slope (Theil-Sen) of the means of the
 * last `cycles` cycles.
 */
function trend(
  rest: readonly number[],
  cycles: number,
  share: number,
  cycle: number,
): ((h: number) => number) | undefined {
  const count = Math.min(cycles, Math.floor(rest.length / cycle));
  if (count === 0) return undefined;
  const means = Array.from({ length: count }, (_, back) => {
    const end = rest.length - back * cycle;
    return mean(rest.slice(end - cycle, end));
  });
  const slopes: number[] = [];
  for (let a = 0; a < count; a += 1) {
    for (let b = a + 1; b < count; b += 1) slopes.push(((means[a] ?? 0) - (means[b] ?? 0)) / (b - a));
  }
  // Fewer than four cycles show no slope.
  const slope = count < 4 ? 0 : (median(slopes) / cycle) * share;
  const level = mean(means.slice(0, 4).map((value, back) => value + slope * (back + 0.5) * cycle));
  return (h) => level + slope * (h + 0.5);
}

/**
 * The start of the last lasting level: the split of the last cycles that explains most of the variation, if it explains
 * enough.
 */
function lastChange(rest: readonly number[], cycle: number): number {
  let from = Math.max(0, rest.length - 26 * cycle);
  const least = Math.max(3, Math.round(cycle / 2));
  for (;;) {
    const split = bestSplit(rest, from, least);
    if (split === undefined) return from;
    from = split;
  }
}

/** The best split of `rest` from `from` on into two levels, if they differ by more than chance. */
function bestSplit(rest: readonly number[], from: number, least: number): number | undefined {
  const values = rest.slice(from);
  const n = values.length;
  if (n < 3 * least) return undefined;
  // Outliers dominate squared deviations, so they are clipped.
  const center = median(values);
  const spread = median(values.map((value) => Math.abs(value - center))) * 1.4826;
  const edge = Math.max(4 * spread, 1e-12);
  const clipped = values.map((value) => Math.min(center + edge, Math.max(center - edge, value)));
  const total = sum(clipped);
  const squares = sum(clipped.map((value) => value * value));
  const whole = squares - (total * total) / n;
  let best = { left: whole, at: -1 };
  let before = 0;
  for (let at = 1; at <= n - least; at += 1) {
    before += clipped[at - 1] ?? 0;
    if (at < least) continue;
    const after = total - before;
    const left = squares - (before * before) / at - (after * after) / (n - at);
    if (left < best.left) best = { left, at };
  }
  // A wandering level has splits too, so a split must explain most of the variation.
  if (best.at === -1 || best.left > 0.5 * whole || best.left > whole - 12 * (best.left / n)) return undefined;
  return from + best.at;
}

const transforms: Readonly<
  Record<Transform, { to(value: number): number; back(value: number): number; bend(value: number): number }>
> = {
  none: { to: (value) => value, back: (value) => value, bend: () => 0 },
  // Ten times the usual size: so the logarithm is curved at the values, and accepts zero.
  log1p: {
    to: (value) => Math.log1p(10 * Math.max(0, value)),
    back: (value) => Math.expm1(Math.min(value, 50)) / 10,
    bend: (value) => Math.exp(Math.min(value, 50)) / 10,
  },
  sqrt: {
    to: (value) => Math.sqrt(Math.max(0, value)),
    back: (value) => Math.max(0, value) ** 2,
    bend: () => 2,
  },
};

/** The most cycles for slow models; more do not improve them. */
const dearCycles = 14;

function smoothedByAugurs(augurs: Augurs, past: Past, horizon: number, transform: Transform): number[] | undefined {
  if (transform === 'none') {
    const { action, rest, seasonAt } = past.factors;
    const path = augurs.ets(rest.slice(-dearCycles * past.cycle), horizon);
    return path?.map((value, h) => withSeason(value, seasonAt(rest.length + h), action));
  }
  if (!past.nonNegative) return undefined;
  const { rest, seasonAt } = decompose(past.values.map(transforms[transform].to), past.seasons, 'addition');
  const path = augurs.ets(rest.slice(-dearCycles * past.cycle), horizon);
  return (
    path &&
    backFrom(
      path.map((value, h) => value + seasonAt(rest.length + h)),
      rest,
      past.cycle,
      transform,
    )
  );
}

function decomposedByAugurs(augurs: Augurs, past: Past, horizon: number): number[] | undefined {
  const [shortest = 1, ...longer] = past.seasons;
  if (longer.length === 0 || !past.nonNegative) return undefined;
  const reach = Math.max(dearCycles * shortest, 2 * Math.max(...longer) + 1);
  const values = past.values.slice(-reach).map(transforms.log1p.to);
  const path = augurs.mstl(
    values,
    horizon,
    past.seasons.filter((season) => values.length > 2 * season),
  );
  if (path === undefined) return undefined;
  return backFrom(path, decompose(values, past.seasons, 'addition').rest, past.cycle, 'log1p');
}

/**
 * Inverts a transform. Because of its curvature, the mean is above the median by half the variance times the curvature.
 */
function backFrom(path: readonly number[], rest: readonly number[], cycle: number, transform: Transform): number[] {
  const { back, bend } = transforms[transform];
  const recent = rest.slice(-8 * cycle);
  const variance = mean(recent.slice(1).map((value, index) => (value - (recent[index] ?? 0)) ** 2)) / 2;
  return path.map((value) => back(value) + (bend(value) * variance) / 2);
}
