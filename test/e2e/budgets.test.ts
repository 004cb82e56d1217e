import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Ended, ingest, newProject, runCli } from '../support/project.ts';
import { box, type Fact, series, startScriptedPlatform } from '../support/scripted-platform.ts';

const disk = { ...box, type: 'volume', workspace: 'south', name: 'disk', uuid: null, dimension: 'volume_storage_gbs' };

/** The platform's numbers on a day of October; on the eighth, those of the fourth have changed. */
function truth(day: number): Fact[] {
  return [
    ...series(box, '2026-10-02T05', [45]),
    ...series(box, '2026-10-03T05', [10]),
    ...series(box, '2026-10-04T05', [day < 8 ? 30 : 5]),
    ...series(disk, '2026-10-06T05', [9]),
  ].filter(({ hour }) => hour < `2026-10-0${day}`);
}

const budgets = `budgets:
  - name: everything
    period: monthly
    amount: 100 USD
    thresholds: [{ at: 50% }, { at: 80 USD, severity: critical }]
  - name: north
    parent: everything
    scope: { workspace: north }
    period: monthly
    amount: 60 USD
`;

let dir = '';
beforeAll(async () => {
  dir = await newProject();
  const platform = await startScriptedPlatform([]);
  for (const day of [4, 6, 8]) {
    platform.facts = truth(day);
    const night = `2026-10-0${day}T02:15:00Z`;
    const { exitCode, stderr } = await ingest(dir, platform, { now: night, env: { COSTBOOK_SINCE: '2026-10-01' } });
    expect(exitCode, stderr).toBe(0);
  }
  await mkdir(join(dir, 'jobs'));
  await writeFile(join(dir, 'jobs', 'budgets.yaml'), budgets);
}, 300_000);

const now = '2026-10-08T03:00:00Z';

async function run(...args: string[]): Promise<Ended> {
  return runCli(['budgets', ...args, '--dir', dir, '--now', now]);
}

/** The project with another budgets file. */
async function draft(text: string): Promise<string> {
  const file = join(await newProject(), 'draft.yaml');
  await writeFile(file, text);
  return file;
}

describe('budgets', () => {
  test('shows spend, daily pace and complete-through of each budget', async () => {
    const { exitCode, stdout, stderr } = await run();
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toBe(
      `budget      period   USD spent  of USD       %  days left  USD a day  USD forecast  state     complete through
──────────  ───────  ─────────  ──────  ──────  ─────────  ─────────  ────────────  ────────  ────────────────────
everything  2026-10      69.00  100.00   69.00       24.0       9.86          none  WARNING   2026-10-08T00:00:00Z
north       2026-10      60.00   60.00  100.00       24.0       8.57          none  EXCEEDED  2026-10-08T00:00:00Z
USD a day: of the last 168 complete hours 2026-10-01T00:00:00Z/2026-10-08T00:00:00Z
no forecast of everything, north: too little history: 5 complete days since its first cost, for 24 to come
at the pace of its complete hours, a period ends: everything at 354.93 USD, north at 308.63 USD
complete through 2026-10-08T00:00:00Z, settled through 2026-10-05T00:00:00Z
`,
    );
  });

  test('shows budgets in units of usage, and costs per unit of what a file counts', async () => {
    const file = await draft(`budgets:
  - { name: everything, period: monthly, amount: 100 USD }
  - { name: runtime, period: monthly, amount: 50000 GB-seconds, scope: { workspace: north }, thresholds: [80%] }
  - { name: hours, period: monthly, amount: 100 GB-hours }
  - { name: orders, period: monthly, amount: 0.5 USD, per: { name: order, counts: orders.csv } }
  - { name: visits, period: monthly, amount: 0.5 USD, per: { name: visit, counts: visits.csv } }
`);
    await writeFile(join(dirname(file), 'orders.csv'), 'date,count\n2026-10-01,10\n2026-10-02,90\n2026-10-03,0\n');
    await writeFile(join(dirname(file), 'visits.csv'), 'date,count\n');
    const { exitCode, stdout, stderr } = await run('--file', file, '--exit-code');
    expect(
      stdout,
    ).toBe(`budget      period       spent        of  unit                %  days left  a day  forecast  state      complete through
──────────  ───────  ─────────  ────────  ─────────────  ──────  ─────────  ─────  ────────  ─────────  ────────────────────
everything  2026-10      69.00    100.00  USD             69.00       24.0   9.86      none  OK         2026-10-08T00:00:00Z
runtime     2026-10      60000     50000  GB-seconds     120.00       24.0   8571      none  EXCEEDED   2026-10-08T00:00:00Z
hours       2026-10      19.17    100.00  GB-hours        19.17       24.0   2.74      none  OK         2026-10-08T00:00:00Z
orders      2026-10   0.550000  0.500000  USD per order  110.00       28.0             none  EXCEEDED   2026-10-04T00:00:00Z
visits      2026-10  no counts  0.500000  USD per visit               23.8             none  NO COUNTS  nothing yet
runtime counts GB-seconds of sandbox_compute_runtime_gbs
hours counts GB-hours of sandbox_compute_runtime_gbs, volume_storage_gbs; name billing_dimension in its scope to count fewer
orders: 55.00 USD for 100 × order, through 2026-10-03, the last day with counts
visits: nothing of visit is counted yet
a day of everything, runtime, hours: of the last 168 complete hours 2026-10-01T00:00:00Z/2026-10-08T00:00:00Z
no forecast of everything, runtime, hours: too little history: 5 complete days since its first cost, for 24 to come
no forecast of orders: a cost per order is the ratio so far, which has no forecast
no forecast of visits: a cost per visit is the ratio so far, which has no forecast
at the pace of its complete hours, a period ends: everything at 354.93 USD, runtime at 308,633 GB-seconds, hours at 98.59 GB-hours
complete through 2026-10-08T00:00:00Z, settled through 2026-10-05T00:00:00Z
`);
    expect(stderr).toBe(
      'warning: budget orders, 2026-10 is not complete: the counts of order end with 2026-10-03, 4 days behind the costs\n' +
        'warning: budget visits, 2026-10 is not complete: the counts of visit have nothing in 2026-10, 7 days behind the costs\n',
    );
    expect(exitCode).toBe(4);
    const json = await run('--file', file, '--json');
    const shown = (JSON.parse(json.stdout) as { budgets: Record<string, unknown>[] }).budgets;
    expect(shown.map(({ unit, spent, state }) => [unit, spent, state])).toEqual([
      ['USD', '69.000000000000', 'OK'],
      ['GB-seconds', '60000.000000000000', 'EXCEEDED'],
      ['GB-hours', '19.166666666667', 'OK'],
      ['USD per order', '0.550000000000', 'EXCEEDED'],
      ['USD per visit', null, 'NO COUNTS'],
    ]);
    expect(shown.slice(3).map(({ per }) => per)).toEqual([
      { name: 'order', count: '100', cost: '55.000000000000', through: '2026-10-03' },
      { name: 'visit', count: '0', cost: '0.000000000000', through: null },
    ]);
    const back = await run('backtest', 'runtime', '--file', file, '--lookback', '10d');
    expect(back.stdout).toContain('GB-seconds then');
    expect(back.stdout).not.toContain('USD');
    const refused = await run('backtest', 'orders', '--file', file);
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining('cannot be tested on the past')]);
  });

  test('prints exact decimals with --json', async () => {
    const { stdout } = await run('--json');
    const answer = JSON.parse(stdout) as { budgets: Record<string, unknown>[] };
    expect(answer).toMatchObject({ completeThrough: '2026-10-08T00:00:00Z', settledThrough: '2026-10-05T00:00:00Z' });
    expect(answer.budgets[1]).toEqual({
      name: 'north',
      parent: 'everything',
      scope: { workspace: ['north'] },
      period: '2026-10',
      periodStart: '2026-10-01T00:00:00Z',
      periodEnd: '2026-11-01T00:00:00Z',
      timeZone: 'UTC',
      unit: 'USD',
      spent: '60.000000000000',
      spentSince: '0.000000000000',
      amount: '60.000000000000',
      share: '100.00',
      daysLeft: 24,
      burnRate: {
        perDay: '8.571428571429',
        from: '2026-10-01T00:00:00Z',
        to: '2026-10-08T00:00:00Z',
        hours: 168,
      },
      state: 'EXCEEDED',
      forecast: null,
      noForecastReason: 'too little history: 5 complete days since its first cost, for 24 to come',
      end: { expected: '308.633093525180', ifStopped: null, spentOn: null, from: 'pace' },
      completeThrough: '2026-10-08T00:00:00Z',
      gaps: [],
      drivers: [
        {
          account: 'acc_one',
          workspace: 'north',
          resourceType: 'sandbox',
          resourceName: 'box',
          cost: '60.000000000000',
        },
      ],
      thresholds: [
        {
          key: 'budget/@all/north/2026-10/100%',
          threshold: '100%',
          of: 'spent',
          severity: 'critical',
          limit: '60.000000000000',
          isReached: true,
          notify: [],
        },
        {
          key: 'budget/@all/north/2026-10/forecast:100%',
          threshold: '100%',
          of: 'forecast',
          severity: 'warning',
          limit: '60.000000000000',
          isReached: true,
          notify: [],
        },
      ],
    });
  });

  test('--exit-code ends with 6 if a budget is exceeded, and with 0 if none is', async () => {
    expect((await run('--exit-code')).exitCode).toBe(6);
    const enough = await draft('budgets:\n  - { name: enough, period: monthly, amount: 69.01 USD }\n');
    expect((await run('--exit-code', '--file', enough)).exitCode).toBe(0);
  });

  test('unknown spend is shown as not known, and --exit-code ends with 4', async () => {
    const file = await draft(
      'budgets:\n  - { name: other, period: daily, amount: 5 USD, scope: { account: acc_two } }\n' +
        '  - { name: today, period: monthly, amount: 5 USD, scope: { workspace: noth } }\n',
    );
    const { exitCode, stdout, stderr } = await run('--exit-code', '--file', file);
    expect(stdout).toMatch(/^other +2026-10-08 +not known +5.00 +0.8 +not known +none +not known +nothing yet$/m);
    expect(stderr).toBe(
      'warning: budget other, 2026-10-08 is not complete: account acc_two is not in the books\n' +
        'warning: budget other: no cost in the books has the account "acc_two"\n' +
        'warning: budget today: no cost in the books has the workspace "noth"; did you mean "north"?\n',
    );
    expect(exitCode).toBe(4);
  });

  test('spend of owners is not known before there are allocation rules; other budgets are shown', async () => {
    const file = await draft(
      'budgets:\n  - { name: team, period: monthly, amount: 5 USD, scope: { owner: { team: search } } }\n' +
        '  - { name: all, period: monthly, amount: 500 USD }\n',
    );
    const { exitCode, stdout, stderr } = await run('--exit-code', '--file', file);
    expect(stdout).toMatch(/^team +2026-10 +not known +5.00 +24.0 +not known +none +not known +2026-10-08T00:00:00Z$/m);
    expect(stdout).toMatch(/^all +2026-10 +69.00 +500.00 +13.80 /m);
    expect(stderr).toContain(
      'warning: budget team, 2026-10 is not complete: scope.owner needs an allocation, but no cost in these books has an owner; write jobs/allocation.yaml',
    );
    expect(exitCode).toBe(4);
    expect((await run('backtest', 'team', '--file', file)).exitCode).toBe(2);
  });

  test('books that are out of date cause a warning, and no budget is OK by them', async () => {
    const { stdout, stderr } = await runCli(['budgets', '--dir', dir, '--now', '2026-10-13T03:00:00Z']);
    expect(stderr).toBe(
      'warning: budgets everything 2026-10, north 2026-10 are not complete: acc_one is complete through 2026-10-08T00:00:00Z only\n',
    );
    expect(stdout).toContain(' EXCEEDED ');
    expect(stdout).toContain('\ndays left: counted from complete through, not from now, 2026-10-13T03:00:00Z\n');
    const file = await draft('budgets:\n  - { name: all, period: monthly, amount: 5000 USD }\n');
    const stateAt = async (day: string) => {
      const asked = ['budgets', '--file', file, '--dir', dir, '--json', '--now', `2026-10-${day}T03:00:00Z`];
      return JSON.parse((await runCli(asked)).stdout).budgets[0].state;
    };
    expect([await stateAt('08'), await stateAt('13')]).toEqual(['OK', null]);
  });

  test('wrong files, names and options end with 2', async () => {
    const nothing = await newProject();
    const asked: [string[], string][] = [
      [['--file', join(nothing, 'no.yaml')], 'found no such file, expected budgets such as'],
      [
        ['--file', await draft('budgets:\n  - { name: a, period: monthly, amount: 5 }\n')],
        'draft.yaml:2:41: amount: found 5,',
      ],
      [
        ['--file', await draft('budgets:\n  - { name: a, period: monthly, amount: 5 USD, notify: finops }\n')],
        'draft.yaml:2:56: notify: found the sink "finops", which costbook.yaml does not have; add it there',
      ],
      [
        ['backtest', 'evrything'],
        'there is no budget "evrything" (did you mean "everything"?): expected one of everything, north',
      ],
      [['backtest'], 'name a budget: everything, north'],
      [['show'], 'there is no "costbook budgets show": expected backtest'],
      [['backtest', 'north', '--lookback', '3h'], '--lookback: found "3h", expected from 1 to 36500 days'],
      [['--lookback', '3d'], '--lookback applies only to "costbook budgets backtest"'],
    ];
    for (const [args, words] of asked) {
      const { exitCode, stdout, stderr } = await run(...args);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
      expect(stderr).toContain(words);
    }
  });
});

describe('budgets backtest', () => {
  test('shows when a threshold would have fired and resolved, with the spend known then', async () => {
    const { exitCode, stdout, stderr } = await run('backtest', 'everything');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    // What the first night made up for counts as known two hours after it had happened.
    expect(stdout).toBe(
      `day           threshold  severity  what      period   USD then  limit  complete through
────────────  ─────────  ────────  ────────  ───────  ────────  ─────  ────────────────────
2026-10-03 *  50%        warning   fires     2026-10     55.00  50.00  2026-10-03T22:00:00Z
2026-10-06    80 USD     critical  fires     2026-10     85.00  80.00  2026-10-06T00:00:00Z
2026-10-08    80 USD     critical  resolves  2026-10     69.00  80.00  2026-10-08T00:00:00Z
everything over 2025-09-01T00:00:00Z/2026-10-08T03:00:00Z: fires 2 times, resolves once; exceeded in 0 of 1 periods with known costs.
* The books were updated daily from 2026-10-04T02:15:00Z on; costs before that count as known once their hour was over.
complete through 2026-10-08T00:00:00Z, settled through 2026-10-05T00:00:00Z
`,
    );
  });

  test('evaluates a draft and prints JSON', async () => {
    const file = await draft('budgets:\n  - { name: less, period: monthly, amount: 70 USD }\n');
    const { stdout } = await run('backtest', 'less', '--file', file, '--lookback', '8d', '--json');
    const { events, periods, ...answer } = JSON.parse(stdout) as Record<string, Record<string, unknown>[]>;
    expect(events?.map(({ day, state, value, wasRecorded, key }) => [day, state, value, wasRecorded, key])).toEqual([
      ['2026-10-06', 'raised', '85.000000000000', true, 'budget/@all/less/2026-10/100%'],
      ['2026-10-08', 'resolved', '69.000000000000', true, 'budget/@all/less/2026-10/100%'],
    ]);
    expect(periods?.map(({ period, spent, state }) => [period, spent, state])).toEqual([
      ['2026-09', null, null],
      ['2026-10', '69.000000000000', 'OK'],
    ]);
    expect(answer).toEqual({
      budget: 'less',
      unit: 'USD',
      from: '2026-09-01T00:00:00Z',
      to: '2026-10-08T03:00:00Z',
      recordedSince: '2026-10-04T02:15:00Z',
      completeThrough: '2026-10-08T00:00:00Z',
      settledThrough: '2026-10-05T00:00:00Z',
    });
  });
});

test('doctor names counts that have stopped', async () => {
  await writeFile(
    join(dir, 'jobs', 'budgets.yaml'),
    'budgets:\n  - { name: orders, period: monthly, amount: 1 USD, per: { name: order, counts: orders.csv } }\n',
  );
  await writeFile(join(dir, 'jobs', 'orders.csv'), 'date,count\n2026-10-02,5\n');
  const { stdout } = await runCli(['doctor', '--dir', dir, '--now', now]);
  expect(stdout).toContain('budget orders: its counts of order end with 2026-10-02, 5 days behind the costs');
});
