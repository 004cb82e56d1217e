import { describe, expect, test } from 'vitest';
import { anomalyWords } from '../../src/anomalies/index.ts';
import type { Budget } from '../../src/budgets/rules/budget.ts';
import type { SpendNow } from '../../src/budgets/spend/index.ts';
import type { BudgetAlertFact } from '../../src/findings/budget-fact.ts';
import { namedAnomalies, withPressedBudgets, withUnusualCosts } from '../../src/findings/unusual-costs.ts';
import { cents, centsAddingUp, wholeOfDecimal } from '../../src/money/money.ts';
import type { PaceForecast } from '../../src/outlook/period-forecast.ts';
import type { AnomalyRow } from '../../src/warehouse/watch/index.ts';
import { exampleCalled, exampleFacts, exampleParts, exampleRunaway } from '../support/example-alerts.ts';

const usd = (text: string) => wholeOfDecimal(text, 12);

function budget(name: string, amount: string, scope: Budget['scope'] = {}): Budget {
  return {
    ...{ name, scope, where: 'jobs/budgets.yaml:1:1', period: 'monthly', timeZone: 'UTC', amount: usd(amount) },
    ...{ limits: new Map(), parent: undefined, thresholds: [] },
  };
}

const runawayKey = exampleRunaway.key;
const october = { name: '2026-10', start: Date.UTC(2026, 9), end: Date.UTC(2026, 10) };

/** A spend after 26 of 31 days: five more of usual costs are 68 USD, and of the runaway 443. */
function spend(name: string, spent: string | undefined, period = october): SpendNow {
  const anomalies = [{ key: runawayKey, added: usd('443'), addedIfItGoesOn: usd('443') }];
  const atPace = { mean: usd(spent ?? '0') + usd('511'), path: [], anomalies } as unknown as PaceForecast;
  return {
    ...{ budget: name, period, spent: spent === undefined ? undefined : usd(spent) },
    ...{ completeThrough: Date.UTC(2026, 9, 27), gaps: [], drivers: [], burnRate: undefined, spentSince: undefined },
    forecast: { kind: 'none', reason: 'too little history', atPace },
  };
}

const { budgets: _none, ...runaway } = exampleRunaway;
const none = { named: [] };
const ofDemos = { workspace: ['customer-demos'] };

describe('an anomaly', () => {
  test('names every budget that ends above its amount, the most exceeded first', () => {
    const budgets = [budget('all', '5000'), budget('rich', '90000'), budget('demos', '1000', ofDemos)];
    const [fact] = withPressedBudgets([runaway], budgets, [
      spend('all', '4500'),
      spend('rich', '4500'),
      spend('demos', '900'),
    ]);
    expect(fact?.budgets).toMatchObject([
      { name: 'demos', expected: expect.stringMatching(/^1411\./), stopped: expect.stringMatching(/^968\./) },
      { name: 'all', expected: expect.stringMatching(/^5011\./), stopped: expect.stringMatching(/^4568\./) },
    ]);
  });

  test('names the budget that ends closest to its amount if none is exceeded', () => {
    const budgets = [budget('all', '90000'), budget('demos', '9000', ofDemos)];
    const [fact] = withPressedBudgets([runaway], budgets, [spend('all', '4500'), spend('demos', '900')]);
    expect(fact?.budgets?.map(({ name }) => name)).toEqual(['demos']);
  });

  test('says of each budget where it ends if this goes on, and if it stops now', () => {
    const sentence = (amount: string, spent: string) =>
      anomalyWords(
        withPressedBudgets([runaway], [budget('demos', amount)], [spend('demos', spent)])[0] ?? runaway,
      ).sentences.find((words) => words.startsWith('Budget demos'));
    expect(sentence('1000', '900')).toMatch(
      /^Budget demos \(1,000\.00 USD\) will be exceeded in 2026-10 if this continues: .* about 1,411 USD, but at about 968 USD if it stops now \(costs through 2026-10-27T02:00:00Z\)\.$/,
    );
    expect(sentence('950', '900')).toMatch(/ will be exceeded in 2026-10 even if this stops: /);
    expect(sentence('9000', '900')).toMatch(/will not be exceeded in 2026-10: /);
    expect(sentence('800', '900')).toMatch(
      /^Budget demos is 100\.00 USD over its 800\.00 USD for 2026-10\. It is expected to end at/,
    );
  });

  test('of one day says where a budget ends if it continues, which no forecast counts on', () => {
    const oneDay = {
      ...runaway,
      key: 'anomaly/one',
      lastDay: runaway.firstDay,
      dailyImpact: null,
      pace: '100.000000000000',
    };
    const spends = [spend('demos', '900')];
    const [fact] = withPressedBudgets([oneDay], [budget('demos', '1500')], spends);
    expect(fact?.budgets).toMatchObject([{ expected: expect.stringMatching(/^1411\./), stopped: null }]);
    // Five days are left.
    expect(fact?.budgets?.[0]?.continued).toMatch(/^1911\./);
    expect(anomalyWords(fact ?? oneDay).sentences.join(' ')).toMatch(
      /1,911 USD, but at about 1,411 USD if this was one day/,
    );
    const called = { ...oneDay, feedback: exampleCalled.feedback };
    expect(withPressedBudgets([called], [budget('demos', '1500')], spends)[0]?.budgets?.[0]).not.toHaveProperty(
      'continued',
    );
  });

  test.each<[string, Budget, SpendNow]>([
    ['another workspace', budget('b', '10', { workspace: ['research'] }), spend('b', '1')],
    ['resources by name', budget('b', '10', { resource_name: ['demo-*'] }), spend('b', '1')],
    ['owners', budget('b', '10', { owner: { team: ['Search'] } }), spend('b', '1')],
    ['a spend that is not known', budget('b', '10'), spend('b', undefined)],
    ['another month', budget('b', '10'), spend('b', '1', { name: '2026-09', start: 0, end: Date.UTC(2026, 9) })],
  ])('names no budget of %s', (_, one, spent) => {
    expect(withPressedBudgets([runaway], [one], [spent])[0]).not.toHaveProperty('budgets');
  });

  test('of several parts is in a budget only with all of them', () => {
    const { budgets: _, ...parts } = exampleParts;
    const one = budget('gbs', '10', { billing_dimension: ['agent_compute_runtime_gbs'] });
    const both = budget('both', '10', { billing_dimension: ['agent_compute_runtime_gbs', 'agent_egress_gb'] });
    const spends = [spend('gbs', '1'), spend('both', '1')];
    expect(withPressedBudgets([parts], [one, both], spends)[0]?.budgets?.map(({ name }) => name)).toEqual(['both']);
  });

  test('that lowers costs names no budget', () => {
    const dip = { ...runaway, isUp: false, impact: '-5.000000000000' };
    expect(withPressedBudgets([dip], [budget('b', '10')], [spend('b', '1')])).toEqual([dip]);
  });
});

describe('a budget', () => {
  const { unusual: _, end: _end, ...fact } = exampleFacts['budget'] as BudgetAlertFact;
  const whole = budget('research', '5000');
  const spent = spend('research', '4123');
  const named = (...anomalies: readonly (typeof runaway)[]) =>
    withUnusualCosts([fact], [whole], [spent], { named: anomalies })[0];

  test('names unusual costs of its period from 5 % of its amount on, the largest first', () => {
    const other = { ...runaway, key: 'anomaly/other', impact: '1600.000000000000' };
    const ended = { dailyImpact: null, isOver: true };
    const small = { ...runaway, ...ended, key: 'anomaly/small', impact: '249.990000000000' };
    expect(named(runaway, small, other)?.unusual?.map(({ key, impact }) => [key, impact])).toEqual([
      ['anomaly/other', '1600.000000000000'],
      [runaway.key, '543.950000000000'],
    ]);
  });

  test('names a young anomaly by what it will cost', () => {
    const young = { ...runaway, impact: '12.190000000000', dailyImpact: null, pace: '97.000000000000' };
    expect(named(young)?.unusual).toMatchObject([{ key: young.key, daily: '97.000000000000' }]);
    expect(named(young)?.end?.stopped).not.toBeNull();
  });

  test('names none that ended after it began before the period, none that is not reported, and none of another scope', () => {
    const early = { ...runaway, firstDay: '2026-09-30', isOver: true };
    const lapsed = { ...runaway, state: 'lapsed' as const };
    const usual = { ...runaway, isUsual: true, state: 'resolved' as const };
    expect(named(early, lapsed, usual)).not.toHaveProperty('unusual');
    const elsewhere = budget('research', '5000', { workspace: ['research'] });
    expect(withUnusualCosts([fact], [elsewhere], [spent], { named: [runaway] })[0]).not.toHaveProperty('unusual');
  });

  test('has the part of its spend in hours that are not complete yet', () => {
    const since = (spentSince: bigint | undefined) =>
      withUnusualCosts([fact], [whole], [{ ...spent, spentSince }], none)[0]?.incomplete;
    expect([since(usd('7.28')), since(0n), since(undefined)]).toEqual(['7.280000000000', undefined, undefined]);
  });

  test('names the budgets that are a part of it and are expected to be exceeded', () => {
    const parts = (scope: Budget['scope'], value: string, outer: Budget['scope'] = {}) =>
      withUnusualCosts(
        [fact, { ...fact, budget: 'demos', value, amount: '900' }],
        [{ ...whole, scope: outer }, budget('demos', '900', scope)],
        [spent, spend('demos', value)],
        none,
      ).map(({ contains }) => contains);
    expect(parts(ofDemos, '950')).toEqual([['demos'], undefined]);
    expect(parts(ofDemos, '850')).toEqual([undefined, undefined]);
    expect(parts(ofDemos, '950', { workspace: ['customer-demos', 'labs'] })).toEqual([['demos'], undefined]);
    expect(parts(ofDemos, '950', { workspace: ['labs'] })).toEqual([undefined, undefined]);
    expect(parts(ofDemos, '950', { owner: { team: ['demos'] } })).toEqual([undefined, undefined]);
  });

  test('is information while it keeps to its amount, unless its threshold sets a severity', () => {
    const threshold = { of: 'spent', code: '80%', at: { percent: 800_000n }, severity: 'warning', notify: [] } as const;
    const severity = (amount: string, usual: object) =>
      withUnusualCosts(
        [{ ...fact, amount }],
        [{ ...budget('research', amount), thresholds: [{ ...threshold, ...usual }] }],
        [spent],
        none,
      )[0]?.severity;
    expect(severity('5000', { isUsualSeverity: true })).toBe('info');
    expect(severity('4500', { isUsualSeverity: true })).toBe('warning');
    expect(severity('5000', {})).toBe('warning');
  });
});

describe('the forecast of a budget', () => {
  const { unusual: _, end: _end, ...fact } = exampleFacts['budget'] as BudgetAlertFact;
  const whole = budget('research', '5000');
  const november = { name: '2026-11', start: Date.UTC(2026, 10), end: Date.UTC(2026, 11) };
  const ended = { ...runaway, isOver: true, dailyImpact: null, lastDay: '2026-10-28' };
  const previous = (completeThrough: number, of: object = { of: 'forecast' }) => {
    const spends = [spend('research', '5923'), { ...spend('research', '6', november), completeThrough }];
    return withUnusualCosts([{ ...fact, ...of, period: '2026-11' }], [whole], spends, { named: [ended] })[0]?.previous;
  };

  test('of a period that has just begun says what the period before cost, and what of it was unusual', () => {
    expect(previous(Date.UTC(2026, 10, 2))).toMatchObject({
      ...{ period: '2026-10', value: '5923.000000000000', unusual: runaway.impact },
    });
  });

  test('does not say what the period before cost while its last hours are missing', () => {
    expect(previous(Date.UTC(2026, 9, 31, 12))).toBeUndefined();
    expect(previous(Date.UTC(2026, 10, 1))).toBeDefined();
  });

  test('does not say that of a period that has cost enough to tell, and neither does a threshold of spend', () => {
    expect(previous(Date.UTC(2026, 10, 3))).toBeUndefined();
    expect(previous(Date.UTC(2026, 10, 2), {})).toBeUndefined();
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

test('parts in cents add up to their sum in cents; those that are not all of it are rounded one by one', () => {
  const shown = (parts: readonly string[], whole: string) => centsAddingUp(parts, whole).map((part) => cents(part));
  expect(shown(['62.333', '62.333', '62.333'], '186.999')).toEqual(['62.34', '62.33', '62.33']);
  expect(shown(['-1.005', '3.01'], '2.005')).toEqual(['-1.00', '3.01']);
  expect(shown(['1.006', '2'], '10')).toEqual(['1.01', '2.00']);
});
