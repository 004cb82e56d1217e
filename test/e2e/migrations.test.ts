// Second tier: Migrates books as a newer version, also killed.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { beforeAll, describe, expect, test } from 'vitest';
import { newerVersion } from '../support/other-version.ts';
import {
  askFile,
  askSnapshot,
  type Ended,
  ingest,
  newProject,
  runCli,
  type Started,
  startCli,
} from '../support/project.ts';
import { series, startScriptedPlatform } from '../support/scripted-platform.ts';
import { seal } from '../support/seal.ts';

const sql = fileURLToPath(new URL('../../sql/', import.meta.url));
const migrations = readSql('migrations');

const box = { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };
const facts = series(box, '2026-09-03T05', [1, 2, 3]);
const later = '2026-10-12T12:30:00Z';

/** A project with nights, a restatement, a close, alerts and a message in its books. */
let lived = '';
beforeAll(async () => {
  lived = await newProject();
  await mkdir(join(lived, 'jobs'));
  await writeFile(join(lived, 'jobs', 'budgets.yaml'), 'budgets: [{ name: all, period: monthly, amount: 5 USD }]\n');
  await writeFile(
    join(lived, 'jobs', 'allocation.yaml'),
    'rules: [{ name: north, when: { workspace: north }, owner: { team: North } }]\n',
  );
  await writeFile(join(lived, 'costbook.yaml'), 'sinks: { out: { type: log } }\n');
  expect((await ingest(lived, await startScriptedPlatform(facts), { now: '2026-09-04T12:30:00Z' })).exitCode).toBe(0);
  const restated = facts.map((fact) => ({ ...fact, cost: fact.cost * 2 }));
  const now = '2026-10-08T12:30:00Z';
  expect((await ingest(lived, await startScriptedPlatform(restated), { now })).exitCode).toBe(0);
  for (const args of [['close', '2026-09'], ['alert'], ['alerts', 'ack', 'stale/acc_one', '--until', '2026-10-30']]) {
    const { exitCode, stderr } = await runCli([
      ...args,
      '--dir',
      lived,
      '--now',
      args[0] === 'close' ? now : '2026-10-10T12:30:00Z',
    ]);
    expect(exitCode, stderr).toBe(0);
  }
});

function readSql(folder: string): { name: string; text: string }[] {
  return readdirSync(join(sql, folder))
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({ name: file.slice(0, -'.sql'.length), text: readFileSync(join(sql, folder, file), 'utf8') }));
}

/** The writer's file of a project. */
function warehouseOf(dir: string): string {
  return join(dir, 'data', 'warehouse.duckdb');
}

async function asking<T>(file: string, work: (ask: (sql: string) => Promise<string[][]>) => Promise<T>): Promise<T> {
  const instance = await DuckDBInstance.create(file, { threads: '1' });
  const connection = await instance.connect();
  try {
    return await work(async (text) => {
      const reader = await connection.runAndReadAll(text);
      return reader.getRowsJson() as string[][];
    });
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** Everything that a file says of its form, and everything that is in it. */
async function contentOf(file: string): Promise<Record<string, unknown>> {
  return asking(':memory:', async (ask) => {
    await ask(`attach '${file}' as books (read_only)`);
    await ask('use books');
    const columns = await ask(
      `select schema_name, table_name, column_name, data_type, is_nullable, comment from duckdb_columns()
      where database_name = 'books' and not internal order by all`,
    );
    const content: Record<string, unknown> = { columns };
    for (const relation of new Set(columns.map(([schema, table]) => `${schema}.${table}`))) {
      const rows = await ask(`from ${relation}`);
      content[relation] = rows.map((row) => JSON.stringify(row)).sort();
    }
    return content;
  });
}

/** A command that writes and asks no platform. */
function write(dir: string, cli?: string): Promise<Ended> {
  return cli === undefined ? runCli(['alert', '--dir', dir, '--now', later]) : startWriting(dir, cli).ended;
}

/** The same by another version, in a process of its own. */
function startWriting(dir: string, cli: string): Started {
  return startCli(['alert', '--dir', dir, '--now', later], {}, { cli });
}

describe('the first migration', () => {
  test('is unchanged since its release', () => {
    const hash = createHash('sha256')
      .update(migrations[0]?.text ?? '')
      .digest('hex');
    expect({ name: migrations[0]?.name, hash }).toEqual({
      name: '0001_baseline',
      hash: '9eaab7b4a4dd0a449d6a35ec2202dba93420f4e3aff3865e1902b309cb029c68',
    });
  });

  test('and every later one have unique numbers', () => {
    const numbers = migrations.map(({ name }) => name.slice(0, 4));
    expect(new Set(numbers).size).toBe(numbers.length);
    for (const number of numbers) expect(number).toMatch(/^0\d{3}$/);
  });
});

test('books from before the first migration are refused with the next step, and repair brings them over', async () => {
  const dir = await newProject();
  await cp(lived, dir, { recursive: true });
  const [warehouse, snapshot] = [warehouseOf(dir), join(dir, 'data', 'costbook.duckdb')];
  const before = await contentOf(snapshot);
  const daily = ['report', 'cost_by_workspace', '--month', '2026-09', '--dir', dir, '--now', later];
  expect((await runCli(daily)).exitCode).toBe(0);
  // The same tables under the names of files that this program does not have.
  for (const file of [warehouse, snapshot]) {
    await chmod(file, 0o600);
    await asking(file, (ask) =>
      ask("update ledger.applied_files set name = '0016_cached_answers' where folder = 'migrations'"),
    );
  }
  await rm(snapshot);
  await cp(warehouse, snapshot);
  seal(snapshot);
  const refused = (file: string) =>
    `${file} has an older schema: found 0016_cached_answers, expected one that starts with 0001_baseline. ` +
    'Run "costbook repair": it rebuilds the books from data/landing and data/journal, and moves the old file aside.\n';
  for (const [file, ...args] of [
    [snapshot, 'status'],
    [snapshot, 'sql', 'select 1', '--as-of', '2026-09-05'],
    [warehouse, 'alert'],
  ] as const) {
    const { exitCode, stderr } = await runCli([...args, '--dir', dir, '--now', later]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining(`costbook: ${refused(file)}`),
    });
  }
  // Nobody can say whether an export is what they said.
  expect(await runCli(['verify', '--dir', dir])).toMatchObject({
    exitCode: 4,
    stdout: expect.stringContaining(`not compared with the books: ${refused(snapshot).trim()}`),
  });
  const beside = await runCli(['rebuild', '--into', join(dir, 'beside.duckdb'), '--json', '--dir', dir]);
  expect(JSON.parse(beside.stdout), beside.stderr).toMatchObject({ loads: 7, identical: null });
  const { exitCode, stdout, stderr } = await runCli(['repair', '--json', '--dir', dir, '--now', later]);
  expect(exitCode, stderr).toBe(0);
  const [aside = ''] = JSON.parse(stdout).movedAside;
  expect(await contentOf(aside)).toMatchObject({ 'ledger.closes': before['ledger.closes'] });
  const after = await contentOf(snapshot);
  const own = ['ledger.applied_files', 'ledger.cached_answers', 'ledger.series_hours'];
  for (const name of own) [before[name], after[name]] = [[], []];
  expect(after).toEqual(before);
});

describe('a newer version', () => {
  const name = '9000_marks.sql';
  const quick = '--! about: Marks.\ncreate table ledger.marks as select run_number from ledger.runs;\n';
  /** Long enough to be seen at work. */
  const slow = `--! about: Marks.
create table ledger.marks as select run_number from ledger.runs;
create table ledger.slow as select count(*) as rows from range(12000) as a(x), range(20000) as b(y) where (x * y) % 7 = 3;
drop table ledger.slow;
`;

  /** A project as this version left it, published. */
  async function project(): Promise<string> {
    const dir = await newProject();
    await cp(lived, dir, { recursive: true });
    return dir;
  }

  function hashOf(file: string): string {
    return createHash('sha256').update(readFileSync(file)).digest('hex');
  }

  test('applies its migration, and says so', async () => {
    const dir = await project();
    const before = await contentOf(warehouseOf(dir));
    const { exitCode, stderr } = await write(dir, await newerVersion({ [name]: quick }));
    expect(exitCode, stderr).toBe(0);
    const said = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(said).toContainEqual(expect.objectContaining({ event: 'warehouse.migrating', migrations: ['9000_marks'] }));
    expect(await askFile(warehouseOf(dir), 'select count(*) as marks from ledger.marks')).toEqual([
      { marks: String((before['ledger.runs'] as unknown[]).length) },
    ]);
    const after = await contentOf(warehouseOf(dir));
    expect(after['main.costs']).toEqual(before['main.costs']);
  });

  test('writes a warehouse and a snapshot that this version refuses with 2, without a change', async () => {
    const dir = await project();
    expect((await write(dir, await newerVersion({ [name]: quick }))).exitCode).toBe(0);
    const before = [hashOf(warehouseOf(dir)), hashOf(join(dir, 'data', 'costbook.duckdb'))];
    // Nobody may be looking: the sinks are notified that nothing can be stored.
    expect(await write(dir)).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringMatching(
        /notified 1 of 1 sinks[\s\S]*warehouse\.duckdb was written by a newer Costbook \(migration 9000_marks is unknown here\)\. Update Costbook\n$/,
      ),
    });
    for (const args of [['status'], ['sql', 'select 1'], ['restatements'], ['check']]) {
      expect(await runCli([...args, '--dir', dir, '--now', later])).toEqual({
        exitCode: 2,
        stdout: '',
        stderr: `costbook: ${join(dir, 'data', 'costbook.duckdb')} was written by a newer Costbook (migration 9000_marks is unknown here). Update Costbook\n`,
      });
    }
    expect([hashOf(warehouseOf(dir)), hashOf(join(dir, 'data', 'costbook.duckdb'))]).toEqual(before);
  });

  test('refuses a snapshot of this version, says what to do, and answers after that', async () => {
    const dir = await project();
    const cli = await newerVersion({ [name]: quick });
    const ask = ['sql', 'select sum(cost) as cost from costs', '--json', '--dir', dir, '--now', later];
    const askNewer = (...args: string[]) => startCli([...ask, ...args], {}, { cli }).ended;
    const refused = await askNewer();
    expect({ exitCode: refused.exitCode, stdout: refused.stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(refused.stderr).toContain(
      'was written by an older Costbook (before migration 9000_marks). Run "costbook ingest" once',
    );
    const asOf = await askNewer('--as-of', '2026-09-05');
    expect(asOf).toMatchObject({ exitCode: 2, stderr: refused.stderr });
    expect((await write(dir, cli)).exitCode).toBe(0);
    expect(await askNewer()).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('12.'),
    });
  });

  test('with a wrong migration changes nothing', async () => {
    const dir = await project();
    const before = await contentOf(warehouseOf(dir));
    const wrong = `--! about: Wrong.\ncreate table ledger.marks (x integer not null);\ninsert into ledger.nowhere values (1);\n`;
    const { exitCode } = await write(dir, await newerVersion({ [name]: wrong }));
    expect(exitCode).not.toBe(0);
    expect(await contentOf(warehouseOf(dir))).toEqual(before);
    expect((await write(dir)).exitCode).toBe(0);
  });

  test('locks the warehouse while it migrates', async () => {
    const dir = await project();
    const migrating = startWriting(dir, await newerVersion({ [name]: slow }));
    await begins(migrating);
    const second = await write(dir);
    expect(migrating.process.exitCode).toBe(null);
    expect(second).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('is held by process') });
    expect((await migrating.ended).exitCode).toBe(0);
  });

  describe.each([
    ['in the middle of the migration', 300],
    ['later', 900],
  ])('that is killed %s', (_, afterMs) => {
    test('starts again on the next run, and loses nothing', async () => {
      const dir = await project();
      const before = await contentOf(warehouseOf(dir));
      const cli = await newerVersion({ [name]: slow });
      const run = startWriting(dir, cli);
      await begins(run);
      await sleepFor(afterMs);
      run.process.kill('SIGKILL');
      expect((await run.ended).exitCode).toBe(137);
      expect(await contentOf(warehouseOf(dir))).toEqual(before);

      const { exitCode, stderr } = await write(dir, await newerVersion({ [name]: quick }));
      expect(exitCode, stderr).toBe(0);
      const after = await contentOf(warehouseOf(dir));
      expect(after['main.costs']).toEqual(before['main.costs']);
      expect(after['ledger.marks']).toHaveLength((before['ledger.runs'] as unknown[]).length);
      const data = await readdir(join(dir, 'data'));
      expect(data.filter((found) => found.endsWith('.part'))).toEqual([]);
      expect(await askSnapshot(dir, 'select sum(cost) as cost from costs')).toEqual([{ cost: '12.000000000000' }]);
    });
  });

  /** Resolves when a run says that it migrates; throws if it ends before. */
  async function begins({ process, ended }: Started): Promise<void> {
    const said = new Promise<void>((resolve) => {
      process.stderr?.on('data', (chunk: Buffer) => {
        if (chunk.includes('warehouse.migrating')) resolve();
      });
    });
    await Promise.race([said, ended.then(({ stderr }) => Promise.reject(new Error(`it ended: ${stderr}`)))]);
  }
});
