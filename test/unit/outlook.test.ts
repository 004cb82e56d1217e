import { describe, expect, test } from 'vitest';
import { chancesToLast } from '../../src/budgets/forecasts/lasting.ts';
import { expectedEnd, notBelowSpent, toSaveDaily } from '../../src/outlook/ends.ts';
import { costAtPace, costOfDay, knownHours } from '../../src/outlook/pace.ts';
import type { AnomalyRow } from '../../src/warehouse/watch/index.ts';

const period = { start: Date.UTC(2026, 10), end: Date.UTC(2026, 11) };
const through = Date.UTC(2026, 10, 22);
const path = [
  { start: through, spent: 650n },
  { start: Date.UTC(2026, 10, 27), spent: 1010n },
  { start: Date.UTC(2026, 10, 30), spent: 1400n },
];

function end(amount: bigint, spent: bigint, more: Partial<Parameters<typeof expectedEnd>[0]> = {}) {
  const rest = {
    mean: 1400n,
    path,
    anomalies: [
      { key: 'runs', added: 700n, addedIfItGoesOn: 700n },
      { key: 'also', added: 80n, addedIfItGoesOn: 80n },
    ],
  };
  return expectedEnd({ ...{ period, amount, completeThrough: through, spent, spentComplete: spent, rest }, ...more });
}

describe('the end of a period', () => {
  test('is where everything goes on, and without what anomalies add', () => {
    expect(end(1000n, 604n)).toMatchObject({ expected: 1400n, stopped: 620n, spentAt: Date.UTC(2026, 10, 27) });
    expect(end(1000n, 604n)?.addedBy(['runs'])).toBe(700n);
  });

  test('is where everything goes on, also if the forecast has less of it because such costs often ended', () => {
    const anomalies = [{ key: 'runs', added: 300n, addedIfItGoesOn: 780n }];
    const rest = { mean: 920n, path: path.map((step) => ({ ...step, spent: step.spent / 2n })), anomalies };
    expect(end(1000n, 604n, { rest })).toMatchObject({
      expected: 1400n,
      stopped: 620n,
      spentAt: Date.UTC(2026, 10, 30),
    });
    expect(end(1000n, 604n, { rest })?.addedBy(['runs'])).toBe(780n);
  });

  test('is never below what is spent', () => {
    expect(end(1000n, 720n)).toMatchObject({ expected: 1400n, stopped: 720n });
    expect(end(1000n, 1500n)).toMatchObject({ expected: 1500n, spentAt: undefined });
  });

  test('is the amount again if each day left costs as much less, unless it is spent, or not reached anyway', () => {
    const running = { period, amount: 1000n, completeThrough: through, spent: 604n };
    expect(toSaveDaily(running, 1450n)).toBe(50n);
    expect(toSaveDaily({ ...running, completeThrough: period.start - 1 }, 1300n)).toBe(10n);
    expect(toSaveDaily(running, 1000n)).toBeUndefined();
    expect(toSaveDaily({ ...running, spent: 1000n }, 1450n)).toBeUndefined();
    expect(toSaveDaily({ ...running, completeThrough: period.end }, 1450n)).toBeUndefined();
  });

  test('without a path is reached evenly', () => {
    const rest = { mean: 3000n, path: [] };
    expect(end(2550n, 2100n, { rest })).toMatchObject({ stopped: undefined, spentAt: Date.UTC(2026, 10, 26, 12) });
    expect(end(3001n, 2100n, { rest })?.spentAt).toBeUndefined();
  });

  test('is unknown before the first complete hour and after the last one', () => {
    expect(end(1n, 1n, { completeThrough: period.start })).toBeUndefined();
    expect(end(1n, 1n, { completeThrough: period.end })).toBeUndefined();
  });
});

test('a forecast that is below what is spent ends at it; any other one stays', () => {
  const forecast = { kind: 'forecast', mean: 5n, low: 3n, high: 9n };
  expect(notBelowSpent(forecast, 7n)).toEqual({ kind: 'forecast', mean: 7n, low: 7n, high: 9n });
  expect(notBelowSpent(forecast, 2n)).toEqual(forecast);
  expect(notBelowSpent({ kind: 'none' }, 7n)).toEqual({ kind: 'none' });
});

describe('a pace', () => {
  test('is of the hours whose costs are known, and of their costs', () => {
    const span = { start: period.start, end: period.end };
    const hours = knownHours(span, { begins: [Date.UTC(2026, 9), Date.UTC(2026, 10, 20)], completeThrough: through });
    expect(hours).toEqual({ start: Date.UTC(2026, 10, 20), end: through });
    expect(costOfDay({ start: Date.UTC(2026, 10, 20), end: through, spent: 12n })).toBe(6n);
    expect(costAtPace({ start: 0, end: 3, spent: 2n }, 6)).toBe(4n);
  });

  test('is unknown where no hour is', () => {
    expect(knownHours(period, { begins: [through], completeThrough: through })).toBeUndefined();
    expect(knownHours(period, { begins: [], completeThrough: period.start })).toBeUndefined();
  });
});

describe('an anomaly of three days goes on', () => {
  const row = (first: string, last: string, more: Partial<AnomalyRow> = {}) =>
    ({
      ...{ anomaly_key: first, account: 'a', workspace: 'w', resource_type: 't', billing_dimension: 'b' },
      ...{ kind: 'spike', is_up: true, state: 'over', first_day: first, last_day: last, ended_day: last, ...more },
    }) as AnomalyRow;
  const open = row('2026-11-10', '2026-11-12', { state: 'open', ended_day: null });
  const chances = (...earlier: AnomalyRow[]) =>
    chancesToLast(open, [open, ...earlier], 3).map((chance) => Math.round(chance * 100));

  test('for certain as long as none has ended', () => {
    expect(new Set(chances())).toEqual(new Set([100]));
    // Nothing is known of those that had ended at its age, that cost less, or that are of another account.
    const others = [{ account: 'z' }, { is_up: false }, { state: 'restated' as const }, { kind: 'price' }];
    const [first, last] = ['2026-10-01', '2026-10-05'];
    expect(new Set(chances(row(first, '2026-10-02'), ...others.map((more) => row(first, last, more))))).toEqual(
      new Set([100]),
    );
  });

  test('as often as earlier ones did, those of its scope above all', () => {
    expect(chances(row('2026-10-01', '2026-10-04')).slice(0, 3)).toEqual([100, 25, 25]);
    expect(chances(row('2026-10-01', '2026-10-04', { workspace: 'x' })).slice(0, 3)).toEqual([100, 50, 50]);
  });

  test('more likely if earlier ones became usual, and not if one was a single run of a new cost', () => {
    const usual = (last: string) => row('2026-10-01', last, { state: 'usual', kind: 'new', ended_day: '2026-10-15' });
    expect(new Set(chances(usual('2026-10-12')))).toEqual(new Set([100]));
    expect(chances(usual('2026-10-04'))[1]).toBe(25);
  });
});
