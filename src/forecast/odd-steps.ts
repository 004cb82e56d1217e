import { median } from '../base/median.ts';
import { dayMs } from '../time/time.ts';
import { sum } from './numbers.ts';
import type { Range, Ranges } from './ranges.ts';

/** Steps in a row that are unlike the steps around them, and after which the series was as before. */
export interface OddRun {
  readonly first: number;
  readonly length: number;
  /** What they differ from the usual values together. */
  readonly excess: number;
  /** Whether nothing like it, in the same direction, has come before or since. */
  readonly isSingle: boolean;
}

/** An event of at least this share of another's size is like it. */
const likeness = 1 / 3;

/** A value is odd if it differs by so many times the usual deviation, and by more than the usual value, or a multiple of it. */
const farDeviations = 8;
/** The usual deviation is at least this share of the usual value. */
const leastDeviation = 0.05;
/** A step next to an odd one belongs to it from this share on: a day of a higher level is not an odd day. */
const shareBeside = 1 / 3;
/** The usual value is the median of so many steps of the same phase on each side. */
const seasonsAround = 4;
const leastAround = 3;
/** The usual deviation is that of so many seasons on each side. */
const seasonsOfDeviation = 8;
/** Odd steps that are a larger share of all are how the series is. */
const mostShare = 0.05;
/** Events that come again after so many seasons, or after a month of days, are a pattern: models follow those. */
const patternSeasons = 4;
const monthOfDays = [27, 32] as const;

/** How a series is read: the length of its season, and the most steps in a row that are one odd event. */
export interface OddAsked {
  readonly season: number;
  readonly mostLength: number;
  /** How many times the usual value a rise is at least. */
  readonly leastRise: number;
}

/** How steps of a length are read: hours rise and fall much more than days, and a day of them is one event. Pure. */
export function oddAsked(stepMs: number | undefined, season: number): OddAsked {
  return stepMs !== undefined && stepMs < dayMs
    ? { season, mostLength: Math.max(1, Math.round(dayMs / stepMs)), leastRise: 4 }
    : { season, mostLength: 2, leastRise: 2 };
}

/**
 * The events of a series that say nothing of other steps: charges above, and credits below zero, that stand alone or have
 * come back at times without a pattern. A rise at the end may last, so it is none. Pure.
 */
export function oddRuns(values: readonly number[], isKnown: readonly boolean[], asked: OddAsked): OddRun[] {
  const sizes = values.flatMap((value, index) => (isKnown[index] ? [Math.abs(value)] : []));
  // Of a series that is mostly 0, every cost is odd.
  const typical = sizes.length === 0 ? 0 : median(sizes);
  if (typical === 0) return [];
  const usual = values.map((_, index) => usualAt(values, isKnown, index, asked.season));
  const rest = values.map((value, index) => value - (usual[index] ?? value));
  const reach = seasonsOfDeviation * asked.season;
  const deviations = new Map<number, number>();
  function deviationAt(index: number): number {
    const block = Math.floor(index / asked.season);
    const near = rest.slice(Math.max(0, block * asked.season - reach), block * asked.season + reach);
    const found = deviations.get(block) ?? 1.4826 * median(near.map(Math.abs));
    deviations.set(block, found);
    return found;
  }
  /** Whether a value is odd; with a smaller `share`, whether it may be a part of what is odd next to it. */
  function isOdd(index: number, sign: number, share: number): boolean {
    const level = Math.abs(usual[index] ?? 0);
    const by = (rest[index] ?? 0) * sign;
    // Quiet steps, such as nights, rise above their own level when a pattern moves.
    const least = sign > 0 ? asked.leastRise * Math.max(level, typical) : level;
    const far = farDeviations * Math.max(deviationAt(index), leastDeviation * Math.max(level, typical));
    return isKnown[index] === true && by > share * least && by > share * far;
  }
  return [1, -1].flatMap((sign) => {
    const runs = runsOf(rest, (index, share) => isOdd(index, sign, share));
    return ofSign(runs, values.length, sign, asked);
  });
}

/** The median of the same phase of the seasons around a step, or of the steps around it; undefined if too few are known. */
function usualAt(
  values: readonly number[],
  isKnown: readonly boolean[],
  index: number,
  season: number,
): number | undefined {
  for (const stride of [season, 1]) {
    const around: number[] = [];
    for (let places = -seasonsAround; places <= seasonsAround; places += 1) {
      const at = index + places * stride;
      const value = values[at];
      if (places !== 0 && value !== undefined && isKnown[at]) around.push(value);
    }
    if (around.length >= leastAround) return median(around);
  }
  return undefined;
}

function runsOf(rest: readonly number[], isOdd: (index: number, share: number) => boolean): OddRun[] {
  const runs: OddRun[] = [];
  for (let at = 0; at < rest.length; at += 1) {
    if (!isOdd(at, 1)) continue;
    let [first, end] = [at, at + 1];
    while (isOdd(first - 1, shareBeside)) first -= 1;
    while (isOdd(end, shareBeside)) end += 1;
    runs.push({ first, length: end - first, excess: sum(rest.slice(first, end)), isSingle: true });
    at = end;
  }
  const isLike = (one: OddRun, other: OddRun) => one !== other && other.excess / one.excess >= likeness;
  return runs.map((run) => ({ ...run, isSingle: !runs.some((other) => isLike(run, other)) }));
}

/** The events of one direction, unless they are how the series is: many, long, or a pattern. */
function ofSign(all: readonly OddRun[], count: number, sign: number, { season, mostLength }: OddAsked): OddRun[] {
  const single = all.filter(
    ({ isSingle, length, first }) => isSingle && length <= mostLength && (sign < 0 || first + length < count),
  );
  const runs = all.filter(({ isSingle }) => !isSingle);
  if (sum(runs.map(({ length }) => length)) > mostShare * count) return single;
  if (runs.some(({ length }) => length > mostLength)) return single;
  const gaps = runs.slice(1).map(({ first }, index) => first - (runs[index]?.first ?? 0));
  const isPattern = gaps.some(
    (gap) =>
      (gap % season === 0 && gap <= patternSeasons * season) ||
      (season === 7 && gap >= monthOfDays[0] && gap <= monthOfDays[1]),
  );
  if (isPattern) return single;
  return [...single, ...runs.filter(({ first, length }) => sign < 0 || first + length < count)];
}

/** A series without its odd events: usual values are in their place, and count as unknown. Pure. */
export function withoutRuns<T extends { readonly values: readonly number[]; readonly isKnown: readonly boolean[] }>(
  series: T,
  runs: readonly OddRun[],
  season: number,
): T {
  if (runs.length === 0) return series;
  const values = [...series.values];
  const isKnown = [...series.isKnown];
  for (const { first, length } of runs) isKnown.fill(false, first, first + length);
  for (const { first, length } of runs) {
    for (let index = first; index < first + length; index += 1) {
      values[index] = usualAt(series.values, isKnown, index, season) ?? values[index] ?? 0;
    }
  }
  return { ...series, values, isKnown };
}

/** The events of one direction that have come back: their rate and mean size. Single ones are left out. */
interface Recurring {
  readonly perStep: number;
  readonly size: number;
}

/** How often events have come back, of all steps, by direction. Pure. */
export function recurringOf(runs: readonly OddRun[], count: number): Recurring[] {
  return [1, -1].flatMap((sign) => {
    const own = runs.filter(({ excess, isSingle }) => !isSingle && Math.sign(excess) === sign);
    if (own.length === 0) return [];
    return [{ perStep: own.length / count, size: sum(own.map(({ excess }) => excess)) / own.length }];
  });
}

/**
 * Ranges with the events that have come back: each step has their mean, and sums have the spread of their number, which is
 * that of independent events. Pure.
 */
export function withRecurring(
  ranges: Ranges,
  recurring: readonly Recurring[],
  { level, scale, floor }: { readonly level: number; readonly scale: number; readonly floor: number },
): Ranges {
  if (recurring.length === 0) return ranges;
  const tail = (1 - level) / 2;
  function at({ mean, lower, upper }: Range, steps: number): Range {
    let [middle, below, above] = [mean, mean - lower, upper - mean];
    for (const { perStep, size } of recurring) {
      const expected = perStep * steps;
      const [least, most] = [tail, 1 - tail].map((share) => poissonQuantile(expected, share)) as [number, number];
      const [fewer, more] = [Math.max(0, expected - least), Math.max(0, most - expected)];
      middle += expected * size * scale;
      below += (size > 0 ? fewer : more) * Math.abs(size) * scale;
      above += (size > 0 ? more : fewer) * Math.abs(size) * scale;
    }
    return {
      ...{ mean: Math.max(floor, middle), lower: Math.max(floor, middle - below) },
      upper: Math.max(floor, middle + above),
    };
  }
  let before: Range | undefined;
  return {
    points: ranges.points.map((range) => at(range, 1)),
    cumulative: ranges.cumulative.map((range, h) => {
      const own = at(range, h + 1);
      const [least, most] = [before?.lower ?? own.lower, before?.upper ?? own.upper];
      // If values cannot be negative, sums cannot decrease.
      before = floor === 0 ? { ...own, lower: Math.max(own.lower, least), upper: Math.max(own.upper, most) } : own;
      return before;
    }),
  };
}

/** The least number of events that is not exceeded with this probability. */
function poissonQuantile(expected: number, share: number): number {
  let term = Math.exp(-expected);
  let total = term;
  let count = 0;
  while (total < share && count < 10_000) {
    count += 1;
    term *= expected / count;
    total += term;
  }
  return count;
}
