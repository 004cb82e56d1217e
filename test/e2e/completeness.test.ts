// Second tier: Thirty ingests of accounts that lag or fail; sql/views and e2e/status hold the words and numbers.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  askSnapshot,
  copyOfLoaded,
  costsIn,
  type IngestOptions,
  ingest,
  loadedProject,
  newProject,
  projectWithPlatform,
  runCli,
} from '../support/project.ts';
import {
  box,
  expectedCosts,
  type ScriptedPlatform,
  type Seen,
  series,
  startScriptedPlatform,
} from '../support/scripted-platform.ts';

/** One hour's cost in each of the windows 13th to 20th, 6th to 13th and 1st to 6th. */
const facts = ['02', '08', '18'].flatMap((day) => series(box, `2026-09-${day}T05`, [1]));
const now = '2026-09-20T00:30:00Z';

/** Always fails for requests of windows that start within these days. */
function isDownFor(platform: ScriptedPlatform, from: string, to: string): void {
  const hits = ({ start }: Seen) => start >= Date.parse(`${from}T00:00Z`) && start < Date.parse(`${to}T00:00Z`);
  platform.failures = [{ times: 99, hits, status: 503, headers: { 'retry-after': '86400' } }];
}

/** The windows whose hours were asked for, each once, in the order in which they were asked. */
function windowsOf(platform: ScriptedPlatform): string[] {
  const windows = platform.requests
    .filter(({ query }) => query['resolution'] === 'hourly')
    .map(({ query }) => `${query['startTime']}/${query['endTime']}`.replaceAll(':00:00Z', ''));
  return [...new Set(windows)];
}

async function completeness(platform: ScriptedPlatform, options: Partial<IngestOptions> = {}) {
  const dir = await newProject();
  const { exitCode, account } = await ingest(dir, platform, { now, ...options });
  return { exitCode, completeThrough: account.completeThrough, settledThrough: account.settledThrough };
}

describe.concurrent('complete through', () => {
  test('is the last whole hour minus lagHours; settled through is settleDays earlier', async () => {
    expect(await completeness(await startScriptedPlatform(facts))).toEqual({
      exitCode: 0,
      completeThrough: '2026-09-19T22:00:00Z',
      settledThrough: '2026-09-16T22:00:00Z',
    });
  });

  test('is the last whole hour if lagHours is 0', async () => {
    const env = { COSTBOOK_LAG_HOURS: '0', COSTBOOK_SETTLE_DAYS: '0' };
    expect(await completeness(await startScriptedPlatform(facts), { env })).toEqual({
      exitCode: 0,
      completeThrough: '2026-09-20T00:00:00Z',
      settledThrough: '2026-09-20T00:00:00Z',
    });
  });

  test('is 48 hours ago if lagHours is 48, though younger hours are loaded', async () => {
    const { dir, platform } = await projectWithPlatform(series(box, '2026-09-19T22', [1]));
    const { account } = await ingest(dir, platform, { now, env: { COSTBOOK_LAG_HOURS: '48' } });
    expect(account).toMatchObject({ completeThrough: '2026-09-18T00:00:00Z', rows: 1 });
  });

  test('is empty as long as no hour is old enough', async () => {
    const { completeThrough } = await completeness(await startScriptedPlatform(facts), {
      env: { COSTBOOK_SINCE: '2026-09-19T23:00:00Z' },
    });
    expect(completeThrough).toBeNull();
  });

  test('does not depend on settleDays that reach before the books; settled through is the first hour then', async () => {
    const { settledThrough } = await completeness(await startScriptedPlatform(facts), {
      env: { COSTBOOK_SETTLE_DAYS: '90' },
    });
    expect(settledThrough).toBe('2026-09-01T00:00:00Z');
  });

  test('stops before a missing window, and moves on when it is loaded', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    isDownFor(platform, '2026-09-06', '2026-09-07');
    const first = await ingest(dir, platform, { now });
    expect(first).toMatchObject({ exitCode: 3, account: { completeThrough: '2026-09-06T00:00:00Z', windows: 2 } });
    platform.failures = [];
    platform.requests.length = 0;
    const second = await ingest(dir, platform, { now, env: { COSTBOOK_SETTLE_DAYS: '0' } });
    expect(second).toMatchObject({ exitCode: 0, account: { completeThrough: '2026-09-19T22:00:00Z' } });
    expect(windowsOf(platform)).toEqual(['2026-09-19T22/2026-09-20T00', '2026-09-06T00/2026-09-13T00']);
  });

  test('is empty after an interrupted backfill, which loads the newest window first', async () => {
    const platform = await startScriptedPlatform(facts);
    isDownFor(platform, '2026-09-01', '2026-09-13');
    expect(await completeness(platform)).toEqual({ exitCode: 3, completeThrough: null, settledThrough: null });
    expect(windowsOf(platform)[0]).toBe('2026-09-13T00/2026-09-20T00');
  });

  test('comes from the books if the account could not be reached', async () => {
    const { dir, platform } = await copyOfLoaded(facts, { now });
    platform.failures = [{ times: 99, status: 403 }];
    const { exitCode, account } = await ingest(dir, platform, { now: '2026-09-21T00:30:00Z' });
    expect({ exitCode, completeThrough: account.completeThrough }).toEqual({
      exitCode: 3,
      completeThrough: '2026-09-19T22:00:00Z',
    });
  });
});

describe.concurrent('the windows that an ingest fetches', () => {
  test('are the young days and the new hours, in one window, in a steady run', async () => {
    const { dir, platform } = await copyOfLoaded(facts, { now });
    platform.requests.length = 0;
    const { account } = await ingest(dir, platform, { now: '2026-09-21T00:30:00Z' });
    // Three days were too young to be settled when they were read, and one is new.
    expect(windowsOf(platform)).toEqual(['2026-09-17T00/2026-09-21T00']);
    // One question for the days of the past, one for its series.
    expect(account.requests).toEqual({ new: 2, settle: 0, verify: 2, repair: 0 });
    expect(platform.requests).toHaveLength(4);
  });

  test('include the days that were young before an outage', async () => {
    const { dir, platform } = await copyOfLoaded(facts, { now });
    platform.facts = [...facts, ...series(box, '2026-09-19T01', [64])];
    platform.requests.length = 0;
    const { account } = await ingest(dir, platform, { now: '2026-09-30T00:30:00Z' });
    expect(windowsOf(platform).at(-1)?.slice(0, 13)).toBe('2026-09-17T00');
    expect(account.restated).toBe(1);
    expect(await costsIn(dir)).toEqual(expectedCosts(platform.facts, 'admin'));
  });

  test('are those of --from and --to, half-open, with the reason new', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    const args = ['--from', '2026-09-07', '--to', '2026-09-09T12:00:00Z'];
    const { exitCode, account } = await ingest(dir, platform, { now, args });
    expect(windowsOf(platform)).toEqual(['2026-09-07T00/2026-09-09T12']);
    expect({ exitCode, windows: account.windows, completeThrough: account.completeThrough }).toEqual({
      exitCode: 0,
      windows: 1,
      completeThrough: null,
    });
    // What is claimed there and not young is not asked for a second time.
    platform.requests.length = 0;
    await ingest(dir, platform, { now, args });
    expect(windowsOf(platform)).toEqual([]);
  });

  test('are all of the range with --refetch, with the reason repair', async () => {
    const { dir, platform } = await copyOfLoaded(facts, { now });
    platform.requests.length = 0;
    const args = ['--from', '2026-09-02', '--to', '2026-09-10', '--refetch'];
    const { account } = await ingest(dir, platform, { now, args, env: { COSTBOOK_CONCURRENCY: '1' } });
    expect(windowsOf(platform)).toEqual(['2026-09-03T00/2026-09-10T00', '2026-09-02T00/2026-09-03T00']);
    expect(account.requests).toEqual({ new: 0, settle: 0, verify: 0, repair: 4 });
  });

  test('start with the first month with costs if since is not set, found with one request', async () => {
    const { dir, platform } = await projectWithPlatform([...facts, ...series(box, '2026-08-17T03', [0.5])]);
    const { account } = await ingest(dir, platform, { now, env: { COSTBOOK_SINCE: '' } });
    expect(platform.requests.filter(({ query }) => query['groupBy'] === undefined)).toHaveLength(1);
    expect(await askSnapshot(dir, `select strftime(history_start, '%Y-%m-%d') as start from accounts`)).toEqual([
      { start: '2026-08-01' },
    ]);
    // Of a month that is whole its total is asked as well.
    expect(account.requests).toMatchObject({ new: platform.requests.length - 1, verify: 1 });
    // It is known from then on.
    platform.requests.length = 0;
    await ingest(dir, platform, { now, env: { COSTBOOK_SINCE: '' } });
    expect(platform.requests.filter(({ query }) => query['groupBy'] === undefined)).toHaveLength(0);
  });

  test('are those of the only account of the token if none is configured', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    const { exitCode, account } = await ingest(dir, platform, { now, env: { COSTBOOK_ACCOUNT: '' } });
    expect({ exitCode, name: account.account, complete: account.completeThrough }).toEqual({
      exitCode: 0,
      name: 'acc_one',
      complete: '2026-09-19T22:00:00Z',
    });
  });
});

describe.concurrent('an account that never answered', () => {
  const env = { COSTBOOK_ACCOUNT: 'acc_two' };

  test('is in the books and holds back the complete-through of all accounts', async () => {
    const { dir, platform } = await copyOfLoaded(facts, { now });
    const failed = await ingest(dir, platform, { now, env });
    expect(failed.exitCode).toBe(3);
    const status = await runCli(['status', '--dir', dir, '--json']);
    expect(JSON.parse(status.stdout).accounts).toMatchObject([
      { account: 'acc_one', completeThrough: '2026-09-19T22:00:00Z' },
      { account: 'acc_two', completeThrough: null, lastRun: { exitCode: 3, error: expect.stringContaining('404') } },
    ]);
    const report = ['report', 'cost_by_workspace', '--month', '2026-09', '--dir', dir, '--require-complete'];
    expect((await runCli(report)).exitCode).toBe(4);
    const unnamed = await runCli(['report', 'cost_by_workspace', '--dir', dir, '--require-complete']);
    expect(unnamed).toMatchObject({
      exitCode: 4,
      stderr: expect.stringContaining('no month is complete in every account'),
    });
    expect((await runCli(['report', 'cost_by_workspace', '--dir', dir])).exitCode).toBe(2);
    const answer = await runCli(['sql', 'select 1 as one', '--dir', dir, '--json']);
    expect(JSON.parse(answer.stdout).completeThrough).toBeNull();
  });

  test('and is no longer configured is forgotten', async () => {
    const { dir, platform } = await loadedProject(facts, { now, env });
    await ingest(dir, platform, { now });
    expect(await askSnapshot(dir, 'select account from accounts')).toEqual([{ account: 'acc_one' }]);
  });
});

test('an account that costbook.yaml no longer names holds nothing back; it counts again once it is named', async () => {
  const { dir, platform } = await projectWithPlatform(
    ['acc_one', 'acc_two'].flatMap((account) => facts.map((fact) => ({ ...fact, account }))),
  );
  platform.accounts = ['acc_one', 'acc_two'];
  const ingestOf = async (day: string, ...accounts: string[]) => {
    const settings = `url: ${platform.url}\ntoken: ${platform.tokens.admin}\nsince: 2026-09-01\ninventory: false\n`;
    const named = accounts.map((id) => `{ id: ${id} }`).join(', ');
    await writeFile(join(dir, 'costbook.yaml'), `${settings}accounts: [${named}]\n`);
    return runCli(['ingest', '--dir', dir, '--now', `${day}T00:30:00Z`]);
  };
  const state = async () => {
    const answer = await runCli(['sql', 'select account, ended_at from accounts', '--dir', dir, '--json']);
    const { completeThrough, rows } = JSON.parse(answer.stdout);
    return [completeThrough, ...rows.map((row: Record<string, unknown>) => row['ended_at'])];
  };
  await ingestOf('2026-09-20', 'acc_one', 'acc_two');
  expect(await state()).toEqual(['2026-09-19T22:00:00Z', null, null]);
  await ingestOf('2026-09-22', 'acc_one');
  expect(await state()).toEqual(['2026-09-21T22:00:00Z', null, '2026-09-22T00:30:00Z']);
  const alertsOn = async (day: string) => {
    const answer = await runCli(['alert', '--dry-run', '--dir', dir, '--now', `${day}T00:40:00Z`]);
    return answer.stdout.includes('acc_two since 2026-09-19T22:00:00Z are not recorded');
  };
  expect([await alertsOn('2026-09-22'), await alertsOn('2026-10-05'), await alertsOn('2026-10-07')]).toEqual([
    ...[true, true, false],
  ]);
  const rebuilt = await runCli(['rebuild', '--into', join(await newProject(), 'rebuilt.duckdb'), '--dir', dir]);
  expect(rebuilt).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('identical') });
  await ingestOf('2026-09-23', 'acc_one', 'acc_two');
  expect(await state()).toEqual(['2026-09-22T22:00:00Z', null, null]);
});
