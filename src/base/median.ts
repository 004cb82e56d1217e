/** The median; 0 for no values. */
export function median(values: readonly number[]): number {
  const count = values.length;
  if (count === 0) return 0;
  const sorted = count > scratch.length ? Float64Array.from(values).sort() : insertionSorted(values);
  return between(sorted[(count - 1) >> 1] ?? 0, sorted[count >> 1] ?? 0);
}

/** The median of values in ascending order; 0 for no values. */
export function medianOfSorted(sorted: readonly number[]): number {
  return between(sorted[(sorted.length - 1) >> 1] ?? 0, sorted[sorted.length >> 1] ?? 0);
}

/** Halfway between two values; exactly the value if both are equal. */
function between(below: number, above: number): number {
  return below + (above - below) / 2;
}

/**
 * Values in ascending order, valid until the next call. Insertion sort is the fastest for a few dozen values, and medians
 * take most of the time of anomaly detection.
 */
function insertionSorted(values: readonly number[]): Float64Array {
  const sorted = scratch;
  for (let filled = 0; filled < values.length; filled += 1) {
    const value = values[filled] ?? 0;
    let place = filled;
    for (; place > 0 && (sorted[place - 1] ?? 0) > value; place -= 1) sorted[place] = sorted[place - 1] ?? 0;
    sorted[place] = value;
  }
  return sorted;
}

const scratch = new Float64Array(128);
