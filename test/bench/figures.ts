/** One figure of a bench, with what was measured said in words. */
export interface Figure {
  readonly bench: string;
  readonly measured: string;
  readonly value: number;
  /** `x` for a ratio, otherwise `s`, `%`, `MiB`, `calls`… */
  readonly unit: string;
  /** The limit of the figure; undefined if it is only informative. */
  readonly target?: number;
  /** What it should be at least. */
  readonly least?: number;
}

/** What a bench is given. */
export interface BenchInput {
  /** Small enough to see that it runs; its figures mean nothing. */
  readonly quick: boolean;
  /** Points of the pages, if the size can be chosen; undefined for the bench's default. */
  readonly points: number | undefined;
  /** Where large books are kept, so that a later run continues with them; undefined if nothing is kept. */
  readonly books: string | undefined;
  /** How often each side is timed. */
  readonly repeats: number;
  readonly tell: (words: string) => void;
}

/** One bench: figures that are measured in one run. */
export interface Bench {
  readonly name: string;
  readonly about: string;
  /** Left out unless it is named. */
  readonly isLong?: boolean;
  run(input: BenchInput): Promise<Figure[]>;
}

/** Map.groupBy, which Node 20 does not have. */
export function groupedBy<T>(all: readonly T[], keyOf: (one: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

/** A number of the books, as people read it: 5.0 M, 250 k. */
export function short(count: number): string {
  if (count >= 1e6) return `${(count / 1e6).toFixed(1)} M`;
  return count >= 1e3 ? `${Math.round(count / 1e3)} k` : String(count);
}
