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
export function unprovenLines(comparisons: readonly UnprovenText[], label: string): readonly string[] {
  const lines = windowLines(comparisons);
  const more = lines.length - maxShown;
  return [
    ...lines.slice(0, maxShown).map((line) => `  ${label.padEnd(labelWidth)}${forTerminal(line)}`),
    ...(more > 0 ? [`  ${''.padEnd(labelWidth)}and ${more} more (--json)`] : []),
  ];
}
