import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/base/errors.ts';
import { type Budget, budgetCalendar, scopeWords } from '../../src/budgets/rules/budget.ts';
import { loadBudgets, parseBudgets } from '../../src/budgets/rules/file.ts';
import { evaluateBudgets, shareOf, stateOf, watchedPeriods } from '../../src/budgets/spend/thresholds.ts';
import type { PeriodForecast } from '../../src/outlook/period-forecast.ts';
import { calendarOf, formatInstant } from '../../src/time/time.ts';

const now = Date.parse('2026-11-05T10:30:00Z');

function parse(text: string, sinks?: readonly string[]): readonly Budget[] {
  return parseBudgets({ text, file: 'jobs/budgets.yaml', now, sinks });
}

/** The problems, one a line. */
function problems(text: string, sinks?: readonly string[]): string {
  try {
    parse(text, sinks);
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    return error instanceof Error ? error.message.replaceAll('jobs/budgets.yaml:', '') : '';
  }
  return 'none';
}

/** A budget of so many USD in a month, with these lines more. */
function budget(name: string, amount: string, ...more: string[]): string {
  return [`- name: ${name}`, 'period: monthly', `amount: ${amount}`, ...more].join('\n    ').replace(/^/, '  ');
}

function only(text: string): Budget {
  const [first] = parse(`budgets:\n${text}`);
  if (first === undefined) throw new Error('no budget');
  return first;
}

test('the scope of a budget shows no mark of a name that would change the line around it', () => {
  const scope = { workspace: ['a\u202eb'], label: { 'env\u0007': ['', `${'x'.repeat(200)}`] } };
  const words = scopeWords(scope);
  expect(words).toMatch(/^workspace a.?b; label env.? none or x{70,80}/u);
  for (const mark of ['\u202e', '\u0007']) expect(words).not.toContain(mark);
});

test('a chain of parents may be longer than what is left of the stack', () => {
  const length = 2000;
  const lines = Array.from({ length }, (_, at) => {
    const parent = at === length - 1 ? '' : `, parent: b${at + 1}`;
    return `  - { name: b${at}, period: monthly, amount: 5 USD${parent} }`;
  });
  /** Uses up most of the stack, so that a short chain does. */
  const deep = (frames: number): number =>
    frames === 0 ? parse(`budgets:\n${lines.join('\n')}\n`).length : deep(frames - 1);
  expect(deep(7500)).toBe(length);
});

const usd = 10n ** 12n;

/** The thresholds of a budget that names none. */
const withoutAny = [
  { of: 'spent', code: '100%', at: { percent: 1_000_000n }, severity: 'critical', notify: [] },
  { of: 'forecast', code: '100%', at: { percent: 1_000_000n }, severity: 'warning', notify: [] },
];

describe('parseBudgets', () => {
  test('reads a budget with every key', () => {
    const text = `
budgets:
  - name: everything
    period: quarterly
    timeZone: Europe/Berlin
    amount: 5000.25 USD
    limits: { 2026-Q4: 9000 USD }
    thresholds:
      - { at: 80% }
      - { at: 82.50%, severity: info }
      - { at: 82.5%, of: forecast }
      - { at: 4500.00 USD, severity: critical, notify: [oncall, finops] }
    notify: finops
  - name: research
    parent: everything
    period: quarterly
    timeZone: Europe/Berlin
    amount: 0.000000000001 USD
    scope:
      account: acc_one
      workspace: [research, labs]
      resource_type: sandbox
      resource_name: ["agent-*", box]
      billing_dimension: sandbox_compute_runtime_gbs
      label: { tier: [gold, silver], team: search }
  - name: squads
    period: daily
    amount: 5 USD
    scope: { owner: { squad: [search, ads], team: all } }
`;
    expect(parse(text)).toEqual([
      {
        name: 'everything',
        where: 'jobs/budgets.yaml:3:5',
        scope: {},
        period: 'quarterly',
        timeZone: 'Europe/Berlin',
        amount: (500025n * usd) / 100n,
        limits: new Map([['2026-Q4', 9000n * usd]]),
        parent: undefined,
        thresholds: [
          {
            ...{ of: 'spent', code: '80%', at: { percent: 800_000n }, severity: 'warning', isUsualSeverity: true },
            notify: ['finops'],
          },
          { of: 'spent', code: '82.5%', at: { percent: 825_000n }, severity: 'info', notify: ['finops'] },
          { of: 'forecast', code: '82.5%', at: { percent: 825_000n }, severity: 'warning', notify: ['finops'] },
          {
            of: 'spent',
            code: '4500 USD',
            at: { amount: 4500n * usd },
            severity: 'critical',
            notify: ['oncall', 'finops'],
          },
        ],
      },
      {
        name: 'research',
        where: 'jobs/budgets.yaml:14:5',
        scope: {
          account: ['acc_one'],
          workspace: ['research', 'labs'],
          resource_type: ['sandbox'],
          resource_name: ['agent-*', 'box'],
          billing_dimension: ['sandbox_compute_runtime_gbs'],
          label: { tier: ['gold', 'silver'], team: ['search'] },
        },
        period: 'quarterly',
        timeZone: 'Europe/Berlin',
        amount: 1n,
        limits: new Map(),
        parent: 'everything',
        thresholds: withoutAny,
      },
      {
        name: 'squads',
        where: 'jobs/budgets.yaml:26:5',
        scope: { owner: { squad: ['search', 'ads'], team: ['all'] } },
        period: 'daily',
        timeZone: 'UTC',
        amount: 5n * usd,
        limits: new Map(),
        parent: undefined,
        thresholds: withoutAny,
      },
    ]);
  });

  test.each(['', '# nothing yet\n'])('finds no budget in %j', (text) => {
    expect(parse(text)).toEqual([]);
  });

  test('reports every mistake at once, with its place and the probable spelling', () => {
    const text = `
budgets:
  - name: every thing
    period: montly
    amount: 5000
    threshold: [{ at: 80% }]
  - nmae: research
    workspace: research
    period: weekly
    amount: 5,000 USD
    limits: { 2026-10: 10 USD }
    timeZone: Asia/Kolkata
    scope: { resorce_type: sandbox, workspace: "re*", team: search }
    thresholds:
      - { at: 80, severity: high }
      - { severity: info }
      - { at: 50% }
      - { at: 50.0%, of: spent }
      - { at: 50%, of: forecats }
      - { at: 60%, of: forecast }
      - { at: 60%, of: forecast }
    notify: [finop]
`;
    expect(problems(text, ['finops', 'oncall'])).toBe(
      [
        '3:11: name: found "every thing", expected a name of letters, digits and . _ - without spaces',
        '4:13: period: found "montly", expected daily, weekly, monthly, quarterly, yearly, fiscal_month, fiscal_quarter or fiscal_year; did you mean monthly?',
        '5:13: amount: found 5000, expected an amount above 0 such as 5000 USD or 0.25 USD, in USD and without separators between the digits',
        '6:5: unknown key "threshold"; did you mean thresholds? rename or remove it',
        '7:5: unknown key "nmae"; did you mean name? rename or remove it',
        '8:5: unknown key "workspace"; it belongs to scope; move it there',
        '10:13: amount: found "5,000 USD", which some read as 5000 and some as 5; write 5000 USD or 5 USD',
        '11:24: found "2026-10" as a period, expected a week such as 2026-W40',
        '12:15: timeZone: 2026-W45 in Asia/Kolkata starts at 2026-11-01T18:30:00Z, which is not a whole hour of UTC, but the books count in whole hours: choose a time zone that differs from UTC by whole hours, such as UTC itself',
        '13:14: unknown key "resorce_type"; did you mean resource_type? rename or remove it',
        '13:48: workspace: found "re*", expected a name without *, which only resource_name supports; list the names',
        '13:55: unknown key "team"; it belongs to scope.owner; move it there',
        '15:15: at: found "80", expected a share of the amount up to 9999%, or an amount, both above 0, such as 80%, 82.5% or 4500 USD',
        '15:29: severity: found "high", expected info, warning or critical',
        '16:9: thresholds: found no at, expected one such as at: 80% or at: 4500 USD; add it',
        '18:15: at: found 50% a second time in this budget; keep one',
        '19:24: of: found "forecats", expected spent or forecast; did you mean forecast?',
        '21:15: at: found 60% of forecast a second time in this budget; keep one',
        '22:14: notify: found the sink "finop", which costbook.yaml does not have; did you mean finops?',
      ].join('\n'),
    );
  });

  test('tells a misspelt key as one mistake, also if the budget needs the key', () => {
    for (const key of ['name', 'period', 'amount']) {
      const text = 'budgets:\n  - name: everything\n    period: monthly\n    amount: 5 USD\n'.replace(key, `${key}x`);
      expect(problems(text).split('\n')).toEqual([expect.stringContaining(`did you mean ${key}? rename or remove it`)]);
    }
  });

  test('may be in a unit of usage, with all of its amounts in that unit', () => {
    const text = `budgets:
  - name: runtime
    period: monthly
    amount: 2000000 GB-seconds
    limits: { 2026-12: 2500000 GB-seconds }
    from: 2026-10
    rollover: { cap: 1000 GB-seconds }
    scope: { billing_dimension: sandbox_compute_runtime_gbs }
    thresholds: [80%, 1900000 GB-seconds]
`;
    const [runtime] = parse(text);
    expect(runtime).toMatchObject({
      amount: 2_000_000n * usd,
      scope: { billing_dimension: ['sandbox_compute_runtime_gbs'], unit: 'GB-seconds' },
      thresholds: [{ code: '80%' }, { code: '1900000 GB-seconds', at: { amount: 1_900_000n * usd } }],
    });
    const child = `  - name: part\n    parent: runtime\n    period: monthly\n    amount: 5 USD\n`;
    const mixed = text.replace('2500000 GB-seconds', '2500000 USD').replace('1900000 GB-seconds', '5 USD');
    expect(problems(mixed.replace('_gbs', '_count') + child)).toBe(
      [
        '5:24: 2026-12: found "2500000 USD", expected an amount above 0 such as 5000 GB-seconds or 0.25 GB-seconds, in GB-seconds and without separators between the digits',
        '8:33: billing_dimension: found "sandbox_compute_runtime_count", which is metered in count, expected a dimension in GB-seconds',
        '9:23: thresholds: found "5 USD", expected a share of the amount up to 9999%, or an amount, both above 0, such as 80%, 82.5% or 4500 GB-seconds',
        '13:13: amount: found USD below "runtime", which is in GB-seconds, expected the same unit, so that amounts can be compared',
      ].join('\n'),
    );
    expect(problems(text.replace('amount: 2000000 GB-seconds', 'amount: 5 GB-second'))).toContain(
      '4:13: amount: found the unit "GB-second", expected USD, GB-hours, GB-seconds, count or hours; did you mean GB-seconds?',
    );
  });

  test.each(['0 USD', '-5 USD', '5 EUR', '1e3 USD', '0.0000000000001 USD', '5 usd', '1_000 USD', 'true'])(
    'refuses the amount %s',
    (amount) => {
      expect(problems(`budgets:\n${budget('one', amount)}`)).toMatch(/^4:13: amount: found /);
    },
  );

  test.each([
    [
      'Australia/Lord_Howe',
      /^5:15: timeZone: 2026-0\d-\d\d in Australia\/Lord_Howe starts at .*:30:00Z, which is not a whole hour/,
    ],
    ['+05:30', /^5:15: timeZone: found "\+05:30", expected a time zone such as UTC or Europe\/Berlin$/],
    ['Europe/Berln', /did you mean Europe\/Berlin\?$/],
  ])('refuses the time zone %s at any time of the year', (zone, words) => {
    expect(problems(`budgets:\n${budget('one', '1 USD', `timeZone: ${zone}`)}`)).toMatch(words);
  });

  test('refuses a repeated name', () => {
    expect(problems(`budgets:\n${budget('one', '1 USD')}\n${budget('one', '1 USD')}`)).toBe(
      '5:11: name: found "one" a second time, first on line 2; rename one',
    );
  });

  test('counts a budget with a mistake as one of the file', () => {
    const text = [budget('all', '10'), budget('part', '5 USD', 'parent: all'), budget('all', '5 USD')].join('\n');
    expect(problems(`budgets:\n${text}`)).toBe(
      [
        '4:13: amount: found 10, expected an amount above 0 such as 5000 USD or 0.25 USD, in USD and without separators between the digits',
        '9:11: name: found "all" a second time, first on line 2; rename one',
      ].join('\n'),
    );
  });

  test('does not take an empty scope as everything', () => {
    for (const [scope, words] of [
      ['{ label: {} }', '5:21: label: found no entry, expected a label and its value such as tier: gold'],
      [
        '{ owner: {} }',
        '5:21: owner: found no entry, expected a dimension of the allocation and its owner such as team: search',
      ],
      ['{ workspace: [] }', '5:25: workspace: found an empty list, expected a list of names'],
    ]) {
      expect(problems(`budgets:\n${budget('one', '1 USD', `scope: ${scope}`)}`)).toBe(words);
    }
  });

  test('refuses owner and label together', () => {
    expect(problems(`budgets:\n${budget('one', '1 USD', 'scope: { owner: { team: a }, label: { b: c } }')}`)).toBe(
      '5:41: label: found together with owner, expected only one of the two; an allocation rule can match labels',
    );
  });
});

describe('a budget with a parent', () => {
  test('has the scope of its parents as well', () => {
    const text = [
      budget('all', '10 USD', 'scope: { account: [acc_one, acc_two], resource_name: "agent-*" }'),
      budget('north', '5 USD', 'parent: all', 'scope: { workspace: [north, south] }'),
      budget(
        'box',
        '1 USD',
        'parent: north',
        'scope: { account: acc_one, workspace: south, resource_name: "agent-x*" }',
      ),
    ].join('\n');
    expect(parse(`budgets:\n${text}`).map(({ scope }) => scope)).toEqual([
      { account: ['acc_one', 'acc_two'], resource_name: ['agent-*'] },
      { account: ['acc_one', 'acc_two'], resource_name: ['agent-*'], workspace: ['north', 'south'] },
      { account: ['acc_one'], workspace: ['south'], resource_name: ['agent-x*'] },
    ]);
  });

  test("is refused if it names a value outside its parent's scope", () => {
    const text = [
      budget('all', '10 USD', 'scope: { account: acc_one, resource_name: "agent-*" }'),
      budget('north', '5 USD', 'parent: all', 'scope: { workspace: north }'),
      budget('box', '1 USD', 'parent: north', 'scope: { account: acc_two, resource_name: "age*" }'),
    ].join('\n');
    expect(problems(`budgets:\n${text}`)).toBe(
      [
        '15:23: account: found "acc_two", which the parent "all" does not include, expected only "acc_one"; a parent includes all costs of its children',
        '15:47: resource_name: found "age*", which the parent "all" does not include, expected only "agent-*"; a parent includes all costs of its children',
      ].join('\n'),
    );
  });

  test('is refused if it uses owners and its parent uses labels', () => {
    const text = [
      budget('all', '10 USD', 'scope: { label: { tier: gold } }'),
      budget('team', '5 USD', 'parent: all', 'scope: { owner: { team: search } }'),
    ].join('\n');
    expect(problems(`budgets:\n${text}`)).toBe(
      '10:21: owner: found owner, but the parent "all" uses label; use label here too, because a budget has one of the two; an allocation rule can match labels',
    );
  });

  test("may have at most its parent's amount together with the other children, in every named period", () => {
    const family = (limits: string) =>
      [
        budget('all', '10 USD', 'limits: { 2026-12: 12 USD }'),
        budget('a', '6 USD', 'parent: all', `limits: { ${limits} }`),
        budget('b', '4 USD', 'parent: all'),
      ].join('\n');
    expect(problems(`budgets:\n${family('2026-12: 8 USD, 2026-01: 5 USD')}`)).toBe('none');
    expect(problems(`budgets:\n${family('2026-12: 8.01 USD, 2026-01: 6.01 USD')}`)).toBe(
      [
        '4:13: amount: found 10 USD in 2026-01, expected at least 10.01 USD, the sum of its children (a, b); raise it, or lower theirs',
        '5:24: 2026-12: found 12 USD in 2026-12, expected at least 12.01 USD, the sum of its children (a, b); raise it, or lower theirs',
      ].join('\n'),
    );
  });

  test('is refused for an unknown parent, next to its other mistakes', () => {
    expect(problems(`budgets:\n${budget('lost', '1 EUR', 'parent: al')}`)).toContain(
      'parent: found "al", which is not a budget in this file; expected one of lost',
    );
  });

  test('is refused for other periods, an unknown parent or a circle', () => {
    const text = [
      budget('all', '10 USD'),
      budget('week', '1 USD', 'parent: all').replace('monthly', 'weekly'),
      budget('lost', '1 USD', 'parent: al'),
      budget('a', '1 USD', 'parent: b'),
      budget('b', '1 USD', 'parent: a'),
      budget('c', '1 USD', 'parent: c'),
    ].join('\n');
    expect(problems(`budgets:\n${text}`)).toBe(
      [
        '8:13: parent: found weekly in UTC below "all", which is monthly in UTC, expected the same periods, so that amounts can be compared',
        '12:13: parent: found "al", which is not a budget in this file; expected one of all, week, lost, a, b or c',
        '16:13: parent: found a circle of parents: a, b; remove one of these parents',
        '20:13: parent: found a circle of parents: b, a; remove one of these parents',
        '24:13: parent: found a circle of parents: c; remove one of these parents',
      ].join('\n'),
    );
  });
});

describe('evaluateBudgets', () => {
  const november = calendarOf('monthly').periodAt(now);
  const some = only(
    budget(
      'some',
      '3 USD',
      'scope: { account: "acc/one" }',
      'thresholds: [{ at: 33.3333% }, { at: 2 USD, severity: critical }]',
    ),
  );

  function states(spent: bigint | undefined): string[] {
    const spend = { budget: 'some', period: november, spent, completeThrough: undefined, gaps: [], drivers: [] };
    return evaluateBudgets([some], [spend]).map(({ threshold, state }) => `${threshold} ${state}`);
  }

  test('reaches a threshold exactly at its limit, not a trillionth of a dollar before', () => {
    const third = 999_999_000_000n;
    expect(states(third - 1n)).toEqual(['33.3333% resolved', '2 USD resolved']);
    expect(states(third)).toEqual(['33.3333% raised', '2 USD resolved']);
    expect(states(2n * usd - 1n)).toEqual(['33.3333% raised', '2 USD resolved']);
    expect(states(2n * usd)).toEqual(['33.3333% reached', '2 USD raised']);
    expect(states(-usd)).toEqual(['33.3333% resolved', '2 USD resolved']);
  });

  test('of two thresholds crossed in one night, only the higher is raised; one that is open stays', () => {
    const key = 'budget/acc%2Fone/some/2026-11/33.3333%';
    const spend = { budget: 'some', period: november, completeThrough: undefined, gaps: [], drivers: [] };
    const facts = (of: Budget, spent: bigint, open: string[] = []) =>
      evaluateBudgets([of], [{ ...spend, spent }], new Set(open)).map(
        ({ threshold, state }) => `${threshold} ${state}`,
      );
    expect(facts(some, 2n * usd, [key])).toEqual(['33.3333% raised', '2 USD raised']);
    expect(facts(some, 2n * usd - 1n)).toEqual(['33.3333% raised', '2 USD resolved']);

    const [low, high] = some.thresholds;
    if (low === undefined || high === undefined) throw new Error('expected two thresholds');
    const withSinks = (ofLow: string[], ofHigh: string[]) => ({
      ...some,
      thresholds: [
        { ...low, notify: ofLow },
        { ...high, notify: ofHigh },
      ],
    });
    const other = ['33.3333% raised', '2 USD raised'];
    expect(facts(withSinks(['finops'], ['oncall']), 2n * usd), 'who would get nothing').toEqual(other);
    expect(facts(withSinks([], ['oncall']), 2n * usd), 'who would get nothing').toEqual(other);
    expect(facts(withSinks(['finops'], ['oncall', 'finops']), 2n * usd)).toEqual(['33.3333% reached', '2 USD raised']);
    const mild = { ...some, thresholds: [low, { ...high, severity: 'info' as const }] };
    expect(facts(mild, 2n * usd), 'the severity would be lost').toEqual(other);
  });

  test('does not report a threshold below the amount once a period has ended within its budget; an open one stays', () => {
    const at = budget('some', '3 USD', 'thresholds: [80%, 100%, { at: 120% }, { at: 90%, of: forecast }]');
    const key = 'budget/@all/some/2026-11/80%';
    const told = (spent: bigint, completeThrough: number, open: string[] = []) =>
      evaluateBudgets(
        [only(at)],
        [{ budget: 'some', period: november, spent, completeThrough, gaps: [], drivers: [] }],
        new Set(open),
      )
        .filter(({ state }) => state === 'raised')
        .map(({ threshold, of = 'spent' }) => `${threshold} ${of}`);
    const within = (3n * usd * 91n) / 100n;
    expect(told(within, november.end - 3_600_000), 'the last hour may cost more').toEqual([
      '80% spent',
      '90% forecast',
    ]);
    expect(told(within, november.end)).toEqual([]);
    expect(told(within, november.end, [key])).toEqual(['80% spent']);
    expect(told(within, november.end, [key.replace('80%', 'forecast:90%')])).toEqual(['90% forecast']);
    expect(told(usd, november.end, [key])).toEqual([]);
    expect(told(3n * usd, november.end), 'it did not end within its budget').toEqual(['100% spent']);
    expect(told(4n * usd, november.end)).toEqual(['120% spent']);
  });

  test('makes no fact about unknown spend: it is neither reached nor resolved', () => {
    expect(states(undefined)).toEqual([]);
  });

  test('makes facts with everything that a reader needs, under a stable key', () => {
    const completeThrough = now - (now % 3_600_000);
    const driver = { account: 'acc/one', workspace: null, resourceType: 'agent', resourceName: 'one', cost: '0.5' };
    const drivers = [driver];
    const spend = { budget: 'some', period: november, spent: usd, completeThrough, gaps: ['a sentence'], drivers };
    expect(evaluateBudgets([some], [spend])[0]).toEqual({
      key: 'budget/acc%2Fone/some/2026-11/33.3333%',
      kind: 'budget',
      account: 'acc/one',
      budget: 'some',
      period: '2026-11',
      periodStart: '2026-11-01T00:00:00Z',
      periodEnd: '2026-12-01T00:00:00Z',
      threshold: '33.3333%',
      severity: 'warning',
      notify: [],
      state: 'raised',
      value: '1.000000000000',
      limit: '0.999999000000',
      amount: '3.000000000000',
      completeThrough: '2026-11-05T10:00:00Z',
      gaps: ['a sentence'],
      drivers: [driver],
    });
    expect(evaluateBudgets([{ ...some, scope: {} }], [spend]).map(({ key, account }) => [key, account])).toEqual([
      ['budget/@all/some/2026-11/33.3333%', null],
      ['budget/@all/some/2026-11/2USD', null],
    ]);
  });

  test('measures a period with its own amount by that amount', () => {
    const more = only(budget('some', '3 USD', 'limits: { 2026-11: 30 USD }'));
    const december = calendarOf('monthly').periodAt(november.end);
    expect(stateOf(more, november, { spent: 3n * usd })).toBe('OK');
    expect(stateOf(more, december, { spent: 3n * usd })).toBe('EXCEEDED');
  });

  test('gives the state of the amount or of a threshold, or unknown', () => {
    const told = [usd / 2n, 2n * usd, 3n * usd, undefined].map((spent) => stateOf(some, november, { spent }));
    expect(told).toEqual(['OK', 'WARNING', 'EXCEEDED', undefined]);
  });
});

describe('a forecast threshold', () => {
  const november = calendarOf('monthly').periodAt(now);
  const point = 'thresholds: [{ at: 100%, of: forecast }, { at: 100%, severity: critical }]';
  const some = only(budget('some', '100 USD', point));
  const alone = only(budget('some', '100 USD', 'thresholds: [{ at: 100%, of: forecast }]'));
  const key = 'budget/@all/some/2026-11/forecast:100%';
  const completeThrough = Date.parse('2026-11-05T00:00:00Z');

  /** A forecast of so many USD, which are spent evenly. */
  function forecast(mean: number): PeriodForecast {
    const days = Array.from({ length: 26 }, (_, day) => ({
      start: completeThrough + day * 86_400_000,
      spent: 10n * usd + (BigInt(Math.round((mean - 10) * 1000)) * usd * BigInt(day + 1)) / 26_000n,
    }));
    return {
      kind: 'forecast',
      mean: BigInt(Math.round(mean * 1000)) * (usd / 1000n),
      low: 80n * usd,
      high: 130n * usd,
      path: days,
      model: 'weekday-profile',
      transform: 'none',
      seasons: [7],
      notes: [],
      stepHours: 24,
      history: { start: completeThrough - 70 * 86_400_000, end: completeThrough },
      observations: 70,
      backtest: { folds: 5, mase: 0.8, smape: 10, coverage: 0.8, sumCoverage: 0.8 },
    };
  }
  type Known = {
    spent?: bigint | undefined;
    forecast?: PeriodForecast | { kind: 'none'; reason: string };
    through?: number;
  };
  function facts(of: Budget, { through = completeThrough, ...known }: Known, open: string[] = []) {
    const spend = { budget: 'some', period: november, completeThrough: through, gaps: [], drivers: [] };
    return evaluateBudgets([of], [{ ...spend, spent: 10n * usd, ...known }], new Set(open));
  }
  function states(...args: Parameters<typeof facts>): string[] {
    return facts(...args).map(({ of: subject = 'spent', state }) => `${subject} ${state}`);
  }

  test('is reached if the forecast reaches it, and says by how much, when, and from what history', () => {
    expect(states(some, { forecast: forecast(99.999) })).toEqual(['forecast resolved', 'spent resolved']);
    const [fact] = facts(some, { forecast: forecast(120) });
    expect(fact).toMatchObject({ key, threshold: '100%', of: 'forecast', state: 'raised', value: '10.000000000000' });
    expect(fact?.forecast).toEqual({
      value: '120.000000000000',
      low: '80.000000000000',
      high: '130.000000000000',
      level: 80,
      exceedsAt: '2026-11-26T00:00:00Z',
      exceedsOn: '2026-11-26',
      model: 'weekday-profile',
      step: 'day',
      historyStart: '2026-08-27T00:00:00Z',
      historyEnd: '2026-11-05T00:00:00Z',
      observations: 70,
    });
    const there = { ...some, timeZone: 'America/New_York' };
    expect(facts(there, { forecast: forecast(120) })[0]?.forecast).toMatchObject({ exceedsOn: '2026-11-25' });
  });

  test('is resolved only if the forecast falls a twentieth below the limit', () => {
    expect(states(some, { forecast: forecast(95) }, [key])).toEqual(['forecast raised', 'spent resolved']);
    expect(states(some, { forecast: forecast(94.999) }, [key])).toEqual(['forecast resolved', 'spent resolved']);
    expect(states(some, { forecast: forecast(99) })).toEqual(['forecast resolved', 'spent resolved']);
  });

  test('makes no fact without a forecast: it is neither reached nor resolved', () => {
    expect(states(some, {})).toEqual(['spent resolved']);
    expect(states(some, { forecast: { kind: 'none', reason: 'too little history' } }, [key])).toEqual([
      'spent resolved',
    ]);
    expect(states(some, { spent: undefined, forecast: forecast(120) })).toEqual([]);
  });

  test('is no longer reported once the amount is spent and a spend threshold reports it', () => {
    expect(states(some, { spent: 100n * usd, forecast: forecast(120) }, [key])).toEqual([
      'forecast reached',
      'spent raised',
    ]);
    // No other threshold reports it, so it stays reached.
    expect(states(alone, { spent: 100n * usd })).toEqual(['forecast raised']);
    const less = only(budget('some', '100 USD', 'thresholds: [{ at: 100%, of: forecast }, { at: 80% }]'));
    expect(states(less, { spent: 100n * usd })).toEqual(['forecast raised', 'spent raised']);
  });

  test('is resolved if the period ends below its limit', () => {
    const through = november.end;
    expect(states(some, { through, spent: 99n * usd }, [key])).toEqual(['forecast resolved', 'spent resolved']);
  });

  test('gives the state FORECAST, which ranks between WARNING and EXCEEDED', () => {
    const told = (spent: bigint, mean: number) => stateOf(some, november, { spent: spent }, forecast(mean));
    expect([told(10n * usd, 99), told(10n * usd, 100), told(100n * usd, 120)]).toEqual(['OK', 'FORECAST', 'EXCEEDED']);
    const asks = only(budget('some', '100 USD', 'thresholds: [{ at: 100%, of: forecast }, { at: 10% }]'));
    expect(stateOf(asks, november, { spent: 10n * usd }, forecast(100))).toBe('FORECAST');
    expect(stateOf(asks, november, { spent: 10n * usd }, forecast(99))).toBe('WARNING');
  });

  test('is a default threshold, so that the state FORECAST always has an alert', () => {
    const plain = only(budget('some', '100 USD'));
    const found = facts(plain, { spent: 94n * usd, forecast: forecast(100) });
    expect(found.map(({ of = 'spent', threshold, severity, state }) => [of, threshold, severity, state])).toEqual([
      ['spent', '100%', 'critical', 'resolved'],
      ['forecast', '100%', 'warning', 'raised'],
    ]);
  });

  test('is not needed for the state FORECAST if the forecast reaches the amount', () => {
    const none = only(budget('some', '100 USD', 'thresholds: [{ at: 100% }]'));
    const less = only(budget('some', '100 USD', 'thresholds: [{ at: 80% }]'));
    for (const of of [none, less]) {
      expect(stateOf(of, november, { spent: 94n * usd }, forecast(100))).toBe('FORECAST');
      expect(stateOf(of, november, { spent: 100n * usd }, forecast(120))).toBe('EXCEEDED');
    }
    expect(stateOf(none, november, { spent: 94n * usd }, forecast(99))).toBe('OK');
  });
});

describe('watchedPeriods', () => {
  const days = only(budget('days', '1 USD').replace('monthly', 'daily'));
  const months = only(budget('months', '1 USD'));
  const names = (of: Budget, settled: string | undefined, also: string[] = []) =>
    watchedPeriods(of, now, settled === undefined ? undefined : Date.parse(settled), also).map(({ name }) => name);

  test('returns the current period, and earlier ones that may still change', () => {
    expect(names(months, '2026-11-02T00:00:00Z')).toEqual(['2026-11']);
    expect(names(months, '2026-11-01T00:00:00Z')).toEqual(['2026-11']);
    expect(names(months, '2026-10-31T23:00:00Z')).toEqual(['2026-10', '2026-11']);
    expect(names(months, '2026-08-31T23:00:00Z')).toEqual(['2026-08', '2026-09', '2026-10', '2026-11']);
    expect(names(days, '2026-11-02T08:00:00Z')).toEqual(['2026-11-02', '2026-11-03', '2026-11-04', '2026-11-05']);
    expect(names(days, undefined)).toEqual(['2026-11-04', '2026-11-05']);
  });

  test('adds periods by name', () => {
    expect(names(months, '2026-11-02T00:00:00Z', ['2026-03', '2026-11', '2026-W40'])).toEqual(['2026-03', '2026-11']);
  });

  test("uses the budget's time zone", () => {
    const tokyo = only(budget('tokyo', '1 USD', 'timeZone: Asia/Tokyo'));
    expect(
      watchedPeriods(tokyo, now, Date.parse('2026-10-31T14:00:00Z')).map(({ start }) => formatInstant(start)),
    ).toEqual(['2026-09-30T15:00:00Z', '2026-10-31T15:00:00Z']);
  });
});

test.each(['budgets.example.yaml', 'jobs/demo/budgets.yaml'])('the budget file %s of Costbook is valid', (name) => {
  const sinks = ['finops', 'oncall'];
  const found = loadBudgets(join(import.meta.dirname, '../..', name), { now, sinks });
  expect(found?.length).toBeGreaterThan(3);
});

test.each([
  ['13.5006 USD', 13_500_000_000_000n, '99.99'],
  ['13.50 USD', 13_500_000_000_000n, '100.00'],
  ['13.4999 USD', 13_500_000_000_000n, '100.00'],
  ['100 USD', 79_999_999_000_000n, '79.99'],
  ['100 USD', 80_000_000_000_000n, '80.00'],
  ['100 USD', 82_346_000_000_000n, '82.35'],
])('of %s, a share is never rounded up to the amount or a threshold that is not reached', (amount, spent, share) => {
  const [budget] = parseBudgets({
    text: `budgets: [{ name: a, period: monthly, amount: ${amount}, thresholds: [80%] }]`,
    file: 'budgets.yaml',
    now: 0,
  });
  if (budget === undefined) throw new Error('no budget');
  const period = budgetCalendar(budget).periodAt(0);
  expect(shareOf(budget, period, spent)).toBe(share);
});
