// Second tier: Lives through nights of clocks that are a month ahead.

import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  askSnapshot,
  costsIn,
  ingest,
  ingestCommandLine,
  newProject,
  putEmptyBooks,
  runCli,
} from '../support/project.ts';
import { box, expectedCosts, series, startScriptedPlatform } from '../support/scripted-platform.ts';

const facts = series(
  box,
  '2026-09-01T00',
  Array.from({ length: 24 * 20 }, (_, hour) => 1 + (hour % 5) / 4),
);
const httpDate = (instant: string) => new Date(instant).toUTCString();

/** A platform at this instant: it knows of no later hour, and its answers say when they were made. */
async function platformAt(instant: string, date: string | undefined = httpDate(instant)) {
  const platform = await startScriptedPlatform();
  at(instant, date);
  return { platform, at };
  function at(now: string, told: string | undefined = httpDate(now)) {
    platform.facts = facts.filter(({ hour }) => Date.parse(`${hour}:00:00Z`) + 3_600_000 <= Date.parse(now));
    platform.date = told;
  }
}

/** Every alert that there ever was, after one more evaluation. */
async function alertsOf(dir: string, now: string): Promise<unknown[]> {
  await runCli(['alert', '--dir', dir, '--now', now]);
  return askSnapshot(dir, 'select alert_key, severity, ending from alerts order by occurrence');
}

/** The last instant in any column that says when something was seen, written or done: `2026-09-10 03:30:00`. */
async function lastInstantIn(dir: string): Promise<unknown> {
  const columns = await askSnapshot(
    dir,
    `select table_name, column_name from duckdb_columns()
    where schema_name = 'ledger' and data_type = 'TIMESTAMP' and column_name similar to
      '(recorded|replaced|seen|proven|closed|reopened|read|raised|ended|acknowledged|queued|began|made|started)_at|valid_from'`,
  );
  const all = columns.map(
    ({ table_name, column_name }) => `select ${column_name} as instant from ledger.${table_name}`,
  );
  const [row] = await askSnapshot(
    dir,
    `select cast(max(instant) as varchar) as last from (${all.join(' union all ')})`,
  );
  return row?.['last'];
}

async function costAsOf(dir: string, asOf: string, now: string): Promise<string> {
  const sql = 'select sum(cost) as cost from costs';
  const { stdout, stderr } = await runCli(['sql', sql, '--as-of', asOf, '--dir', dir, '--now', now, '--format', 'csv']);
  return stdout.split('\n')[1] ?? stderr;
}

describe.concurrent('a clock that is a month ahead', () => {
  test('completes no hour that the platform has not reached, is reported, and later nights are right', async () => {
    const dir = await newProject();
    const { platform, at } = await platformAt('2026-09-10T03:30:00Z');
    const fast = await ingest(dir, platform, { now: '2026-10-10T03:30:00Z' });
    expect(fast.account.completeThrough).toBe('2026-09-10T01:00:00Z');
    expect(fast.stderr).toContain('clock.ahead');
    expect(fast.stderr).toContain('"ahead":"30 days"');
    expect(await alertsOf(dir, '2026-10-10T03:31:00Z')).toEqual([
      { alert_key: 'clock/acc_one', severity: 'warning', ending: null },
    ]);
    expect(await lastInstantIn(dir)).toBe('2026-09-10 03:31:00');
    const doctor = await runCli(['doctor', '--offline', '--dir', dir, '--now', '2026-10-10T03:31:00Z']);
    expect(doctor.stdout).toMatch(
      /30 days ahead .*: it showed 2026-10-10T03:30:00Z, the platform's 2026-09-10T03:30:00Z/,
    );

    at('2026-09-11T03:30:00Z');
    const right = await ingest(dir, platform, { now: '2026-09-11T03:30:00Z' });
    expect({
      exitCode: right.exitCode,
      through: right.account.completeThrough,
      restated: right.account.restated,
    }).toEqual({
      exitCode: 0,
      through: '2026-09-11T01:00:00Z',
      restated: 0,
    });
    expect(right.stderr).not.toContain('ahead');
    expect(await costsIn(dir)).toEqual(expectedCosts(platform.facts, 'admin'));
    expect(await alertsOf(dir, '2026-09-11T03:31:00Z')).toEqual([
      { alert_key: 'clock/acc_one', severity: 'warning', ending: 'resolved' },
    ]);
    const cost = await costAsOf(dir, 'now', '2026-09-30T00:00:00Z');
    expect(await costAsOf(dir, '2026-09-12T00:00:00Z', '2026-09-30T00:00:00Z')).toBe(cost);
    expect(await costAsOf(dir, '2026-09-10T12:00:00Z', '2026-09-30T00:00:00Z')).not.toBe(cost);
    const late = await runCli(['status', '--dir', dir, '--now', '2026-09-14T03:30:00Z', '--exit-code']);
    expect(late.exitCode).toBe(4);
    const rebuilt = await runCli(['rebuild', '--dir', dir, '--into', join(await newProject(), 'rebuilt.duckdb')]);
    expect(rebuilt.stdout).toContain('identical');
  });

  test('removes no landing page as old while no platform answers that could correct it', async () => {
    const dir = await newProject();
    const { platform } = await platformAt('2026-09-10T03:30:00Z');
    const env = { COSTBOOK_LANDING_KEEP_DAYS: '30' };
    await ingest(dir, platform, { now: '2026-09-10T03:30:00Z', env });
    const pages = async () => (await readdir(join(dir, 'data', 'landing'), { recursive: true })).sort();
    const before = await pages();
    expect(before.join()).toContain('detail-0001');
    const lost = { ...platform, url: 'http://127.0.0.1:9' };
    expect((await ingest(dir, lost, { now: '2100-01-01T03:30:00Z', env })).exitCode).toBe(3);
    expect(await pages()).toEqual(before);
  });

  test('or of the year 2100 fetches few of the hours that have not begun', async () => {
    const dir = await newProject();
    const { platform } = await platformAt('2026-09-10T03:30:00Z');
    const { exitCode, account } = await ingest(dir, platform, { now: '2100-01-01T03:30:00Z' });
    expect({ exitCode, through: account.completeThrough }).toEqual({ exitCode: 0, through: '2026-09-10T01:00:00Z' });
    expect(account.windows).toBeLessThan(20);
    expect(await costsIn(dir)).toEqual(expectedCosts(platform.facts, 'admin'));
    // They are no hole in the books, for which nobody could do anything before 2100.
    await ingest(dir, platform, { now: '2026-09-10T03:30:00Z' });
    const check = await runCli(['check', '--dir', dir, '--now', '2026-09-10T03:40:00Z']);
    expect(check.stdout).toContain('pass  coverage_has_no_hole\n');
  });

  test('and that one account has set right leaves another account, which has not begun, complete', async () => {
    const dir = await newProject();
    const { platform } = await platformAt('2026-09-10T03:30:00Z');
    platform.accounts = ['acc_one', 'acc_two'];
    platform.facts = platform.facts.flatMap((fact) => platform.accounts.map((account) => ({ ...fact, account })));
    const accounts = platform.accounts.map((id) => `  - { id: ${id}, since: 2026-09-01 }\n`).join('');
    await writeFile(
      join(dir, 'costbook.yaml'),
      `url: ${platform.url}\ntoken: ${platform.tokens.admin}\nconcurrency: 1\naccounts:\n${accounts}`,
    );
    const env = { COSTBOOK_URL: '', COSTBOOK_TOKEN: '', COSTBOOK_ACCOUNT: '', COSTBOOK_SINCE: '' };
    const fast = await ingest(dir, platform, { now: '2027-03-10T03:30:00Z', env });
    expect(fast.exitCode).toBe(0);
    expect(fast.accounts.map(({ completeThrough }) => completeThrough)).toEqual(Array(2).fill('2026-09-10T01:00:00Z'));
  });

  test('and is then set days too far back is not called right, until it is', async () => {
    const dir = await newProject();
    const { platform } = await platformAt('2026-09-10T03:30:00Z');
    await ingest(dir, platform, { now: '2026-10-10T03:30:00Z' });
    await alertsOf(dir, '2026-10-10T03:31:00Z');
    const slow = await ingest(dir, platform, { now: '2026-09-05T03:30:00Z' });
    expect(slow.stderr).toContain('"behind":"5 days"');
    const alert = await runCli(['alert', '--dir', dir, '--now', '2026-09-05T03:31:00Z']);
    expect(alert.stdout).not.toContain('Resolved');
    const status = await runCli(['status', '--dir', dir, '--now', '2026-09-05T03:32:00Z']);
    expect(status.stdout).toContain('1 open alert, 0 critical');
    expect(status.stdout).toContain("This machine's clock is");
    const right = await ingest(dir, platform, { now: '2026-09-10T03:30:00Z' });
    expect(right.stderr).not.toContain('behind');
    expect(await alertsOf(dir, '2026-09-10T03:31:00Z')).toEqual([
      { alert_key: 'clock/acc_one', severity: 'warning', ending: 'resolved' },
    ]);
  });

  test('without a Date header marks hours complete, which the next response with a Date header corrects', async () => {
    const dir = await newProject();
    const { platform, at } = await platformAt('2026-09-09T03:30:00Z');
    await ingest(dir, platform, { now: '2026-09-09T03:30:00Z' });
    // As an older Costbook read it: without a word of the platform's clock.
    at('2026-09-10T03:30:00Z', undefined);
    platform.date = undefined;
    const fast = await ingest(dir, platform, { now: '2026-10-20T03:30:00Z' });
    expect(fast.account.completeThrough).toBe('2026-10-20T01:00:00Z');
    const closed = await runCli(['close', '2026-09', '--dir', dir, '--now', '2026-10-20T03:31:00Z']);
    expect(closed.exitCode, closed.stderr).toBe(0);

    const status = await runCli(['status', '--dir', dir, '--now', '2026-09-11T03:30:00Z']);
    expect(status.stdout).toMatch(/dated up to 2026-10-20T03:31:00Z.*\n.*correct the clock and run "costbook ingest"/);
    const before = ['sql', 'select 1', '--as-of', '2026-09-10', '--dir', dir, '--now', '2026-09-11T03:30:00Z'];
    expect((await runCli(before)).stderr).toContain('Before 2026-10-20T03:31:00Z, --as-of returns older numbers');

    at('2026-09-11T03:30:00Z');
    const { account, stderr } = await ingest(dir, platform, { now: '2026-09-11T03:30:00Z' });
    expect(account.completeThrough).toBe('2026-09-11T01:00:00Z');
    expect(stderr).toContain('clock.hours_refetched');
    expect(stderr).toContain('"months":["2026-09"]');
    expect(await costsIn(dir)).toEqual(expectedCosts(platform.facts, 'admin'));
    // The runs of that clock get new dates, and an instant in between has the answers of that time.
    expect(stderr).toContain('clock.instants_corrected');
    expect(await askSnapshot(dir, 'select max(started_at) as last from ledger.runs')).toEqual([
      { last: '2026-09-11 03:30:00' },
    ]);
    const cost = await costAsOf(dir, 'now', '2026-09-30T00:00:00Z');
    expect(await costAsOf(dir, '2026-09-12T00:00:00Z', '2026-09-30T00:00:00Z')).toBe(cost);
    const [close] = await askSnapshot(dir, 'select cast(closed_at as varchar) as at, cost from ledger.closes');
    expect(close?.['at']).toBe('2026-09-11 03:29:59.999');
    expect(Number(await costAsOf(dir, '2026-09-11T03:29:59.999Z', '2026-09-30T00:00:00Z'))).toBe(
      Number(close?.['cost']),
    );
    const { stdout } = await runCli(['check', '--dir', dir]);
    expect(stdout).toMatch(/warn {2}months_are_closed_after_their_end: 1 offender/);
    const rebuilt = await runCli(['rebuild', '--dir', dir, '--into', join(await newProject(), 'rebuilt.duckdb')]);
    expect(rebuilt.stdout).toContain('identical');
  });
});

/** A project with a budget and an ingest of 10 September, by a clock of this machine. */
async function budgetsAt(now: string): Promise<string> {
  const dir = await newProject();
  await mkdir(join(dir, 'jobs'));
  const budget = 'budgets:\n  - name: everything\n    period: monthly\n    amount: 5000 USD\n';
  await writeFile(join(dir, 'jobs', 'budgets.yaml'), budget);
  const { platform } = await platformAt('2026-09-10T03:30:00Z');
  await ingest(dir, platform, { now });
  return dir;
}

describe.concurrent('after a night whose clock was a month ahead', () => {
  const later = '2026-10-10T03:31:00Z';
  let dir = '';
  beforeAll(async () => {
    dir = await budgetsAt('2026-10-10T03:30:00Z');
  });
  const ask = (...words: string[]) => runCli([...words, '--dir', dir, '--now', later]);

  test.each([
    ['status', [], '2026-09-10T01:00:00Z  2 h ago', 'days ago'],
    ['summarize', ['--period', 'monthly', '--dry-run'], 'Month 2026-08', '2026-10'],
    ['summarize', ['--dry-run'], 'Week 2026-W36', '2026-10'],
    ['budgets', [], '2026-09 ', '2026-10'],
    ['forecast', [], '2026-09 ', 'is over'],
    ['report', ['daily_trend'], '2026-09-09', '2026-10'],
    ['report', ['daily_trend', '--from', '-2d'], '2026-09-08', '2026-10'],
    ['alert', ['--dry-run'], 'clock/acc_one', 'out of date'],
    ['alerts', [], 'complete through 2026-09-10T01:00:00Z', '2026-10'],
    ['plan', [], '2026-09-10T03:00:00Z', '2026-10'],
    ['restatements', ['--since', '-1d'], 'complete through 2026-09-10T01:00:00Z', '2026-10'],
    ['sql', ['select max(window_end) as last from coverage', '--format', 'csv'], '2026-09-10T04:00:00Z', '2026-10'],
  ] as const)('%s %j works by the time of the platform', async (command, options, expected, unexpected) => {
    const { stdout, stderr } = await ask(command, ...options);
    expect(stdout, stderr).toContain(expected);
    const answer =
      stdout +
      stderr
        .split('\n')
        .filter((line) => !line.includes('"clock"'))
        .join('\n');
    expect(answer).not.toContain(unexpected);
    expect(stderr.split('omit --now').length, stderr).toBe(2);
  });

  test.each([
    ['report', ['daily_trend', '--as-of', '2026-09-20T00:00:00Z']],
    ['sql', ['select 1', '--as-of', '2026-09-20T00:00:00Z']],
    ['forecast', ['--as-of', '2026-09-20T00:00:00Z']],
    ['restatements', ['--since', '2026-09-20']],
  ])('%s %j is refused, as that instant has not come', async (command, options) => {
    const { exitCode, stderr } = await ask(command, ...options);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 2 });
    expect(stderr).toContain('2026-09-10T03:31:00Z');
  });
});

describe.concurrent('books that are 40 days old', () => {
  let dir = '';
  beforeAll(async () => {
    dir = await budgetsAt('2026-09-10T03:30:00Z');
  });

  test.each([
    ['status', [], 'TOO OLD'],
    ['summarize', ['--period', 'monthly', '--dry-run'], 'not complete'],
    ['budgets', [], 'not known'],
    ['forecast', [], 'complete through 2026-09-10T01:00:00Z'],
    ['report', ['daily_trend'], '2026-09-09'],
    ['alert', ['--dry-run'], 'out of date'],
    ['restatements', [], 'complete through 2026-09-10T01:00:00Z'],
  ] as const)('%s %j says through when they are complete', async (command, options, expected) => {
    const { stdout, stderr } = await runCli([command, ...options, '--dir', dir, '--now', '2026-10-20T03:30:00Z']);
    expect(stdout, stderr).toContain(expected);
    expect(stdout).toContain('2026-09-10T01:00:00Z');
    expect(stdout).not.toMatch(/0\.00 .*OK/);
    expect(stderr).not.toMatch(/clock|costbook:/);
  });
});

describe.concurrent('a clock that is behind', () => {
  const budget = 'budgets:\n  - { name: all, period: monthly, amount: 1 USD, thresholds: [100%] }\n';

  /** A night by this clock, which nobody chose with --now. */
  async function night(dir: string, platform: Parameters<typeof ingestCommandLine>[1], clock: string) {
    const [, env] = ingestCommandLine(dir, platform, { now: clock });
    const asked = { ...env, COSTBOOK_NOW: clock };
    const { exitCode, stderr } = await runCli(['ingest', '--dir', dir], asked);
    const alert = await runCli(['alert', '--dir', dir], asked);
    const alerts = await askSnapshot(dir, 'select alert_key from alerts where ended_at is null order by alert_key');
    return { exitCode, stderr, alert: alert.stdout, open: alerts.map(({ alert_key }) => alert_key) };
  }

  test('is reported, also if it was never wrong before', async () => {
    const dir = await newProject();
    await putEmptyBooks(dir);
    const { platform } = await platformAt('2026-09-18T03:30:00Z');
    const slow = await night(dir, platform, '2026-09-06T03:30:00Z');
    expect(slow.stderr).toContain('"behind":"12 days"');
    expect(slow.open).toContain('clock/acc_one');
    expect((await night(dir, platform, '2026-09-18T03:30:00Z')).alert).toContain('Resolved: this machine');
  });

  test('alerts of no budget of the past, and its entries are not blamed on a fast clock', async () => {
    const dir = await newProject();
    await putEmptyBooks(dir);
    await mkdir(join(dir, 'jobs'));
    const { platform } = await platformAt('2026-09-18T03:30:00Z', undefined);
    await night(dir, platform, '2026-09-18T03:30:00Z');
    await writeFile(join(dir, 'jobs', 'budgets.yaml'), budget);
    const slow = await night(dir, platform, '2026-09-10T03:30:00Z');
    expect(slow.open).toEqual(['clock/acc_one']);
    const status = await runCli(['status', '--dir', dir], { COSTBOOK_NOW: '2026-09-10T03:30:00Z' });
    expect(status.stdout).toContain('it is behind, or it was ahead');
    const right = await night(dir, platform, '2026-09-18T04:30:00Z');
    expect(right.open).toEqual(['budget/@all/all/2026-09/100%']);
  });
});

describe.concurrent('no alert about the clock is raised', () => {
  test('if the machine was off for weeks, or --now is in the past', async () => {
    const dir = await newProject();
    const { platform, at } = await platformAt('2026-09-03T03:30:00Z');
    await ingest(dir, platform, { now: '2026-09-03T03:30:00Z' });
    at('2026-09-20T03:30:00Z');
    const back = await ingest(dir, platform, { now: '2026-09-20T03:30:00Z' });
    expect(back.account.completeThrough).toBe('2026-09-20T01:00:00Z');
    const past = await ingest(dir, platform, { now: '2026-09-12T03:30:00Z' });
    expect(past.account.completeThrough).toBe('2026-09-20T01:00:00Z');
    expect(back.stderr + past.stderr).not.toContain('clock');
    expect(await askSnapshot(dir, 'select * from ledger.clocks')).toEqual([]);
  });

  test.each([
    ['no Date', undefined],
    ['an invalid Date', 'yesterday'],
    ['the Date of a clock that was never set', 'Thu, 01 Jan 1970 00:00:10 GMT'],
    ['a Date that no clock shows yet', 'Fri, 31 Dec 9999 23:59:59 GMT'],
    ['a Date before the costs in the response', httpDate('2026-09-02T00:00:00Z')],
  ])('if the platform sends %s', async (_, date) => {
    const dir = await newProject();
    const { platform } = await platformAt('2026-09-05T03:30:00Z');
    platform.date = date;
    const { exitCode, account, stderr } = await ingest(dir, platform, { now: '2026-09-05T03:30:00Z' });
    expect({ exitCode, through: account.completeThrough }).toEqual({ exitCode: 0, through: '2026-09-05T01:00:00Z' });
    expect(stderr).not.toContain('clock');
  });
});
