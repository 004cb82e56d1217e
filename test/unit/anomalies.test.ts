import { describe, expect, test } from 'vitest';
import { messagesOf } from '../../src/alerts/message.ts';
import { learnBaseline } from '../../src/anomalies/baseline.ts';
import { type DetectionRules, type Episode, follow } from '../../src/anomalies/detect.ts';
import { type AnomalyFact, anomalyFacts } from '../../src/anomalies/fact.ts';
import { moneyAt, noticesOf, severityAt } from '../../src/anomalies/notices.ts';
import { parseAnomalyRules, usualRules } from '../../src/anomalies/rules.ts';
import { parseBudgets } from '../../src/budgets/rules/file.ts';
import type { AlertFact } from '../../src/findings/kinds/index.ts';
import { transitionsOf } from '../../src/findings/transitions.ts';
import { type OutgoingMessage, plainText } from '../../src/sinks/message.ts';
import { slackMessage } from '../../src/sinks/slack-message.ts';
import { exampleFacts, exampleRunaway } from '../support/example-alerts.ts';

const file = 'jobs/budgets.yaml';

describe('the rules of anomalies', () => {
  test('are the defaults if the file has none', () => {
    expect(parseAnomalyRules({ text: 'budgets: []', file })).toEqual(usualRules);
  });

  test('are read from the budget file, and so are its budgets', () => {
    const text =
      'anomalies: { enabled: true, minAmount: 12.5 USD, minPercent: 50%, minDays: 21, hourlyTimes: 50, notify: [finops], ' +
      'exclude: [{ scope: { workspace: load }, until: 2026-12-31, reason: tests }, { scope: { label: { env: drill } }, reason: drills }] }\n' +
      'budgets:\n  - { name: all, period: monthly, amount: 5 USD }\n';
    expect(parseAnomalyRules({ text, file, sinks: ['finops'] })).toEqual({
      ...{ isOn: true, minAmount: 12.5, minShare: 0.5, minDays: 21, hourlyTimes: 50, notify: ['finops'] },
      exclude: [
        { scope: { workspace: ['load'] }, until: '2026-12-31', reason: 'tests' },
        { scope: { label: { env: ['drill'] } }, until: null, reason: 'drills' },
      ],
    });
    expect(parseBudgets({ text, file, now: 0 })).toHaveLength(1);
  });

  test('report every mistake with its place', () => {
    const text = `anomalies:
  enabled: perhaps
  minAmount: 5 EUR
  minPercent: 30
  minDays: 7
  hourlyTimes: 2
  notify: nobody
  minDollars: 5 USD
  exclude:
    - { scope: { workspaces: load }, until: tomorrow, reason: '' }
    - { scope: {}, reasons: tests }
    - { scope: { resource_name: 'a*b*c*d*e*' }, reason: too many stars }
`;
    expect(() => parseAnomalyRules({ text, file, sinks: ['finops'] })).toThrow(
      [
        'jobs/budgets.yaml:2:12: enabled: found "perhaps", expected true or false',
        'jobs/budgets.yaml:3:14: minAmount: found "5 EUR", expected an amount above 0 such as 5000 USD or 0.25 USD, in USD and without separators between the digits',
        'jobs/budgets.yaml:4:15: minPercent: found 30, expected a share of what is expected from 5% to 1000%, such as 30%',
        'jobs/budgets.yaml:5:12: minDays: found 7, expected a whole number from 14 to 42',
        'jobs/budgets.yaml:6:16: hourlyTimes: found 2, expected a whole number of times from 5 to 1000, or false',
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

  test('makes one message of bounded size: the largest first, the rest counted and summed', () => {
    expect(raised).toHaveLength(500);
    expect(sent.entries).toHaveLength(20);
    expect(sent.entries.map(({ fact }) => (fact as AnomalyFact).impact).slice(0, 2)).toEqual([
      '499.500000000000',
      '498.500000000000',
    ]);
    // 0.5 + 1.5 + … + 479.5
    expect(sent.left).toEqual({ anomalies: 480, impact: '115200.000000000000', resolved: 0 });
    expect(message?.message.length).toBeLessThan(60_000);
    const words = 'and 480 smaller anomalies, +115,200.00 USD together; ';
    expect(plainText(sent)).toContain(words);
    expect(plainText(sent)).toContain('500 alerts');
    expect(JSON.stringify(slackMessage(sent))).toContain('and 485 more');
  });

  test('counts ended anomalies separately', () => {
    const over = entries.map(({ entry, sinks }) => ({ sinks, entry: { ...entry, transition: 'resolved' as const } }));
    const both = messagesOf([...entries.slice(0, 21), ...over.slice(21, 60)], state)[0]?.message ?? '{}';
    const told = { ...JSON.parse(both), id: 'id', mayBeRepeat: false, isTest: false } as OutgoingMessage;
    expect(told.left).toMatchObject({ anomalies: 1, resolved: 39 });
    expect(plainText(told)).toContain('21 alerts, 39 resolved');
    expect(plainText(told)).toMatch(/and 1 smaller anomaly, \+\S+ USD together, and 39 more that have ended; /);
  });

  test('mentions no others if there are none', () => {
    const few = transitionsOf([], night(20), { now: 0, everybody: ['hook'] });
    expect(JSON.parse(messagesOf(few.entries, state)[0]?.message ?? '{}')).not.toHaveProperty('left');
  });
});

describe('the notices of an anomaly', () => {
  const firstDay = 20_458;
  /** Of 60 days at a level, and others after them: on which day from then on who is notified why. */
  function notices(later: readonly number[], level: readonly number[] = [100]): string[] {
    const costs = [...Array.from({ length: 60 }, (_, day) => level[day % level.length] ?? 0), ...later];
    const series = { firstDay, costs, usages: costs };
    const asked = { from: firstDay, to: firstDay + costs.length - 1 };
    return follow(series, [], asked, { isQuiet: () => false, rules: usualRules }).flatMap((episode) =>
      noticesOf(episode, usualRules).map(
        ({ day, reason, severity, impact }) => `${day - firstDay - 60} ${reason} ${severity} ${impact.toFixed(0)}`,
      ),
    );
  }
  const many = (count: number, cost: number) => new Array<number>(count).fill(cost);

  test('of a runaway that started late in the day rise with what it costs if it goes on, and repeat weekly', () => {
    // The sixtieth day is a weekday without costs.
    const level = [5, 5, 5, 5, 0, 0, 5];
    expect(notices([16, ...many(13, 95)], level)).toEqual([
      '0 first info 16',
      '1 worse critical 111',
      '8 reminder critical 751',
    ]);
  });

  test('of a single expensive day are just one', () => {
    expect(notices([900, ...many(9, 100)])).toEqual(['0 first critical 800']);
  });

  test('of a small step are one at the start and a reminder after a week', () => {
    expect(notices(many(10, 140))).toEqual(['0 first warning 40', '2 continues warning 120', '9 reminder warning 400']);
    expect(notices(many(10, 16), [10])).toEqual(['0 first info 6', '7 reminder info 48']);
  });

  test('become more urgent when a day is four times the largest reported one', () => {
    expect(notices([900, 900, 900, 5000])).toEqual([
      '0 first critical 800',
      '2 continues critical 2400',
      '3 worse critical 7300',
    ]);
  });

  test('of a new cost end when it costs nothing', () => {
    expect(notices([60, ...many(12, 0)], [0])).toEqual(['0 first info 60']);
    expect(notices([60, ...many(12, 60)], [0])).toEqual([
      '0 first info 60',
      '1 continues warning 120',
      '8 reminder warning 540',
    ]);
  });

  test('follow what it costs by the end of the month if it goes on, and at least another week of it', () => {
    // 20_458 is 5 January 2026; the sixtieth day after it is 6 March.
    const severityOn = (day: number, pace?: number) =>
      severityAt({ ...spike, firstDay: day, impacts: [30] }, day, usualRules, pace);
    const spike = { kind: 'spike', isUp: true, expected: 10 } as Episode;
    const march = 20_458 + 55;
    // 30 + 7 · 30: a first day that did not go on may be all of it.
    expect(severityOn(march)).toBe('warning');
    // 30 + 30 · 40 where it still ran, and 30 + 7 · 40 on the last day of the month.
    expect(severityOn(march, 40)).toBe('critical');
    expect(severityOn(march + 30, 40)).toBe('warning');
    expect(moneyAt({ firstDay: march, impacts: [30] }, march, 40)).toEqual({ soFar: 30, ifItStays: 1230 });
    expect(moneyAt({ firstDay: march, impacts: [10, 40, 40] }, march + 2)).toEqual({ soFar: 90, ifItStays: 1210 });
  });

  test('of a lower cost are just one', () => {
    expect(notices(many(13, 0))).toEqual(['0 first warning -100']);
  });
});

describe('the text of an anomaly', () => {
  const wordsOf = (fact: AnomalyFact) => {
    const { entries } = transitionsOf([], [fact], { now: 0, everybody: ['hook'] });
    const state = { at: '2026-10-21T02:16:00Z', completeThrough: null, settledThrough: null };
    const message = JSON.parse(messagesOf(entries, state)[0]?.message ?? '{}');
    return plainText({ ...message, id: 'id', mayBeRepeat: false, isTest: false });
  };

  test('says what of it came by corrections, and since an exclusion ended', () => {
    const corrected = wordsOf({ ...example, corrected: '80.000000000000' });
    expect(corrected).toContain('+80.00 USD of it came by corrections of the platform');
    expect(corrected).toContain("ask the platform's support about these corrections");
    const ended = { until: '2026-10-20', reason: 'load test', impactSince: '12.500000000000' };
    expect(wordsOf({ ...example, lastDay: '2026-10-22', formerlyExcluded: ended })).toContain(
      '+12.50 USD of it came since the exclusion "load test" ended on 20 Oct.',
    );
  });

  test('of a price names the old and the new one', () => {
    const prices = { before: '0.000012000000', since: '0.000018000000' };
    expect(wordsOf({ ...example, anomaly: 'price', moved: 'price', prices })).toContain(
      'The unit price went up from 0.0432 USD per GB-hour to 0.0648 USD per GB-hour, not the usage',
    );
  });

  test('of a cost that was gone for a day says so, and not that it is gone since', () => {
    const gone = {
      ...example,
      anomaly: 'drop',
      isUp: false,
      cost: '0.000000000000',
      moved: null,
      expected: '18.36',
    } as const;
    const day = { firstDay: '2026-11-12', lastDay: '2026-11-12' };
    expect(wordsOf({ ...gone, ...day, isOver: false })).toContain(
      ' has cost nothing since 12 Nov; usual: 18.36 USD a day',
    );
    const over = wordsOf({ ...gone, ...day, isOver: true });
    expect(over).toContain(' cost nothing on 12 Nov; usual: 18.36 USD a day');
    expect(over).not.toContain('since');
  });

  test('says that a credit is a credit, not that spending stopped', () => {
    const words = wordsOf({ ...example, anomaly: 'drop', isUp: false, cost: '-50.000000000000', moved: null });
    expect(words).toContain('was credited 50.00 USD more than it cost');
    expect(words).toContain('Act (operator of Costbook): check what the credit of demo-analyst is for');
    expect(words).not.toContain('cost nothing');
    expect(words).not.toContain('meant to stop');
  });

  test('starts with the total so far and by the end of the month, then the cause, and what it means for a budget', () => {
    const [title, ...lines] = wordsOf(exampleRunaway).split('\n');
    expect(title).toMatch(/^🔴 543\.95 USD more .* 987 USD more/);
    expect(title?.match(/than usual/g)).toHaveLength(1);
    expect(title?.length).toBeLessThanOrEqual(135);
    expect(lines[0]).toContain('Usage went up, not the price: compute runtime of agent demo-analyst');
    expect(lines[1]).toContain('Budget customer-demos is 4.26 USD over');
    expect(lines[2]).toBe('Its cost also counts in budget everything.');
    expect(lines[3]).toContain('Act (team Demos & <friends>): check what demo-analyst runs and when');
    expect(lines).toContain('Total difference: +543.95 USD, about 89 USD on a whole day');
    expect(lines).toContain('Last message: +191.57 USD through 22 Oct');
    expect(lines.join('\n')).toContain('Other budgets: Budget everything (5,000.00 USD) will be exceeded in 2026-10');
    expect(lines.join('\n')).toMatch(/In the 48 hours before: 2026-10-20 04:02 UTC deployed .* And 4 more before it\./);
  });

  test('says of a lower cost that it saves, not that it costs', () => {
    const lower = { ...exampleRunaway, isUp: false, impact: '-130.900000000000', dailyImpact: '-18.700000000000' };
    const words = wordsOf({ ...lower, monthEnd: { month: '2026-10', impact: '-224.400000000000' } });
    expect(words).toMatch(/130\.90 USD less .* 224 USD less/);
    expect(words).not.toContain('extra');
  });

  test('says from which cost on a day is reported again, once and in USD', () => {
    const limits = (more: Partial<AnomalyFact>) =>
      wordsOf({ ...exampleRunaway, ...more }).match(/only above about (\S+) USD a day/)?.[1];
    expect(limits({ largestDay: '100.000000000000' })).toBe('120');
    const oneDay = { lastDay: exampleRunaway.firstDay, expected: '10.000000000000', pace: '190.000000000000' };
    expect(limits({ ...oneDay, largestDay: '100.000000000000' })).toBe('240');
    expect(wordsOf(exampleRunaway)).not.toContain('1.2');
  });

  test('names the billing dimension if no single resource is responsible', () => {
    const drivers = example.drivers.map((driver) => ({ ...driver, part: 30 }));
    expect(wordsOf({ ...example, drivers })).toContain(
      '🟠 83.46 USD more than usual for agent_compute_runtime_gbs of agent in customer-demos on 20 Oct',
    );
  });

  test('shows the cost of a whole day if the first day had only a few hours of it', () => {
    const hours = { firstHour: '2026-10-20T21:00:00Z', pace: '96.000000000000' };
    const late = { ...example, ...hours, impact: '12.000000000000' };
    const words = 'in the last 3 hours of the day, about 96 USD on a whole day';
    expect(wordsOf(late)).toContain(words);
    expect(wordsOf({ ...late, isOver: true })).not.toContain(words);
    expect(wordsOf({ ...late, pace: null })).not.toContain(words);
  });

  test('never shows meaningless digits of an estimate below a cent', () => {
    const words = wordsOf({ ...example, costSoFar: '83.460000026500', anomaly: 'spike' });
    expect(words).toContain('Usual: 0.00 USD');
  });

  test('has the year for a day of another year', () => {
    const step = { ...exampleRunaway, firstDay: '2026-12-30', lastDay: '2027-01-02' };
    expect(wordsOf(step)).toContain('since 30 Dec 2026,');
  });

  test('is made from a fact of an earlier version, too', () => {
    const { notice: _, lastNotice: __, dailyImpact: ___, monthEnd: ____, costSoFar: _____, ...old } = example;
    expect(wordsOf(old as AnomalyFact)).toContain('83.46 USD more than usual, mostly for demo-analyst on 20 Oct');
  });
});

describe('a reported anomaly', () => {
  const row = {
    ...{ anomaly_key: 'k', account: 'a', workspace: null, resource_type: null, billing_dimension: null, kind: 'spike' },
    ...{
      is_up: true,
      first_day: '2026-10-20',
      seen_day: '2026-10-20',
      last_day: '2026-10-20',
      notified_day: '2026-10-20',
    },
    ...{ cost: '30', expected: '10', expected_low: '8', expected_high: '12', impact: '20', price_ratio: null },
    ...{
      ended_day: null,
      severity: 'info',
      is_notified: true,
      detail: '{"impacts":[20],"drivers":[]}',
      state: 'open' as const,
    },
  };
  const knownAs = ({ isOpen, wasOver }: { isOpen: boolean; wasOver: boolean }) => ({
    isOpen,
    fact: { ...example, isOver: wasOver },
  });
  const told = (
    state: 'open' | 'over' | 'usual' | 'grown' | 'restated',
    before?: { isOpen: boolean; wasOver: boolean },
  ) =>
    anomalyFacts([{ ...row, state }], new Map(before === undefined ? [] : [['k', knownAs(before)]]), {
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

  test('that became usual is reported if it costs more and is at least a warning', () => {
    const usual = { ...row, state: 'usual' as const, severity: 'warning' };
    const known = new Map([['k', knownAs(open)]]);
    const [fact] = anomalyFacts([usual], known, { notify: [], completeThroughOf: () => null });
    expect(fact).toMatchObject({ state: 'resolved', isUsual: true });
  });

  describe('reported again', () => {
    const notice = (day: string, reason: string, impact: string) => ({ day, reason, severity: 'warning', impact });
    const first = notice('2026-10-20', 'first', '20');
    const second = notice('2026-10-21', 'worse', '110');
    const third = notice('2026-10-22', 'continues', '200');
    const factOf = (notices: readonly object[], before?: Partial<AnomalyFact>) => {
      const detail = JSON.stringify({ impacts: [20, 90, 90], notices, drivers: [] });
      const known = before === undefined ? [] : [['k', { isOpen: true, fact: { ...example, ...before } }] as const];
      const rows = [{ ...row, detail, last_day: '2026-10-22', impact: '200' }];
      const completeThroughOf = () => '2026-10-23T02:00:00Z';
      return anomalyFacts(rows, new Map(known), { notify: [], completeThroughOf })[0];
    };

    test('has a revision of its own for each notice, with the previous report', () => {
      expect(factOf([first])?.revision).toBeUndefined();
      const before = { lastDay: '2026-10-20', impact: '20' };
      expect(factOf([first, second, third], before)).toMatchObject({
        ...{ revision: '2026-10-22', notice: 'continues', lastNotice: { day: '2026-10-20', impact: '20' } },
        ...{ dailyImpact: '90.000000000000', monthEnd: { month: '2026-10', impact: '1010.000000000000' } },
      });
    });

    test('is not reported for a known notice, nor when a restatement removes one', () => {
      const before = { revision: '2026-10-21' };
      expect(factOf([first, second], before)?.revision).toBe('2026-10-21');
      expect(factOf([first], before)?.revision).toBe('2026-10-21');
      expect(factOf([], { revision: undefined })?.revision).toBeUndefined();
    });

    test('is the first message if nobody was notified before, after any later events', () => {
      expect(factOf([first, second, third])).toMatchObject({
        notice: 'first',
        lastNotice: null,
        revision: '2026-10-22',
      });
    });

    test('waits for the end of an acknowledgement, during which only its end is reported', () => {
      const day = Date.parse('2026-10-23T02:15:00Z');
      const before = { ...example, key: 'k', revision: undefined };
      const alert = {
        ...{ key: 'k', occurrence: 1, isOpen: true, isNotified: true, fact: JSON.stringify(before), sinks: ['hook'] },
        ...{ raisedAt: 0, acknowledgedUntil: day + 1 },
      };
      const fact = { ...before, revision: '2026-10-22' };
      const transitionsAt = (of: AnomalyFact, now: number) =>
        transitionsOf([alert], [of], { now, everybody: ['hook'] }).entries.map(({ entry }) => entry.transition);
      expect(transitionsAt(fact, day)).toEqual([]);
      expect(transitionsAt({ ...fact, state: 'resolved' }, day)).toEqual(['resolved']);
      expect(transitionsAt(fact, day + 1)).toEqual(['raised']);
    });

    test('has no month-end estimate if the last complete day was usual', () => {
      const rows = [{ ...row, detail: JSON.stringify({ impacts: [20, 90], notices: [first], drivers: [] }) }];
      const [fact] = anomalyFacts(rows, new Map(), { notify: [], completeThroughOf: () => '2026-10-23T02:00:00Z' });
      expect(fact?.monthEnd).toBeNull();
    });
  });

  test('does not exist if nobody is to be notified', () => {
    const facts = anomalyFacts([{ ...row, is_notified: false }], new Map(), {
      notify: [],
      completeThroughOf: () => null,
    });
    expect(facts satisfies readonly AlertFact[]).toEqual([]);
  });
});

describe('a scope', () => {
  const firstDay = 20_458;
  const options = { isQuiet: () => false, rules: usualRules };
  function days(
    costs: readonly number[],
    usages = costs,
    isQuiet: (day: number) => boolean = () => false,
    rules: DetectionRules = usualRules,
  ): string[] {
    const episodes = follow(
      { firstDay, costs, usages },
      [],
      { from: firstDay, to: firstDay + costs.length - 1 },
      { ...options, rules, isQuiet: (day) => isQuiet(day - firstDay) },
    );
    return episodes.map(({ kind, isUp, firstDay: first, notifiedDay, state }) => {
      const told = notifiedDay === undefined ? 'told never' : `told ${notifiedDay - firstDay}`;
      return `${kind} ${isUp ? 'up' : 'down'} ${first - firstDay}, ${told}, ${state}`;
    });
  }
  const many = (count: number, cost: number) => new Array<number>(count).fill(cost);

  describe('with a batch that recurs by date', () => {
    /** Days of 100 USD from 5 January on, and what a batch adds to some of them. */
    const withBatches = (length: number, batches: Readonly<Record<string, number>>) =>
      Array.from(
        { length },
        (_, day) => 100 + (batches[new Date((firstDay + day) * 864e5).toISOString().slice(5, 10)] ?? 0),
      );
    const told = (length: number, batches: Readonly<Record<string, number>>) =>
      days(withBatches(length, batches)).filter((words) => !words.includes('told never'));

    // Sizes that differ with the weekday, so that none is within a third of the one before.
    test.each([
      ['on the first of the month', { '02-01': 90, '03-01': 200, '04-01': 120, '05-01': 180, '06-01': 80 }],
      ['on the last day of the month', { '01-31': 90, '02-28': 200, '03-31': 120, '04-30': 180, '05-31': 80 }],
      ['on the first Monday', { '02-02': 90, '03-02': 200, '04-06': 120, '05-04': 180, '06-01': 80 }],
      ['on the first working day', { '02-02': 90, '03-02': 200, '04-01': 120, '05-01': 180, '06-01': 80 }],
    ])('%s is reported the first two times, and not again', (_, batches) => {
      const found = told(160, batches);
      expect(found).toHaveLength(2);
      expect(found.every((words) => words.startsWith('spike up'))).toBe(true);
    });

    test('on the first working day after the holidays that the user named is known, and unknown without them', () => {
      const batches = { '02-04': 90, '03-02': 200, '04-02': 120, '05-04': 180, '06-03': 80 };
      const named = ['2026-02-02', '2026-02-03', '2026-04-01', '2026-05-01', '2026-06-01', '2026-06-02'];
      const holidays = new Set(named.map((date) => Date.parse(date) / 864e5));
      const toldWith = (rules: DetectionRules) =>
        days(withBatches(160, batches), undefined, undefined, rules).filter((words) => !words.includes('told never'));
      expect(toldWith({ ...usualRules, holidays })).toHaveLength(2);
      expect(toldWith(usualRules).length).toBeGreaterThan(2);
    });

    test('on holidays that the user named is known after the second', () => {
      const batches = { '02-10': 90, '03-05': 100, '03-26': 95, '05-13': 110 };
      const holidays = new Set(Object.keys(batches).map((date) => Date.parse(`2026-${date}`) / 864e5));
      const found = days(withBatches(150, batches), undefined, undefined, { ...usualRules, holidays });
      expect(found.filter((words) => !words.includes('told never'))).toHaveLength(2);
    });

    const usual = { '02-01': 90, '03-01': 100, '04-01': 110, '05-01': 100 };

    test('is reported if it is much larger', () => {
      expect(told(140, { ...usual, '05-01': 300 })).toEqual([
        'spike up 27, told 27, over',
        'spike up 116, told 116, over',
      ]);
    });

    test('is reported once as missing, two days after its day, after three times', () => {
      expect(told(150, { ...usual, '05-01': 0 })).toEqual([
        'spike up 27, told 27, over',
        'missing down 116, told 118, over',
      ]);
    });

    test('is not missing if it came a day late, or earlier by another rule of the calendar', () => {
      expect(told(150, { ...usual, '05-01': 0, '05-02': 100 }).filter((words) => words.startsWith('missing'))).toEqual(
        [],
      );
      expect(told(150, { ...usual, '05-01': 0, '04-24': 100 }).filter((words) => words.startsWith('missing'))).toEqual(
        [],
      );
    });

    test('below the minimum amount makes the next ones known', () => {
      const costs = withBatches(140, { '02-01': 90, '03-01': 90, '04-01': 150, '05-01': 160 });
      expect(days(costs.map((cost) => cost / 20)).filter((words) => !words.includes('told never'))).toEqual([]);
    });

    test('is known after a step, which makes it larger but not as a share', () => {
      const costs = withBatches(140, usual).map((cost, day) => (day < 100 ? cost : 4 * cost));
      expect(days(costs).filter((words) => words.startsWith('spike') && words.includes('116, told 116'))).toEqual([]);
    });

    test('is not missing on the first working day if it came on the Saturday before, smaller as weekends are', () => {
      const costs = Array.from({ length: 240 }, (_, day) => {
        const [date, isWeekend] = [new Date((firstDay + day) * 864e5).getUTCDate(), day % 7 >= 5];
        return (isWeekend ? 25 : 100) * (date === 1 ? 3 : 1);
      });
      expect(days(costs).filter((words) => words.startsWith('missing'))).toEqual([]);
    });

    test('is not missing before three times', () => {
      expect(told(120, { '02-01': 90, '03-01': 100 }).filter((words) => words.startsWith('missing'))).toEqual([]);
    });

    test('hides no other increase', () => {
      const found = told(150, { ...usual, '05-12': 100 });
      expect(found).toContain('spike up 127, told 127, over');
    });
  });

  test('that costs nothing on a holiday that the user named is told only if it costs nothing on the day after', () => {
    const holidays = new Set([firstDay + 40]);
    const costs = (gone: number) => [...many(40, 100), ...many(gone, 0), ...many(5, 100)];
    const told = (gone: number, rules: DetectionRules) => days(costs(gone), undefined, undefined, rules);
    expect(told(1, usualRules)).toEqual(['drop down 40, told 40, over']);
    expect(told(1, { ...usualRules, holidays })).toEqual(['drop down 40, told never, over']);
    expect(told(2, { ...usualRules, holidays })).toEqual(['drop down 40, told 41, over']);
  });

  test('that doubles for good is told within two weeks, even if its days differ too much for one week to show it', () => {
    // A factor of about 1.6 up or down on each day, in an order that repeats only after two weeks.
    const factors = [1.5, 0.7, 0.6, 1.6, 1, 0.65, 1.4, 1.1, 0.6, 1.7, 0.75, 1.3, 0.9, 0.62];
    const costs = Array.from({ length: 140 }, (_, day) => 100 * (factors[(day * 5) % 14] ?? 1) * (day < 120 ? 1 : 2));
    const told = days(costs).filter((words) => !words.includes('told never'));
    expect(told).toEqual([expect.stringMatching(/^step up 12\d, told 1(2\d|3[0-5]), \w+$/)]);
  });

  test('whose level rises two weeks after a much larger peak is reported on its first day', () => {
    expect(days([...many(30, 100), 900, ...many(13, 100), ...many(5, 200)])).toEqual([
      'spike up 30, told 30, over',
      'step up 44, told 44, open',
    ]);
  });

  test('that spikes is reported on that day, and has ended after two usual days', () => {
    expect(days([...many(30, 100), 150, ...many(5, 100)])).toEqual(['spike up 30, told 30, over']);
  });
  test('that steps up is reported once', () => {
    expect(days([...many(30, 100), ...many(40, 150)])).toEqual(['step up 30, told 30, usual']);
  });
  test('that steps up again on the day its step became usual is reported on that day', () => {
    const costs = [...many(30, 100), ...many(14, 150), ...many(5, 300)];
    expect(days(costs)).toEqual(['step up 30, told 30, usual', 'step up 44, told 44, open']);
    const usages = many(49, 100);
    expect(days(costs, usages)).toEqual(
      expect.arrayContaining(['price up 30, told 30, usual', 'price up 44, told 44, open']),
    );
  });
  test('that steps down is reported once: on its first day if its cost halves, after a week if it falls less', () => {
    expect(days([...many(30, 100), ...many(40, 50)])).toEqual(['step down 30, told 30, usual']);
    expect(days([...many(30, 100), ...many(40, 68)])).toEqual(['step down 30, told 36, usual']);
  });
  test('whose cost halves on a holiday is reported on the first day after it that is as low', () => {
    const isHoliday = (day: number) => day - firstDay === 30;
    const costs = [...many(30, 100), ...many(2, 40), ...many(20, 100)];
    expect(days(costs, costs, (day) => isHoliday(day + firstDay))).toEqual(['dip down 30, told 31, over']);
  });
  test('that stops at noon is one drop, and its return is new', () => {
    const costs = [...many(30, 100), 45, ...many(40, 0), ...many(20, 100)];
    expect(days(costs)).toEqual(['drop down 30, told 30, usual', 'new up 71, told 71, usual']);
  });
  test('learns no noise from an unusual day, reported or not', () => {
    const calm = Array.from({ length: 24 }, (_, day) => [94, 105, 98, 107, 93, 102, 100, 96, 104][day % 9] ?? 100);
    const withPeak = [...calm.slice(0, 12), 190, ...calm.slice(13)];
    expect(days([...withPeak, 170, 100])).toContain('spike up 24, told 24, open');
  });
  test('that is younger than two weeks is reported if a day is far above all of its days, and not before a week', () => {
    const calm = Array.from({ length: 9 }, (_, day) => 100 + 5 * (day % 3));
    expect(days([...calm, 260, 105])).toEqual(['spike up 9, told 9, open']);
    expect(days([...calm, 140, 105])).toEqual([]);
    expect(days([...calm.slice(0, 6), 260, 105])).toEqual([]);
  });
  test('that is younger than two weeks is reported if a day is far below all of its days, and not if it ends or pauses', () => {
    const calm = Array.from({ length: 9 }, (_, day) => 100 + 5 * (day % 3));
    expect(days([...calm, 40, 105])).toEqual(['dip down 9, told 9, open']);
    expect(days([...calm, 75, 105])).toEqual([]);
    expect(days([...calm.slice(0, 6), 40, 105])).toEqual([]);
    expect(days([...calm, 0, 0, 0])).toEqual([]);
    expect(days([...calm.slice(0, 8), 0, 40])).toEqual([]);
  });
  test('that spikes from a lower level is reported on the day of the spike', () => {
    expect(days([...many(30, 100), ...many(8, 50), 300, ...many(5, 100)])).toEqual([
      'step down 30, told 30, over',
      'spike up 38, told 38, over',
    ]);
  });
  test('with a holiday is not reported, and the day after is no spike', () => {
    const costs = [...many(30, 100), 40, 45, ...many(20, 100)];
    expect(days(costs, costs, (day) => day === 30 || day === 31)).toEqual(['dip down 30, told never, over']);
  });
  test('that grows slowly is never reported', () => {
    expect(days(Array.from({ length: 120 }, (_, day) => 100 * 1.01 ** day))).toEqual([]);
  });
  test('that drops to nothing is reported once, and its return as new', () => {
    expect(days([...many(30, 100), ...many(40, 0), ...many(20, 100)])).toEqual([
      'drop down 30, told 30, usual',
      'new up 70, told 70, usual',
    ]);
  });
  test('whose days arrive late is reported as dropped after three days without costs', () => {
    const costs = [...many(30, 100), ...many(5, 0)];
    const series = { firstDay, costs, usages: costs };
    const [drop] = follow(series, [], { from: firstDay, to: firstDay + 34 }, { ...options, isLate: true });
    expect(drop).toMatchObject({ kind: 'drop', firstDay: firstDay + 30, notifiedDay: firstDay + 32 });
  });
  test('that only costs on working days is usual on a weekend without cost', () => {
    expect(days(Array.from({ length: 70 }, (_, day) => (day % 7 >= 5 ? 0 : 100)))).toEqual([]);
  });
  test('whose unit price changes is reported as a price change, with any usage', () => {
    const usages = Array.from({ length: 60 }, (_, day) => 100 * (1 + 0.5 * Math.sin(day * 1.7)));
    const costs = usages.map((usage, day) => usage * (day < 40 ? 1 : 1.4));
    expect(days(costs, usages)).toEqual(['price up 40, told 40, usual']);
  });
  test('that becomes much more expensive than on its first day stays the same anomaly', () => {
    expect(days([...many(30, 100), 150, 1000, ...many(5, 100)])).toEqual(['spike up 30, told 30, over']);
  });
  test('that recurs and then is much larger is another anomaly', () => {
    expect(days([...many(30, 100), 200, ...many(6, 100), 200, 1000, ...many(6, 100)])).toEqual([
      'spike up 30, told 30, over',
      'spike up 37, told never, grown',
      'spike up 38, told 38, over',
    ]);
  });
  test('that spikes again a week later is not reported again', () => {
    expect(days([...many(30, 100), 200, ...many(6, 100), 200, ...many(6, 100)])).toEqual([
      'spike up 30, told 30, over',
      'spike up 37, told never, over',
    ]);
  });
  test('that changes again a week later and stays there is reported once it has lasted', () => {
    expect(days([...many(30, 100), 200, ...many(6, 100), ...many(30, 200)])).toEqual([
      'spike up 30, told 30, over',
      'step up 37, told 39, usual',
    ]);
  });
  test('that spikes every third day is reported twice, and then known', () => {
    const told = days(Array.from({ length: 120 }, (_, day) => (day >= 60 && day % 3 === 0 ? 200 : 100)));
    expect(told.filter((episode) => !episode.includes('told never')).length).toBe(2);
  });
  // A tenth apart, always the same.
  const noisy = (count: number, level: (day: number) => number) =>
    Array.from({ length: count }, (_, day) => level(day) * Math.exp(0.14 * Math.sin(day * day * 12.9898)));
  test('whose noise hides a step on single days is reported after several days', () => {
    expect(days(noisy(120, (day) => (day < 100 ? 100 : 142)))).toEqual([
      expect.stringMatching(/^step up 10[0-3], told 10[1-6], /),
    ]);
  });
  test('whose noise hides a lower step on single days is reported after a week', () => {
    const told = days(noisy(120, (day) => (day < 100 ? 100 : 68))).filter((episode) => !episode.includes('told never'));
    expect(told).toEqual([expect.stringMatching(/^step down (9\d|10\d), told 10[6-8], /)]);
  });
  test('that steps up before a holiday is not reported again after it', () => {
    const costs = [...many(60, 100), ...many(3, 150), 60, ...many(20, 150)];
    expect(days(costs, costs, (day) => day === 63)).toEqual(['step up 60, told 60, usual']);
  });
  test('that steps up on a weekend is not reported again on Monday, when the same change is more dollars', () => {
    const costs = Array.from({ length: 100 }, (_, day) => (day % 7 >= 5 ? 20 : 100) * (day >= 68 ? 1.8 : 1));
    expect(days(costs)).toEqual(['step up 68, told 68, usual']);
  });
  test('that has holidays is evaluated as precisely on other days as one without', () => {
    const calm = noisy(120, () => 100);
    const kept = calm.map((cost, day) => (day > 0 && day % 20 === 0 ? cost / 2 : cost));
    const series = { firstDay, costs: kept, usages: kept };
    const known = { masked: [], steps: [], prices: [], isQuiet: (day: number) => (day - firstDay) % 20 === 0 };
    const plain = learnBaseline({ firstDay, costs: calm, usages: calm }, firstDay + 119, known, usualRules);
    expect(learnBaseline(series, firstDay + 119, known, usualRules).noise).toBeCloseTo(plain.noise, 10);
  });
});
