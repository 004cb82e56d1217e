import { describe, expect, test } from 'vitest';
import { cardOf } from '../../src/alerts/message.ts';
import { differWords, largestDifference, monthsTouched, monthWords } from '../../src/alerts/unproven.ts';
import { entryOf, exampleFacts } from '../support/example-alerts.ts';

const year = { start: '2025-01-01T00:00:00Z', end: '2026-01-01T00:00:00Z' };
const ofDay = 'check "rows = the control" (cost): found 12.5, expected 13, difference -0.5, rounding explains 0.005';
const ofMonth =
  'check "books = the platform\'s totals by month" (cost in USD), gpu · north on 2025-03: found 1.000000000000, ' +
  'expected 4.000000000000, difference 3.000000000000, rounding explains 0.005';
const ofUsage = 'check "rows = the control" (usage): found 12.5, expected 99, difference 86.5, rounding explains 0.005';

describe('windows that differ from the totals of the platform', () => {
  test('a window of a year touches twelve months, named as a range', () => {
    const months = monthsTouched([year, { start: '2026-10-14T05:00:00Z', end: '2026-11-01T00:00:00Z' }]);
    expect([months.length, months[0], months.at(-1)]).toEqual([13, '2026-10', '2025-01']);
    expect(monthWords(months)).toBe('2025-01 to 2025-12, 2026-10');
  });

  test('the largest difference is one of cost, without its sign', () => {
    expect(largestDifference([ofDay, ofUsage])).toBe('0.5');
    expect(largestDifference([ofDay, ofMonth])).toBe('3.000000000000');
    expect(largestDifference([ofUsage, 'the answer contradicts itself'])).toBeUndefined();
  });

  test('the words begin with the amount and end with the months', () => {
    expect(differWords([ofDay], monthsTouched([year]))).toBe(
      "differ by 0.50 USD from the platform's totals in 2025-01 to 2025-12",
    );
    expect(differWords([ofDay, ofMonth], ['2025-03'])).toContain('by up to 3.00 USD');
    expect(differWords([ofUsage], ['2025-03'])).toBe("differ from the platform's totals in 2025-03");
  });

  test('the first line of their alert has the amount and the range', () => {
    const fact = { ...exampleFacts['unproven'], months: monthsTouched([year]), difference: '0.5', count: 1 };
    expect(cardOf(entryOf(fact as never)).title).toMatch(/0\.50 USD .* 2025-01 to 2025-12\b/);
    const { difference: _, ...older } = { ...exampleFacts['unproven'], difference: null };
    expect(cardOf(entryOf(older as never)).title).toMatch(/totals in 2025-11, 2026-10\b/);
  });
});
