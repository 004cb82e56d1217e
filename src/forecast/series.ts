/** A series made ready for models: without leading nothing, without holes, near 1 in size. */
export interface Prepared {
  /** How many steps were left out before the first value that is not zero. */
  readonly skipped: number;
  /** Every step from there on, divided by `scale`; a step that is not known repeats the season before it. */
  readonly values: readonly number[];
  /** Whether the value of a step is known. */
  readonly isKnown: readonly boolean[];
  readonly known: number;
  readonly scale: number;
  /** The number of zeros at the end. */
  readonly zerosAtEnd: number;
  /** The longest run of zeros between values that are not. */
  readonly longestPause: number;
}

/** Sums of some hundred squares of anything below this stay finite. */
const largest = 2 ** 400;

/** What is no finite number counts as not known. */
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

/** The median size of what is not zero; 1 where nothing is. */
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
