import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, stat, statfs, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { InterruptedError, MachineError, UsageError } from '../../src/base/errors.ts';
import { failuresOf } from '../../src/base/failure.ts';
import { openBooks } from '../../src/warehouse/integrity/books.ts';
import { damageOfWarehouse } from '../../src/warehouse/integrity/seal.ts';
import {
  journalFolder,
  lastApplied,
  openJournalFile,
  openRecorder,
  readJournal,
} from '../../src/warehouse/journal/journal.ts';
import type { Stage } from '../../src/warehouse/load/stage.ts';
import { builtInSql, readSqlFolder } from '../../src/warehouse/sql/sql-files.ts';
import { includeFragments } from '../../src/warehouse/sql/sql-fragments.ts';
import { hashOf } from '../../src/warehouse/sql/statements.ts';
import { type Connection, type Database, SqlError } from '../../src/warehouse/store/connection.ts';
import { openDatabase } from '../../src/warehouse/store/database.ts';
import { openExclusively } from '../../src/warehouse/store/exclusive.ts';
import { migrate, migrateTables, viewsOfIngest } from '../../src/warehouse/store/migrate.ts';
import { openWarehouse } from '../../src/warehouse/warehouse.ts';
import { projectWithBooks } from '../support/given-books.ts';
import { newProject } from '../support/project.ts';

const open: { close(): void }[] = [];
afterAll(() => {
  for (const each of open) each.close();
});

async function newDatabase(): Promise<{ database: Database; connection: Connection }> {
  const database = await openDatabase(join(await newProject(), 'a.duckdb'), { readOnly: false });
  open.push(database);
  return { database, connection: await database.connect() };
}

describe('a connection', () => {
  test('runs the statements of a text in order, each with the parameters that it names', async () => {
    const { connection } = await newDatabase();
    await connection.run('create table t (a integer); insert into t values ($one); insert into t values ($two)', {
      one: 1,
      two: 2,
      unused: 3,
    });
    expect(await connection.rows('select a from t order by a')).toEqual([{ a: 1 }, { a: 2 }]);
  });

  test('has another hash of a table after two rows changed alike', async () => {
    const { connection } = await newDatabase();
    await connection.run('create table t as select range as a, 1 as b from range(4)');
    const hash = async () => (await connection.rows(hashOf('wh', 'main', 't')))[0]?.['hash'];
    const before = await hash();
    expect(await hash()).toBe(before);
    await connection.run('update t set b = 2 where a < 2');
    expect(await hash()).not.toBe(before);
  });

  test('refuses a statement with a missing parameter', async () => {
    const { connection } = await newDatabase();
    await expect(connection.rows('select $missing')).rejects.toThrow(new SqlError('statement needs $missing'));
  });

  test('treats values that look like SQL as values', async () => {
    const { connection } = await newDatabase();
    const text = `'; drop table t; --`;
    expect(await connection.rows('select $text as text', { text })).toEqual([{ text }]);
  });

  test('of a database that dropped its blocks reads them again, within the same limit', async () => {
    const { database, connection } = await newDatabase();
    const [used, limit] = ['sum(memory_usage_bytes)::bigint', "current_setting('memory_limit')"];
    const state = async () => (await connection.rows(`select ${used} as used, ${limit} as mb from duckdb_memory()`))[0];
    const sum = () => connection.rows('select sum(a) as sum from t');
    await connection.run(
      'create table t as select hash(range) % 1_000_000_007 as a from range(12_000_000); checkpoint',
    );
    const [total, before] = [await sum(), await state()];
    await database.dropBlocks();
    const after = await state();
    expect(Number(before?.['used'])).toBeGreaterThan(40_000_000);
    expect(Number(after?.['used'])).toBeLessThan(33_000_000);
    expect([await sum(), after?.['mb']]).toEqual([total, before?.['mb']]);
  });

  test('makes a checkpoint as soon as others have read what an update replaced', async () => {
    const { database, connection } = await newDatabase();
    const other = await database.connect();
    await connection.run('create table t as select range as a from range(10)');
    await connection.checkpoint();
    const read = other.transaction(async () => {
      await other.rows('select sum(a) from t');
      await connection.run('update t set a = a + 1');
      const made = connection.checkpoint();
      await pause(200);
      return { made };
    });
    const { made } = await read;
    await expect(made).resolves.toBeUndefined();
  });

  test('fails at once where a checkpoint is refused for another cause', async () => {
    const { connection } = await newDatabase();
    await connection.run('create table t as select range as a from range(10)');
    const changed = connection.transaction(async () => {
      await connection.run('insert into t values (10)');
      await connection.checkpoint();
    });
    await expect(changed).rejects.toThrow('TransactionContext Error');
  }, 5_000);

  test('rolls a transaction back when its work throws, and can be used again', async () => {
    const { connection } = await newDatabase();
    await connection.run('create table t (a integer)');
    const failure = new Error('no');
    await expect(
      connection.transaction(async () => {
        await connection.run('insert into t values (1)');
        throw failure;
      }),
    ).rejects.toBe(failure);
    await connection.transaction(() => connection.run('insert into t values (2)'));
    expect(await connection.rows('select a from t')).toEqual([{ a: 2 }]);
  });

  test('runs concurrent statements one after another', async () => {
    const { connection } = await newDatabase();
    await connection.run('create table t (a integer)');
    await Promise.all(Array.from({ length: 50 }, (_, a) => connection.run('insert into t values ($a)', { a })));
    expect(await connection.rows('select count(*) as n, sum(a) as sum from t')).toEqual([{ n: '50', sum: '1225' }]);
  });

  test('refuses a statement during a stream, and delivers the whole stream', async () => {
    const { connection } = await newDatabase();
    const { chunks } = await connection.stream('select * from range(10000)');
    let count = 0;
    for await (const rows of chunks) {
      if (count === 0) await expect(connection.rows('select 1')).rejects.toThrow('a stream is still open');
      count += rows.length;
    }
    expect(count).toBe(10_000);
    expect(await connection.rows('select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('can be used again after a stream that was not read to its end', async () => {
    const { connection } = await newDatabase();
    const { chunks } = await connection.stream('select * from range(10000)');
    for await (const _ of chunks) break;
    expect(await connection.rows('select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('appends points beyond one vector without loss', async () => {
    const { connection } = await newDatabase();
    const count = 5000;
    await connection.run('create temp table points (e integer, b integer, c decimal(18,12), u decimal(18,6))');
    await connection.appendPoints('points', count, {
      first: Int32Array.from({ length: count }, (_, index) => index),
      second: new Int32Array(count).fill(7),
      third: { values: BigInt64Array.from({ length: count }, (_, index) => BigInt(index) - 2500n), scale: 12 },
      fourth: { values: new BigInt64Array(count).fill(999_999_999_999_999_999n), scale: 6 },
    });
    expect(
      await connection.rows(
        'select count(distinct e) as n, sum(c) as c, min(c) as low, min(u) as u, max(b) as b from points',
      ),
    ).toEqual([{ n: '5000', c: '-0.000000002500', low: '-0.000000002500', u: '999999999999.999999', b: 7 }]);
  });
});

describe('a connection with a signal', () => {
  const endless = 'select count(*) as n from range(100000000) a, range(100000) b';
  const ended = new InterruptedError('SIGTERM');

  async function interruptible(): Promise<{ connection: Connection; database: Database; abort: AbortController }> {
    const { database } = await newDatabase();
    const abort = new AbortController();
    return { database, abort, connection: await database.connect(abort.signal) };
  }

  test('is interrupted at any time by the signal, and refuses later statements', async () => {
    for (const afterMs of [0, 1, 5, 300]) {
      const { connection, abort } = await interruptible();
      const asked = connection.rows(endless);
      setTimeout(() => abort.abort(ended), afterMs);
      await expect(asked).rejects.toBe(ended);
      await expect(connection.run('select 1')).rejects.toBe(ended);
    }
  });

  test('does not report an interrupted stream as complete', async () => {
    const { connection, abort } = await interruptible();
    const { chunks } = await connection.stream(
      'select i from range(300000) t(i) union all select a.i from range(100000000) a(i), range(100000) b(i) where a.i < 0',
    );
    async function read(): Promise<void> {
      for await (const _ of chunks) setTimeout(() => abort.abort(ended));
    }
    await expect(read()).rejects.toBe(ended);
  });

  test('rolls back the running transaction; other connections continue', async () => {
    const { connection, database, abort } = await interruptible();
    const other = await database.connect();
    await other.run('create table t (a integer)');
    const working = connection.transaction(async () => {
      await connection.run('insert into t values (1)');
      setTimeout(() => abort.abort(ended), 100);
      await connection.run(endless);
    });
    await expect(working).rejects.toBe(ended);
    await other.run('insert into t values (2)');
    expect(await other.rows('select a from t')).toEqual([{ a: 2 }]);
  });
});

test('an interrupted warehouse stops staging, but still writes its ledger and publishes', async () => {
  const dir = await newProject();
  const abort = new AbortController();
  const warehouse = await openWarehouse(dir, abort.signal);
  open.push(warehouse);
  const stage = await warehouse.openStage();
  const run = await warehouse.beginRun('test', 0);
  const ended = new InterruptedError('SIGINT');
  abort.abort(ended);
  await expect(stage.begin('acc_one', { start: 0, end: 3_600_000 })).rejects.toBe(ended);
  await run.end(ended.exitCode, failuresOf(ended), 1000);
  await warehouse.publish();
  const books = await openBooks(dir, { lockedDown: true });
  open.push(books);
  expect(await books.connection.rows('select exit_code, error from runs')).toEqual([
    { exit_code: 130, error: 'ended by SIGINT' },
  ]);
});

describe('rows that cannot be appended', () => {
  test('leave nothing behind, and later rows can be appended', async () => {
    const { connection } = await newDatabase();
    await connection.run('create temp table t (a integer, b decimal(18, 2))');
    await expect(
      connection.appendRows('t', [
        [1, '1.5'],
        [2, 'x'],
      ]),
    ).rejects.toThrow('Could not convert');
    await expect(connection.appendRows('t', [[1, '1.5'], [2]])).rejects.toThrow('before all columns');
    await connection.appendRows('t', [[3, '2.5']]);
    expect(await connection.rows('select a, b from t')).toEqual([{ a: 3, b: '2.50' }]);
  });
});

describe('spilled data', () => {
  test('fills at most half of the free disk, and never more than 20 GB', async () => {
    const { connection, database } = await newDatabase();
    const { bavail, bsize } = await statfs(join(database.file, '..'));
    const [setting] = await connection.rows(
      `select value from duckdb_settings() where name = 'max_temp_directory_size'`,
    );
    const [, size, unit = ''] = /^([\d.]+) (KiB|MiB|GiB)$/.exec(String(setting?.['value'])) ?? [];
    const bytes = Number(size) * ({ KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 }[unit] ?? 0);
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThanOrEqual(Math.min(20e9, (bavail * bsize) / 2) * 1.05);
  });

  test('beyond that limit ends with a MachineError that says what to do', async () => {
    const { connection } = await newDatabase();
    await connection.run(`set memory_limit = '60MB'; set max_temp_directory_size = '10MB'; set threads = 1`);
    const tooMuch = connection.rows('select i, md5(i::varchar) as h from range(10000000) t(i) order by h');
    await expect(tooMuch).rejects.toBeInstanceOf(MachineError);
    await expect(tooMuch).rejects.toThrow(
      /Query less at once .* or free memory and disk \(Out of Memory Error: .*MiB used/,
    );
    expect(await connection.rows('select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('of two readers with the same process ID in two containers goes into two folders', async () => {
    const dir = await newProject();
    (await openWarehouse(dir)).close();
    const warehouse = await openWarehouse(dir);
    await warehouse.publish();
    warehouse.close();
    const readers = await Promise.all([openBooks(dir, { lockedDown: false }), openBooks(dir, { lockedDown: false })]);
    const folders = await Promise.all(
      readers.map(({ connection }) => connection.rows(`select current_setting('temp_directory') as folder`)),
    );
    for (const { close } of readers) close();
    expect(new Set(folders.map(([row]) => row?.['folder'])).size).toBe(2);
    expect((await readdir(join(dir, 'data'))).filter((name) => name.startsWith('.spill'))).toEqual([]);
  });

  test('of a killed process is removed: old folders by any process, the writer’s own by the next writer', async () => {
    const dir = await newProject();
    const data = join(dir, 'data');
    const longAgo = new Date('2026-01-01T00:00:00Z');
    const [old, young, writers, others] = [
      '.spill-5e8c0f5e',
      '.spill-77aa0b1c',
      '.spill-warehouse.duckdb-0a1b2c3d',
      '.spill-rebuilt.duckdb-0a1b2c3d',
    ];
    for (const name of [old, young, writers, others]) {
      await mkdir(join(data, name), { recursive: true });
      await writeFile(join(data, name, 'duckdb_temp_storage-0.tmp'), 'spilled');
    }
    await utimes(join(data, old, 'duckdb_temp_storage-0.tmp'), longAgo, longAgo);
    await utimes(join(data, old), longAgo, longAgo);
    const warehouse = await openWarehouse(dir);
    warehouse.close();
    expect((await readdir(data)).sort()).toEqual([others, young, 'warehouse.duckdb'].sort());
  });
});

describe('work on the warehouse', () => {
  test('runs one after another, with what it contains at once, also after a failure and a pause', async () => {
    const exclusively = openExclusively();
    const log: string[] = [];
    const work = (name: string) =>
      exclusively(async () => {
        log.push(`${name} begins`);
        await exclusively(async () => void log.push(`in ${name}`));
        await pause(1);
        log.push(`${name} ends`);
      });
    const failing = exclusively(() => Promise.reject(new Error('as it should')));
    const all = Promise.all([work('one'), work('two')]);
    await expect(failing).rejects.toThrow('as it should');
    await all;
    await work('three');
    const ofOne = (name: string) => [`${name} begins`, `in ${name}`, `${name} ends`];
    expect(log).toEqual(['one', 'two', 'three'].flatMap(ofOne));
  });
});

describe('a database file', () => {
  test('is opened only once by two concurrent calls', async () => {
    const file = join(await newProject(), 'a.duckdb');
    const both = await Promise.allSettled([1, 2].map(() => openDatabase(file, { readOnly: false })));
    for (const each of both) if (each.status === 'fulfilled') open.push(each.value);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  test('that failed to open opens once it is repaired', async () => {
    const dir = await newProject();
    const file = join(dir, 'data', 'a.duckdb');
    await writeFile(join(dir, 'data'), 'a file where the folder should be');
    await expect(openDatabase(file, { readOnly: false })).rejects.toThrow(/EEXIST|ENOTDIR/);
    await rm(join(dir, 'data'));
    const database = await openDatabase(file, { readOnly: false });
    database.close();
    expect(database.file).toBe(file);
  });

  test('is refused below a folder whose name would have DuckDB write elsewhere', async () => {
    const file = join(await newProject(), 'which?', 'a.duckdb');
    await expect(openDatabase(file, { readOnly: false })).rejects.toThrow('expected a path without "?"');
  });

  test('is not waited for if it is a pipe', async () => {
    const file = join(await newProject(), 'a.duckdb');
    execFileSync('mkfifo', [file]);
    await expect(openDatabase(file, { readOnly: false })).rejects.toThrow('EISDIR: no regular file');
  });

  test('has one owner in a process: DuckDB itself would let two lose rows', async () => {
    const { database } = await newDatabase();
    await expect(openDatabase(database.file, { readOnly: false })).rejects.toThrow('already open in this process');
  });

  test('can be opened again once it is closed', async () => {
    const { database } = await newDatabase();
    database.close();
    const again = await openDatabase(database.file, { readOnly: false });
    again.close();
    expect(again.file).toBe(database.file);
  });

  test('with a quote in its path can be opened', async () => {
    const file = join(await newProject(), "it's", 'a.duckdb');
    const database = await openDatabase(file, { readOnly: false });
    expect(await (await database.connect()).rows('select 1 as one')).toEqual([{ one: 1 }]);
    database.close();
  });

  test('that is missing for a reader is a UsageError that says what to do', async () => {
    const dir = await newProject();
    await expect(openBooks(dir, { lockedDown: true })).rejects.toThrow(
      /does not exist yet. Run "costbook ingest" first/,
    );
    await expect(openBooks(dir, { lockedDown: true })).rejects.toBeInstanceOf(UsageError);
  });

  test('that is missing beside a landing folder is made again by repair: an ingest would refuse to begin new books', async () => {
    const dir = await newProject();
    await mkdir(join(dir, 'data', 'landing', 'acc_one'), { recursive: true });
    await expect(openBooks(dir, { lockedDown: true })).rejects.toThrow(/is missing. Run "costbook repair"/);
  });

  test('uses UTC in any time zone', async () => {
    const { connection } = await newDatabase();
    expect(
      await connection.rows(
        `select current_setting('TimeZone') as zone, cast(timestamptz '2026-10-01 00:00:00+00' as varchar) as at`,
      ),
    ).toEqual([{ zone: 'UTC', at: '2026-10-01 00:00:00+00' }]);
  });
});

describe.each([
  ['SQL that somebody typed', undefined],
  ['SQL that somebody typed as of another day', Date.UTC(2026, 8, 2)],
])('%s', (_, asOf) => {
  let snapshot: Promise<string> | undefined;
  /** A project with a snapshot, the same for every test: nobody can change it. */
  function published(): Promise<string> {
    snapshot ??= makeSnapshot();
    return snapshot;
  }

  async function makeSnapshot(): Promise<string> {
    const dir = await projectWithBooks();
    const warehouse = await openWarehouse(dir);
    await warehouse.beginRun('test', Date.UTC(2026, 8, 1));
    await warehouse.publish();
    warehouse.close();
    return dir;
  }

  let opened: Promise<Connection> | undefined;
  /** The same for all tests: views as of an instant take half a second to make. */
  function publishedBooks(): Promise<Connection> {
    opened ??= openPublished();
    return opened;
  }
  async function openPublished(): Promise<Connection> {
    const books = await openBooks(await published(), { lockedDown: true, asOf });
    open.push(books);
    return books.connection;
  }

  test('can only read', async () => {
    const refused = [
      `insert into ledger.runs values (9, 'x', now(), null, 'x', null, null)`,
      `update ledger.runs set command = 'x'`,
      'delete from ledger.runs',
      'drop table ledger.runs',
      'create table t (a integer)',
      'create temp table t (a integer)',
      'create or replace temp view costs as select 1',
      'create macro m() as 1',
      `attach '/tmp/x.duckdb' as x`,
      `attach ':memory:' as x`,
      'detach wh',
      'set variable as_of_load = 9',
      'create or replace view costs as select 1 as cost',
      'explain create or replace view costs as select 1 as cost',
      'explain analyze create or replace view ledger.runs as select 1 as run_number',
      'explain analyze create table wh.main.t as select 1 as a',
      `copy (select 1) to '/tmp/costbook-test-x.csv'`,
      `copy ledger.runs from '/etc/passwd'`,
      `export database '/tmp/costbook-test-x'`,
      `import database '/tmp/costbook-test-x'`,
      'install httpfs',
      'load httpfs',
      `set memory_limit = '1GB'`,
      'reset memory_limit',
      `pragma threads = 4`,
      'use memory',
      'begin transaction',
      'checkpoint',
      'vacuum',
      'call pragma_version()',
      'prepare p as select 1',
      'select 1; select 2',
      `select 1; copy (select 1) to '/tmp/costbook-test-x.csv'`,
      'select $1',
      '',
      '-- nothing',
      `select * from read_csv('/etc/passwd')`,
      `select * from read_text('/etc/passwd')`,
      `select * from read_blob('/proc/self/environ')`,
      `select * from '/etc/passwd'`,
      `select * from glob('/etc/*')`,
      `select * from read_json('http://127.0.0.1:9/')`,
      `select * from sniff_csv('/etc/passwd')`,
      `with x as (select * from read_csv('/etc/passwd')) select * from x`,
      `explain analyze insert into ledger.runs values (9, 'x', now(), null, 'x', null, null)`,
    ];
    const taken: string[] = [];
    const connection = await publishedBooks();
    for (const sql of refused) {
      try {
        const { chunks } = await connection.query(sql);
        for await (const _ of chunks);
        taken.push(sql);
      } catch (error) {
        if (!(error instanceof UsageError)) taken.push(`${sql}: ${String(error)}`);
      }
    }
    expect(taken).toEqual([]);
    expect(await connection.rows('select run_number, command from runs')).toEqual([
      { run_number: '1', command: 'test' },
    ]);
  });

  test.each([
    'select 1 as a',
    'from runs',
    'with x as (select 1 as a) select a from x',
    'explain select 1',
    'select 1 as a;',
  ])('%s is admitted', async (sql) => {
    const connection = await publishedBooks();
    const { columns, chunks } = await connection.query(sql);
    for await (const _ of chunks);
    expect(columns.length).toBeGreaterThan(0);
  });

  test('that is wrong is a UsageError, with any text', async () => {
    const connection = await publishedBooks();
    for (const sql of [
      `select "Permission denied"`,
      `select error('No space left on device')`,
      `select cast('Out of Memory' as integer)`,
    ]) {
      const failure = connection.query(sql).then(async ({ chunks }) => {
        for await (const _ of chunks);
      });
      await expect(failure, sql).rejects.toBeInstanceOf(UsageError);
    }
  });
});

describe('migrate(connection)', () => {
  test('applies each migration once', async () => {
    const { connection } = await newDatabase();
    await migrate(connection);
    // The hash of the views is not a file; it is stored when the views are found a second time.
    const files = `select * from ledger.applied_files where folder <> 'made views' order by all`;
    const before = await connection.rows(files);
    await migrate(connection);
    expect(await connection.rows(files)).toEqual(before);
    expect(before.length).toBeGreaterThan(1);
  });

  test('finds the views unchanged each time that a file is opened', async () => {
    const { connection, database } = await newDatabase();
    await migrate(connection);
    const { file } = database;
    database.close();
    const hashes: unknown[] = [];
    for (let opening = 1; opening <= 4; opening += 1) {
      const reopened = await openDatabase(file, { readOnly: false });
      const again = await reopened.connect();
      await migrate(again);
      const [row] = await again.rows(`select hash from ledger.applied_files where folder = 'made views'`);
      hashes.push(row?.['hash']);
      reopened.close();
    }
    expect(hashes[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(new Set(hashes).size).toBe(1);
  });

  test('leaves no table change in the write-ahead log, where a kill could break indexes', async () => {
    const { connection, database } = await newDatabase();
    await migrate(connection);
    // The file alone, without its log, is what a kill leaves for certain; copied by a child, or the lock would fall.
    const copy = `${database.file}.copy`;
    expect(spawnSync('cp', [database.file, copy]).status).toBe(0);
    const copied = await openDatabase(copy, { readOnly: true });
    open.push(copied);
    const tables = `select table_name from information_schema.tables
      where table_schema = 'ledger' and table_type = 'BASE TABLE' order by 1`;
    const there = await (await copied.connect()).rows(tables);
    expect(there).toEqual(await connection.rows(tables));
    expect(there.length).toBeGreaterThan(5);
  });

  test('refuses a warehouse whose migration was edited after it had been applied', async () => {
    const { connection } = await newDatabase();
    await migrate(connection);
    await connection.run(`update ledger.applied_files set hash = 'another' where folder = 'migrations'`);
    await expect(migrate(connection)).rejects.toThrow(/0001_baseline\.sql was edited after it had been applied/);
    await expect(migrate(connection)).rejects.toBeInstanceOf(UsageError);
  });

  test('refuses a warehouse that a newer program wrote', async () => {
    const { connection } = await newDatabase();
    await migrate(connection);
    await connection.run(`insert into ledger.applied_files values ('migrations', '9999_future', 'x')`);
    await expect(migrate(connection)).rejects.toThrow(/newer Costbook \(migration 9999_future/);
  });

  test('creates the views again after one of their files has changed', async () => {
    const { connection } = await newDatabase();
    await migrate(connection);
    await connection.run(`create or replace view runs as select 1 as broken`);
    await connection.run(`update ledger.applied_files set hash = 'another' where folder = 'views'`);
    await migrate(connection);
    expect(await connection.rows('select outcome from runs')).toEqual([]);
  });
});

describe('a new warehouse', () => {
  test('can be opened again after a kill before its tables were on disk', async () => {
    const dir = await newProject();
    const file = join(dir, 'data', 'warehouse.duckdb');
    const killed = await openDatabase(`${file}.killed`, { readOnly: false, unlogged: true });
    open.push(killed);
    await migrateTables(await killed.connect(), true);
    // Copied by a child, or the lock would fall.
    expect(spawnSync('cp', [killed.file, file]).status).toBe(0);
    const warehouse = await openWarehouse(dir);
    expect(await warehouse.lastLoadNumber()).toBe(0);
    await warehouse.publish();
    warehouse.close();
    const books = await openBooks(dir, { lockedDown: true });
    open.push(books);
    expect(await books.connection.rows('select count(*)::integer as runs from runs')).toEqual([{ runs: 0 }]);
  });

  test('is usable before all views are there, and published with all of them', async () => {
    const dir = await newProject();
    const warehouse = await openWarehouse(dir, undefined, undefined, undefined, { areViewsLater: true });
    expect(await warehouse.completeness('acc_one')).toBeUndefined();
    await warehouse.publish();
    warehouse.close();
    const books = await openBooks(dir, { lockedDown: true });
    open.push(books);
    const views = await books.connection.rows('select view_name from duckdb_views() where not internal');
    const there = views.map((row) => String(row['view_name']));
    expect(there).toEqual(expect.arrayContaining((await readSqlFolder('views')).map(({ name }) => name)));
  });

  test('has at once every view that an ingest reads', async () => {
    const views = (await readSqlFolder('views')).filter(({ name }) => !viewsOfIngest.includes(name));
    const made = views.map(({ text }) => /create or replace view (\S+)/.exec(text)?.[1] ?? '');
    expect(made).not.toContain('');
    const read = new RegExp(`(?:from|join)\\s+(?:${made.map((name) => name.replace('.', '\\.')).join('|')})\\b`);
    const folders = ['clocks', 'inventory', 'journal', 'ledger', 'load', 'verify'] as const;
    const files = (await Promise.all(folders.map((folder) => readSqlFolder(folder)))).flat();
    expect(files.length).toBeGreaterThan(80);
    expect(files.filter(({ text }) => read.test(text.replaceAll(/--.*/g, ''))).map(({ path }) => path)).toEqual([]);
  });
});

describe('the warehouse', () => {
  test('marks a run as interrupted if it is still running when another one starts', async () => {
    const dir = await newProject();
    const warehouse = await openWarehouse(dir);
    const first = await warehouse.beginRun('ingest', Date.UTC(2026, 8, 1));
    const second = await warehouse.beginRun('ingest', Date.UTC(2026, 8, 2));
    await second.end(0, [], Date.UTC(2026, 8, 2, 1));
    await warehouse.publish();
    warehouse.close();
    const books = await openBooks(dir, { lockedDown: true });
    open.push(books);
    expect([first.number, second.number]).toEqual([1, 2]);
    expect(await books.connection.rows('select outcome, exit_code from runs order by run_number')).toEqual([
      { outcome: 'interrupted', exit_code: null },
      { outcome: 'done', exit_code: 0 },
    ]);
  });
});

describe('the journal and the ledger', () => {
  async function runsIn(dir: string): Promise<unknown[]> {
    const warehouse = await openWarehouse(dir);
    await warehouse.publish();
    warehouse.close();
    const books = await openBooks(dir, { lockedDown: true });
    open.push(books);
    return books.connection.rows('select run_number, command, outcome from runs order by run_number');
  }

  test('the next writer adds journaled but uncommitted events to the ledger, once', async () => {
    const dir = await newProject();
    const warehouse = await openWarehouse(dir);
    const run = await warehouse.beginRun('ingest', Date.UTC(2026, 8, 1));
    await run.end(0, [], Date.UTC(2026, 8, 1, 1));
    warehouse.close();
    // A process that was killed between the journal and the commit leaves this.
    const { journal } = await openJournalFile(journalFolder(dir), 2);
    await journal.append({
      event: 'run_began',
      values: { run_number: 2, command: 'ingest', started_at: '2026-09-02T00:00:00Z' },
    });
    const expected = [
      { run_number: '1', command: 'ingest', outcome: 'done' },
      { run_number: '2', command: 'ingest', outcome: 'running' },
    ];
    expect(await runsIn(dir)).toEqual(expected);
    expect(await runsIn(dir), 'opened again it is not there twice').toEqual(expected);
  });

  test('an event that failed in the ledger is not overtaken by the next one', async () => {
    const { connection } = await newDatabase();
    await migrate(connection);
    const folder = join(await newProject(), 'journal');
    const recorder = await openRecorder(connection, folder);
    await connection.run('alter table ledger.runs rename to hidden');
    const began = (run_number: number) =>
      ({
        event: 'run_began',
        values: { run_number, command: 'ingest', command_line: null, started_at: '2026-09-02T00:00:00Z' },
      }) as const;
    await expect(recorder.record(began(1))).rejects.toThrow(/runs/);
    await connection.run('alter table ledger.hidden rename to runs');
    await recorder.record(began(2));
    expect(await connection.rows('select run_number, outcome from ledger.runs order by run_number')).toEqual([
      { run_number: '1', outcome: 'interrupted' },
      { run_number: '2', outcome: 'running' },
    ]);
    expect(await lastApplied(connection)).toBe(2);
    expect((await readJournal(folder)).map(({ number }) => number)).toEqual([1, 2]);
  });

  test('an event of a newer program is reported, and nothing is written', async () => {
    const dir = await newProject();
    (await openWarehouse(dir)).close();
    const { journal } = await openJournalFile(journalFolder(dir), 0);
    await journal.append({ event: 'moon_eclipsed' as 'run_began', values: {} });
    await expect(openWarehouse(dir)).rejects.toThrow(
      /event 1 of the journal is "moon_eclipsed".*a newer version wrote it/,
    );
  });
});

describe('a stage', () => {
  async function staged(): Promise<{ stage: Stage; connection: Connection; close(): void }> {
    const { database, connection } = await newDatabase();
    await migrate(connection);
    const { openStage } = await import('../../src/warehouse/load/stage.ts');
    return {
      stage: await openStage(await database.connect(), { record: async () => undefined }),
      connection,
      close: () => database.close(),
    };
  }

  test('gives series IDs that never change', async () => {
    const { connection } = await newDatabase();
    const macros = (await readSqlFolder('load')).find(({ name }) => name === 'macros');
    await connection.run(macros?.text ?? '');
    const [row] = await connection.rows(
      `select
        series_id_of('acc', 'north', 'sandbox', 'box', 'sbx-1', 'sandbox_compute_runtime_gbs') as whole,
        series_id_of('acc', null, null, null, null, null) as bare`,
    );
    // md5 of ["acc","north","sandbox","box","sbx-1","sandbox_compute_runtime_gbs"] and of ["acc",null,…]: see below.
    const { createHash } = await import('node:crypto');
    function lowerHalf(list: readonly (string | null)[]): string {
      return createHash('md5').update(JSON.stringify(list)).digest().readBigUInt64LE(8).toString();
    }
    const expected = {
      whole: lowerHalf(['acc', 'north', 'sandbox', 'box', 'sbx-1', 'sandbox_compute_runtime_gbs']),
      bare: lowerHalf(['acc', null, null, null, null, null]),
    };
    expect(row).toEqual(expected);
  });

  test('distinguishes dimensions that would join to the same text', async () => {
    const { connection } = await newDatabase();
    const macros = (await readSqlFolder('load')).find(({ name }) => name === 'macros');
    await connection.run(macros?.text ?? '');
    const [row] = await connection.rows(
      `select count(distinct id) as ids from (values
        (series_id_of('a', 'b', 'c', null, null, null)),
        (series_id_of('a', 'b,c', null, null, null, null)),
        (series_id_of('a', 'b","c', null, null, null, null)),
        (series_id_of('a', 'null', 'c', null, null, null)),
        (series_id_of('a', null, 'c', null, null, null)),
        (series_id_of('a', '', 'c', null, null, null)),
        (series_id_of('a', null, null, 'c', null, null))) as t(id)`,
    );
    expect(row).toEqual({ ids: '7' });
  });

  test('refuses a total that changes from one page to the next', async () => {
    const { stage } = await staged();
    await stage.begin('acc', { start: Date.UTC(2026, 8, 1), end: Date.UTC(2026, 8, 2) });
    const sink = stage.addQuery(1, 'detail', 'detail');
    const points = {
      count: 0,
      entry: new Int32Array(),
      bucket: new Int32Array(),
      cost: new BigInt64Array(),
      usage: new BigInt64Array(),
    };
    const page = { totalCost: '1.5', costDecimals: 1, usageDecimals: 0, entries: [], points };
    await sink.page(page);
    await expect(sink.page({ ...page, totalCost: '1.6' })).rejects.toThrow(/was 1\.5 on the first page and is 1\.6/);
  });
});

describe('readSqlFolder(folder, overlay)', () => {
  async function overlayWith(files: Readonly<Record<string, string>>): Promise<string> {
    const overlay = join(await newProject(), 'sql');
    await mkdir(join(overlay, 'reports'), { recursive: true });
    for (const [name, text] of Object.entries(files)) await writeFile(join(overlay, 'reports', name), text);
    return overlay;
  }

  test('replaces built-in files by a user’s files of the same name', async () => {
    const overlay = await overlayWith({
      'cost_by_workspace.sql': '--! about: mine\nselect 1',
      'another.sql': '--! about: new\n--! about: and long\nselect 2',
      'notes.txt': 'no SQL',
    });
    const files = await readSqlFolder('reports', overlay);
    expect(files.find(({ name }) => name === 'cost_by_workspace')?.text).toBe('--! about: mine\nselect 1');
    expect(files.find(({ name }) => name === 'another')?.header).toEqual({ about: 'new and long' });
    expect(files.map(({ name }) => name)).not.toContain('notes');
  });

  test('reports the errors of each file with the line, and reads the others', async () => {
    const overlay = await overlayWith({
      'one.sql': '--! about: x\n--! abuot: y\nselect 1',
      'two.sql': 'select 1',
      'three.sql': '--! about: x\n--! grain\nselect 1',
    });
    await mkdir(join(overlay, 'reports', 'folder.sql'));
    const files = await readSqlFolder('reports', overlay);
    const problems = (name: string) => files.find((file) => file.name === name)?.problems?.join('\n');
    expect(problems('one')).toContain(`${join(overlay, 'reports', 'one.sql')}:2:1: unknown header key "abuot"`);
    expect(problems('two')).toContain(
      `${join(overlay, 'reports', 'two.sql')}:1:1: the header has no "--! about:" line`,
    );
    expect(problems('three')).toContain(`${join(overlay, 'reports', 'three.sql')}:2:1: found "--! grain"`);
    expect(problems('folder')).toContain('cannot be read');
    expect(problems('cost_by_workspace')).toBeUndefined();
  });

  test('reads the whole text, so that line numbers are right', async () => {
    for (const { path, text, places } of await readSqlFolder('views')) {
      const lines = (await readFile(path, 'utf8')).split('\n');
      if (places === undefined) expect(text).toBe(lines.join('\n'));
      for (const [index, line] of text.split('\n').entries()) {
        const [, file = '', number] = /^(.*):(\d+)$/.exec(places?.[index] ?? `${path}:${index + 1}`) ?? [];
        if (file === path) expect(line).toBe(lines[Number(number) - 1]);
      }
    }
  });

  test('replaces an include by the fragment without its header, also where a fragment includes another', async () => {
    const overlay = await overlayWith({
      'mine.sql': '--! about: mine\nselect from_json(\n  $scope,\n  --! include: scope_type\n) as scope',
      'nested.sql': '--! about: mine\nwith\n--! include: scopes\nlast as (select 1)\nselect id from scopes',
    });
    const files = await readSqlFolder('reports', overlay);
    const [mine, nested] = ['mine', 'nested'].map((name) => files.find((file) => file.name === name));
    expect(mine?.problems).toBeUndefined();
    expect(mine?.text).toMatch(
      /^--! about: mine\nselect from_json\(\n {2}\$scope,\n'\{"account"[^;]*\}'\n\) as scope$/,
    );
    expect(mine?.places?.at(-1)).toBe(`${join(overlay, 'reports', 'mine.sql')}:5`);
    expect(mine?.places?.at(3)).toBe(`${join(builtInSql, 'fragments', 'scope_type.sql')}:2`);
    expect(nested?.text).toContain('"pointer": "VARCHAR"');
    expect(nested?.text).not.toContain('include:');
  });

  test('refuses an include that is not the name of a fragment, with file and line', async () => {
    const secret = join(await newProject(), 'secret.sql');
    await writeFile(secret, '--! about: not for others\nselect 1');
    const names = [secret, '../../etc/passwd', '../views/costs', 'no_such_fragment', '', 'scopes.sql', 'constructor'];
    const overlay = await overlayWith(
      Object.fromEntries(
        names.map((name, index) => [`r${index}.sql`, `--! about: x\n\n--! include: ${name}\nselect 1`]),
      ),
    );
    const files = await readSqlFolder('reports', overlay);
    for (const [index, name] of names.entries()) {
      const file = files.find((each) => each.name === `r${index}`);
      expect(file?.problems?.join('\n')).toContain(
        `${join(overlay, 'reports', `r${index}.sql`)}:3:1: found include "${name}", expected one of `,
      );
      expect(file?.text).not.toContain('not for others');
    }
  });

  test('refuses fragments that include each other, with the file and line of the last include', async () => {
    const fragments = await newProject();
    await writeFile(join(fragments, 'one.sql'), '--! about: x\n--! include: two\n');
    await writeFile(join(fragments, 'two.sql'), '--! about: x\n\n--! include: one\n');
    const problems: string[] = [];
    await includeFragments({ text: 'select 1\n--! include: one', path: '/x.sql', fragments }, problems);
    expect(problems).toEqual([`${join(fragments, 'two.sql')}:3:1: the fragments include each other: one, two, one`]);
  });
});

describe('the length of a warehouse', () => {
  const fill = (table: string) => `create table ${table} as select range as i, random() as x from range(300000)`;
  const blockBytes = 262_144;

  test('is right after every checkpoint, even if DuckDB has removed free blocks that its header still counts', async () => {
    const { database, connection } = await newDatabase();
    const steps = [
      'select 1',
      fill('a'),
      fill('b'),
      'delete from b',
      'drop table b',
      'select 1',
      'drop table a',
      fill('c'),
    ];
    for (const step of steps) {
      await connection.run(step);
      await connection.checkpoint();
      expect(await damageOfWarehouse(database.file, undefined), step).toBeUndefined();
    }
  });

  test('shows that its last block, or a part of it, is missing', async () => {
    const { database, connection } = await newDatabase();
    await connection.run(fill('a'));
    await connection.checkpoint();
    database.close();
    const { size } = await stat(database.file);
    for (const missing of [1, 4096, blockBytes]) {
      await truncate(database.file, size - missing);
      expect(await damageOfWarehouse(database.file, undefined)).toMatch(/^it is truncated/);
    }
  });
});
