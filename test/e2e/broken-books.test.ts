// Second tier, long: Twenty ways to break files, each with several commands; e2e/one-month repairs one of them.

import { execFileSync } from 'node:child_process';
import { chmod, chown, cp, mkdir, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { hashText, toUnit } from '../../src/emulator/random.ts';
import { breakages, snapshotOf, warehouseOf, writeAsForeigner } from '../support/breakages.ts';
import { type BooksToBreak, booksToBreak, now, sum, total } from '../support/broken-books.ts';
import {
  askSnapshot,
  costsIn,
  type Ended,
  ingest,
  ingestCommandLine,
  newProject,
  runCli,
  startCli,
  startMain,
} from '../support/project.ts';
import { seedsOfRounds } from '../support/rounds.ts';
import type { ScriptedPlatform } from '../support/scripted-platform.ts';
import { type SinkServer, says, startSink } from '../support/sink-server.ts';

let books: BooksToBreak;
let platform: ScriptedPlatform;
let whole = '';
beforeAll(async () => {
  books = await booksToBreak();
  ({ platform, whole } = books);
});

/** A reader says the right number, or none and what to do. */
async function expectNoWrongNumber(dir: string): Promise<'right' | 'refused'> {
  const { exitCode, stdout, stderr } = await runCli(['sql', sum, '--json', '--dir', dir]);
  expect(stderr).not.toMatch(/bug in Costbook|\n {4}at /);
  if (exitCode === 0) {
    expect(JSON.parse(stdout).rows).toEqual([{ cost: total }]);
    return 'right';
  }
  expect(exitCode, stderr).toBe(4);
  expect(stdout).toBe('');
  expect(stderr).toContain('costbook repair');
  return 'refused';
}

async function expectWhole(dir: string): Promise<void> {
  expect(await costsIn(dir)).toEqual(books.costs); // DuckDB itself, without our guards, which status goes through
  const status = await runCli(['status', '--exit-code', '--now', now, '--dir', dir]);
  expect({ exitCode: status.exitCode, out: status.stdout.split('\n')[0] }, status.stderr).toEqual({
    exitCode: 0,
    out: 'YES: everything in the books is proven and fresh.',
  });
}

/** Of these status says NO, or nothing at all, and names repair. */
const saidByStatus = [
  'a client killed while it wrote to the snapshot',
  'a snapshot of junk',
  'no warehouse',
  'an empty warehouse',
  'half a warehouse',
  'half a snapshot',
  'a client killed while it deleted rows of the warehouse',
  'a client that deleted rows of the warehouse and ended',
];
/** These are healed by repair alone too, without an ingest before it. */
const healedAlone = [
  'a client killed while it wrote to the snapshot',
  'a snapshot of junk',
  'no snapshot',
  'an older warehouse',
];

test('the tables of breaks name only such as there are', () => {
  for (const name of [...saidByStatus, ...healedAlone]) expect(Object.keys(breakages)).toContain(name);
});

test.concurrent.each(Object.keys(breakages))(
  '%s makes no published number wrong; ingest repairs it, or refuses before any change and repair does',
  async (name) => {
    const dir = await books.broken(name);
    const alone = await newProject();
    if (healedAlone.includes(name)) await cp(dir, alone, { recursive: true });
    await expectNoWrongNumber(dir);
    if (saidByStatus.includes(name)) {
      const status = await runCli(['status', '--exit-code', '--now', now, '--dir', dir]);
      expect(status.exitCode).toBe(4);
      expect(status.stdout + status.stderr).toContain('costbook repair');
      expect(status.stdout).not.toMatch(/^(YES|ALERT)/);
    }
    // What can be seen without opening the warehouse, status says; doctor opens it.
    const told = await runCli(['doctor', '--offline', '--now', now, '--dir', dir]);
    expect(told.stdout, told.stderr).toContain('costbook repair');
    const before = await readdir(join(dir, 'data', 'journal'));
    const { exitCode, stderr } = await ingest(dir, platform, { now });
    expect([0, 4], stderr).toContain(exitCode);
    if (exitCode !== 0) {
      expect(stderr).toContain('costbook repair');
      expect(await readdir(join(dir, 'data', 'journal'))).toEqual(before);
      await expectNoWrongNumber(dir);
      const repair = await runCli(['repair', '--dir', dir]);
      expect(repair, repair.stderr).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('is published') });
    }
    await expectWhole(dir);
    const names = (await readdir(join(dir, 'data'))).filter((each) => !each.includes('.damaged-'));
    expect(names.filter((each) => /\.(wal|part)$/.test(each))).toEqual([]);
    if (!healedAlone.includes(name)) return;
    expect((await runCli(['repair', '--dir', alone])).exitCode).toBe(0);
    await expectWhole(alone);
  },
);

const commands: Readonly<Record<string, (dir: string) => Promise<Ended>>> = {
  ingest: (dir) => ingest(dir, platform, { now }),
  repair: (dir) => runCli(['repair', '--dir', dir]),
  report: (dir) => runCli(['report', 'cost_by_workspace', '--month', '2026-09', '--dir', dir, '--now', now]),
  rebuild: (dir) => runCli(['rebuild', '--into', `${snapshotOf(dir)}.${Date.now()}.rebuilt`, '--dir', dir]),
  status: (dir) => runCli(['status', '--dir', dir, '--now', now]),
  check: (dir) => runCli(['check', '--dir', dir]),
  alert: (dir) => runCli(['alert', '--dir', dir, '--now', now]),
};
const stepsPerRound = 6;

// By hand any number of rounds: COSTBOOK_BROKEN_ROUNDS=200 npx vitest run broken-books
test.concurrent.each(seedsOfRounds('COSTBOOK_BROKEN_ROUNDS', { fixed: 1, fresh: 12 }))(
  'books whose files break in the order of seed %i never give a wrong number, and repair heals them',
  async (seed) => {
    const dir = await books.broken();
    let story = `seed ${seed}`;
    function drawn(names: readonly string[], what: string): string {
      return names[Math.floor(toUnit(hashText(seed, what)) * names.length)] ?? '';
    }
    // What repair cannot give back is another test's; here landing and journal stay.
    const breaks = Object.keys(breakages).filter((name) => !name.includes('landing without'));
    for (let step = 0; step < stepsPerRound; step += 1) {
      if (toUnit(hashText(seed, `breaks ${step}`)) < 0.6) {
        const name = drawn(breaks, `breakage ${step}`);
        story += `; ${name}`;
        await breakages[name]?.(dir, books.older).catch(() => undefined); // what it would break may be broken already
      }
      const command = drawn(Object.keys(commands), `command ${step}`);
      story += `; ${command}`;
      const ended = await commands[command]?.(dir);
      expect([0, 2, 4, 5, 7], `${story}: ${ended?.stderr}`).toContain(ended?.exitCode);
      const read = await runCli(['sql', sum, '--json', '--dir', dir]);
      expect([0, 2, 4, 7], `${story}: ${read.stderr}`).toContain(read.exitCode);
      if (read.exitCode === 0) expect(JSON.parse(read.stdout).rows, story).toEqual([{ cost: total }]);
      else expect(read.stderr, story).toContain('costbook repair');
    }
    const repair = await runCli(['repair', '--dir', dir]);
    expect(repair.exitCode, `${story}; repair: ${repair.stderr}`).toBe(0);
    expect(await costsIn(dir), story).toEqual(books.costs);
    expect((await runCli(['status', '--exit-code', '--dir', dir, '--now', now])).exitCode, story).toBe(0);
    expect((await ingest(dir, platform, { now })).exitCode, story).toBe(0);
    expect(await costsIn(dir), story).toEqual(books.costs);
  },
  60_000 * stepsPerRound,
);

test.concurrent('views that another program changed in the warehouse are created again before anything is published', async () => {
  const dir = await books.broken();
  expect((await ingest(dir, platform, { now })).exitCode).toBe(0);
  writeAsForeigner(
    warehouseOf(dir),
    ['create or replace view costs as select * from costs_v1 limit 1', 'drop view runs'],
    'closed',
  );
  expect((await ingest(dir, platform, { now })).exitCode).toBe(0);
  await expectWhole(dir);
});

describe.concurrent('a snapshot', () => {
  test('that a client has open for writing is refused with the process of that client; repair publishes a new one', async () => {
    const dir = await books.broken();
    const ready = join(dir, 'ready');
    const holder = startCli([], {}, { cli: await holderOf(snapshotOf(dir), ready) });
    while (!(await readdir(dir)).includes('ready')) await new Promise((resolve) => setTimeout(resolve, 20));
    const refused = await runCli(['sql', sum, '--dir', dir]);
    expect(refused.exitCode).toBe(5);
    expect(refused.stderr).toContain(`held by process ${holder.process.pid} `);
    expect(refused.stderr).toContain('costbook repair');
    expect((await runCli(['repair', '--dir', dir])).exitCode).toBe(0);
    // The client continues to write to the unlinked file, and leaves a log next to the new one.
    await writeFile(join(dir, 'go'), '');
    await holder.ended;
    expect(await expectNoWrongNumber(dir)).toBe('right');
    expect((await ingest(dir, platform, { now })).exitCode).toBe(0);
    await expectWhole(dir);
  });

  test('in a read-only folder is read; with a log next to it, it is refused', async () => {
    const dir = await books.broken();
    const isRoot = process.getuid?.() === 0;
    const sent = isRoot ? { uid: 65534, gid: 65534 } : {};
    await chmod(snapshotOf(dir), 0o444);
    await chmod(join(dir, 'data'), 0o555);
    await chmod(dir, 0o755);
    const read = () => startCli(['sql', sum, '--json', '--dir', dir], {}, sent).ended;
    expect(await read()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(total) });
    await chmod(join(dir, 'data'), 0o755);
    writeAsForeigner(snapshotOf(dir), ['delete from ledger.hourly_costs'], 'killed');
    await chmod(join(dir, 'data'), 0o555);
    const refused = await read();
    expect(refused).toMatchObject({ exitCode: 4, stdout: '' });
    expect(refused.stderr).toContain('costbook repair');
    await chmod(join(dir, 'data'), 0o755);
  });

  test('is never replaced by one with less data, unless the loss is accepted', async () => {
    const dir = await books.broken('no warehouse');
    writeAsForeigner(snapshotOf(dir), ['create table mine as select 1 as one'], 'closed');
    await rm(join(dir, 'data', 'journal'), { recursive: true });
    const refused = await runCli(['repair', '--dir', dir]);
    expect(refused.exitCode).toBe(4);
    expect(refused.stderr).toContain('costbook repair --accept-loss');
    expect(await readdir(join(dir, 'data'))).not.toContain('warehouse.duckdb');
    const accepted = await runCli(['repair', '--accept-loss', '--dir', dir]);
    expect(accepted.exitCode, accepted.stderr).toBe(0);
    expect(accepted.stdout).toContain('costbook.damaged-');
    expect((await ingest(dir, platform, { now })).exitCode).toBe(0);
    expect(await costsIn(dir)).toEqual(books.costs);
  });
});

/** Cuts blocks off the end of a DuckDB file, so that it still ends with a whole block. */
async function cutBlocks(file: string, blocks: number): Promise<void> {
  const { size } = await stat(file);
  await truncate(file, 12_288 + (Math.floor((size - 12_288) / 262_144) - blocks) * 262_144);
}

describe.concurrent('a log that another program left next to the warehouse', () => {
  test.each([
    ['deletes hourly costs', 'delete from ledger.hourly_costs where load_number % 2 = 1', 'warehouse.duckdb has'],
    [
      'changes usage only',
      'update ledger.hourly_costs set usage = usage + 1',
      'the rows of ledger.hourly_costs differ',
    ],
    ['only creates a table', 'create table mine as select 1 as one', 'the table main.mine is new'],
  ])('and that %s is reported by status, doctor and ingest alike, and repair ends it', async (_, sql, words) => {
    const dir = await books.broken();
    writeAsForeigner(warehouseOf(dir), [sql], 'killed');
    expect((await stat(`${warehouseOf(dir)}.wal`)).size).toBeGreaterThan(0);
    const status = await runCli(['status', '--exit-code', '--now', now, '--dir', dir]);
    expect({ exitCode: status.exitCode, stdout: status.stdout }).toEqual({
      exitCode: 4,
      stdout: expect.stringMatching(new RegExp(`^NO: .*${words}.*\n.*costbook repair`)),
    });
    const doctor = await runCli(['doctor', '--offline', '--now', now, '--dir', dir]);
    expect(doctor.stdout).toMatch(new RegExp(`FAIL  books: .*${words}`));
    const refused = await ingest(dir, platform, { now });
    expect(refused).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('another program has changed') });
    // DuckDB may have applied the log meanwhile.
    expect((await runCli(['status', '--exit-code', '--now', now, '--dir', dir])).exitCode).toBe(4);
    expect((await runCli(['repair', '--dir', dir])).exitCode).toBe(0);
    await expectWhole(dir);
    expect((await ingest(dir, platform, { now })).exitCode).toBe(0);
  });
});

test.concurrent.each([1, 3])(
  'status and doctor report a warehouse without its last %i blocks as damaged',
  async (blocks) => {
    const dir = await books.broken();
    await cutBlocks(warehouseOf(dir), blocks);
    const status = await runCli(['status', '--exit-code', '--now', now, '--dir', dir]);
    expect(status.exitCode, status.stderr).toBe(4);
    expect(status.stdout).toMatch(/^NO: .*warehouse\.duckdb is damaged \(it is truncated.*\n.*costbook repair/);
    const { stdout } = await runCli(['doctor', '--offline', '--now', now, '--dir', dir]);
    expect(stdout.match(/^FAIL.*warehouse\.duckdb/gm)).toHaveLength(1);
  },
);

test.concurrent.each([
  ['half a snapshot', async () => undefined],
  ['a snapshot without its last blocks', (dir: string) => cutBlocks(snapshotOf(dir), 2)],
  [
    'a snapshot with half a seal',
    async (dir: string) => truncate(snapshotOf(dir), (await stat(snapshotOf(dir))).size - 9),
  ],
] as const)(
  '%s is called truncated by readers, and no other program is blamed by ingest or repair',
  async (name, cut) => {
    const dir = await books.broken(name);
    await cut(dir);
    const { exitCode, stderr } = await runCli(['sql', sum, '--dir', dir]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 4, stderr: expect.stringContaining('is truncated') });
    const repair = await runCli(['repair', '--dir', dir]);
    expect(repair.exitCode).toBe(0);
    expect(stderr + repair.stderr).not.toContain('another program');
  },
);

describe.concurrent('books that cannot be written', () => {
  /** A broken project with a sink, and how to run a command in it. */
  async function project(name: string, sink: SinkServer) {
    const dir = await books.broken(name);
    await writeFile(
      join(dir, 'costbook.yaml'),
      `sinks: { hook: { type: webhook, url: "${sink.url}", secret: a-long-secret-of-a-test, allowPrivateNetwork: true } }\n`,
    );
    const [, env] = ingestCommandLine(dir, platform, { now });
    const at = (args: string[]) => (args.includes('--now') ? [] : ['--now', now]);
    return { dir, run: (...args: string[]) => runCli([...args, '--dir', dir, ...at(args)], env) };
  }
  const transitions = (sink: SinkServer) =>
    sink.told.flatMap(({ body }) => body.alerts.map(({ key, transition }) => `${key} ${transition}`));

  test.each([
    ['half a warehouse', 4],
    ['an older warehouse', 4],
  ] as const)(
    'as of %s notify once, with what can be trusted; metrics have the failure, and the end is reported',
    async (name, exitCode) => {
      const sink = await startSink();
      const { dir, run } = await project(name, sink);
      expect((await run('run', 'nightly')).exitCode).toBe(exitCode);
      const metrics = await readFile(join(dir, 'data', 'metrics.prom'), 'utf8');
      expect(metrics).toContain(`costbook_job_last_run_exit_code{job_name="nightly"} ${exitCode}\n`);
      expect(metrics).toContain('costbook_last_run_exit_code{command="ingest"} 0\n');
      expect(metrics).toContain('costbook_job_runs_total{job_name="nightly",outcome="failed"} 1\n');
      expect((await run('run', 'nightly')).exitCode).toBe(exitCode);
      expect((await run('alert')).exitCode).toBe(exitCode);
      expect(transitions(sink)).toEqual(['books raised']);
      const { text, mayBeRepeat, alerts } = sink.told[0]?.body ?? { alerts: [] };
      expect(text).toContain(`${total} USD`);
      expect(text).toContain('costbook repair');
      expect(mayBeRepeat).toBe(false);
      expect(alerts[0]?.fact).toMatchObject({ kind: 'books', exitCode, snapshot: { rows: 4 }, isForRepair: true });
      expect((await run('repair')).exitCode).toBe(0);
      expect((await run('alert')).exitCode).toBe(0);
      expect((await run('alert')).exitCode).toBe(0);
      expect(transitions(sink)).toEqual(['books raised', 'books resolved']);
      expect((await runCli(['alerts', '--dir', dir])).stdout).toContain('resolved');
      const after = await readFile(join(dir, 'data', 'metrics.prom'), 'utf8');
      expect(after).toContain('command="alert"} 0');
      expect(after).toContain('costbook_job_runs_total{job_name="nightly",outcome="failed"} 2\n');
      expect(after).toContain('costbook_runs_total{command="alert",outcome="failed"} 1\n');
      await expectWhole(dir);
    },
  );

  test('with a changed snapshot raise an alert that no number can be used, and again if only the snapshot changed', async () => {
    const sink = await startSink();
    const { dir, run } = await project('half a warehouse', sink);
    expect((await run('alert')).exitCode).toBe(4);
    await writeFile(snapshotOf(dir), 'junk');
    expect((await run('alert')).exitCode).toBe(4);
    expect((await run('alert')).exitCode).toBe(4);
    expect(transitions(sink)).toEqual(['books raised', 'books raised']);
    expect(sink.told[1]?.body.text).not.toContain(total);
    expect(sink.told[1]?.body.alerts[0]?.fact).toMatchObject({ snapshot: null });
  });

  test('that fail with other news the next night are open since the first night', async () => {
    const sink = await startSink();
    const { dir, run } = await project('no warehouse', sink);
    expect((await run('alert')).exitCode).toBe(4);
    // Without a readable snapshot no number can be trusted: that is news.
    const published = await readFile(snapshotOf(dir));
    await chmod(snapshotOf(dir), 0o600);
    await writeFile(snapshotOf(dir), 'junk');
    const nextNight = ['--now', '2026-09-13T12:30:00Z'];
    expect((await run('alert', ...nextNight)).exitCode).toBe(4);
    expect(transitions(sink)).toEqual(['books raised', 'books raised']);
    await writeFile(snapshotOf(dir), published);
    const { stdout } = await run('alerts', '--open', ...nextNight);
    expect(stdout).toContain(`open since ${now}`);
  });

  test('that are repaired and damaged again are reported again, also without an alert run in between', async () => {
    const sink = await startSink();
    const { dir, run } = await project('half a warehouse', sink);
    expect((await run('alert')).exitCode).toBe(4);
    expect((await run('repair')).exitCode).toBe(0);
    await rm(join(dir, 'data', 'warehouse.duckdb'));
    expect((await run('alert')).exitCode).toBe(4);
    expect((await run('alert')).exitCode).toBe(4);
    expect(transitions(sink)).toEqual(['books raised', 'books raised']);
    expect(new Set(sink.told.map(({ body }) => body.id)).size).toBe(2);
    expect((await run('repair')).exitCode).toBe(0);
    expect((await run('alert')).exitCode).toBe(0);
    expect(transitions(sink)).toEqual(['books raised', 'books raised', 'books resolved']);

    // Without warehouse and snapshot nothing says how often they were damaged before: their end is reported as well.
    const nextNight = ['--now', '2026-09-13T12:30:00Z'];
    for (const file of ['warehouse.duckdb', 'costbook.duckdb']) await rm(join(dir, 'data', file));
    expect((await run('alert', ...nextNight)).exitCode).toBe(4);
    expect((await run('repair', ...nextNight)).exitCode).toBe(0);
    expect((await run('alert', ...nextNight)).exitCode).toBe(0);
    expect(transitions(sink).slice(3)).toEqual(['books raised', 'books resolved']);
  });

  test('are reported again under the same id if the sink refused the message', async () => {
    const sink = await startSink(says(400), says(200));
    const { run } = await project('no warehouse', sink);
    await run('alert');
    await run('alert');
    await run('alert');
    expect(sink.told).toHaveLength(2);
    expect(new Set(sink.told.map(({ body }) => body.id)).size).toBe(1);
  });

  test('with a damaged snapshot do not stop the scheduler from starting, and alert publishes a new snapshot', async () => {
    const sink = await startSink();
    const { dir, run } = await project('a snapshot of junk', sink);
    const schedule = startMain(['schedule', '--dir', dir, '--log-format', 'json']);
    await schedule.said('job.scheduled');
    schedule.signal('SIGTERM');
    await schedule.ended;
    await rm(snapshotOf(dir));
    expect((await run('alert')).exitCode).toBe(0);
    await expectWhole(dir);
  });
});

describe.concurrent('a warehouse', () => {
  test('rebuilt in place is published, and status is right at once', async () => {
    const dir = await books.broken('no warehouse');
    await rm(snapshotOf(dir));
    const { exitCode, stdout } = await runCli(['rebuild', '--into', warehouseOf(dir), '--dir', dir]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining('published') });
    await expectWhole(dir);
  });

  test('without read or write permission is reported as a failure of the machine, not as damage', async () => {
    const dir = await books.broken();
    const isRoot = process.getuid?.() === 0;
    const sent = isRoot ? { uid: 65534, gid: 65534 } : {};
    await chmod(dir, 0o755);
    if (isRoot) await chown(join(dir, 'data'), 65534, 65534);
    await chmod(warehouseOf(dir), 0);
    const { exitCode, stderr } = await startCli(['repair', '--dir', dir], {}, sent).ended;
    expect({ exitCode, stderr }).toEqual({
      exitCode: 7,
      stderr: expect.stringContaining('is not writable for this user'),
    });
    expect((await readdir(join(dir, 'data'))).filter((each) => each.includes('damaged'))).toEqual([]);
  });
});

/** A program that opens a file for writing, reports it, deletes all rows on request, and is killed. */
async function holderOf(file: string, ready: string): Promise<string> {
  const { createRequire } = await import('node:module');
  const api = createRequire(import.meta.url).resolve('@duckdb/node-api');
  const path = join(await newProject(), 'holder.mjs');
  await writeFile(
    path,
    `import fs from 'node:fs';
    const { DuckDBInstance } = (await import(${JSON.stringify(api)}));
    const instance = await DuckDBInstance.create(${JSON.stringify(file)}, { threads: '1' });
    const connection = await instance.connect();
    await connection.run('select 1');
    fs.writeFileSync(${JSON.stringify(ready)}, '');
    const go = ${JSON.stringify(join(ready, '..', 'go'))};
    while (!fs.existsSync(go)) await new Promise((resolve) => setTimeout(resolve, 20));
    await connection.run('delete from ledger.hourly_costs');
    process.kill(process.pid, 'SIGKILL');`,
  );
  return path;
}

test('the books are intact before the other tests damage them', async () => {
  expect(await askSnapshot(whole, sum)).toEqual([{ cost: total }]);
});

describe.concurrent('a full disk that only an empty file recorded', () => {
  /** A project with a sink, as a run on a full disk leaves it. */
  async function afterFullDisk(name?: string) {
    const sink = await startSink();
    const dir = await books.broken(name);
    await writeFile(
      join(dir, 'costbook.yaml'),
      `sinks: { hook: { type: webhook, url: "${sink.url}", secret: a-long-secret-of-a-test, allowPrivateNetwork: true } }\n`,
    );
    await writeFile(join(dir, 'data', '.unstored-disk.json'), '');
    const [, env] = ingestCommandLine(dir, platform, { now });
    const run = (...args: string[]) => runCli([...args, '--dir', dir, '--now', now], env);
    const ofDisk = () =>
      sink.told
        .flatMap(({ body }) => body.alerts)
        .flatMap(({ key, transition }) => (key === 'run/disk' ? transition : []));
    return { run, ofDisk };
  }

  test('is named by status until something is stored again', async () => {
    const { run } = await afterFullDisk();
    const full = await run('status');
    expect(full.stdout).toMatch(
      /^ALERT.*\n {2}- The disk is full.*\n {4}Act \(operator of Costbook\): run "costbook ingest": the disk has room again\.\n/,
    );
    const counted = '1 open alert, 1 critical';
    expect(full.stdout).toContain(counted);
    expect((await run('alerts', '--open')).stdout).toContain(counted);
    expect((await run('doctor', '--offline')).stdout.match(/The disk is full/g)).toHaveLength(1);
    expect(JSON.parse((await run('status', '--json')).stdout).alerts).toMatchObject({ open: 1, critical: 1 });
    expect(JSON.parse((await run('alerts', '--open', '--json')).stdout)).toMatchObject({ open: 1 });
    expect((await run('ingest')).exitCode).toBe(0);
    expect((await run('status')).stdout).not.toContain('disk');
  });

  test.each([
    ['a repaired warehouse', 'half a warehouse', 'repair'],
    ['an ingest', undefined, 'ingest'],
  ] as const)('is resolved for every sink after %s', async (_, name, command) => {
    const { run, ofDisk } = await afterFullDisk(name);
    expect((await run(command)).exitCode).toBe(0);
    expect((await run('alert')).exitCode).toBe(0);
    expect(ofDisk()).toEqual(['resolved']);
  });
});

test('a project folder that cannot be written is reported once while it lasts, and shown by status', async () => {
  const sink = await startSink();
  const dir = await books.broken();
  const hook = `{ type: webhook, url: "${sink.url}", secret: a-long-secret-of-a-test, allowPrivateNetwork: true }`;
  await writeFile(join(dir, 'costbook.yaml'), `sinks: { hook: ${hook} }\n`);
  const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  const own = async (path: string) => (user.uid === undefined ? undefined : chown(path, user.uid, user.gid));
  for (const path of [dir, ...(await readdir(dir, { recursive: true })).map((name) => join(dir, name))])
    await own(path);
  await chmod(join(dir, 'data'), 0o555);
  const [, env] = ingestCommandLine(dir, platform, { now });
  const run = (...args: string[]) => startCli([...args, '--dir', dir, '--now', now], env, user).ended;
  const told = () =>
    sink.told.flatMap(({ body }) => body.alerts).flatMap(({ key, transition }) => (key === 'books' ? transition : []));

  const first = await run('alert');
  expect({ exitCode: first.exitCode, told: told() }).toEqual({ exitCode: 7, told: ['raised'] });
  expect((await run('alert')).exitCode).toBe(7);
  expect(told()).toEqual(['raised']);
  for (const command of [['status'], ['alerts', '--open']]) {
    expect((await run(...command)).stdout).toMatch(
      /books cannot be written.*Act \(operator of Costbook\): grant write access/s,
    );
  }
  expect((await run('doctor', '--offline')).stdout).toContain('grant write access');

  await chmod(join(dir, 'data'), 0o755);
  expect((await run('alert')).exitCode).toBe(0);
  expect(told()).toEqual(['raised', 'resolved']);
  expect((await run('status')).stdout).not.toContain('cannot be written');
});

/** The journal of a project: its lines, and a function that replaces one of them. */
async function journalOf(dir: string) {
  const folder = join(dir, 'data', 'journal');
  const path = join(folder, (await readdir(folder)).find((name) => name.endsWith('.ndjson')) ?? '');
  const lines = (await readFile(path, 'utf8')).split('\n').slice(0, -1);
  async function replace(index: number, text: string | undefined): Promise<void> {
    const now = (await readFile(path, 'utf8')).split('\n');
    if (text === undefined) now.splice(index, 1);
    else now[index] = text;
    await writeFile(path, now.join('\n'));
  }
  return { path, lines, replace };
}

/** Changes a value in a line that stays JSON. */
async function changeValue(
  { lines, replace }: Awaited<ReturnType<typeof journalOf>>,
  from: string,
  to: string,
): Promise<void> {
  const index = lines.findIndex((line) => line.includes(from));
  expect(index).toBeGreaterThan(0);
  await replace(index, lines[index]?.replace(from, to));
}

describe.concurrent('a damaged journal of whole books', () => {
  type Journal = Awaited<ReturnType<typeof journalOf>>;
  // Only the first one tries every command; all of them read the journal in one place.
  test.each<[string, (journal: Journal) => Promise<unknown>]>([
    ['its first line', ({ replace }) => replace(0, 'junk')],
    ['a line in the middle', ({ lines, replace }) => replace(4, lines[4]?.slice(0, -20))],
    ['a value', (journal) => changeValue(journal, '"exit_code":0', '"exit_code":4')],
    ['a value that becomes no number', (journal) => changeValue(journal, '"exit_code":0', '"exit_code":"0x"')],
    [
      'several lines',
      async ({ replace }) => [await replace(2, 'junk'), await replace(5, ''), await replace(9, undefined)],
    ],
    ['its last line', async ({ path }) => truncate(path, (await stat(path)).size - 20)],
    ['its second half', async ({ path }) => truncate(path, Math.floor((await stat(path)).size / 2))],
    ['all of it', ({ path }) => rm(path)],
    ['its folder', ({ path }) => rm(join(path, '..'), { recursive: true })],
  ])('in %s is named by status, and repair restores it from the books', async (place, damage) => {
    const dir = await books.broken();
    await damage(await journalOf(dir));
    const run = (...args: string[]) => runCli([...args, '--dir', dir]);
    const into = join(dir, 'rebuilt.duckdb');
    for (const command of [
      ['status', '--exit-code', '--now', now],
      ...(place === 'its first line'
        ? [
            ['doctor', '--offline', '--now', now],
            ['rebuild', '--into', into],
            ['alert', '--dry-run', '--now', now],
          ]
        : []),
    ]) {
      const { exitCode, stdout, stderr } = await run(...command);
      expect({ command, exitCode, step: `${stdout}${stderr}`.includes('"costbook repair"') }).toEqual({
        command,
        exitCode: command[0] === 'doctor' ? expect.any(Number) : 4,
        step: true,
      });
    }
    const refused = await ingest(dir, platform, { now });
    expect(refused.exitCode).toBe(4);
    expect(refused.stderr).toContain('"costbook repair"');
    const repaired = await run('repair', '--json');
    expect(repaired.exitCode, repaired.stderr).toBe(0);
    expect(JSON.parse(repaired.stdout).lost).toEqual({ loads: [], journal: [] });
    const rebuilt = await run('rebuild', '--into', into, '--json');
    expect(JSON.parse(rebuilt.stdout), rebuilt.stderr).toMatchObject({ identical: true });
    await expectWhole(dir);
  });
});

test('a value that no table takes, in a line without a hash, is refused with file, line and step, not as a bug', async () => {
  const dir = await books.broken();
  const { path, lines } = await journalOf(dir);
  const older = lines.map((line) => line.replace(/,"hash":"[0-9a-f]{16}"(?=}$)/, ''));
  expect(older.every((line, index) => line !== lines[index])).toBe(true);
  await writeFile(path, `${older.join('\n')}\n`);
  await changeValue(await journalOf(dir), '"exit_code":0', '"exit_code":"0x"');
  const { exitCode, stderr } = await runCli(['rebuild', '--into', join(dir, 'rebuilt.duckdb'), '--dir', dir]);
  expect(exitCode, stderr).toBe(4);
  expect(stderr).toMatch(/ndjson:\d+: event \d+ \(\w+\) has a wrong value \(Conversion Error: .*0x.*Remove this line/);
});

/** Places below `data` that can have a folder instead of a file, or a file instead of a folder; those of a line at once. */
const places: readonly (readonly [kind: 'folder' | 'file' | 'pipe or device', ...at: string[]])[] = [
  ['folder', ...['part', 'part.wal', 'wal'].map((end) => `warehouse.duckdb.${end}`)],
  ['folder', ...['wal', 'mode.part', '77.part'].map((end) => `costbook.duckdb.${end}`)],
  ['folder', 'journal/events-000000001.ndjson'],
  ['pipe or device', 'journal/events-000000001.ndjson'],
  ['folder', 'metrics.prom', '.unstored-books.json'],
  ['pipe or device', 'metrics.prom', '.unstored-books.json'],
  ['file', 'journal'],
  ['file', 'landing'],
  ['file', 'landing/acc_one'],
  ['file', 'landing/acc_one/load-000000001'],
];

test.concurrent.each(places)(
  'a %s at data/%s is named with its path, and repair moves it aside',
  async (kind, ...at) => {
    const dir = await books.broken();
    const paths = at.map((place) => join(dir, 'data', place));
    for (const path of paths) {
      await rm(path, { recursive: true, force: true });
      if (kind === 'folder') await mkdir(join(path, 'inner'), { recursive: true });
      else if (kind === 'file') await writeFile(path, 'a file');
      else execFileSync('mkfifo', [path]);
    }
    const expectNamed = (text: string) => {
      for (const path of paths) expect(text).toContain(`${path} is a ${kind}`);
      expect(text).toContain('"costbook repair"');
    };
    // Runs can do without metrics and the record of sent messages: only doctor mentions these.
    const stopsRuns = !at.includes('metrics.prom');
    if (stopsRuns) expectNamed((await runCli(['status', '--now', now, '--dir', dir])).stdout);
    expectNamed((await runCli(['doctor', '--offline', '--now', now, '--dir', dir])).stdout);
    const refused = await ingest(dir, platform, { now });
    if (refused.exitCode !== 0) {
      expect(refused.exitCode).toBe(4);
      expectNamed(refused.stderr);
    }
    const repaired = await runCli(['repair', '--dir', dir]);
    expect(repaired.exitCode, repaired.stderr).toBe(0);
    expect(repaired.stdout).toContain('misplaced-');
    expect((await ingest(dir, platform, { now })).exitCode).toBe(0);
    await expectWhole(dir);
  },
);

test.concurrent('a folder in place of the part of a rebuild is named, and nothing else is touched', async () => {
  const dir = await books.broken();
  const into = join(dir, 'rebuilt.duckdb');
  await mkdir(`${into}.part`);
  const { exitCode, stderr } = await runCli(['rebuild', '--into', into, '--dir', dir]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(`${into}.part is a folder`);
});

describe.concurrent('doctor', () => {
  const doctor = (dir: string, ...args: string[]) =>
    runCli(['doctor', '--offline', '--now', now, '--dir', dir, ...args]);
  const first = (dir: string) => join(dir, 'data', 'landing', 'acc_one', 'load-000000001');

  test('finds a changed page with --deep, and says that the books are right', async () => {
    const dir = await books.broken();
    expect((await doctor(dir, '--deep')).stdout).toContain('unchanged since they were stored');
    await writeFile(join(first(dir), 'detail-0001.json'), 'junk');
    expect((await doctor(dir)).stdout).not.toContain('detail-0001.json');
    const { exitCode, stdout } = await doctor(dir, '--deep');
    expect(exitCode).not.toBe(0);
    expect(stdout).toMatch(/FAIL {2}landing: the books are right.*\n.*load 1.*detail-0001\.json has changed/);
  });

  test.each<[string, RegExp, (folder: string) => Promise<unknown>]>([
    ['missing load', /load 1.*its folder .* is missing/, (folder) => rm(folder, { recursive: true })],
    ['missing page', /1 of \d+ pages are missing.*detail-0001/, (folder) => rm(join(folder, 'detail-0001.json'))],
    ['damaged description', /load\.json is not JSON/, (folder) => writeFile(join(folder, 'load.json'), '{')],
    [
      'copied load',
      /1 copy of load folders[\s\S]*costbook repair/,
      (folder) => cp(folder, join(folder, '..', 'load-000000099'), { recursive: true }),
    ],
  ])('finds a %s in the landing folder', async (_, found, damage) => {
    const dir = await books.broken();
    await damage(first(dir));
    expect((await doctor(dir)).stdout).toMatch(found);
  });
});

describe.concurrent('repair --accept-loss', () => {
  const landing = (dir: string) => join(dir, 'data', 'landing', 'acc_one');
  const run = (dir: string, ...args: string[]) => runCli([...args, '--dir', dir]);

  /** Books of which only the landing folder and the journal are left. */
  async function onlyLanding(): Promise<string> {
    const dir = await books.broken('no warehouse');
    await rm(snapshotOf(dir), { force: true });
    return dir;
  }

  test.each([
    ['whose folder is missing', async (folder: string) => rm(folder, { recursive: true })],
    ['whose description is damaged', async (folder: string) => writeFile(join(folder, 'load.json'), '{')],
    [
      'with a damaged page',
      async (folder: string) => {
        const [page = ''] = (await readdir(folder)).filter((name) => name.startsWith('detail'));
        await writeFile(join(folder, page), 'junk');
      },
    ],
  ])('continues without a load %s; ingest fetches its hours, and a rebuild still works', async (_, damage) => {
    const dir = await onlyLanding();
    const [first = ''] = (await readdir(landing(dir))).sort();
    await damage(join(landing(dir), first));
    const refused = await run(dir, 'repair');
    expect(refused.exitCode).toBe(4);
    expect(refused.stderr).toContain('costbook repair --accept-loss');
    const accepted = await run(dir, 'repair', '--accept-loss');
    expect(accepted, accepted.stderr).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Lost: load 1') });
    // A number is right or its hours are not complete.
    expect((await run(dir, 'status', '--exit-code', '--now', now)).exitCode).toBe(4);
    expect((await ingest(dir, platform, { now })).exitCode).toBe(0);
    await expectWhole(dir);
    const rebuilt = await run(dir, 'rebuild', '--into', join(dir, 'rebuilt.duckdb'));
    expect(rebuilt.exitCode, rebuilt.stderr).toBe(0);
  });

  test.each([
    ['the whole journal', async (dir: string) => rm(join(dir, 'data', 'journal'), { recursive: true }), 'has no event'],
    [
      'the end of the journal',
      async (dir: string) => {
        const [name = ''] = await readdir(join(dir, 'data', 'journal'));
        const path = join(dir, 'data', 'journal', name);
        const second = (await readFile(path, 'utf8'))
          .split('\n')
          .findIndex((line, at) => at > 0 && /"run_began"/.test(line));
        await writeFile(path, `${(await readFile(path, 'utf8')).split('\n').slice(0, second).join('\n')}\n`);
      },
      'ends with event',
    ],
  ])('is needed if %s is lost with warehouse and snapshot', async (_, damage, found) => {
    const dir = await onlyLanding();
    await damage(dir);
    const refused = await run(dir, 'repair');
    expect(refused.exitCode).toBe(4);
    expect(refused.stderr).toContain(found);
    expect(refused.stderr).toContain('costbook repair --accept-loss');
    const accepted = await run(dir, 'repair', '--accept-loss');
    expect(accepted, accepted.stderr).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('Lost: the journal from event'),
    });
    expect((await ingest(dir, platform, { now })).exitCode).toBe(0);
    await expectWhole(dir);
    expect((await run(dir, 'rebuild', '--into', join(dir, 'rebuilt.duckdb'))).exitCode).toBe(0);
  });

  test('is needed if nothing but the journal is left; ingest then fetches every hour', async () => {
    const dir = await onlyLanding();
    await rm(join(dir, 'data', 'landing'), { recursive: true });
    const refused = await run(dir, 'repair');
    expect(refused.exitCode).toBe(4);
    expect(refused.stderr).toMatch(
      /the runs of the journal loaded \d+ windows, but the intact files only reach load 0 /,
    );
    expect(refused.stderr).toContain('costbook repair --accept-loss');
    expect((await run(dir, 'repair', '--accept-loss')).exitCode).toBe(0);
    expect((await ingest(dir, platform, { now })).exitCode).toBe(0);
    await expectWhole(dir);
    expect((await run(dir, 'rebuild', '--into', join(dir, 'rebuilt.duckdb'))).exitCode).toBe(0);
  });

  test('is needed for a changed value if warehouse and snapshot are lost: it is not taken over silently', async () => {
    const dir = await onlyLanding();
    await changeValue(await journalOf(dir), '"exit_code":0', '"exit_code":4');
    const named = /events-000000001\.ndjson:\d+: .*event \d+ \(\w+\) is not as Costbook wrote it/;
    for (const command of [['repair'], ['rebuild', '--into', join(dir, 'rebuilt.duckdb')]]) {
      const { exitCode, stderr } = await run(dir, ...command);
      expect(exitCode, stderr).toBe(4);
      expect(stderr).toMatch(named);
    }
    const accepted = await run(dir, 'repair', '--accept-loss');
    expect(accepted, accepted.stderr).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Lost: event') });
    expect((await run(dir, 'rebuild', '--into', join(dir, 'rebuilt.duckdb'))).exitCode).toBe(0);
  });

  test('without warehouse and snapshot loses only the damaged lines of the journal, and names them', async () => {
    const dir = await onlyLanding();
    const { lines, replace } = await journalOf(dir);
    await replace(2, 'junk');
    const kind = JSON.parse(lines[4] ?? '').event;
    await replace(4, lines[4]?.slice(0, -20) ?? '');
    expect((await run(dir, 'repair')).exitCode).toBe(4);
    const accepted = await run(dir, 'repair', '--accept-loss', '--json');
    expect(accepted.exitCode, accepted.stderr).toBe(0);
    expect(JSON.parse(accepted.stdout)).toMatchObject({
      lost: { loads: [], journal: ['event 3 of the journal', `event 5 of the journal (${kind})`] },
      restored: [],
    });
    expect((await ingest(dir, platform, { now })).exitCode).toBe(0);
    await expectWhole(dir);
    expect((await run(dir, 'rebuild', '--into', join(dir, 'rebuilt.duckdb'))).exitCode).toBe(0);
  });
});

test('repair names a file in place of the folder data, and the step, if the project has nothing else', async () => {
  const dir = await newProject();
  await writeFile(join(dir, 'data'), 'junk');
  const { exitCode, stderr } = await runCli(['repair', '--dir', dir]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(`${join(dir, 'data')} was a file, expected a folder; it is now ${dir}/misplaced-`);
  expect(stderr).toContain('restore the folder data from a backup');
});

test('repair moves copies of load folders aside, without losses, and a rebuild is identical', async () => {
  const dir = await books.broken();
  const folder = join(dir, 'data', 'landing', 'acc_one');
  await cp(folder, join(dir, 'data', 'landing', 'acc_copy'), { recursive: true });
  const copies = (await readdir(folder)).filter((name) => name.startsWith('load-')).length;
  const into = join(dir, 'rebuilt.duckdb');
  const refused = await runCli(['rebuild', '--into', into, '--dir', dir]);
  expect(refused.exitCode).toBe(4);
  expect(refused.stderr).toContain(`has ${copies} copies of load folders`);
  expect(refused.stderr).toContain(`costbook repair --dir ${dir}`);
  expect(refused.stderr).not.toContain('is missing answers');
  const doctor = await runCli(['doctor', '--offline', '--now', now, '--dir', dir]);
  expect(doctor.stdout).toMatch(
    /FAIL {2}landing: .*copies of load folders.*\n {6}→ Act \(operator of Costbook\): run "costbook repair"/,
  );
  expect(doctor.stdout).not.toContain('backup');
  const repaired = await runCli(['repair', '--json', '--dir', dir]);
  expect(JSON.parse(repaired.stdout)).toMatchObject({ reason: null, lost: { loads: [] } });
  expect((await runCli(['rebuild', '--into', into, '--dir', dir])).exitCode).toBe(0);
});

test('repair gives load folders with mixed-up names their own again, and sets no answer aside', async () => {
  const dir = await books.broken();
  const folder = join(dir, 'data', 'landing', 'acc_one');
  const names = (await readdir(folder)).filter((name) => name.startsWith('load-')).sort();
  for (const name of names) await rename(join(folder, name), join(folder, `.${name}`));
  for (const [index, name] of names.entries()) {
    await rename(join(folder, `.${name}`), join(folder, names[(index + 1) % names.length] ?? ''));
  }
  const into = join(dir, 'rebuilt.duckdb');
  expect((await runCli(['rebuild', '--into', into, '--dir', dir])).stderr).not.toContain('copies of load folders');
  const repaired = await runCli(['repair', '--json', '--dir', dir]);
  expect(JSON.parse(repaired.stdout)).toMatchObject({ reason: null, lost: { loads: [] }, movedAside: [] });
  expect((await readdir(folder)).sort()).toEqual(names);
  expect((await runCli(['rebuild', '--into', into, '--dir', dir])).exitCode).toBe(0);
});

test('a load of an impossible number, and a pipe in place of a page, are named: nothing waits or counts for ever', async () => {
  const dir = await books.broken();
  const folder = join(dir, 'data', 'landing', 'acc_one');
  const [first = ''] = (await readdir(folder)).filter((name) => name.startsWith('load-')).sort();
  const other = join(folder, 'load-999999999');
  await cp(join(folder, first), other, { recursive: true });
  const text = await readFile(join(other, 'load.json'), 'utf8');
  await writeFile(join(other, 'load.json'), text.replace('"loadNumber": 1,', '"loadNumber": 999999999,'));
  const repaired = await runCli(['repair', '--dir', dir]);
  expect([repaired.exitCode, repaired.stderr]).toEqual([4, expect.stringContaining('Move that folder away')]);
  await rm(other, { recursive: true });
  const page = (await readdir(join(folder, first))).find((name) => name !== 'load.json') ?? '';
  await rm(join(folder, first, page));
  execFileSync('mkfifo', [join(folder, first, page)]);
  const rebuilt = await runCli(['rebuild', '--into', join(dir, 'rebuilt.duckdb'), '--dir', dir]);
  expect([rebuilt.exitCode, rebuilt.stderr]).toEqual([
    4,
    expect.stringContaining(`pages are missing, the first is ${page}`),
  ]);
});

test('a copy of a landing folder under a higher number does not stop an ingest', async () => {
  const dir = await books.broken();
  const folder = join(dir, 'data', 'landing', 'acc_one');
  const [first = ''] = (await readdir(folder)).sort();
  const copy = join(folder, 'load-000000099');
  await cp(join(folder, first), copy, { recursive: true });
  const { exitCode, stderr } = await ingest(dir, platform, { now });
  expect(exitCode, stderr).toBe(0);
  await expectWhole(dir);
  // Without a description, nobody knows whose it is.
  await rm(join(copy, 'load.json'));
  expect((await ingest(dir, platform, { now })).exitCode).toBe(4);
  const repaired = await runCli(['repair', '--dir', dir]);
  expect([repaired.exitCode, repaired.stderr]).toEqual([4, expect.stringContaining(`${copy}/load.json is missing`)]);
  expect(repaired.stderr).toContain('or move it away');
  await rm(copy, { recursive: true });
  expect((await ingest(dir, platform, { now })).exitCode).toBe(0);
});
