import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/base/errors.ts';
import { amountIn, type Budget, unitOf } from '../../src/budgets/rules/budget.ts';
import { costPer, countedDays, staleCounts } from '../../src/budgets/rules/counts.ts';
import { parseBudgets } from '../../src/budgets/rules/file.ts';
import { calendarOf, dayMs } from '../../src/time/time.ts';

const now = Date.parse('2026-11-22T12:00:00Z');
const november = calendarOf('monthly').periodAt(now);
const day = (of: number) => november.start + (of - 1) * dayMs;
const unit = 10n ** 12n;

/** A budget of 0.05 USD per order, with these counts and these lines more. */
function read(counts: string, ...more: string[]): readonly Budget[] {
  const dir = mkdtempSync(join(tmpdir(), 'costbook-'));
  writeFileSync(join(dir, 'orders.csv'), counts);
  const lines = ['- name: orders', 'amount: 0.05 USD', 'per: { name: order, counts: orders.csv }', ...more];
  const text = `budgets:\n  ${[...lines, ...(more.some((line) => line.startsWith('period')) ? [] : ['period: monthly'])].join('\n    ')}\n`;
  try {
    return parseBudgets({ text, file: join(dir, 'budgets.yaml'), now });
  } catch (error) {
    if (error instanceof UsageError) error.message = error.message.replaceAll(`${dir}/`, '');
    throw error;
  }
}

function only(counts: string, ...more: string[]): Budget & { readonly per: NonNullable<Budget['per']> } {
  const [budget] = read(counts, ...more);
  if (budget?.per === undefined) throw new Error('expected a budget with counts');
  return { ...budget, per: budget.per };
}

describe('a cost per unit', () => {
  test('is read with its counts by day or month, and has one threshold by default: it has no forecast', () => {
    const budget = only('date,count\n2026-11-02,100\n2026-10,2500.5\n2026-11-01,0\n');
    expect(unitOf(budget)).toBe('USD per order');
    expect(budget.per.spans.map(({ name, count }) => [name, count])).toEqual([
      ['2026-10', (25_005n * unit) / 10n],
      ['2026-11-01', 0n],
      ['2026-11-02', 100n * unit],
    ]);
    expect(budget.thresholds.map(({ of, code, severity }) => [of, code, severity])).toEqual([
      ['spent', '100%', 'critical'],
    ]);
  });

  test('grows by parts of a cent', () => {
    const budget = only('date,count\n', 'from: 2026-10', 'growth: 5% monthly');
    expect(amountIn(budget, '2026-11')).toBe((525n * unit) / 10_000n);
  });

  test('reads months beside a hundred thousand days at once', () => {
    const day = (index: number) => new Date(Date.UTC(1700, 0, 1 + index)).toISOString().slice(0, 10);
    const days = Array.from({ length: 100_000 }, (_, index) => `${day(index)},1`);
    const months = Array.from({ length: 12_000 }, (_, index) => {
      return `${2000 + Math.floor(index / 12)}-${String((index % 12) + 1).padStart(2, '0')},1`;
    });
    const began = performance.now();
    expect(only(['date,count', ...days, ...months].join('\n')).per.spans).toHaveLength(112_000);
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  test('reports every mistake in its counts with file and line', () => {
    const counts = [
      ...[
        'date,count',
        '2026-11-01,10',
        '2026-11-31,10',
        '2026-11-02,1,000',
        '2026-11-01,11',
        '2026-11,300',
        '2026-10,1e3',
      ],
      ...['2026-11-04,-5', ''],
    ];
    expect(() =>
      read(counts.join('\n'), 'rollover: true', 'from: 2026-10', 'thresholds: [{ at: 90%, of: forecast }]'),
    ).toThrow(
      [
        'budgets.yaml:5:15: rollover: found rollover together with per; nothing of a cost per unit can be left over; remove one of the two',
        'budgets.yaml:7:33: of: found forecast, but a cost per unit has no forecast; remove it',
        'orders.csv:3: found "2026-11-31" as a date, expected a day such as 2026-11-20, or a month such as 2026-11',
        'orders.csv:4: found 3 cells, expected a date and a count',
        'orders.csv:5: found 2026-11-01, but 2026-11-01 is counted already at orders.csv:2; keep one',
        'orders.csv:6: found 2026-11, but 2026-11-01 is counted already at orders.csv:2; keep one',
        'orders.csv:7: found "1e3" as a count, expected a number without separators such as 1250',
        'orders.csv:8: found "-5" as a count, expected a number without separators such as 1250',
      ].join('\n'),
    );
    expect(() => read('day,orders\n2026-11-01,5\n')).toThrow(
      'orders.csv:1: found "day,orders", expected the header date,count',
    );
    expect(() => read('date,count\n2026-10,5\n', 'period: weekly')).toThrow(
      'orders.csv:2: found the month 2026-10, expected days, because the budget is weekly',
    );
    expect(() => read('date,count\n', 'amount_: 1')).toThrow('unknown key');
  });

  test('divides the costs of the days that have both: complete costs and a count', () => {
    const { per } = only('date,count\n2026-10-31,9\n2026-11-01,10\n2026-11-02,0\n2026-11-04,30\n2026-11-06,40\n');
    const found = countedDays(per, november, day(6), 'UTC');
    expect(found).toEqual({
      windows: [
        { start: day(1), end: day(3) },
        { start: day(4), end: day(5) },
      ],
      count: 40n * unit,
      through: day(5),
      lastName: '2026-11-04',
      gaps: ['no count of order for 2026-11-03; the costs of these days are left out'],
    });
    expect(costPer(3n * unit, found.count)).toBe((75n * unit) / 1000n);
  });

  test('is unknown without counts, never 0 or infinite, and a day without orders still costs', () => {
    const { per } = only('date,count\n2026-10-31,9\n2026-11-01,0\n');
    expect(countedDays(per, november, day(1), 'UTC')).toMatchObject({
      windows: [],
      count: 0n,
      through: undefined,
      gaps: [],
    });
    const zero = countedDays(per, november, day(2), 'UTC');
    expect(zero).toMatchObject({ windows: [{ start: day(1), end: day(2) }], count: 0n });
    expect(costPer(5n * unit, zero.count)).toBeUndefined();
  });

  test('says that counts have stopped, more than three days behind the costs', () => {
    const budget = only('date,count\n2026-11-01,9\n');
    expect(countedDays(budget.per, november, day(5), 'UTC').gaps).toEqual([]);
    expect(countedDays(budget.per, november, day(6), 'UTC').gaps).toEqual([
      'the counts of order end with 2026-11-01, 4 days behind the costs',
    ]);
    expect(countedDays({ ...budget.per, spans: [] }, november, day(6), 'UTC').gaps).toEqual([
      'the counts of order have nothing in 2026-11, 5 days behind the costs',
    ]);
    expect(staleCounts(budget, day(5))).toBeUndefined();
    expect(staleCounts(budget, day(6))).toBe(
      'budget orders: its counts of order end with 2026-11-01, 4 days behind the costs',
    );
    const monthly = only('date,count\n2026-10,9\n');
    expect(staleCounts(monthly, november.end)).toBeUndefined();
    expect(staleCounts(monthly, november.end + 5 * dayMs)).toContain('35 days behind the costs');
  });
});
