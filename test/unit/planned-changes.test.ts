import { describe, expect, test } from 'vitest';
import type { PlannedChange } from '../../src/budgets/rules/budget.ts';
import { parseBudgets } from '../../src/budgets/rules/file.ts';
import { describeChanges, parseEffect, withChanges } from '../../src/budgets/rules/planned-change.ts';
import { parseChange } from '../../src/budgets/rules/read-changes.ts';
import type { PeriodForecast } from '../../src/outlook/period-forecast.ts';
import { dayMs } from '../../src/time/time.ts';

const usd = 10n ** 12n;
const start = Date.parse('2026-11-21T00:00:00Z');
const end = Date.parse('2026-12-01T00:00:00Z');

/** 20 USD spent, and 2 USD a day for ten days; the interval is from 30 to 50 USD. */
const forecast: PeriodForecast = {
  kind: 'forecast',
  mean: 40n * usd,
  low: 30n * usd,
  high: 50n * usd,
  path: Array.from({ length: 10 }, (_, day) => ({ start: start + day * dayMs, spent: (22n + 2n * BigInt(day)) * usd })),
  model: 'weekday-profile',
  transform: 'none',
  seasons: [7],
  notes: [],
  stepHours: 24,
  history: { start: 0, end: start },
  observations: 80,
  backtest: { folds: 3, mase: 1, smape: 5, coverage: 0.8, sumCoverage: 0.8 },
};

function change(day: string, effectText: string): PlannedChange {
  return { name: 'launch', on: Date.parse(`${day}T00:00:00Z`), effect: parseEffect(effectText), effectText, scope: {} };
}

function changed(...parts: [day: string, effect: string, share: number][]) {
  const given = parts.map(([day, effect, share]) => ({ change: change(day, effect), share }));
  return withChanges(forecast, given, { spent: 20n * usd, completeThrough: start, end });
}

function amounts({ mean, low, high }: PeriodForecast): number[] {
  return [mean, low, high].map((value) => Number(value) / 1e12);
}

describe('a planned change', () => {
  test('adds its percentage to the days from its own on, and to the interval in proportion', () => {
    // Five days of 2 USD, half as much more.
    expect(amounts(changed(['2026-11-26', '+50%', 1]))).toEqual([45, 32.5, 57.5]);
    expect(changed(['2026-11-26', '+50%', 1]).path.map(({ spent }) => Number(spent / usd))).toEqual([
      ...[22, 24, 26, 28, 30],
      ...[33, 36, 39, 42, 45],
    ]);
  });

  test('adds only the part that concerns the forecast', () => {
    expect(amounts(changed(['2026-11-26', '+50%', 0.2]))[0]).toBe(41);
    expect(amounts(changed(['2026-11-26', '+10 USD daily', 0.5]))).toEqual([65, 55, 75]);
    expect(amounts(changed(['2026-11-26', '+10 USD daily', 0]))).toEqual([40, 30, 50]);
  });

  test('adds USD once, or takes away everything of a shut-down', () => {
    expect(amounts(changed(['2026-11-30', '+500 USD', 1]))).toEqual([540, 530, 550]);
    expect(amounts(changed(['2026-11-21', '-100%', 1]))).toEqual([20, 20, 20]);
  });

  test('is added next to others, each to the forecast without changes', () => {
    const both = changed(['2026-11-26', '+50%', 1], ['2026-11-26', '+10%', 1]);
    expect(amounts(both)[0]).toBe(46);
    expect(both.changes?.map(({ added }) => Number(added / usd))).toEqual([5, 1]);
  });

  test('adds nothing before its day, or if the costs show it already, and says why', () => {
    const late = changed(['2026-12-01', '+50%', 1]);
    const early = changed(['2026-11-20', '+50%', 1]);
    expect([amounts(late), amounts(early)]).toEqual([
      [40, 30, 50],
      [40, 30, 50],
    ]);
    expect(describeChanges([{ name: 'all', forecast: late }])).toEqual([
      'planned change launch on 2026-12-01 (+50%) changes no forecast: it begins after the period',
    ]);
    expect(describeChanges([{ name: 'all', forecast: early }])).toEqual([
      'planned change launch on 2026-11-20 (+50%) changes no forecast: it began before 2026-11-21T00:00:00Z, so the costs show it',
    ]);
    expect(describeChanges([{ name: 'all', forecast: changed(['2026-11-26', '+50%', 1]) }])).toEqual([
      'all: the forecast includes planned changes: launch on 2026-11-26 (+50%) adds 5.00 USD',
    ]);
  });
});

describe('a change of a command line', () => {
  test('has a name, a day, an effect, and perhaps a scope', () => {
    expect(parseChange('launch=2026-12-10:+30%:workspace=prod')).toEqual({
      name: 'launch',
      on: Date.parse('2026-12-10T00:00:00Z'),
      effect: { percent: 300_000n },
      effectText: '+30%',
      scope: { workspace: ['prod'] },
    });
    expect(parseChange('c=2026-12-10:+20.5 USD daily').effect).toEqual({ usd: (205n * usd) / 10n, every: 'daily' });
    expect(parseChange('c=2026-12-10:-5 USD:workspace=a,workspace=b,owner.team=x=y').scope).toEqual({
      workspace: ['a', 'b'],
      owner: { team: ['x=y'] },
    });
  });

  test.each([
    ['launch', 'found "launch", expected a name, a day, a change and perhaps a scope'],
    ['launch=2026-13-10:+30%', 'found "2026-13-10", expected a day such as 2026-12-10'],
    ['launch=2026-12-10:30%', 'found "30%", expected a change other than 0 such as +30%, -100%, +500 USD'],
    ['launch=2026-12-10:-101%', 'found "-101%", expected a change'],
    ['launch=2026-12-10:+0 USD', 'found "+0 USD", expected a change'],
    ['launch=2026-12-10:+30%:place=x', 'found "place=x" as a scope, expected account, workspace'],
    ['launch=2026-12-10:+30%:resource_name=x', 'found resource_name, which the scope of a change does not support'],
    ['two words=2026-12-10:+30%', 'found "two words", expected a name of letters'],
  ])('%s is refused', (text, words) => {
    expect(() => parseChange(text)).toThrow(words);
  });
});

test('changes of the file belong to every budget, and their mistakes have places', () => {
  const read = (changes: string) =>
    parseBudgets({
      text: `budgets: [{ name: a, period: monthly, amount: 5 USD }]\nchanges: ${changes}\n`,
      file: 'budgets.yaml',
      now: start,
    });
  expect(read('[{ name: launch, on: 2026-12-10, effect: +30% }]')[0]?.changes).toHaveLength(1);
  expect(() =>
    read('[{ name: launch, on: soon, effect: more, scope: { resource_name: a } }, { name: launch, effect: +3% }]'),
  ).toThrow(
    `budgets.yaml:2:31: on: found "soon", expected a day such as 2026-12-10
budgets.yaml:2:45: effect: found "more", expected a change other than 0 such as +30%, -100%, +500 USD or "+20 USD daily"
budgets.yaml:2:75: resource_name: found resource_name, which the scope of a change does not support; use workspace or resource_type
budgets.yaml:2:82: changes: found no on, expected one as in { name: launch, on: 2026-12-10, effect: +30% }; add it`,
  );
});
