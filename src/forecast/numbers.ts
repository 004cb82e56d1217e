export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : sum(values) / values.length;
}

export function sum(values: readonly number[]): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/** The quantile of values at a share, interpolated linearly; 0 if there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? 0;
  const above = sorted[Math.ceil(place)] ?? below;
  return below + (above - below) * (place - Math.floor(place));
}

/** Weighted quantiles at several shares in ascending order. */
export function quantilesByWeight(
  values: readonly number[],
  weights: readonly number[],
  shares: readonly number[],
): number[] {
  const order = Uint32Array.from(values.keys()).sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
  const total = sum(weights);
  const found: number[] = [];
  let passed = 0;
  let before = { share: 0, value: values[order[0] ?? 0] ?? 0 };
  for (const index of order) {
    const weight = weights[index] ?? 0;
    const here = { share: (passed + weight / 2) / total, value: values[index] ?? 0 };
    for (let share = shares[found.length]; share !== undefined && share <= here.share; share = shares[found.length]) {
      const between = here.share > before.share ? (share - before.share) / (here.share - before.share) : 1;
      found.push(before.value + (here.value - before.value) * between);
    }
    before = here;
    passed += weight;
  }
  while (found.length < shares.length) found.push(before.value);
  return found;
}

/** The quantile of the standard normal distribution (Acklam's approximation, error below 1e-8). */
export function normalQuantile(share: number): number {
  if (share > 0.5) return -normalQuantile(1 - share);
  if (share < 0.02425) {
    const q = Math.sqrt(-2 * Math.log(Math.max(share, 1e-300)));
    return ratio(
      q,
      [
        -0.007784894002430293, -0.3223964580411365, -2.400758277161838, -2.549732539343734, 4.374664141464968,
        2.938163982698783,
      ],
      [0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416, 1],
    );
  }
  const q = share - 0.5;
  const r = q * q;
  return (
    q *
    ratio(
      r,
      [
        -39.69683028665376, 220.9460984245205, -275.9285104469687, 138.357751867269, -30.66479806614716,
        2.506628277459239,
      ],
      [-54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972, -13.28068155288572, 1],
    )
  );
}

/** The quantile of Student's t distribution with this many degrees of freedom, also fractional (Hill's expansion). */
export function studentQuantile(share: number, degrees: number): number {
  const z = normalQuantile(share);
  const n = Math.max(1, degrees);
  const z2 = z * z;
  const terms = [
    (z * (z2 + 1)) / 4,
    (z * ((5 * z2 + 16) * z2 + 3)) / 96,
    (z * (((3 * z2 + 19) * z2 + 17) * z2 - 15)) / 384,
    (z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945)) / 92_160,
  ];
  return terms.reduce((total, term, index) => total + term / n ** (index + 1), z);
}

function ratio(x: number, above: readonly number[], below: readonly number[]): number {
  const polynomial = (coefficients: readonly number[]) => coefficients.reduce((total, next) => total * x + next, 0);
  return polynomial(above) / polynomial(below);
}
