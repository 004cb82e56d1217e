import { describe, expect, test } from 'vitest';
import type { BudgetAlertFact } from '../../src/alerts/alert-fact.ts';
import { namedAnomalies, withBudgetsLeft, withUnusualCosts } from '../../src/alerts/unusual-costs.ts';
import { anomalyWords } from '../../src/anomalies/index.ts';
import type { Budget } from '../../src/budgets/budget.ts';
import type { SpendNow } from '../../src/budgets/index.ts';
import { wholeOfDecimal } from '../../src/decimals.ts';
import type { AnomalyRow } from '../../src/warehouse/index.ts';
import { exampleFacts, exampleParts, exampleRunaway } from '../support/example-alerts.ts';

const usd = (text: string) => wholeOfDecimal(text, 12);

function budget(name: string, amount: string, scope: Budget['scope'] = {}): Budget {
  return {
    ...{ name, scope, where: 'jobs/budgets.yaml:1:1', period: 'monthly', timeZone: 'UTC', amount: usd(amount) },
    ...{ limits: new Map(), parent: undefined, thresholds: [] },
  };
}

const october = { name: '2026-10', start: Date.UTC(2026, 9), end: Date.UTC(2026, 10) };

function spend(name: string, spent: string | undefined, period = october): SpendNow {
  return {
    ...{ budget: name, period, spent: spent === undefined ? undefined : usd(spent) },
    ...{ completeThrough: undefined, gaps: [], drivers: [], burnRate: undefined, spentSince: undefined },
  };
}

const { budgetLeft: _none, ...runaway } = exampleRunaway;
const ofDemos = { workspace: ['customer-demos'] };

describe('an anomaly', () => {
  test('names the budget that it leaves the smallest part of, and what it still costs', () => {
    const budgets = [budget('everything', '9000'), budget('demos', '1000', ofDemos)];
    const [fact] = withBudgetsLeft([runaway], budgets, [spend('everything', '4000'), spend('demos', '900')]);
    // 987.10 by the end of October, of which 543.95 are there.
    expect(fact?.budgetLeft).toMatchObject({ name: 'demos', period: '2026-10', left: '100.000000000000' });
    expect(fact?.budgetLeft?.toCome).toBe('443.150000000000');
  });

  test('says whether the rest is enough, and by how much a budget is exceeded', () => {
    const sentence = (spent: string) =>
      anomalyWords(
        withBudgetsLeft([runaway], [budget('demos', '1000')], [spend('demos', spent)])[0] ?? runaway,
      ).sentences.find((words) => words.startsWith('Budget demos'));
    expect(sentence('900')).toMatch(/has 100\.00 USD left for 2026-10; .* about 443 USD .*, more than is left\.$/);
    expect(sentence('500')).toMatch(/has 500\.00 USD left for 2026-10; .* about 443 USD by the end of October\.$/);
    expect(sentence('1200')).toMatch(/is 200\.00 USD over its 1000\.00 USD for 2026-10\. .* about 443 USD/);
  });

  test.each<[string, Budget, SpendNow]>([
    ['another workspace', budget('b', '10', { workspace: ['research'] }), spend('b', '1')],
    ['resources by name', budget('b', '10', { resource_name: ['demo-*'] }), spend('b', '1')],
    ['owners', budget('b', '10', { owner: { team: ['Search'] } }), spend('b', '1')],
    ['a spend that is not known', budget('b', '10'), spend('b', undefined)],
    ['another month', budget('b', '10'), spend('b', '1', { name: '2026-09', start: 0, end: Date.UTC(2026, 9) })],
  ])('names no budget of %s', (_, one, spent) => {
    expect(withBudgetsLeft([runaway], [one], [spent])[0]).not.toHaveProperty('budgetLeft');
  });

  test('of several parts is in a budget only with all of them', () => {
    const { budgetLeft: _, ...parts } = exampleParts;
    const one = budget('gbs', '10', { billing_dimension: ['agent_compute_runtime_gbs'] });
    const both = budget('both', '10', { billing_dimension: ['agent_compute_runtime_gbs', 'agent_egress_gb'] });
    const spends = [spend('gbs', '1'), spend('both', '1')];
    expect(withBudgetsLeft([parts], [one, both], spends)[0]?.budgetLeft?.name).toBe('both');
  });

  test('that lowers costs names no budget', () => {
    const dip = { ...runaway, isUp: false, impact: '-5.000000000000' };
    expect(withBudgetsLeft([dip], [budget('b', '10')], [spend('b', '1')])).toEqual([dip]);
  });
});

describe('a budget', () => {
  const { unusual: _, ...fact } = exampleFacts['budget'] as BudgetAlertFact;
  const whole = budget('research', '5000');

  test('names unusual costs of its period from 5 % of its amount on, the largest first', () => {
    const other = { ...runaway, key: 'anomaly/other', impact: '600.000000000000' };
    const ended = { dailyImpact: null, isOver: true };
    const small = { ...runaway, ...ended, key: 'anomaly/small', impact: '249.990000000000' };
    const [found] = withUnusualCosts([fact], [whole], [runaway, small, other]);
    expect(found?.unusual?.map(({ key, impact }) => [key, impact])).toEqual([
      ['anomaly/other', '600.000000000000'],
      [runaway.key, '543.950000000000'],
    ]);
  });

  test('names none that began before its period, none that is not reported, and none of another scope', () => {
    const early = { ...runaway, firstDay: '2026-09-30' };
    const lapsed = { ...runaway, state: 'lapsed' as const };
    const usual = { ...runaway, isUsual: true, state: 'resolved' as const };
    expect(withUnusualCosts([fact], [whole], [early, lapsed, usual])).toEqual([fact]);
    expect(withUnusualCosts([fact], [budget('research', '5000', { workspace: ['research'] })], [runaway])).toEqual([
      fact,
    ]);
  });
});

describe('the forecast of a budget', () => {
  const { unusual: _, ...fact } = exampleFacts['budget'] as BudgetAlertFact;
  const whole = budget('research', '5000');

  test('names what goes on by what it will cost and what ended in its period, not what ended before', () => {
    const young = { ...runaway, impact: '12.190000000000', dailyImpact: null, pace: '97.000000000000' };
    const before = { ...runaway, key: 'anomaly/before', firstDay: '2026-09-15', lastDay: '2026-09-23', isOver: true };
    const within = { ...before, key: 'anomaly/within', firstDay: '2026-09-28', lastDay: '2026-10-02' };
    const [found] = withUnusualCosts([{ ...fact, of: 'forecast' }], [whole], [young, before, within]);
    expect(found?.unusual?.map(({ key, daily }) => [key, daily])).toEqual([
      [young.key, '97.000000000000'],
      ['anomaly/within', null],
    ]);
    // 12.19 USD so far are less than 5 % of the amount, but its spend goes on as well.
    expect(withUnusualCosts([fact], [whole], [young])[0]?.unusual).toHaveLength(1);
  });
});

describe('an anomaly that has ended', () => {
  const row = (state: string, impact: string) =>
    ({ anomaly_key: runaway.key, state, impact, last_day: '2026-10-28' }) as AnomalyRow;

  test('stays named with its present amount until its period is over', () => {
    const [named] = namedAnomalies([], [runaway], [row('over', '715.630000000000')]);
    expect(named).toMatchObject({ isOver: true, impact: '715.630000000000', lastDay: '2026-10-28', state: 'resolved' });
  });

  test('is not named if it was restated, became usual, or is reported again', () => {
    expect(namedAnomalies([], [runaway], [row('restated', '1')])).toEqual([]);
    expect(namedAnomalies([], [runaway], [row('usual', '1')])).toEqual([]);
    expect(namedAnomalies([], [runaway], [])).toEqual([]);
    expect(namedAnomalies([runaway], [runaway], [row('over', '1')])).toEqual([runaway]);
  });
});
