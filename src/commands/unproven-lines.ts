import { windowLines } from '../findings/index.ts';
import { forTerminal } from '../text/safe-text.ts';
import type { UnprovenText } from '../warehouse/ledger/index.ts';

/** How many windows of an account are shown; --json has all. */
const maxShown = 5;
const labelWidth = 19;

/**
 * The windows that do not match the platform's totals, a line each: the window, its largest difference, and the first
 * comparison that failed. `label` stands before each of them.
 */
export function unprovenLines(comparisons: readonly UnprovenText[]): readonly string[] {
  return labelled(windowLines(comparisons), 'UNPROVEN');
}

/**
 * The newest windows, which may not match yet, a line each. Without what differs: the totals of a fetch are of all its
 * windows together, so that the same difference would stand at several.
 */
export function youngLines(windows: readonly UnprovenText[]): readonly string[] {
  const names = new Set(
    windows.map(
      ({ start, end }) => `${start}/${end}: not in the books yet; the next run fetches these newest hours again`,
    ),
  );
  return labelled([...names], 'not yet proven');
}

function labelled(lines: readonly string[], label: string): readonly string[] {
  const more = lines.length - maxShown;
  return [
    ...lines.slice(0, maxShown).map((line) => `  ${label.padEnd(labelWidth)}${forTerminal(line)}`),
    ...(more > 0 ? [`  ${''.padEnd(labelWidth)}and ${more} more (--json)`] : []),
  ];
}
