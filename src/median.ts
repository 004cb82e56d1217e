/** The middle of values, 0 of none. */
export function median(values: readonly number[]): number {
  return middleOf(inOrder(values), values.length);
}

/** The middle of the first `count` values, which are in ascending order; 0 of none. */
export function middleOf(sorted: ArrayLike<number>, count: number): number {
  if (count === 0) return 0;
  const below = sorted[(count - 1) >> 1] ?? 0;
  const above = sorted[count >> 1] ?? below;
  return below + (above - below) / 2;
}

/** Values in ascending order, valid until the next call. */
function inOrder(values: readonly number[]): Float64Array {
  const count = values.length;
  if (count > scratch.length) return Float64Array.from(values).sort();
  // Insertion is the quickest for a few dozen, and medians take most of the time of an anomaly detection.
  for (let filled = 0; filled < count; filled += 1) {
    const value = values[filled] ?? 0;
    let place = filled;
    for (; place > 0 && (scratch[place - 1] ?? 0) > value; place -= 1) scratch[place] = scratch[place - 1] ?? 0;
    scratch[place] = value;
  }
  return scratch;
}

const scratch = new Float64Array(128);
