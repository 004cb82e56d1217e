import { describe, expect, test } from 'vitest';
import { type Comparison, comparedWith } from '../../src/time/compared.ts';
import { formatInstant } from '../../src/time/time.ts';

const at = (text: string) => Date.parse(text.length === 10 ? `${text}T00:00:00Z` : text);
const completeFrom = at('2024-01-01');

function compared(from: string, to: string, comparison?: Comparison, since = completeFrom, isKnown = true) {
  const found = comparedWith(
    { start: at(from), end: at(to) },
    { completeFrom: isKnown ? since : undefined },
    comparison,
  );
  if (found.kind === 'none') return found.reason;
  const { start, end } = found.before;
  return `${formatInstant(start)}/${formatInstant(end)}`.replaceAll(':00:00Z', '');
}

describe('a window is compared', () => {
  test.each([
    ['a month so far, up to the same hour', '2026-10-01', '2026-10-21T15:00:00Z', '2026-09-01T00/2026-09-21T15'],
    ['a whole month', '2026-02-01', '2026-03-01', '2026-01-01T00/2026-02-01T00'],
    ['two whole months', '2026-03-01', '2026-05-01', '2026-01-01T00/2026-03-01T00'],
    ['13 months so far', '2025-11-01', '2026-11-22T12:00:00Z', '2024-10-01T00/2025-10-22T12'],
    ['days', '2026-10-05', '2026-10-12', '2026-09-28T00/2026-10-05T00'],
    ['7 days that end within a day', '2026-11-16', '2026-11-22T12:00:00Z', '2026-11-09T00/2026-11-15T12'],
    ['7 times 24 hours', '2026-11-15T12:00:00Z', '2026-11-22T12:00:00Z', '2026-11-08T12/2026-11-15T12'],
    ['30 days, with as many of each weekday', '2026-10-24', '2026-11-22T12:00:00Z', '2026-09-19T00/2026-10-18T12'],
    ['an hour', '2026-11-17T10:00:00Z', '2026-11-17T11:00:00Z', '2026-11-10T10/2026-11-10T11'],
  ])('with the same hours: %s', (_, from, to, expected) => {
    expect(compared(from, to)).toBe(expected);
  });

  test('with the same days of the month before', () => {
    expect(compared('2026-10-05', '2026-10-12', 'month')).toBe('2026-09-05T00/2026-09-12T00');
  });

  test.each([
    ['days with as many hours', '2026-10-05', '2026-10-12', '2026-08-03', '2026-08-03T00/2026-08-10T00'],
    ['a whole month with a whole month', '2026-03-01', '2026-04-01', '2026-02-01', '2026-02-01T00/2026-03-01T00'],
    [
      'a month so far with an earlier one',
      '2026-10-01',
      '2026-10-09T05:00:00Z',
      '2026-07-01',
      '2026-07-01T00/2026-07-09T05',
    ],
    ['13 months so far', '2025-11-01', '2026-11-22T12:00:00Z', '2024-10-01', '2024-10-01T00/2025-10-22T12'],
    [
      'nothing that it overlaps',
      '2026-10-05',
      '2026-10-12',
      '2026-10-01',
      'the other period has to have as many hours, and to end before this one starts',
    ],
    [
      'nothing later',
      '2026-10-05',
      '2026-10-12',
      '2026-10-12',
      'the other period has to have as many hours, and to end before this one starts',
    ],
  ])('from a chosen day on: %s', (_, from, to, chosen, expected) => {
    expect(compared(from, to, { from: at(chosen) })).toBe(expected);
  });

  test.each([
    ['the books completeFrom in the time before', '2026-10-01', '2026-10-21T15:00:00Z', undefined, at('2026-09-02')],
    ['the books completeFrom in the window', '2025-11-01', '2026-11-22T12:00:00Z', undefined, at('2026-06-01')],
    ['nobody knows when the books completeFrom', '2026-10-01', '2026-10-21', undefined, Number.NaN],
    ['the month before is too short', '2026-03-01', '2026-03-30T05:00:00Z', undefined, completeFrom],
    ['the month before is in the window', '2026-08-01', '2026-10-12', 'month', completeFrom],
    ['one of two whole months is in the window', '2026-08-01', '2026-10-01', 'month', completeFrom],
  ] as const)('with nothing if %s, and it says why', (_, from, to, comparison, since) => {
    const reason = compared(from, to, comparison, since, !Number.isNaN(since));
    expect(reason).toMatch(
      /^(the books are complete from 2026-\d\d-\d\d on|it is not known|2026-\d\d has fewer hours)/,
    );
  });
});

test('both windows have the same hours, or are months, whatever the window', () => {
  for (let start = at('2026-01-01'); start < at('2026-04-01'); start += 13 * 3_600_000) {
    for (const hours of [1, 24, 100, 168, 169, 700, 744, 745, 2000]) {
      const found = comparedWith({ start, end: start + hours * 3_600_000 }, { completeFrom });
      if (found.kind === 'none') continue;
      expect(found.before.end).toBeLessThanOrEqual(start);
      const isMonth = new Date(start).getUTCDate() === 1 && start % 86_400_000 === 0;
      if (!isMonth) expect(found.before.end - found.before.start).toBe(hours * 3_600_000);
    }
  }
});
