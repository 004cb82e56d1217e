import { describe, expect, test } from 'vitest';
import { type Budget, budgetCalendar } from '../../src/budgets/rules/budget.ts';
import { parseBudgets } from '../../src/budgets/rules/file.ts';
import { backtestBudget } from '../../src/budgets/show/backtest.ts';
import { othersOf } from '../../src/budgets/show/show-now.ts';
import { withCarried } from '../../src/budgets/spend/carried.ts';
import { budgetFacts, namesNotFound, readSpends, watchedSpends } from '../../src/budgets/spend/spend.ts';
import { stateOf } from '../../src/budgets/spend/thresholds.ts';
import { formatInstant } from '../../src/time/time.ts';
import type { Connection } from '../../src/warehouse/store/connection.ts';
import { type Given, givenBooks } from '../support/given-books.ts';

const now = Date.parse('2026-09-20T12:00:00Z');

/** Budgets of 10 USD in a month with one threshold, each with these lines more. */
function budgets(...each: string[][]): readonly Budget[] {
  const entries = each.map((lines, index) => {
    const has = (key: string) => lines.some((line) => line.startsWith(key));
    return [
      `- name: b${index}`,
      ...(has('period') ? [] : ['period: monthly']),
      ...(has('amount:') ? [] : ['amount: 10 USD']),
      ...(has('thresholds') ? [] : ['thresholds: [{ at: 100%, severity: critical }]']),
      ...lines,
    ].join('\n    ');
  });
  return parseBudgets({ text: `budgets:\n  ${entries.join('\n  ')}\n`, file: 'jobs/budgets.yaml', now });
}

/** Books of accounts that are complete from the first of September to the twentieth. */
function complete(...accounts: string[]): Required<Pick<Given, 'accounts' | 'covered' | 'loads'>> {
  const through = '2026-09-20 10:00:00';
  return {
    accounts: accounts.map((account) => ({ account })),
    covered: accounts.map((account) => ({ account, window_end: through, claimed_end: through })),
    loads: accounts.map((account) => ({
      account,
      window_end: through,
      claimed_end: through,
      seen_at: '2026-09-20 11:00:00',
    })),
  };
}

async function withBooks<T>(given: Given, work: (connection: Connection) => Promise<T>): Promise<T> {
  const { connection, close } = await givenBooks(given);
  try {
    return await work(connection);
  } finally {
    close();
  }
}

const usual = { now, freshnessHours: 26, configured: [] };

/** What is spent of each budget in its present period, as plain decimal text. */
async function spent(connection: Connection, asked: readonly Budget[]): Promise<(string | undefined)[]> {
  const lines = asked.map((budget) => ({ budget, period: budgetCalendar(budget).periodAt(now) }));
  return (await readSpends(connection, lines, usual)).map((spend) => plain(spend.spent));
}

function plain(usd: bigint | undefined): string | undefined {
  return usd === undefined ? undefined : String(Number(usd) / 1e12);
}

describe('the spend of a budget', () => {
  test('covers the series that match every key of the scope with any of its values', async () => {
    const given: Given = {
      ...complete('acc_one', 'acc_two'),
      costs: [
        { cost: '1' },
        { cost: '2', workspace: 'south' },
        { cost: '4', workspace: null },
        { cost: '8', account: 'acc_two' },
        { cost: '16', resource_type: 'volume', resource_name: '100%_disk', billing_dimension: 'volume_storage_gbs' },
        { cost: '32', resource_name: null },
        { cost: '64', resource_name: 'bo%' },
      ],
    };
    const asked = budgets(
      [],
      ['scope: { account: acc_two }'],
      ['scope: { workspace: [north, south], account: acc_one }'],
      ['scope: { resource_type: volume }'],
      ['scope: { resource_name: "b*x" }'],
      ['scope: { resource_name: ["bo%", "100%_*"] }'],
      ['scope: { resource_name: "*" }'],
      ['scope: { billing_dimension: volume_storage_gbs, workspace: north }'],
      ['scope: { workspace: west }'],
    );
    expect(await withBooks(given, (connection) => spent(connection, asked))).toEqual([
      '127',
      '8',
      String(1 + 2 + 16 + 32 + 64),
      '16',
      String(1 + 2 + 4 + 8),
      String(16 + 64),
      String(127 - 32),
      '16',
      '0',
    ]);
  });

  test("covers the hours of the period in the budget's time zone", async () => {
    const given: Given = {
      ...complete('acc_one'),
      costs: [
        ['2026-08-31 21:00:00', '1'],
        ['2026-08-31 22:00:00', '2'],
        ['2026-08-31 23:00:00', '4'],
        ['2026-09-19 21:00:00', '8'],
        ['2026-09-19 22:00:00', '16'],
        ['2026-09-20 00:00:00', '32'],
        ['2026-09-20 22:00:00', '64'],
        ['2026-09-30 21:00:00', '128'],
        ['2026-09-30 22:00:00', '256'],
      ].map(([bucket_start = '', cost = '']) => ({ bucket_start, cost })),
    };
    const asked = budgets(
      ['timeZone: Europe/Berlin'],
      [],
      ['timeZone: Europe/Berlin', 'period: daily'],
      ['period: daily'],
      ['period: weekly'],
      ['period: quarterly'],
    );
    expect(await withBooks(given, (connection) => spent(connection, asked))).toEqual([
      String(2 + 4 + 8 + 16 + 32 + 64 + 128),
      String(8 + 16 + 32 + 64 + 128 + 256),
      String(16 + 32),
      String(32 + 64),
      String(8 + 16 + 32 + 64),
      String(511),
    ]);
  });

  test('is unknown if the books have no hour of the period in any account of the scope', async () => {
    const given = {
      ...complete('acc_one'),
      accounts: [{ account: 'acc_one' }, { account: 'acc_two', history_start: null }],
    };
    const asked = budgets([], ['scope: { account: acc_two }'], ['scope: { account: acc_none }']);
    const lines = asked.map((budget) => ({ budget, period: budgetCalendar(budget).periodAt(now) }));
    const spends = await withBooks(given, (connection) => readSpends(connection, lines, usual));
    expect(spends.map(({ spent: of, completeThrough, gaps }) => [of, completeThrough, gaps])).toEqual([
      [0n, undefined, ['acc_two has no complete hour yet']],
      [undefined, undefined, ['acc_two has no complete hour yet']],
      [undefined, undefined, ['account acc_none is not in the books']],
    ]);
  });

  test('names the accounts that are behind, or that start within the period', async () => {
    const given: Given = {
      ...complete('acc_one', 'acc_two'),
      accounts: [{ account: 'acc_one', history_start: '2026-09-05' }, { account: 'acc_two' }],
    };
    const lines = budgets([]).map((budget) => ({ budget, period: budgetCalendar(budget).periodAt(now) }));
    const [spend] = await withBooks(given, (connection) =>
      readSpends(connection, lines, { ...usual, freshnessHours: 1 }),
    );
    expect(spend?.gaps).toEqual([
      'the books of acc_one start at 2026-09-05T00:00:00Z',
      'acc_one is complete through 2026-09-20T10:00:00Z only',
      'acc_two is complete through 2026-09-20T10:00:00Z only',
    ]);
  });

  test('includes an account that is no longer configured, and expects no new data of it', async () => {
    const old = { account: 'acc_old', window_end: '2026-09-08', claimed_end: '2026-09-08' };
    const { accounts, covered, loads } = complete('acc_one');
    const given: Given = {
      accounts: [...accounts, { account: 'acc_old' }],
      covered: [...covered, old],
      loads,
      costs: [{ cost: '1' }, { cost: '2', account: 'acc_old' }],
    };
    const lines = budgets([]).map((budget) => ({ budget, period: budgetCalendar(budget).periodAt(now) }));
    const [spend] = await withBooks(given, (connection) =>
      readSpends(connection, lines, { ...usual, configured: ['acc_one'] }),
    );
    expect([plain(spend?.spent), formatInstant(spend?.completeThrough ?? 0), spend?.gaps]).toEqual([
      '3',
      '2026-09-20T10:00:00Z',
      [],
    ]);
  });

  test('shows the part in hours that are not complete yet', async () => {
    const given: Given = {
      ...complete('acc_one'),
      costs: [
        { bucket_start: '2026-09-20 09:00:00', cost: '7' },
        { bucket_start: '2026-09-20 10:00:00', cost: '0.5' },
        { bucket_start: '2026-09-20 11:00:00', cost: '0.25', account: 'acc_two' },
      ],
    };
    const [budget] = budgets([]);
    if (budget === undefined) throw new Error('no budget');
    const calendar = budgetCalendar(budget);
    const periods = [calendar.periodAt(now), calendar.periodAt(Date.parse('2026-08-20T00:00:00Z'))];
    const [present, before] = await withBooks(given, (connection) =>
      readSpends(
        connection,
        periods.map((period) => ({ budget, period })),
        usual,
      ),
    );
    expect([plain(present?.spent), plain(present?.spentSince)]).toEqual(['7.75', '0.75']);
    expect([before?.spent, before?.spentSince]).toEqual([undefined, undefined]);
  });

  test('has the rate of the last complete week, even if that started before the period', async () => {
    const given: Given = {
      ...complete('acc_one'),
      costs: [
        { bucket_start: '2026-09-13 09:00:00', cost: '1000' },
        { bucket_start: '2026-09-13 10:00:00', cost: '0.000000000010' },
        { bucket_start: '2026-09-20 09:00:00', cost: '7' },
        { bucket_start: '2026-09-20 10:00:00', cost: '1000' },
      ],
    };
    const lines = budgets(['period: daily']).map((budget) => ({
      budget,
      period: budgetCalendar(budget).periodAt(now),
    }));
    const [spend] = await withBooks(given, (connection) => readSpends(connection, lines, usual));
    expect(spend?.burnRate).toEqual({
      start: Date.parse('2026-09-13T10:00:00Z'),
      end: Date.parse('2026-09-20T10:00:00Z'),
      perDay: 1_000_000_000_001n,
    });
  });
});

test('facts cover the periods that may still change, and those with open alerts', async () => {
  const given: Given = {
    ...complete('acc_one'),
    costs: [
      { bucket_start: '2026-09-01 05:00:00', cost: '10' },
      { bucket_start: '2026-09-17 05:00:00', cost: '9.999999999999' },
      { bucket_start: '2026-09-18 05:00:00', cost: '10' },
    ],
  };
  const asked = budgets(['period: daily'], ['scope: { account: acc_none }']);
  const open = new Map([['b0', ['2026-09-01', '2026-08-31']]]);
  const facts = await withBooks(given, (connection) => budgetFacts(connection, asked, { ...usual, open }));
  expect(facts.map(({ key, state, value }) => `${key} ${state} ${value}`)).toEqual([
    'budget/@all/b0/2026-09-01/100% raised 10.000000000000',
    'budget/@all/b0/2026-09-17/100% resolved 9.999999999999',
    'budget/@all/b0/2026-09-18/100% raised 10.000000000000',
    'budget/@all/b0/2026-09-19/100% resolved 0.000000000000',
    'budget/@all/b0/2026-09-20/100% resolved 0.000000000000',
  ]);
});

test('spend comes with its most expensive resources', async () => {
  const given: Given = {
    ...complete('acc_one', 'acc_two'),
    costs: [
      { cost: '2', resource_name: 'b' },
      { cost: '1', resource_name: 'b', billing_dimension: 'volume_storage_gbs' },
      { cost: '3', resource_name: 'a' },
      { cost: '4', resource_name: null, workspace: null },
      { cost: '9', account: 'acc_two', resource_name: 'b' },
      { cost: '1', resource_name: 'z' },
      { cost: '-1', resource_name: 'credit', workspace: 'south' },
      { cost: '0.5', workspace: 'south' },
    ],
  };
  const lines = budgets([], ['scope: { workspace: south }'], ['scope: { workspace: west }']).map((budget) => ({
    budget,
    period: budgetCalendar(budget).periodAt(now),
  }));
  const spends = await withBooks(given, (connection) => readSpends(connection, lines, usual));
  const told = spends.map(({ drivers }) =>
    drivers.map(({ account, workspace, resourceName, cost }) => [account, workspace, resourceName, cost].join(' ')),
  );
  expect(told).toEqual([
    ['acc_two north b 9.000000000000', 'acc_one   4.000000000000', 'acc_one north a 3.000000000000'],
    ['acc_one south box 0.500000000000'],
    [],
  ]);
});

describe('a budget in a unit of usage', () => {
  const given: Given = {
    ...complete('acc_one'),
    costs: [
      { usage: '5400.5', cost: '2', billing_dimension: 'sandbox_compute_runtime_gbs' },
      { usage: '1800', cost: '1', billing_dimension: 'volume_storage_gbs', resource_name: 'disk' },
      { usage: '700', cost: '50', billing_dimension: 'agent_async_requests_count' },
      { usage: '0', cost: '-3', billing_dimension: 'volume_storage_gbs', resource_name: 'credit' },
    ],
  };

  test('adds up the usage of its scope in that unit, and names the billing dimensions and the largest resources', async () => {
    const asked = budgets(
      ['amount: 9000 GB-seconds', 'thresholds: [80%, 100%]'],
      ['amount: 2 GB-hours', 'thresholds: [100%]'],
      ['amount: 1000 count', 'thresholds: [700 count]'],
      ['amount: 1 hours'],
      ['amount: 9000 GB-seconds', 'scope: { billing_dimension: volume_storage_gbs }'],
    );
    await withBooks(given, async (connection) => {
      expect(await spent(connection, asked)).toEqual(['7200.5', '2.000138888889', '700', '0', '1800']);
      const [seconds, hours] = await watchedSpends(connection, asked.slice(0, 2), usual);
      expect(seconds?.dimensions).toEqual(['sandbox_compute_runtime_gbs', 'volume_storage_gbs']);
      expect(seconds?.drivers.map(({ resourceName, cost }) => [resourceName, cost])).toEqual([
        ['box', '5400.500000000000'],
        ['disk', '1800.000000000000'],
      ]);
      expect(hours?.drivers.map(({ cost }) => cost)).toEqual(['1.500138888889', '0.500000000000']);
      const facts = await budgetFacts(connection, asked, usual);
      expect(facts.map(({ threshold, unit, state }) => [threshold, unit, state])).toEqual([
        ['80%', 'GB-seconds', 'raised'],
        ['100%', 'GB-seconds', 'resolved'],
        ['100%', 'GB-hours', 'raised'],
        ['700 count', 'count', 'raised'],
        ['100%', 'hours', 'resolved'],
        ['100%', 'GB-seconds', 'resolved'],
      ]);
      expect(await namesNotFound(connection, asked)).toEqual([
        'budget b3: no usage of its scope in the books is in hours',
      ]);
    });
  });

  test('can be tested on the past, for the present owners and labels too', async () => {
    const [seconds, hours] = budgets(
      ['amount: 7000 GB-seconds', 'thresholds: [100%]'],
      ['amount: 1 GB-hours', 'thresholds: [100%]'],
    );
    await withBooks(given, async (connection) => {
      for (const [budget, value] of [
        [seconds, '7200.500000000000'],
        [hours, '2.000138888889'],
      ] as const) {
        if (budget === undefined) throw new Error('expected a budget');
        const { events } = await backtestBudget(connection, budget, { from: now - 20 * 86_400_000, now, lagHours: 2 });
        expect(events.map((event) => [event.state, event.value, event.unit])).toEqual([
          ['raised', value, budget === seconds ? 'GB-seconds' : 'GB-hours'],
        ]);
      }
    });
  });
});

describe('a budget for a cost per unit', () => {
  const given: Given = {
    ...complete('acc_one'),
    costs: [
      { bucket_start: '2026-09-01 05:00:00', cost: '4', resource_name: 'a' },
      { bucket_start: '2026-09-03 05:00:00', cost: '9', resource_name: 'b' },
      { bucket_start: '2026-09-04 05:00:00', cost: '6', resource_name: 'b' },
      { bucket_start: '2026-09-20 05:00:00', cost: '100', resource_name: 'c' },
    ],
  };
  const span = (name: string, count: number) => {
    const start = Date.parse(`${name}T00:00:00Z`);
    return { name, start, end: start + 86_400_000, count: BigInt(count) * 10n ** 12n };
  };
  const named = (...spans: ReturnType<typeof span>[]) => {
    const [budget] = budgets(['amount: 0.5 USD', 'thresholds: [80%, 100%]']);
    if (budget === undefined) throw new Error('expected a budget');
    return { ...budget, per: { name: 'order', spans } };
  };

  test('divides the costs of complete and counted days, also of days without a count of more than 0', async () => {
    // The third has no count, and the twentieth is not complete.
    const counted = named(
      span('2026-08-30', 3),
      span('2026-09-01', 20),
      span('2026-09-02', 0),
      span('2026-09-04', 5),
      span('2026-09-20', 1),
    );
    await withBooks(given, async (connection) => {
      const spends = await watchedSpends(connection, [counted], usual);
      expect(spends.map(({ period, per }) => [period.name, per?.count])).toEqual([
        ['2026-08', undefined],
        ['2026-09', 25n * 10n ** 12n],
      ]);
      expect(plain(spends[1]?.spent)).toBe('0.4');
      expect(spends[1]).toMatchObject({
        completeThrough: Date.parse('2026-09-05T00:00:00Z'),
        burnRate: undefined,
        gaps: [
          'no count of order for 2026-09-03; the costs of these days are left out',
          'the counts of order end with 2026-09-04, 15 days behind the costs',
        ],
      });
      const told = spends[1]?.drivers.map(({ resourceName, cost }) => `${resourceName} ${Number(cost)}`);
      expect(told).toEqual(['b 6', 'a 4']);
      const facts = await budgetFacts(connection, [counted], usual);
      expect(facts.map(({ threshold, state, unit, per }) => [threshold, state, unit, per])).toEqual([
        [
          '80%',
          'raised',
          'USD per order',
          { name: 'order', count: '25', cost: '10.000000000000', through: '2026-09-04' },
        ],
        ['100%', 'resolved', 'USD per order', expect.anything()],
      ]);
    });
  });

  test('is unknown without counts, and makes no fact', async () => {
    for (const counted of [named(), named(span('2026-09-02', 0)), named(span('2026-08-31', 7))]) {
      await withBooks(given, async (connection) => {
        const spend = (await watchedSpends(connection, [counted], usual)).at(-1);
        expect(spend?.spent).toBeUndefined();
        if (spend === undefined) throw new Error('expected a spend');
        expect(stateOf(counted, spend.period, spend)).toBe('NO COUNTS');
        expect(await budgetFacts(connection, [counted], usual)).toEqual([]);
      });
    }
  });
});

describe('rollover', () => {
  const given: Given = {
    accounts: [{ account: 'acc_one', history_start: '2026-07-01' }],
    ...(() => {
      const through = {
        window_start: '2026-07-01',
        window_end: '2026-09-20 10:00:00',
        claimed_end: '2026-09-20 10:00:00',
      };
      const window = { account: 'acc_one', ...through };
      return { covered: [window], loads: [{ ...window, seen_at: '2026-09-20 11:00:00' }] };
    })(),
    costs: [
      { bucket_start: '2026-07-05 05:00:00', cost: '4' },
      { bucket_start: '2026-08-05 05:00:00', cost: '12' },
      { bucket_start: '2026-09-05 05:00:00', cost: '14.5' },
    ],
  };

  test('adds what the books know to be unspent to the amount of the next period, and raises thresholds by it', async () => {
    const asked = budgets(['from: 2026-07', 'rollover: true'], []);
    const facts = await withBooks(given, async (connection) => {
      const carried = await withCarried(connection, asked, usual);
      return budgetFacts(connection, carried, usual);
    });
    const told = facts.filter(({ period }) => period === '2026-09');
    // July leaves 6 of 10, August 4 of 16.
    expect(told.map(({ state, amount, carried }) => `${state} ${Number(amount)} ${Number(carried ?? 0)}`)).toEqual([
      'raised 14 4',
      'raised 10 0',
    ]);
  });

  test('says if costs of earlier periods may still change it', async () => {
    const asked = budgets(['from: 2026-07', 'rollover: true'], ['period: daily', 'from: 2026-09-18', 'rollover: true']);
    const [monthly, daily] = await withBooks(given, (connection) => withCarried(connection, asked, usual));
    expect(monthly?.carried?.get('2026-09')).toEqual({ amount: 4n * 10n ** 12n, isFinal: true });
    expect(daily?.carried?.get('2026-09-20')).toEqual({ amount: 20n * 10n ** 12n, isFinal: true });
    const late = { ...usual, now: Date.parse('2026-09-21T12:00:00Z') };
    const [, later] = await withBooks(given, (connection) => withCarried(connection, asked, late));
    expect(later?.carried?.get('2026-09-21')).toEqual({ amount: 30n * 10n ** 12n, isFinal: false });
  });
});

describe('the parts of a shared budget', () => {
  test('have their own spend, and the rest belongs to none of them', async () => {
    const given: Given = {
      ...complete('acc_one'),
      costs: [
        { cost: '1' },
        { cost: '2', workspace: 'south' },
        { cost: '4', workspace: 'south', resource_type: 'volume' },
        { cost: '8', workspace: 'west' },
      ],
    };
    const parts = 'parts: [{ name: n, scope: { workspace: north } }, { name: s, scope: { workspace: south } }]';
    const asked = budgets(
      [parts],
      [parts, 'scope: { workspace: [north, south, west] }'],
      [parts, 'scope: { resource_type: sandbox }'],
    );
    const lines = asked.map((budget) => ({ budget, period: budgetCalendar(budget).periodAt(now) }));
    const spends = await withBooks(given, (connection) => readSpends(connection, lines, usual));
    expect(
      spends.map((spend) => [plain(spend.spent), ...(spend.parts ?? []).map((part) => plain(part.spent))]),
    ).toEqual([
      ['7', '1', '6'],
      ['15', '1', '6'],
      ['11', '1', '2'],
    ]);
    expect(spends.map((spend) => plain(othersOf(spend.spent, spend.parts ?? [])))).toEqual(['0', '8', '8']);
  });

  test('of owners are unknown without an allocation, while the budget itself is known', async () => {
    const parts = 'parts: [{ name: a, scope: { owner: { team: a } } }, { name: b, scope: { owner: { team: b } } }]';
    const [budget] = budgets([parts, 'scope: { workspace: north }']);
    if (budget === undefined) throw new Error('no budget');
    const line = { budget, period: budgetCalendar(budget).periodAt(now) };
    const given = { ...complete('acc_one'), costs: [{ cost: '3' }] };
    const [spend] = await withBooks(given, (connection) => readSpends(connection, [line], usual));
    expect(plain(spend?.spent)).toBe('3');
    expect(spend?.parts).toEqual([
      { name: 'a', spent: undefined },
      { name: 'b', spent: undefined },
    ]);
    expect(spend?.gaps).toEqual([
      'scope.owner needs an allocation, but no cost in these books has an owner; write jobs/allocation.yaml and run "costbook allocation apply"',
    ]);
  });
});

test('hours that arrived since the last evaluation are evaluated, however old they are', async () => {
  const { accounts } = complete('acc_one');
  const chunks = [
    { load_number: 1, seen_at: '2026-09-11 02:00:00', window_start: '2026-09-01', window_end: '2026-09-11' },
    { load_number: 2, seen_at: '2026-09-20 11:00:00', window_start: '2026-09-11', window_end: '2026-09-20' },
  ].map((chunk) => ({ ...chunk, claimed_end: chunk.window_end }));
  const given: Given = {
    accounts,
    loads: chunks,
    covered: chunks.map(({ seen_at: _, ...chunk }) => ({ ...chunk, since_load: chunk.load_number })),
    costs: [
      { bucket_start: '2026-09-05 05:00:00', cost: '10' },
      { bucket_start: '2026-09-12 05:00:00', cost: '10', load_number: 2 },
    ],
  };
  const alert = { run_number: 2, command: 'alert', started_at: '2026-09-11 03:00:00' };
  const failed = { ...alert, run_number: 3, started_at: '2026-09-20 11:30:00', outcome: 'failed' };
  const told = async (runs: Given['runs']) => {
    const asked = budgets(['period: daily']);
    const facts = await withBooks({ ...given, runs: runs ?? [] }, (connection) =>
      budgetFacts(connection, asked, usual),
    );
    return facts.map(({ period, state }) => `${period} ${state}`);
  };
  // Settled through the seventeenth. The first evaluation leaves what is settled; the twentieth has no hours yet.
  const unsettled = ['2026-09-17 resolved', '2026-09-18 resolved', '2026-09-19 resolved'];
  expect(await told([])).toEqual(unsettled);
  expect(await told([alert, failed])).toEqual([
    '2026-09-11 resolved',
    '2026-09-12 raised',
    ...['13', '14', '15', '16'].map((day) => `2026-09-${day} resolved`),
    ...unsettled,
  ]);
  expect(await told([alert, { ...failed, outcome: 'done' }])).toEqual(unsettled);
});

describe('labels and owners', () => {
  const bare: Given = { ...complete('acc_one'), costs: [{ cost: '1' }, { cost: '2', resource_name: 'crate' }] };
  /** Costs of two boxes, of which one changes its labels within the month, and of a disk that all share. */
  const given: Given = {
    ...complete('acc_one'),
    costs: [
      { bucket_start: '2026-09-02 05:00:00', cost: '1' },
      { bucket_start: '2026-09-12 05:00:00', cost: '2' },
      { bucket_start: '2026-09-12 05:00:00', cost: '4', resource_name: 'crate', resource_uuid: 'sbx-2' },
      {
        bucket_start: '2026-09-12 05:00:00',
        cost: '7',
        resource_type: 'volume',
        resource_name: 'disk',
        resource_uuid: null,
      },
      { bucket_start: '2026-09-12 05:00:00', cost: '100', resource_name: 'nobody', resource_uuid: 'sbx-3' },
    ],
    resources: [
      { labels: '{"tier":"gold","squad":"search"}', valid_to: '2026-09-10' },
      { labels: '{"tier":"silver","squad":"ads"}', valid_from: '2026-09-10' },
      { resource_name: 'crate', labels: '{"tier":"silver","a/b~c":"x","squad":"search"}' },
    ],
    allocation: `
dimensions: [squad, team]
rules:
  - name: shared
    when: { resource_type: volume }
    split: { by: cost, over: [squad] }
  - name: labels
    owner: { squad: { label: squad }, team: all }
`,
  };
  const labelled = budgets(
    ['scope: { label: { tier: gold } }'],
    ['scope: { label: { tier: silver } }'],
    ['scope: { label: { tier: [gold, silver], "a/b~c": x } }'],
    ['scope: { label: { tier: [gold, silver] }, resource_name: box }'],
  );
  // The disk is split as the squads' own cost: search has 1 + 4 of it, ads 2.
  const owned = budgets(
    ['scope: { owner: { squad: search } }'],
    ['scope: { owner: { squad: [search, ads] } }'],
    ['scope: { owner: { squad: ads, team: all } }'],
    ['scope: { owner: { squad: search }, resource_type: volume }'],
  );

  test("are those of the cost's hour, and an owner has its share of shared cost", async () => {
    await withBooks(given, async (connection) => {
      expect(await spent(connection, labelled)).toEqual(['1', '6', '4', '3']);
      expect(await spent(connection, owned)).toEqual(['10', '14', '2', '5']);
    });
  });

  test('are unknown if the books have none; other budgets are evaluated', async () => {
    const asked = [...budgets([]), ...labelled.slice(0, 1), ...owned.slice(0, 1)];
    const lines = asked.map((budget) => ({ budget, period: budgetCalendar(budget).periodAt(now) }));
    const spends = await withBooks(bare, (connection) => readSpends(connection, lines, usual));
    expect(spends.map(({ spent: of, burnRate, gaps }) => [plain(of), burnRate === undefined, gaps])).toEqual([
      ['3', false, []],
      [
        undefined,
        true,
        [
          'scope.label needs an inventory with labels, and these books have none; run "costbook ingest" with a token that can list resources',
        ],
      ],
      [
        undefined,
        true,
        [
          'scope.owner needs an allocation, but no cost in these books has an owner; write jobs/allocation.yaml and run "costbook allocation apply"',
        ],
      ],
    ]);
  });

  test('report a dimension that the allocation does not have, instead of zero cost', async () => {
    const lines = budgets(['scope: { owner: { product: search } }']).map((budget) => ({
      budget,
      period: budgetCalendar(budget).periodAt(now),
    }));
    const [spend] = await withBooks(given, (connection) => readSpends(connection, lines, usual));
    expect([spend?.spent, spend?.gaps]).toEqual([
      undefined,
      ['the allocation has no dimension "product", expected one of squad, team'],
    ]);
  });

  test('make no fact if they are unknown, and the reason is reported', async () => {
    const asked = [...labelled.slice(0, 1), ...budgets([])];
    await withBooks(bare, async (connection) => {
      expect(await budgetFacts(connection, labelled.slice(0, 1), usual)).toEqual([]);
      const spends = await watchedSpends(connection, asked, usual);
      expect(spends.map(({ spent: of }) => of)).toEqual([undefined, 3n * 10n ** 12n]);
    });
  });

  test('are reported as possibly missing if a listing was not read to its end', async () => {
    const listings = [
      { resource_type: 'sandbox', outcome: 'partial', read_at: '2026-09-19 02:00:00', run_number: 1 },
      { resource_type: 'sandbox', outcome: 'partial', read_at: '2026-09-20 02:00:00', run_number: 2 },
      { resource_type: 'agent', outcome: 'refused' },
      { resource_type: 'function', outcome: 'refused' },
      { resource_type: 'job', outcome: 'refused' },
      { resource_type: 'job', outcome: 'read', token_workspace: 'north' },
      { resource_type: 'model', outcome: 'failed', read_at: '2026-09-19', run_number: 1 },
      { resource_type: 'model', outcome: 'read', read_at: '2026-09-20', run_number: 2 },
      { resource_type: 'policy', outcome: 'failed', account: 'acc_two' },
    ];
    const asked = budgets(
      ['scope: { label: { tier: gold }, account: acc_one }'],
      ['scope: { label: { tier: gold }, account: acc_one, resource_type: [sandbox, job] }'],
      ['scope: { owner: { squad: ads } }'],
      [],
    );
    const lines = asked.map((budget) => ({ budget, period: budgetCalendar(budget).periodAt(now) }));
    const costs = ['agent', 'job', 'model', 'policy'].map((resource_type) => ({ resource_type, cost: '1' }));
    const books = { ...given, listings, costs: [...(given.costs ?? []), ...costs] };
    const spends = await withBooks(books, (connection) => readSpends(connection, lines, usual));
    const sandbox = 'labels may be missing: the sandbox listing of acc_one was partial at 2026-09-20T02:00:00Z';
    const agent = 'labels may be missing: the agent listing of acc_one was refused at 2026-09-01T00:00:00Z';
    expect(spends.map(({ gaps }) => gaps)).toEqual([[agent, sandbox], [sandbox], [], []]);
  });

  test('report values that no resource or owner has, with the probable spelling', async () => {
    const asked = [
      ...budgets(['scope: { label: { tier: [gold, golden], stage: dev } }']),
      ...budgets(['scope: { owner: { squad: serch } }']),
    ];
    expect(await withBooks(given, (connection) => namesNotFound(connection, asked))).toEqual([
      'budget b0: no cost in the books has the label tier "golden"; did you mean "gold"?',
      'budget b0: no cost in the books has the label stage "dev"',
      'budget b0: no cost in the books has the owner squad "serch"; did you mean "search"?',
    ]);
  });

  test('accept an owner that only has a share of shared cost', async () => {
    const allocation = `
rules:
  - name: shared
    when: { resource_type: volume }
    split: { by: weights, weights: [{ team: search, weight: 3 }, { team: ads, weight: 1 }] }
`;
    const [ads] = budgets(['scope: { owner: { team: ads } }']);
    if (ads === undefined) throw new Error('no budget');
    await withBooks({ ...given, allocation }, async (connection) => {
      expect(await namesNotFound(connection, [ads])).toEqual([]);
      expect(await spent(connection, [ads])).toEqual(['1.75']);
      const { periods } = await backtestBudget(connection, ads, { from: now, now, lagHours: 2 });
      expect(periods.map(({ spent: of }) => plain(of))).toEqual(['1.75']);
    });
  });

  test("are the current ones in a replay, which ends with the budget's current spend", async () => {
    await withBooks(given, async (connection) => {
      const asked = { from: now, now, lagHours: 2 };
      for (const [budget, expected] of [
        ...labelled.map((one, index) => [one, ['1', '6', '4', '3'][index]] as const),
        ...owned.map((one, index) => [one, ['10', '14', '2', '5'][index]] as const),
      ]) {
        const { periods } = await backtestBudget(connection, budget, asked);
        expect(periods.map(({ spent: of }) => plain(of))).toEqual([expected]);
      }
    });
    await withBooks(bare, async (connection) => {
      for (const budget of [...labelled.slice(0, 1), ...owned.slice(0, 1)]) {
        await expect(backtestBudget(connection, budget, { from: now, now, lagHours: 2 })).rejects.toThrow(
          /^jobs\/budgets\.yaml:2:5: budget b0: scope\.(label|owner) needs an? /,
        );
      }
    });
  });
});

test('names that no cost in the books has are reported with the probable spelling', async () => {
  const given: Given = { ...complete('acc_one'), costs: [{ cost: '1' }] };
  const asked = budgets(
    ['scope: { account: acc_uno, workspace: [north, nroth], resource_name: ["b*", "z*"], resource_type: sandbox }'],
    ['scope: { billing_dimension: b%, workspace: n_rth }'],
  );
  expect(await withBooks(given, (connection) => namesNotFound(connection, asked))).toEqual([
    'budget b0: no cost in the books has the account "acc_uno"; did you mean "acc_one"?',
    'budget b0: no cost in the books has the workspace "nroth"; did you mean "north"?',
    'budget b0: no cost in the books has the resource_name "z*"',
    'budget b1: no cost in the books has the workspace "n_rth"; did you mean "north"?',
    'budget b1: no cost in the books has the billing_dimension "b%"',
  ]);
});

describe('the replay', () => {
  const load = (load_number: number, seen_at: string) => ({ load_number, seen_at });

  /** The events as `day threshold state value`, and complete through. */
  async function replayed(given: Given, budget: Budget | undefined, over = '2026-09-01'): Promise<string[]> {
    if (budget === undefined) throw new Error('no budget');
    const asked = { from: Date.parse(`${over}T00:00:00Z`), now, lagHours: 2 };
    const { events } = await withBooks(given, (connection) => backtestBudget(connection, budget, asked));
    return events.map(({ at, threshold, state, value, period, completeThrough }) =>
      [formatInstant(at), period, threshold, state, Number(value), completeThrough].join(' '),
    );
  }

  test('uses what each night knew: a restatement resolves a reached threshold, and a later one reaches it again', async () => {
    const given: Given = {
      accounts: [{ history_start: '2026-09-01', recorded_at: '2026-09-02' }],
      loads: [
        load(1, '2026-09-02 02:15:00'),
        load(2, '2026-09-03 02:15:00'),
        load(3, '2026-09-04 02:15:00'),
        load(4, '2026-09-06 00:00:00'),
      ],
      covered: [
        {
          window_start: '2026-09-01',
          window_end: '2026-09-02',
          claimed_end: '2026-09-02',
          since_load: 1,
          replaced_by: 3,
        },
        {
          window_start: '2026-09-01',
          window_end: '2026-09-02',
          claimed_end: '2026-09-02',
          since_load: 3,
          load_number: 3,
        },
        {
          window_start: '2026-09-02',
          window_end: '2026-09-04',
          claimed_end: '2026-09-03',
          since_load: 2,
          load_number: 2,
        },
      ],
      costs: [
        { bucket_start: '2026-09-01 05:00:00', cost: '6', load_number: 4 },
        { bucket_start: '2026-09-02 05:00:00', cost: '5', load_number: 2 },
      ],
      restatements: [
        { bucket_start: '2026-09-01 05:00:00', old_cost: '7', new_cost: '2', old_load_number: 1, load_number: 3 },
        { bucket_start: '2026-09-01 05:00:00', old_cost: '2', new_cost: '6', old_load_number: 3, load_number: 4 },
      ],
    };
    const [budget] = budgets(['thresholds: [{ at: 65% }, { at: 10 USD }]']);
    expect(await replayed(given, budget)).toEqual([
      '2026-09-02T00:00:00Z 2026-09 65% raised 7 2026-09-01T22:00:00Z',
      '2026-09-04T00:00:00Z 2026-09 10 USD raised 12 2026-09-03T00:00:00Z',
      '2026-09-05T00:00:00Z 2026-09 10 USD resolved 7 2026-09-03T00:00:00Z',
      // What was seen at the very end of a day was known then.
      '2026-09-06T00:00:00Z 2026-09 10 USD raised 11 2026-09-03T00:00:00Z',
    ]);
  });

  test('counts costs from the first load as known when their hour was over, and no others', async () => {
    const given: Given = {
      ...complete('acc_one'),
      loads: [load(1, '2026-09-15 02:15:00'), load(2, '2026-09-18 02:15:00')],
      covered: [
        { window_start: '2026-09-01', window_end: '2026-09-15', claimed_end: '2026-09-15' },
        {
          window_start: '2026-09-15',
          window_end: '2026-09-18',
          claimed_end: '2026-09-18',
          load_number: 2,
          since_load: 2,
        },
      ],
      costs: [
        { bucket_start: '2026-09-03 20:00:00', cost: '6', load_number: 1 },
        { bucket_start: '2026-09-05 22:00:00', cost: '6', load_number: 1 },
        // In hours that were loaded before: known only from the second load on.
        { bucket_start: '2026-09-05 22:00:00', cost: '10', load_number: 2, resource_name: 'late' },
        { bucket_start: '2026-09-15 04:00:00', cost: '10', load_number: 2 },
      ],
      restatements: [
        {
          bucket_start: '2026-09-05 22:00:00',
          resource_name: 'late',
          new_cost: '10',
          old_load_number: null,
          load_number: 2,
        },
      ],
    };
    const [budget] = budgets(['thresholds: [{ at: 60% }, { at: 120% }, { at: 121% }, { at: 222% }, { at: 320% }]']);
    expect(await replayed(given, budget)).toEqual([
      '2026-09-04T00:00:00Z 2026-09 60% raised 6 2026-09-03T22:00:00Z',
      // Its hour was over at 23:00, and the platform's lag ended on the next day.
      '2026-09-07T00:00:00Z 2026-09 120% raised 12 2026-09-06T22:00:00Z',
      // Of the thresholds crossed in one night, only the highest is reported, as alert does.
      '2026-09-19T00:00:00Z 2026-09 320% raised 32 2026-09-18T00:00:00Z',
    ]);
  });

  test('raises thresholds again in each period, from the start of the period that contains the first day', async () => {
    const given: Given = {
      ...complete('acc_one'),
      costs: ['2026-09-07', '2026-09-09', '2026-09-10'].map((day) => ({ bucket_start: `${day} 05:00:00`, cost: '10' })),
    };
    const [budget] = budgets(['period: daily'], []);
    expect((await replayed(given, budget, '2026-09-08')).map((line) => line.slice(0, 31))).toEqual([
      '2026-09-10T00:00:00Z 2026-09-09',
      '2026-09-11T00:00:00Z 2026-09-10',
    ]);
  });
});
