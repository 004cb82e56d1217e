import { describe, expect, test } from 'vitest';
import { spansOf } from '../../src/query/spans.ts';
import fc from '../support/fast-check.ts';

const [june, july, august, september] = [5, 6, 7, 8].map((month) => Date.UTC(2026, month, 1)) as [
  number,
  number,
  number,
  number,
];
const summer = { start: Date.UTC(2026, 5, 10), end: Date.UTC(2026, 8, 1) };

describe('spansOf(from, books, most)', () => {
  test('books with few rows are one span without limits', () => {
    expect(spansOf(undefined, { window: summer, rowCount: 30 }, 30)).toEqual([{ from: undefined, to: undefined }]);
  });

  test('each span has as many whole months as have so many rows, at least one', () => {
    const each = [
      { from: undefined, to: july },
      { from: july, to: august },
      { from: august, to: undefined },
    ];
    expect(spansOf(undefined, { window: summer, rowCount: 30 }, 10)).toEqual(each);
    expect(spansOf(undefined, { window: summer, rowCount: 30 }, 1)).toEqual(each);
    expect(spansOf(undefined, { window: summer, rowCount: 30 }, 20)).toEqual([
      { from: undefined, to: august },
      { from: august, to: undefined },
    ]);
  });

  test('from an instant on, it starts there', () => {
    expect(spansOf(july, { window: summer, rowCount: 30 }, 10)).toEqual([
      { from: july, to: august },
      { from: august, to: undefined },
    ]);
    expect(spansOf(september, { window: summer, rowCount: 30 }, 10)).toEqual([{ from: september, to: undefined }]);
  });

  test('spans follow each other without a gap, whatever the books', () => {
    const months = fc.integer({ min: 0, max: 120 });
    fc.assert(
      fc.property(
        fc.option(months, { nil: undefined }),
        months,
        months,
        fc.nat(1000),
        fc.integer({ min: 1, max: 1000 }),
        (from, first, count, rowCount, most) => {
          const at = (month: number) => Date.UTC(2020, month, 1);
          const window = { start: at(first) + 3_600_000, end: at(first + count) + 7_200_000 };
          const since = from === undefined ? undefined : at(from);
          const spans = spansOf(since, { window, rowCount }, most);
          expect(spans[0]?.from).toBe(since);
          expect(spans.at(-1)?.to).toBeUndefined();
          for (const [index, { to }] of spans.slice(0, -1).entries()) expect(spans[index + 1]?.from).toBe(to);
          expect(new Set(spans.map(({ from: begin }) => begin)).size).toBe(spans.length);
        },
      ),
    );
  });

  test('June begins before the books do', () => {
    expect(spansOf(june, { window: summer, rowCount: 3 }, 10)).toEqual([{ from: june, to: undefined }]);
  });
});
