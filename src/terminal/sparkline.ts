const bars = '▁▂▃▄▅▆▇█';

/** Numbers as small bars, from zero to the largest. An unknown number is a space. */
export function sparkline(values: readonly (number | null | undefined)[]): string {
  const known = values.filter((value) => value !== null && value !== undefined);
  const largest = Math.max(0, ...known);
  return values
    .map((value) => {
      if (value === null || value === undefined) return ' ';
      const share = largest === 0 ? 0 : Math.max(0, value) / largest;
      return bars[Math.min(bars.length - 1, Math.floor(share * bars.length))];
    })
    .join('');
}

/** The newest numbers that fit into this many cells. */
export function newestThatFit<T>(values: readonly T[], width: number): readonly T[] {
  return values.slice(Math.max(0, values.length - Math.max(1, width)));
}
