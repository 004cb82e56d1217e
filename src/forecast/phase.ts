import { median } from '../base/median.ts';
import { mean } from './numbers.ts';

/** A change after which a season goes on in another phase: a batch window or the clocks were moved. */
export interface PhaseShift {
  /** The index of the first step in the new phase. */
  readonly at: number;
  /** How many steps earlier than before the pattern comes; negative if it comes later. */
  readonly by: number;
}

/** A series whose earlier steps are moved into the phase of its last ones. */
export interface Aligned {
  readonly values: readonly number[];
  /** In the order in which they were found. */
  readonly shifts: readonly PhaseShift[];
}

/** A season with fewer steps has no phase that could be told from noise. */
const leastSeason = 20;
/** The largest shift, as a share of the season. */
const mostShare = 1 / 3;
/** How many cycles back a shift is looked for, and how many must be before them. */
const searched = 28;
const leastBefore = 7;
/** The new phase must be seen for this many cycles, and reduce the errors to this share. */
const leastSeen = 1;
const mostErrorLeft = 0.75;
/** The mean reduction must be this many times its standard error. */
const leastCertainty = 2;
/** How many shifts one series can have. */
const mostShifts = 3;

/**
 * Finds where the shortest season of a series moved to another phase, and moves the steps before into the last phase, so
 * that no model averages two phases. Returns the series as it is if nothing moved.
 */
export function alignPhase(values: readonly number[], season: number): Aligned {
  const shifts: PhaseShift[] = [];
  let aligned = values;
  while (season >= leastSeason && shifts.length < mostShifts) {
    const shift = findShift(aligned, season);
    if (shift === undefined) break;
    aligned = moved(aligned, shift, season);
    shifts.push(shift);
  }
  return { values: aligned, shifts };
}

/** The steps before a shift, moved by it; at the edges, the season next to them is repeated. */
function moved(values: readonly number[], { at, by }: PhaseShift, season: number): number[] {
  return values.map((value, index) => {
    if (index >= at) return value;
    const from = index + by;
    if (from >= at) return values[from - season] ?? value;
    return values[from < 0 ? from + season : from] ?? value;
  });
}

/** The shift that explains most; undefined if none is certain. */
function findShift(values: readonly number[], season: number): PhaseShift | undefined {
  const end = values.length;
  const most = Math.floor(season * mostShare);
  const begin = Math.max(leastBefore * season, end - searched * season, Math.floor(end / 3));
  if (begin > end - leastSeen * season) return undefined;
  const levels = levelsAround(values, season);
  const profile = profileBefore(values, levels, season, begin);
  const errorsAt = (lag: number) => {
    const errors: number[] = [];
    for (let index = begin; index < end; index += 1) {
      const expected = (levels[index] ?? 0) * (profile[(((index + lag) % season) + season) % season] ?? 1);
      errors.push(Math.abs((values[index] ?? 0) - expected));
    }
    return errors;
  };
  const usual = errorsAt(0);
  let best: (PhaseShift & { readonly gain: number }) | undefined;
  for (let by = -most; by <= most; by += 1) {
    if (by === 0) continue;
    const errors = errorsAt(by);
    let [gain, old, left] = [0, 0, 0];
    for (let index = errors.length - 1; index >= 0; index -= 1) {
      gain += (usual[index] ?? 0) - (errors[index] ?? 0);
      old += usual[index] ?? 0;
      left += errors[index] ?? 0;
      const isSeen = errors.length - index >= leastSeen * season;
      if (isSeen && left < mostErrorLeft * old && gain > (best?.gain ?? 0)) best = { at: begin + index, by, gain };
    }
  }
  if (best === undefined) return undefined;
  const errors = errorsAt(best.by);
  const reductions = usual.map((error, index) => error - (errors[index] ?? 0)).slice(best.at - begin);
  return certainty(reductions, season) >= leastCertainty ? { at: best.at, by: best.by } : undefined;
}

/** The mean of differences in standard errors; neighbours are not independent, so every sixth of a season counts once. */
function certainty(differences: readonly number[], season: number): number {
  const length = Math.max(1, Math.round(season / 6));
  const blocks: number[] = [];
  for (let from = 0; from + length <= differences.length; from += length) {
    blocks.push(mean(differences.slice(from, from + length)));
  }
  const middle = mean(blocks);
  const variance =
    mean(blocks.map((value) => (value - middle) ** 2)) * (blocks.length / Math.max(1, blocks.length - 1));
  return middle / Math.max(Math.sqrt(variance / blocks.length), 1e-12);
}

/** The mean of one season around each step; near the ends, of the first and the last season. */
function levelsAround(values: readonly number[], season: number): number[] {
  const sums = [0];
  for (const value of values) sums.push((sums.at(-1) ?? 0) + value);
  return values.map((_, index) => {
    const from = Math.min(Math.max(0, index - Math.floor(season / 2)), values.length - season);
    return ((sums[from + season] ?? 0) - (sums[from] ?? 0)) / season;
  });
}

/** The median share of the level at each position of the season, before an index. */
function profileBefore(values: readonly number[], levels: readonly number[], season: number, before: number): number[] {
  const at: number[][] = Array.from({ length: season }, () => []);
  for (let index = 0; index < before; index += 1) {
    const level = levels[index] ?? 0;
    if (level > 1e-9) at[index % season]?.push((values[index] ?? 0) / level);
  }
  return at.map((shares) => (shares.length === 0 ? 1 : median(shares)));
}
