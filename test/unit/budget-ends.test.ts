import { describe, expect, test } from 'vitest';
import { budgetEnd, type CostInBudget } from '../../src/alerts/budget-ends.ts';
import type { Budget } from '../../src/budgets/budget.ts';
import type { SpendNow } from '../../src/budgets/index.ts';
import type { PeriodForecast } from '../../src/budgets/period-forecast.ts';
import { wholeOfDecimal } from '../../src/decimals.ts';

const whole = (text: string) => wholeOfDecimal(text, 12);
const period = { name: '2026-11', start: Date.UTC(2026, 10), end: Date.UTC(2026, 11) };
const through = Date.UTC(2026, 10, 22);

function budget(amount: string, more: Partial<Budget> = {}): Budget {
  return {
    ...{ name: 'all', scope: {}, where: 'jobs/budgets.yaml:1:1', period: 'monthly', timeZone: 'UTC' },
    ...{ amount: whole(amount), limits: new Map(), parent: undefined, thresholds: [], ...more },
  };
}

function spend(spent: string, more: Partial<SpendNow> = {}): SpendNow {
  return {
    ...{ budget: 'all', period, spent: whole(spent), completeThrough: through },
    ...{ gaps: [], drivers: [], burnRate: undefined, spentSince: undefined, ...more },
  };
}

const runaway: CostInBudget = { key: 'anomaly/x', firstDay: '2026-11-15', impact: '544', daily: '90' };

function end(amount: string, spent: SpendNow, unusual: CostInBudget[] = []) {
  const found = budgetEnd(budget(amount), spent, unusual);
  if (found === undefined) return undefined;
  const { expected, stopped, spentOn } = found;
  return [Number(expected), stopped === null ? null : Number(stopped), spentOn].map((value) =>
    typeof value === 'number' ? Math.round(value) : value,
  );
}

describe('the end of a period without a forecast', () => {
  test('follows the pace of its complete hours', () => {
    expect(end('3000', spend('2100'))).toEqual([3000, null, '2026-11-30']);
    expect(end('2500', spend('2100'))).toEqual([3000, null, '2026-11-25']);
    expect(end('3001', spend('2100'))).toEqual([3000, null, null]);
  });

  test('goes on with an anomaly at its last pace, and with usual costs at theirs', () => {
    // 60 USD of usual costs in 21 days are 86 in 30; 544 are there, and nine more days are 810.
    expect(end('600', spend('604'), [runaway])).toEqual([1440, 630, null]);
    expect(end('1000', spend('604'), [runaway])).toEqual([1440, 630, '2026-11-26']);
  });

  test('counts the days of an anomaly that began before the period once', () => {
    // Of 604 USD in 21 days, 420 are unusual: 184 of usual costs are 263 in 30 days, and 30 days of the anomaly are 600.
    const early = { ...runaway, firstDay: '2026-10-20', impact: '640', daily: '20' };
    expect(end('900', spend('604'), [early])).toEqual([863, 683, null]);
  });

  test('does not go on with an anomaly that has ended', () => {
    expect(end('700', spend('604'), [{ ...runaway, daily: null }])).toEqual([630, null, null]);
  });
});

describe('the end of a period with a forecast', () => {
  const forecast = {
    ...{ kind: 'forecast', mean: whole('1400'), low: whole('600'), high: whole('1500') },
    path: [
      { start: through, spent: whole('650') },
      { start: Date.UTC(2026, 10, 27), spent: whole('1010') },
      { start: Date.UTC(2026, 10, 30), spent: whole('1400') },
    ],
    anomalies: [
      { key: 'anomaly/x', added: whole('700') },
      { key: 'anomaly/x-egress', added: whole('80') },
      { key: 'anomaly/ended', added: 0n },
    ],
  } as unknown as PeriodForecast;

  test('is its mean, and without what the forecast adds for anomalies that go on', () => {
    const both = { ...runaway, parts: ['anomaly/x', 'anomaly/x-egress'] };
    expect(end('1000', spend('604', { forecast }), [both])).toEqual([1400, 620, '2026-11-27']);
  });

  test('is never below what is spent', () => {
    expect(end('1000', spend('720', { forecast }), [runaway])).toEqual([1400, 720, '2026-11-27']);
  });
});

test.each<[string, SpendNow, Budget]>([
  ['its spend is unknown', spend('1', { spent: undefined }), budget('1')],
  ['it has no complete hour', spend('1', { completeThrough: period.start }), budget('1')],
  ['it is over', spend('1', { completeThrough: period.end }), budget('1')],
  ['it is a cost per unit', spend('1'), budget('1', { per: { name: 'order', spans: [] } })],
])('the end of a period is unknown if %s', (_, given, of) => {
  expect(budgetEnd(of, given, [])).toBeUndefined();
});
