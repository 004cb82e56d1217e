import { describe, expect, test } from 'vitest';
import {
  type AlertFact,
  type AnomalyFact,
  anomalyFacts,
  follow,
  learnBaseline,
  messagesOf,
  type OutgoingMessage,
  parseAnomalyRules,
  parseBudgets,
  plainText,
  slackMessage,
  transitionsOf,
  usualRules,
} from '../../src/reports/index.ts';
import { exampleFacts } from '../support/example-alerts.ts';

const file = 'jobs/budgets.yaml';

describe('the rules of anomalies', () => {
  test('are the usual ones where the file says nothing of them', () => {
    expect(parseAnomalyRules({ text: 'budgets: []', file })).toEqual(usualRules);
  });

  test('are read from the file of the budgets, and budgets are read beside them', () => {
    const text =
      'anomalies: { enabled: true, minAmount: 12.5 USD, minPercent: 50%, minDays: 21, notify: [finops] }\n' +
      'budgets:\n  - { name: all, period: monthly, amount: 5 USD }\n';
    expect(parseAnomalyRules({ text, file, sinks: ['finops'] })).toEqual({
      ...{ isOn: true, minAmount: 12.5, minShare: 0.5, minDays: 21, notify: ['finops'] },
    });
    expect(parseBudgets({ text, file, now: 0 })).toHaveLength(1);
  });

  test('tell every mistake at its place', () => {
    const text = `anomalies:
  enabled: perhaps
  minAmount: 5 EUR
  minPercent: 30
  minDays: 7
  notify: nobody
  minDollars: 5 USD
`;
    expect(() => parseAnomalyRules({ text, file, sinks: ['finops'] })).toThrow(
      [
        'jobs/budgets.yaml:2:12: enabled: found "perhaps", expected true or false',
        'jobs/budgets.yaml:3:14: minAmount: found "5 EUR", expected an amount above 0 such as 5000 USD or 0.25 USD, in USD and without signs between the digits',
        'jobs/budgets.yaml:4:15: minPercent: found 30, expected a share of what is expected from 5% to 1000%, such as 30%',
        'jobs/budgets.yaml:5:12: minDays: found 7, expected a whole number from 14 to 42',
      ].join('\n'),
    );
  });
});

const example = exampleFacts['anomaly'] as AnomalyFact;

/** A night in which so many things happened. */
function night(count: number): AnomalyFact[] {
  return Array.from({ length: count }, (_, index) => ({
    ...example,
    key: `anomaly/acc_main/w${index}/agent/agent_compute_runtime_gbs/2026-10-20`,
    impact: `${index}.500000000000`,
  }));
}

describe('a night of many anomalies', () => {
  const state = { at: '2026-10-21T02:16:00Z', completeThrough: null, settledThrough: null };
  const { entries, raised } = transitionsOf([], night(500), { now: 0, everybody: ['hook'] });
  const [message] = messagesOf(entries, state);
  const sent = {
    ...JSON.parse(message?.message ?? '{}'),
    id: 'id',
    mayBeRepeat: false,
    isTest: false,
  } as OutgoingMessage;

  test('is one message of bounded size, the largest first, the rest counted and added up', () => {
    expect(raised).toHaveLength(500);
    expect(sent.entries).toHaveLength(20);
    expect(sent.entries.map(({ fact }) => (fact as AnomalyFact).impact).slice(0, 2)).toEqual([
      '499.500000000000',
      '498.500000000000',
    ]);
    // 0.5 + 1.5 + … + 479.5
    expect(sent.left).toEqual({ anomalies: 480, impact: '115200.000000000000', resolved: 0 });
    expect(message?.message.length).toBeLessThan(40_000);
    const words = 'and 480 smaller anomalies, +115200.00 USD together: costbook report anomalies';
    expect(plainText(sent)).toContain(words);
    expect(plainText(sent)).toContain('500 alerts');
    expect(JSON.stringify(slackMessage(sent))).toContain('and 485 more');
  });

  test('counts those that are over by themselves', () => {
    const over = entries.map(({ entry, sinks }) => ({ sinks, entry: { ...entry, transition: 'resolved' as const } }));
    const both = messagesOf([...entries.slice(0, 21), ...over.slice(21, 60)], state)[0]?.message ?? '{}';
    const told = { ...JSON.parse(both), id: 'id', mayBeRepeat: false, isTest: false } as OutgoingMessage;
    expect(told.left).toMatchObject({ anomalies: 1, resolved: 39 });
    expect(plainText(told)).toContain('21 alerts, 39 resolved');
    expect(plainText(told)).toMatch(/and 1 smaller anomaly, \+\S+ USD together, and 39 more that are over: costbook/);
  });

  test('says nothing of a rest where there is none', () => {
    const few = transitionsOf([], night(20), { now: 0, everybody: ['hook'] });
    expect(JSON.parse(messagesOf(few.entries, state)[0]?.message ?? '{}')).not.toHaveProperty('left');
  });
});

describe('the words of an anomaly', () => {
  const wordsOf = (fact: AnomalyFact) => {
    const { entries } = transitionsOf([], [fact], { now: 0, everybody: ['hook'] });
    const state = { at: '2026-10-21T02:16:00Z', completeThrough: null, settledThrough: null };
    const message = JSON.parse(messagesOf(entries, state)[0]?.message ?? '{}');
    return plainText({ ...message, id: 'id', mayBeRepeat: false, isTest: false });
  };

  test('say of a credit that it is one, not that nothing is spent any more', () => {
    const words = wordsOf({ ...example, anomaly: 'drop', isUp: false, cost: '-50.000000000000', moved: null });
    expect(words).toContain('is credited more than it costs');
    expect(words).toContain('Look what the credit of');
    expect(words).not.toContain('costs nothing any more');
    expect(words).not.toContain('meant to stop');
  });
});

describe('what is told of an anomaly', () => {
  const row = {
    ...{ anomaly_key: 'k', account: 'a', workspace: null, resource_type: null, billing_dimension: null, kind: 'spike' },
    ...{ is_up: true, first_day: '2026-10-20', seen_day: '2026-10-20', last_day: '2026-10-20', told_day: '2026-10-20' },
    ...{ cost: '30', expected: '10', expected_low: '8', expected_high: '12', impact: '20', price_ratio: null },
    ...{
      ended_day: null,
      severity: 'info',
      is_told: true,
      detail: '{"impacts":[20],"drivers":[]}',
      state: 'open' as const,
    },
  };
  const told = (
    state: 'open' | 'over' | 'usual' | 'grown' | 'restated',
    before?: { isOpen: boolean; wasOver: boolean },
  ) =>
    anomalyFacts([{ ...row, state }], new Map(before === undefined ? [] : [['k', before]]), {
      notify: [],
      completeThroughOf: () => null,
    }).map((fact) => fact.state);
  const open = { isOpen: true, wasOver: false };

  test.each([
    ['what is open is told', 'open', undefined, ['raised']],
    ['what is over is told where nobody was told of it before', 'over', undefined, ['raised']],
    ['what was restated away before it was told is told to nobody', 'restated', undefined, []],
    ['what is over is told to be over', 'over', open, ['resolved']],
    ['what became usual is told to nobody', 'usual', open, ['lapsed']],
    ['what grew into another one, which is told, is told no more', 'grown', open, ['lapsed']],
    ['what was told to be over already is not told so again', 'over', { isOpen: true, wasOver: true }, ['lapsed']],
    ['what was restated is told to have been none', 'restated', open, ['resolved']],
    ['what was told and ended is never told again', 'open', { isOpen: false, wasOver: false }, []],
  ] as const)('%s', (_, state, before, expected) => {
    expect(told(state, before)).toEqual(expected);
  });

  test('is nothing where nobody is to be told', () => {
    const facts = anomalyFacts([{ ...row, is_told: false }], new Map(), { notify: [], completeThroughOf: () => null });
    expect(facts satisfies readonly AlertFact[]).toEqual([]);
  });
});

describe('a scope', () => {
  const firstDay = 20_458;
  const options = { isQuiet: () => false, rules: usualRules };
  function days(costs: readonly number[], usages = costs, isQuiet: (day: number) => boolean = () => false): string[] {
    const episodes = follow(
      { firstDay, costs, usages },
      [],
      { from: firstDay, to: firstDay + costs.length - 1 },
      { ...options, isQuiet: (day) => isQuiet(day - firstDay) },
    );
    return episodes.map(({ kind, isUp, firstDay: first, toldDay, state }) => {
      const told = toldDay === undefined ? 'told never' : `told ${toldDay - firstDay}`;
      return `${kind} ${isUp ? 'up' : 'down'} ${first - firstDay}, ${told}, ${state}`;
    });
  }
  const many = (count: number, cost: number) => new Array<number>(count).fill(cost);

  test('that spikes is told on that day, and is over after two usual ones', () => {
    expect(days([...many(30, 100), 150, ...many(5, 100)])).toEqual(['spike up 30, told 30, over']);
  });
  test('that steps up is told once', () => {
    expect(days([...many(30, 100), ...many(40, 150)])).toEqual(['step up 30, told 30, usual']);
  });
  test('that steps up again on the day on which its step has become the usual is told of it on that day', () => {
    const costs = [...many(30, 100), ...many(14, 150), ...many(5, 300)];
    expect(days(costs)).toEqual(['step up 30, told 30, usual', 'step up 44, told 44, open']);
    const usages = many(49, 100);
    expect(days(costs, usages)).toEqual(
      expect.arrayContaining(['price up 30, told 30, usual', 'price up 44, told 44, open']),
    );
  });
  test('that steps down is told when it has stayed a week, and once', () => {
    expect(days([...many(30, 100), ...many(40, 50)])).toEqual(['step down 30, told 36, usual']);
  });
  test('that spikes out of a lower level is told of the spike on its day', () => {
    expect(days([...many(30, 100), ...many(8, 50), 300, ...many(5, 100)])).toEqual([
      'step down 30, told 36, over',
      'spike up 38, told 38, over',
    ]);
  });
  test('with a holiday is told never, and the day after it is no spike', () => {
    expect(days([...many(30, 100), 40, 45, ...many(20, 100)])).toEqual(['dip down 30, told never, over']);
  });
  test('that grows slowly is told never', () => {
    expect(days(Array.from({ length: 120 }, (_, day) => 100 * 1.01 ** day))).toEqual([]);
  });
  test('that drops to nothing is told once, and its return as new', () => {
    expect(days([...many(30, 100), ...many(40, 0), ...many(20, 100)])).toEqual([
      'drop down 30, told 30, usual',
      'new up 70, told 70, usual',
    ]);
  });
  test('whose days come in late is told to have dropped when nothing has come for three', () => {
    const costs = [...many(30, 100), ...many(5, 0)];
    const series = { firstDay, costs, usages: costs };
    const [drop] = follow(series, [], { from: firstDay, to: firstDay + 34 }, { ...options, isLate: true });
    expect(drop).toMatchObject({ kind: 'drop', firstDay: firstDay + 30, toldDay: firstDay + 32 });
  });
  test('that costs on working days alone is usual on a weekend without a cost', () => {
    expect(days(Array.from({ length: 70 }, (_, day) => (day % 7 >= 5 ? 0 : 100)))).toEqual([]);
  });
  test('whose unit costs another amount has a price that moved, whatever its usage does', () => {
    const usages = Array.from({ length: 60 }, (_, day) => 100 * (1 + 0.5 * Math.sin(day * 1.7)));
    const costs = usages.map((usage, day) => usage * (day < 40 ? 1 : 1.4));
    expect(days(costs, usages)).toEqual(['price up 40, told 40, usual']);
  });
  test('that was told of little is told of much: what is four times more is another thing', () => {
    expect(days([...many(30, 100), 150, 1000, ...many(5, 100)])).toEqual([
      'spike up 30, told 30, grown',
      'spike up 31, told 31, over',
    ]);
  });
  test('that does the same again a week later is not told again', () => {
    expect(days([...many(30, 100), 200, ...many(6, 100), 200, ...many(6, 100)])).toEqual([
      'spike up 30, told 30, over',
      'spike up 37, told never, over',
    ]);
  });
  test('that does the same again a week later and stays there is told when it has stayed', () => {
    expect(days([...many(30, 100), 200, ...many(6, 100), ...many(30, 200)])).toEqual([
      'spike up 30, told 30, over',
      'step up 37, told 39, usual',
    ]);
  });
  test('that does the same every third day is told twice, and then known', () => {
    const told = days(Array.from({ length: 120 }, (_, day) => (day >= 60 && day % 3 === 0 ? 200 : 100)));
    expect(told.filter((episode) => !episode.includes('told never')).length).toBe(2);
  });
  // A tenth apart, always the same.
  const noisy = (count: number, level: (day: number) => number) =>
    Array.from({ length: count }, (_, day) => level(day) * Math.exp(0.14 * Math.sin(day * day * 12.9898)));
  test('whose chance hides a step on every single day is told of it by several', () => {
    expect(days(noisy(120, (day) => (day < 100 ? 100 : 142)))).toEqual([
      expect.stringMatching(/^step up 10[0-3], told 10[1-6], /),
    ]);
  });
  test('whose chance hides a lower step on every single day is told of it by a week', () => {
    const told = days(noisy(120, (day) => (day < 100 ? 100 : 68))).filter((episode) => !episode.includes('told never'));
    expect(told).toEqual([expect.stringMatching(/^step down (9\d|10\d), told 10[6-8], /)]);
  });
  test('that steps up before a holiday is not told again after it', () => {
    const costs = [...many(60, 100), ...many(3, 150), 60, ...many(20, 150)];
    expect(days(costs, costs, (day) => day === 63)).toEqual(['step up 60, told 60, usual']);
  });
  test('that steps up on a weekend is not told again on Monday, when the same is more dollars', () => {
    const costs = Array.from({ length: 100 }, (_, day) => (day % 7 >= 5 ? 20 : 100) * (day >= 68 ? 1.8 : 1));
    expect(days(costs)).toEqual(['step up 68, told 68, usual']);
  });
  test('that keeps holidays is as sure of its other days as one that keeps none', () => {
    const calm = noisy(120, () => 100);
    const kept = calm.map((cost, day) => (day > 0 && day % 20 === 0 ? cost / 2 : cost));
    const series = { firstDay, costs: kept, usages: kept };
    const known = { masked: [], steps: [], prices: [], isQuiet: (day: number) => (day - firstDay) % 20 === 0 };
    const plain = learnBaseline({ firstDay, costs: calm, usages: calm }, firstDay + 119, known, usualRules);
    expect(learnBaseline(series, firstDay + 119, known, usualRules).noise).toBeCloseTo(plain.noise, 10);
  });
});
