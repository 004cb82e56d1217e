import { describe, expect, test } from 'vitest';
import { cardOf } from '../../src/findings/card.ts';
import {
  firstComparison,
  monthsTouched,
  monthWords,
  sumOfDifferences,
  unprovenWords,
  windowLines,
  windowsOf,
} from '../../src/findings/unproven-words.ts';
import { entryOf, exampleFacts } from '../support/example-alerts.ts';

const year = { start: '2025-01-01T00:00:00Z', end: '2026-01-01T00:00:00Z' };
const march = { start: '2025-03-01T00:00:00Z', end: '2025-04-01T00:00:00Z' };
const later = { start: '2026-02-01T00:00:00Z', end: '2026-03-01T00:00:00Z' };
type Window = typeof march & { readonly costDifference: string };
const ofDay = { costDifference: '0.5' };
const ofMonth = { costDifference: '3.000000000000' };
const ofUsage = { costDifference: null };

describe('windows that differ from the totals of the platform', () => {
  test('a window of a year touches twelve months, named as a range', () => {
    const months = monthsTouched([year, { start: '2026-10-14T05:00:00Z', end: '2026-11-01T00:00:00Z' }]);
    expect([months.length, months[0], months.at(-1)]).toEqual([13, '2026-10', '2025-01']);
    expect(monthWords(months)).toBe('2025-01 to 2025-12, 2026-10');
  });

  test('the amounts of the windows that are shown add up to that of all, to the cent', () => {
    const windows = [year, later].map((window) => ({ ...window, costDifference: '0.295', reason: 'rows' }));
    expect(windowLines(windows).map((line) => line.slice(43))).toEqual(['0.30 USD, rows', '0.29 USD, rows']);
    expect(unprovenWords('acc_one', windows)).toMatch(/^0.59 USD: /);
  });

  test('what they differ by is the sum of all windows, each with its largest comparison', () => {
    expect(
      sumOfDifferences([
        { ...year, ...ofDay },
        { ...year, ...ofUsage },
      ]),
    ).toBe('0.500000000000');
    expect(
      sumOfDifferences([
        { ...year, ...ofDay },
        { ...year, ...ofMonth },
      ]),
    ).toBe('3.000000000000');
    expect(
      sumOfDifferences([
        { ...year, ...ofDay },
        { ...later, ...ofMonth },
      ]),
    ).toBe('3.500000000000');
    expect(sumOfDifferences([{ ...year, ...ofUsage }])).toBeUndefined();
  });

  test('a difference that a window and the windows within it show counts once', () => {
    const [third, fourth] = ['03', '04'].map((day) => ({
      ...{ start: `2025-03-${day}T00:00:00Z`, end: `2025-03-${day}T06:00:00Z` },
      ...ofDay,
    })) as [Window, Window];
    const outside = { ...later, ...ofDay };
    const sumOf = (...windows: Window[]) => Number(sumOfDifferences(windows));
    expect(sumOf(third, { ...march, ...ofMonth }, fourth)).toBe(3);
    expect(sumOf({ ...march, ...ofDay }, third, fourth)).toBe(1);
    expect(sumOf({ ...year, ...ofDay }, { ...march, ...ofMonth }, third, outside)).toBe(3.5);
    const failing = { nights: 2, failingSince: '2026-09-10' };
    expect(windowsOf([{ ...third, ...failing }, { ...march, ...ofMonth }, fourth])).toEqual([
      { ...march, ...ofMonth, ...failing },
    ]);
    expect(windowsOf([fourth, { ...march, ...ofDay }, third])).toEqual([fourth, third]);
  });

  test('the text starts with the amount and ends with the months', () => {
    expect(unprovenWords('acc_one', [{ ...year, ...ofDay }])).toBe(
      "0.50 USD: costs of acc_one in 2025-01 to 2025-12 differ from the platform's totals (1 window)",
    );
    expect(
      unprovenWords('acc_one', [
        { ...later, ...ofDay },
        { ...year, ...ofMonth },
      ]),
    ).toMatch(/^3\.50 USD: .* \(2 windows\)$/);
    expect(unprovenWords('acc_one', [{ ...march, ...ofUsage }])).toMatch(/^costs of acc_one in 2025-03 differ/);
  });

  test('a reason is shortened to its first comparison', () => {
    const first = 'check "days" (cost): found 2, expected 1, difference 1';
    expect(firstComparison(`${first}, rounding explains 0.0001; check "names" (cost): found 3`)).toBe(`${first} …`);
    expect(firstComparison('rows')).toBe('rows');
  });

  test('the first line of their alert has the amount and the range', () => {
    const fact = { ...exampleFacts['unproven'], months: monthsTouched([year]), difference: '0.5', count: 1 };
    expect(cardOf(entryOf(fact as never)).title).toMatch(/0\.50 USD .* 2025-01 to 2025-12\b/);
    const { difference: _, ...older } = { ...exampleFacts['unproven'], difference: null };
    expect(cardOf(entryOf(older as never)).title).toMatch(/totals in 4 windows of 2025-11, 2026-10\b/);
  });
});
