import { median, medianOfSorted } from '../base/median.ts';

/** A median absolute deviation times this is the standard deviation of normal values. */
export const madScale = 1.4826;
/** Values further out than this many deviations are clipped: they are what detection looks for. */
const reachOfSpread = 5;
/** The mean absolute cube of normal values, in cubes of their deviation. */
const normalCube = 1.5958;

/**
 * The spread of values around their center: the standard deviation if they are normal, and more if some are far out,
 * because cubes weigh those. It is nearly as efficient as the standard deviation, which no median deviation is, and
 * outliers beyond chance cannot inflate it.
 */
export function spreadOf(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const middle = median(values);
  const distances = values.map((value) => Math.abs(value - middle));
  const reach = reachOfSpread * madScale * median(distances);
  const cubes = distances.reduce((sum, distance) => sum + Math.min(distance, reach) ** 3, 0);
  return Math.cbrt(cubes / (values.length - 1) / normalCube);
}

/** Values further out than this many deviations are clipped when the center is computed. */
const reachOfCentre = 1.5;
/** Values further out than this many deviations are ignored: they have another cause. */
const reachOfAny = 4;

/** The center of values with a known spread: nearly as efficient as a mean, and robust against outliers. */
export function centreOf(values: readonly number[], spread: number): number {
  const middle = median(values);
  const near = values.filter((value) => Math.abs(value - middle) <= reachOfAny * spread);
  const reach = reachOfCentre * spread;
  const sum = near.reduce((total, value) => total + Math.max(-reach, Math.min(reach, value - middle)), 0);
  return middle + sum / Math.max(1, near.length);
}

/** The median of each range of values, from each of `firsts` to each of `lasts`. Neither of them may decrease. */
export function medianOfEach(values: readonly number[], firsts: readonly number[], lasts: readonly number[]): number[] {
  // Stays sorted from one range to the next, because ranges share most of their values.
  const sorted: number[] = [];
  let from = 0;
  let to = -1;
  return firsts.map((first, place) => {
    const last = lasts[place] ?? to;
    for (to += 1; to <= last; to += 1) sorted.splice(placeIn(sorted, values[to] ?? 0), 0, values[to] ?? 0);
    to -= 1;
    for (; from < first; from += 1) sorted.splice(placeIn(sorted, values[from] ?? 0), 1);
    return medianOfSorted(sorted);
  });
}

/** The first position in ascending values that is not before a value. */
function placeIn(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
