import { expect, test } from 'vitest';
import { groupGaps } from '../../src/budgets/spend/gap-words.ts';

const stale = 'acc_one is complete through 2026-10-01T00:00:00Z only';

function spend(budget: string, day: string, ...gaps: string[]) {
  const start = Date.parse(day);
  return { budget, period: { name: day, start, end: start + 86_400_000 }, gaps };
}

test('a gap of one budget names the budget and its period', () => {
  expect(groupGaps([spend('a', '2026-10-03', stale), spend('b', '2026-10-03')])).toEqual([
    { of: 'budget a, 2026-10-03', isOne: true, sentence: stale },
  ]);
});

test('a gap of many budgets is one sentence with the first names and the number of others', () => {
  const days = ['02', '03', '04', '05', '06'].map((day) => `2026-10-${day}`);
  const spends = [...days.map((day) => spend('a', day, stale)), ...days.map((day) => spend('b', day, stale))];
  expect(groupGaps(spends)).toEqual([
    { of: 'budgets a 2026-10-02, a 2026-10-03, a 2026-10-04 and 7 more', isOne: false, sentence: stale },
  ]);
});

test('gaps of the same budgets share one sentence, other gaps have their own', () => {
  const spends = [
    spend('a', '2026-10-03', 'x', 'y'),
    spend('b', '2026-10-03', 'z', 'y', 'x'),
    spend('c', '2026-10-03'),
  ];
  expect(groupGaps(spends)).toEqual([
    { of: 'budgets a 2026-10-03, b 2026-10-03', isOne: false, sentence: 'x; y' },
    { of: 'budget b, 2026-10-03', isOne: true, sentence: 'z' },
  ]);
});
