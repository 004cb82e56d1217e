import { expect, test } from 'vitest';
import { differenceLines } from '../../src/answers/difference-lines.ts';

test('verify shows twenty differences of an export, and counts the others', () => {
  const differences = Array.from({ length: 1000 }, (_, row) => ({
    ...{ file: `f${row}`, what: 'rows', found: '1', expected: '2' },
  }));
  const lines = differenceLines(differences);
  expect([lines.length, lines[0], lines.at(-1)]).toEqual([
    21,
    '  f0: rows: found 1, expected 2',
    '  and 980 more differences; --json has all',
  ]);
  expect(differenceLines(differences.slice(0, 20))).toHaveLength(20);
});
