import { firstComparison, largestDifference } from '../findings/index.ts';
import { roundDecimal, usd, usdDecimals } from '../money/money.ts';
import { forTerminal } from '../text/safe-text.ts';
import type { UnprovenText } from '../warehouse/ledger/index.ts';

/** How many windows of an account are shown; --json has all. */
const maxShown = 5;
const labelWidth = 19;

/**
 * The windows that do not match the platform's totals, a line each: the window, its largest difference, and the first
 * comparison that failed. `label` stands before each of them.
 */
export function unprovenLines(windows: readonly UnprovenText[], label: string): readonly string[] {
  const groups = new Map<string, UnprovenText[]>();
  for (const each of windows) {
    const name = `${each.start}/${each.end}`;
    groups.set(name, [...(groups.get(name) ?? []), each]);
  }
  const more = groups.size - maxShown;
  return [
    ...[...groups].slice(0, maxShown).map(([name, group]) => `  ${label.padEnd(labelWidth)}${name}: ${words(group)}`),
    ...(more > 0 ? [`  ${''.padEnd(labelWidth)}and ${more} more (--json)`] : []),
  ];
}

function words(group: readonly UnprovenText[]): string {
  const difference = largestDifference(group);
  const first = firstComparison(group.map(({ reason }) => reason).join('; '));
  // The largest difference may be another one than the first.
  const join = first.endsWith('…') ? '; first difference: ' : ', ';
  const amount = difference === undefined ? '' : `${usd(roundDecimal(difference, usdDecimals))}${join}`;
  return `${amount}${forTerminal(first.replace(/, difference -?[\d.]+(?= …$|$)/, ''))}`;
}
