import { mean } from './numbers.ts';

/** How much the belief in half of the last day and half of the last week weighs, in steps of the usual size. */
const beliefShare = 0.003 / 20;
/** Forecasts leave the range of the last two weeks by at most this share of it. */
const mostBeyond = 0.3;

/**
 * Ridge regression on the newest steps and those a day, two days and a week ago, one step after the other. Without
 * evidence it is half of a day ago and half of a week ago. Undefined without two seasons.
 */
export function lagged(
  { asTheyWere: values, seasons }: { readonly asTheyWere: readonly number[]; readonly seasons: readonly number[] },
  horizon: number,
): number[] | undefined {
  const [day, week] = seasons;
  if (day === undefined || week === undefined || values.length < week + 2 * day) return undefined;
  const lags = [1, 2, 3, day - 1, day, day + 1, 2 * day - 1, 2 * day, 2 * day + 1, week];
  const belief = lags.map((lag) => (lag === day || lag === week ? 0.5 : 0));
  const middle = mean(values.slice(-3 * week));
  const size = Math.sqrt(mean(values.map((value) => (value - middle) ** 2)));
  if (!(size > 0)) return undefined;
  const z = values.map((value) => (value - middle) / size);
  const shares = ridge(z, lags, belief);
  const recent = z.slice(-2 * week);
  const [low, high] = [Math.min(...recent), Math.max(...recent)];
  const beyond = mostBeyond * (high - low);
  for (let h = 0; h < horizon; h += 1) {
    let next = shares.at(-1) ?? 0;
    for (const [place, lag] of lags.entries()) next += (shares[place] ?? 0) * (z[z.length - lag] ?? 0);
    z.push(Math.min(high + beyond, Math.max(low - beyond, next)));
  }
  return z.slice(values.length).map((value) => value * size + middle);
}

/** The shares of the lags and a constant that minimize the squared errors and the distance from a belief. */
function ridge(z: readonly number[], lags: readonly number[], belief: readonly number[]): number[] {
  const first = Math.max(...lags);
  const count = lags.length + 1;
  const square = Array.from({ length: count }, () => new Float64Array(count + 1));
  const row = new Float64Array(count + 1);
  row[count - 1] = 1;
  for (let index = first; index < z.length; index += 1) {
    for (let place = 0; place < lags.length; place += 1) row[place] = z[index - (lags[place] as number)] as number;
    row[count] = z[index] as number;
    for (let a = 0; a < count; a += 1) {
      const line = square[a] as Float64Array;
      for (let b = a; b <= count; b += 1) line[b] = (line[b] as number) + (row[a] as number) * (row[b] as number);
    }
  }
  const weight = beliefShare * (z.length - first);
  for (let a = 0; a < count; a += 1) {
    const line = square[a] as Float64Array;
    for (let b = 0; b < a; b += 1) line[b] = square[b]?.[a] ?? 0;
    line[a] = (line[a] as number) + weight;
    line[count] = (line[count] as number) + weight * (belief[a] ?? 0);
  }
  return solved(square);
}

/** Solves linear equations, one a row with its right side at the end, whose matrix is positive definite (Gauss). */
function solved(rows: readonly Float64Array[]): number[] {
  const count = rows.length;
  for (let a = 0; a < count; a += 1) {
    const pivot = rows[a] as Float64Array;
    for (let b = a + 1; b < count; b += 1) {
      const line = rows[b] as Float64Array;
      const by = (line[a] as number) / (pivot[a] as number);
      for (let c = a; c <= count; c += 1) line[c] = (line[c] as number) - by * (pivot[c] as number);
    }
  }
  const found = new Array<number>(count).fill(0);
  for (let a = count - 1; a >= 0; a -= 1) {
    const line = rows[a] as Float64Array;
    let rest = line[count] as number;
    for (let b = a + 1; b < count; b += 1) rest -= (line[b] as number) * (found[b] as number);
    found[a] = rest / (line[a] as number);
  }
  return found;
}
