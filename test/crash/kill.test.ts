// Second tier: Kills or interrupts an ingest at sixteen chosen moments.

import { readFileSync, watch } from 'node:fs';
import { cp, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  askFile,
  askSnapshot,
  costsIn,
  type IngestOptions,
  ingest,
  ingestCommandLine,
  newProject,
  type Started,
  startCli,
  startMain,
} from '../support/project.ts';
import {
  expectedCosts,
  type Fact,
  type ScriptedPlatform,
  series,
  startScriptedPlatform,
} from '../support/scripted-platform.ts';

const volume = {
  workspace: 'north',
  type: 'volume',
  name: 'data',
  uuid: null,
  dimension: 'volume_storage_gbs',
} as const;
const box = {
  workspace: 'south',
  type: 'sandbox',
  name: 'box',
  uuid: 'sbx-1',
  dimension: 'sandbox_image_storage_gbs',
} as const;

/** What is in the books before the run that dies: the first three days. */
const before = '2026-09-04T00:30:00Z';
/** Three windows later. */
const now = '2026-09-22T00:30:00Z';
const old: readonly Fact[] = [
  ...series(volume, '2026-09-02T05', [1, 2]),
  ...series({ ...volume, workspace: 'south' }, '2026-09-02T05', [3]),
];
const facts: readonly Fact[] = [
  ...old.map((fact) => ({ ...fact, cost: fact.cost * 2 })),
  ...series(
    box,
    '2026-09-05T00',
    Array.from({ length: 400 }, (_, hour) => 0.01 * (1 + (hour % 7))),
  ),
];

/** What must hold of the books after any death and the run after it. */
async function expectTruth(dir: string): Promise<void> {
  expect(await costsIn(dir)).toEqual(expectedCosts(facts, 'admin'));
  const [repeated] = await askSnapshot(
    dir,
    'select count(*) - count(distinct (series_id, bucket_start)) as row_count from ledger.hourly_costs',
  );
  expect(repeated).toEqual({ row_count: '0' });
  // Windows are disjoint, and together they are every hour there is.
  expect(
    await askSnapshot(
      dir,
      `select a.window_start from coverage as a join coverage as b
      on a.window_start < b.window_start and a.window_end > b.window_start`,
    ),
  ).toEqual([]);
  expect(
    await askSnapshot(
      dir,
      `select sum(date_diff('hour', window_start, window_end)) as hours, strftime(min(window_start), '%m-%d') as first from coverage`,
    ),
  ).toEqual([{ hours: String(21 * 24), first: '09-01' }]);
  const filed = await askSnapshot(dir, 'select landing from ledger.loads order by 1');
  const landing = join(dir, 'data', 'landing');
  const folders = (await readdir(join(landing, 'acc_one'))).map((name) => ({ landing: `acc_one/${name}` }));
  expect(folders).toEqual(filed);
  // Nothing is left in the folder where pages arrive.
  const entries = await readdir(landing, { recursive: true, withFileTypes: true });
  const left = entries.filter(
    ({ parentPath }) => parentPath !== landing && !parentPath.startsWith(join(landing, 'acc_one')),
  );
  expect(left.map(({ name }) => name)).toEqual([]);
}

let loadedBefore = '';
beforeAll(async () => {
  loadedBefore = await newProject();
  expect((await ingest(loadedBefore, await startScriptedPlatform(old), { now: before })).exitCode).toBe(0);
});

/** A project with the first three days in its books, and a platform that knows more. */
async function started(): Promise<{ dir: string; platform: ScriptedPlatform }> {
  const dir = await newProject();
  await cp(loadedBefore, dir, { recursive: true });
  return { dir, platform: await startScriptedPlatform(facts) };
}

/** An ingest in a process of its own. */
function begin(dir: string, platform: ScriptedPlatform, options: Partial<IngestOptions>): Started {
  return startCli(...ingestCommandLine(dir, platform, { now, ...options }));
}

describe.concurrent('a killed ingest', () => {
  // One window after another, so that a request's number is a place in the run.
  const env = { COSTBOOK_CONCURRENCY: '1' };

  test.each([1, 3, 5, 7])('after request %i leaves books that the next run completes', async (k) => {
    const { dir, platform } = await started();
    const run = begin(dir, platform, { args: ['--refetch'], env });
    const snapshots: unknown[] = [];
    platform.onRequest = async ({ number }) => {
      if (number > k) return;
      // Readers are never kept waiting by the writer, and see nothing but what was published.
      snapshots.push((await askSnapshot(dir, 'select count(*) as rows from costs'))[0]);
      if (number < k) return;
      run.process.kill('SIGKILL');
      await run.ended;
    };
    expect((await run.ended).exitCode).toBe(137);
    expect(snapshots).toEqual(Array.from({ length: k }, () => ({ rows: '3' })));
    expect(await costsIn(dir)).toEqual(expectedCosts(old, 'admin'));

    platform.onRequest = () => undefined;
    const again = await ingest(dir, platform, { now, args: ['--refetch'], env });
    expect({ exitCode: again.exitCode, unproven: again.account.unproven }).toEqual({ exitCode: 0, unproven: [] });
    await expectTruth(dir);
    expect(await askSnapshot(dir, 'select outcome from runs order by run_number')).toEqual([
      { outcome: 'done' },
      { outcome: 'interrupted' },
      { outcome: 'done' },
    ]);
  });

  test.each([
    ['files the folder of its first load', 'landing/acc_one', /^load-000000002$/],
    ['files the folder of its last load', 'landing/acc_one', /^load-000000004$/],
    ['copies the snapshot', '.', /^costbook\.duckdb\.\d+\.part$/],
  ])('as it %s leaves books that the next run completes', async (_, below, name) => {
    const { dir, platform } = await started();
    const folder = join(dir, 'data', below);
    await mkdir(folder, { recursive: true });
    const run = begin(dir, platform, { args: ['--refetch'], env });
    const names = watch(folder, (_event, seen) => {
      if (seen !== null && name.test(seen)) run.process.kill('SIGKILL');
    });
    const { exitCode } = await run.ended;
    names.close();
    expect(exitCode).toBe(137);
    // What was published is whole, whichever run it is of.
    expect((await costsIn(dir)).length).toBeGreaterThan(0);

    const again = await ingest(dir, platform, { now, args: ['--refetch'] });
    expect(again.exitCode).toBe(0);
    await expectTruth(dir);
  });

  test('keeps its loaded windows: the next run does not fetch them again', async () => {
    const { dir, platform } = await started();
    // Nothing is young, and the past is left alone: only what is missing is asked for.
    const quiet = { COSTBOOK_SETTLE_DAYS: '0', COSTBOOK_VERIFY_DAYS: '0', COSTBOOK_DEEP_VERIFY_PAGES: '0' };
    // With one socket the held request would keep the newer windows waiting too, where it is asked before their last one.
    const run = begin(dir, platform, { env: { ...quiet, COSTBOOK_CONCURRENCY: '8' } });
    let told = '';
    run.process.stderr?.on('data', (piece) => {
      told += piece;
    });
    // The oldest window gets no answer; the two newer ones are loaded meanwhile.
    platform.onRequest = async ({ start, query }) => {
      if (start >= Date.parse('2026-09-08T00:00:00Z') || query['resolution'] !== 'hourly') return;
      while (told.split('window.loaded').length < 3) await sleepFor(5);
      run.process.kill('SIGKILL');
      await run.ended;
    };
    expect((await run.ended).exitCode).toBe(137);
    const [held] = await askFile(
      join(dir, 'data', 'warehouse.duckdb'),
      `select list(strftime(window_start, '%m-%d') order by window_start) as starts from coverage`,
    );
    expect(held).toEqual({ starts: ['09-01', '09-08', '09-15'] });

    platform.onRequest = () => undefined;
    platform.requests.length = 0;
    await ingest(dir, platform, { now, env: quiet });
    const hourly = platform.requests.filter(({ query }) => query['resolution'] === 'hourly');
    const asked = [...new Set(hourly.map(({ start }) => new Date(start).toISOString().slice(0, 13)))];
    // The hole, and the two hours that were too young to be claimed before.
    expect(asked).toEqual(['2026-09-21T22', '2026-09-03T22']);
  });
});

describe.concurrent('an interrupted ingest', () => {
  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('by %s ends with %i, its row in runs and a snapshot', async (signal, expected) => {
    const { dir, platform } = await started();
    const run = begin(dir, platform, { args: ['--refetch'], env: { COSTBOOK_CONCURRENCY: '1' } });
    // The request is never answered: ending must not wait for it.
    platform.onRequest = async ({ number }) => {
      if (number < 6) return;
      if (number === 6) run.process.kill(signal);
      await run.ended;
    };
    const { exitCode, stderr } = await run.ended;
    expect(exitCode).toBe(expected);
    expect(stderr).toContain(`ended by ${signal}`);
    expect(
      await askSnapshot(dir, 'select outcome, exit_code, error from runs order by run_number desc limit 1'),
    ).toEqual([{ outcome: 'failed', exit_code: expected, error: `ended by ${signal}` }]);

    platform.onRequest = () => undefined;
    expect((await ingest(dir, platform, { now, args: ['--refetch'] })).exitCode).toBe(0);
    await expectTruth(dir);
  });

  test('ends at once while it waits for the platform', async () => {
    const { dir, platform } = await started();
    platform.failures = [{ times: 1, status: 429, headers: { 'retry-after': '300' } }];
    const run = startMain(...ingestCommandLine(dir, platform, { now }));
    await run.said('request.retried');
    run.signal('SIGTERM');
    expect((await run.ended).exitCode).toBe(143);
  });

  test('ends at once while a slow body arrives', async () => {
    const { dir, platform } = await started();
    const run = startMain(...ingestCommandLine(dir, platform, { now, args: ['--refetch'] }));
    platform.onHalf = async () => {
      run.signal('SIGTERM');
      await run.ended;
    };
    const { exitCode, stderr } = await run.ended;
    expect({ exitCode, stderr }).toEqual({ exitCode: 143, stderr: expect.stringContaining('ended by SIGTERM') });

    platform.onHalf = undefined;
    expect((await ingest(dir, platform, { now, args: ['--refetch'] })).exitCode).toBe(0);
    await expectTruth(dir);
  });

  test('completes the transaction of a load first', async () => {
    const { dir, platform } = await started();
    const run = startMain(
      ...ingestCommandLine(dir, platform, { now, args: ['--refetch'], env: { COSTBOOK_CONCURRENCY: '1' } }),
    );
    const names = watch(join(dir, 'data', 'landing', 'acc_one'), (_event, name) => {
      if (name === 'load-000000002') run.signal('SIGTERM');
    });
    expect((await run.ended).exitCode).toBe(143);
    names.close();
    const [held] = await askSnapshot(
      dir,
      `select (select count(*) from ledger.loads where load_number = 2) as loads,
        (select count(*) > 0 from ledger.reconciliation where load_number = 2) as proven,
        (select count(*) > 0 from ledger.covered where load_number = 2) as covered`,
    );
    // All of the load is in the books, or nothing of it.
    expect([
      { loads: '1', proven: true, covered: true },
      { loads: '0', proven: false, covered: false },
    ]).toContainEqual(held);
    expect((await ingest(dir, platform, { now, args: ['--refetch'] })).exitCode).toBe(0);
    await expectTruth(dir);
  });

  /** Starts an ingest and stops it while it copies the snapshot; copies are quick, so this may take several runs. */
  async function copying(): Promise<{ dir: string; platform: ScriptedPlatform; run: Started; copy: number }> {
    const { dir, platform } = await started();
    for (let tries = 0; tries < 10; tries += 1) {
      const run = begin(dir, platform, { args: ['--refetch'] });
      const copy = await new Promise<number | undefined>((resolve) => {
        const names = watch(join(dir, 'data'), (_event, name) => {
          const pid = Number(/^costbook\.duckdb\.(\d+)\.part$/.exec(name ?? '')?.[1]);
          if (Number.isNaN(pid)) return;
          names.close();
          try {
            process.kill(pid, 'SIGSTOP');
            // A process that has ended takes signals until its parent knows of its end.
            if (/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) return;
          } catch {
            return; // it is over already
          }
          resolve(pid);
        });
        run.process.once('exit', () => resolve(undefined));
      });
      if (copy !== undefined) return { dir, platform, run, copy };
    }
    throw new Error('no copy could be caught');
  }

  test('stops copying the snapshot, and readers keep the old one', async () => {
    const { dir, platform, run, copy } = await copying();
    run.process.kill('SIGTERM');
    await sleepFor(2_000); // the copy must not end before the writer knows of it
    process.kill(copy, 'SIGCONT');
    expect((await run.ended).exitCode).toBe(143);
    const [last] = await askSnapshot(dir, 'select outcome, exit_code from runs order by run_number desc limit 1');
    expect(last).toEqual({ outcome: 'failed', exit_code: 143 });
    expect((await ingest(dir, platform, { now, args: ['--refetch'] })).exitCode).toBe(0);
    await expectTruth(dir);
  });

  test('ends at once at the second signal while a disk hangs', async () => {
    const { dir, platform, run, copy } = await copying();
    run.process.kill('SIGINT');
    const again = setInterval(() => run.process.kill('SIGINT'), 100);
    const { exitCode } = await run.ended;
    clearInterval(again);
    expect({ exitCode, signal: run.process.signalCode }).toEqual({ exitCode: 130, signal: 'SIGINT' });
    process.kill(copy, 'SIGCONT');
    expect((await ingest(dir, platform, { now, args: ['--refetch', '--wait', '1m'] })).exitCode).toBe(0);
    await expectTruth(dir);
  });
});
