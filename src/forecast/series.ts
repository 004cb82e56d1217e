/** A series prepared for models: without leading zeros and gaps, and scaled to about 1. */
export interface Prepared {
  /** Number of steps left out before the first value that is not zero. */
  readonly skipped: number;
  /** Every step from there on, divided by `scale`; an unknown step repeats the season before it. */
  readonly values: readonly number[];
  /** Whether the value of a step is known. */
  readonly isKnown: readonly boolean[];
  readonly known: number;
  readonly scale: number;
  /** The number of zeros at the end. */
  readonly zerosAtEnd: number;
  /** The longest run of zeros between other values. */
  readonly longestPause: number;
}

/** Sums of several hundred squares of smaller values stay finite. */
const largest = 2 ** 400;

/** Values that are not finite count as unknown. */
export function prepare(history: readonly (number | null)[], season: number): Prepared {
  const given = history.map((value) => (value !== null && Number.isFinite(value) ? value : undefined));
  const begin = given.findIndex((value) => value !== undefined && value !== 0);
  const skipped = begin === -1 ? given.findIndex((value) => value !== undefined) : begin;
  const used = skipped === -1 ? [] : given.slice(skipped);
  const scale = scaleOf(used);
  const values: number[] = [];
  for (const [index, value] of used.entries()) {
    values.push(value === undefined ? (values[index - season] ?? values[index - 1] ?? 0) : value / scale);
  }
  const { zerosAtEnd, longestPause } = pauses(used);
  const isKnown = used.map((value) => value !== undefined);
  return {
    skipped: Math.max(0, skipped),
    values,
    isKnown,
    known: isKnown.filter(Boolean).length,
    scale,
    zerosAtEnd,
    longestPause,
  };
}

/** The median size of the values that are not zero; 1 if there are none. */
function scaleOf(values: readonly (number | undefined)[]): number {
  const sizes = values.flatMap((value) => (value === undefined || value === 0 ? [] : [Math.abs(value)]));
  if (sizes.length === 0) return 1;
  sizes.sort((a, b) => a - b);
  return Math.max(sizes[Math.floor(sizes.length / 2)] ?? 1, (sizes.at(-1) ?? 1) / largest);
}

function pauses(values: readonly (number | undefined)[]): { zerosAtEnd: number; longestPause: number } {
  let run = 0;
  let longestPause = 0;
  for (const value of values) {
    if (value === 0) run += 1;
    else if (value !== undefined) {
      longestPause = Math.max(longestPause, run);
      run = 0;
    }
  }
  return { zerosAtEnd: run, longestPause };
}
