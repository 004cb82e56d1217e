/** The middle of values, 0 of none. */
export function median(values: readonly number[]): number {
  // Sorted by insertion: there are a few dozen, and medians are what nearly all of the time goes into.
  const count = values.length;
  if (count === 0) return 0;
  const sorted = count <= scratch.length ? scratch : new Float64Array(count);
  for (let filled = 0; filled < count; filled += 1) {
    const value = values[filled] ?? 0;
    let place = filled;
    for (; place > 0 && (sorted[place - 1] ?? 0) > value; place -= 1) sorted[place] = sorted[place - 1] ?? 0;
    sorted[place] = value;
  }
  const middle = count >> 1;
  const upper = sorted[middle] ?? 0;
  return count % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

const scratch = new Float64Array(128);

/** A median absolute deviation times this is the standard deviation of normal values. */
const madScale = 1.4826;
/** Values further out than this many deviations count as if they lay there. */
const winsorAt = 3;

/**
 * How far values lie from their middle: a standard deviation that single values far out cannot blow up. The larger of
 * two estimates, as the median deviation alone is often too small where there are few values.
 */
export function spreadOf(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const middle = median(values);
  const byMedian = madScale * median(values.map((value) => Math.abs(value - middle)));
  const reach = winsorAt * byMedian;
  let sum = 0;
  for (const value of values) sum += Math.min(Math.abs(value - middle), reach) ** 2;
  return Math.max(byMedian, Math.sqrt(sum / (values.length - 1)));
}
