import { counted } from '../text/counted.ts';

/** The most differences of an export that are shown. */
const maxShown = 20;

/** A line for each of the first differences, and one for the others. */
export function differenceLines(
  differences: readonly {
    readonly file: string;
    readonly what: string;
    readonly found: string;
    readonly expected: string;
  }[],
): string[] {
  const more = differences.length - maxShown;
  return [
    ...differences
      .slice(0, maxShown)
      .map(({ file, what, found, expected }) => `  ${file}: ${what}: found ${found}, expected ${expected}`),
    ...(more > 0 ? [`  and ${counted(more, 'more difference')}; --json has all`] : []),
  ];
}
