import { describe, expect, test } from 'vitest';
import type { NumberedEvent } from '../../src/warehouse/journal/journal-events.ts';
import { appliedInRebuild, firstUnrestored } from '../../src/warehouse/journal/restored-rows.ts';

/** Events in short: a letter each, numbered from `first`. `L` lost, `R` rows restored, `B<from>` restored from there. */
function events(short: string, first = 1): NumberedEvent[] {
  return short.split(' ').map((letter, index): NumberedEvent => {
    const number = first + index;
    if (letter === 'L') return { number, event: 'events_lost', values: { through: number } };
    if (letter === 'R') return { number, event: 'rows_restored', values: { table: 'runs', is_first: true, rows: [] } };
    if (letter.startsWith('B')) return { number, event: 'books_restored', values: { from: Number(letter.slice(1)) } };
    return { number, event: 'run_began', values: {} };
  });
}

describe('firstUnrestored(events)', () => {
  test.each([
    ['x x x', undefined],
    ['x L x', 2],
    ['x L x R R B4', undefined],
    ['x L x R R', 2], // the repair was killed before its last event
    ['x L x R L B4', 2], // a part of the restoration is lost
    ['x L R B3 x L', 6],
  ])('of "%s" is %s', (short, number) => {
    expect(firstUnrestored(events(short))?.number).toBe(number);
  });
});

describe('appliedInRebuild(events)', () => {
  const applied = (short: string, first = 1) => {
    const all = events(short, first);
    return all.filter(appliedInRebuild(all)).map(({ number }) => number);
  };

  test('selects everything if nothing was restored', () => {
    expect(applied('x L x')).toEqual([1, 2, 3]);
  });

  test('leaves out what a restoration replaces', () => {
    expect(applied('x L x R R B4 x x')).toEqual([4, 5, 6, 7, 8]);
  });

  test('leaves out the rows of an incomplete restoration, before and after a complete one', () => {
    expect(applied('x L R x')).toEqual([1, 2, 4]);
    expect(applied('x L R R R B4 x R')).toEqual([4, 5, 6, 7]);
  });

  test('does not use a restoration of which a part is lost', () => {
    expect(applied('x L x R L B4')).toEqual([1, 2, 3, 5, 6]);
  });

  test('leaves out rows that the base has already', () => {
    expect(applied('R B8 x', 10)).toEqual([11, 12]);
  });
});
