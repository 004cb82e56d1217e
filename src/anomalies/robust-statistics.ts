import { median, medianOfSorted } from '../median.ts';

/** A median absolute deviation times this is the standard deviation of normal values. */
export const madScale = 1.4826;
/** Values further out than this many deviations count as if they lay there: they are what is looked for. */
const reachOfSpread = 5;
/** The mean cube of normal values without a sign, in cubes of their deviation. */
const normalCube = 1.5958;

/**
 * How far values lie from their middle: the standard deviation where they are normal, more where some lie far out, as
 * cubes weigh those. It is nearly as exact as the usual deviation, which no median deviation is, and what lies further out
 * than chance puts it cannot blow it up.
 */
export function spreadOf(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const middle = median(values);
  const distances = values.map((value) => Math.abs(value - middle));
  const reach = reachOfSpread * madScale * median(distances);
  const cubes = distances.reduce((sum, distance) => sum + Math.min(distance, reach) ** 3, 0);
  return Math.cbrt(cubes / (values.length - 1) / normalCube);
}

/** Values further out than this many deviations count as if they lay there when their centre is sought. */
const reachOfCentre = 1.5;
/** And those further out than this many not at all: they are of something else. */
const reachOfAny = 4;

/** The centre of values whose spread is known: nearly as exact as a mean, and not moved by single ones far out. */
export function centreOf(values: readonly number[], spread: number): number {
  const middle = median(values);
  const near = values.filter((value) => Math.abs(value - middle) <= reachOfAny * spread);
  const reach = reachOfCentre * spread;
  const sum = near.reduce((total, value) => total + Math.max(-reach, Math.min(reach, value - middle)), 0);
  return middle + sum / Math.max(1, near.length);
}

/** The median of each stretch of values: from each of `firsts` to each of `lasts`, neither of which ever goes back. */
export function medianOfEach(values: readonly number[], firsts: readonly number[], lasts: readonly number[]): number[] {
  // Kept in order from one stretch to the next, as they share most of what is in them.
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

/** The first place in ascending values that is not before a value. */
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
