// Second tier: Migrates books of every earlier schema, also killed and short of disk.

import { createHash } from 'node:crypto';
import { type FSWatcher, readdirSync, readFileSync, watch } from 'node:fs';
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
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

const sql = fileURLToPath(new URL('../../sql/', import.meta.url));
const migrations = readSql('migrations');
const views = readSql('views');

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

/** What 0006_plain_names renamed, as pairs of the earlier name and that of today. */
const renamedTables = `['amounts', 'hourly_costs'], ['proofs', 'reconciliation']`;
const renamedColumns = `['amounts', 'row_count'], ['compared', 'check_code'], ['because', 'reason'], ['reading', 'attempt'], ['digest', 'sha256'],
  ['digest', 'summary'], ['reopened_because', 'reopen_reason'], ['is_told', 'is_notified'], ['told_day', 'notified_day']`;
const renamedViews = [
  'create view amounts as select series_id, bucket_start, cost, usage from ledger.amounts',
  'create view proofs as select run_number, reading, amounts from ledger.proofs',
  'create view ledger.amounts_at_close as select series_id, bucket_start from ledger.amounts',
  'create view amounts_billed as select series_id from ledger.amounts anti join ledger.amounts_at_close using (series_id)',
];

/**
 * The lived project with a warehouse of the first `count` migrations, as the program of that day left it: its tables
 * with their rows, and those of today's views that it could have had. `tablesOf` is the number of migrations whose tables have rows.
 */
async function projectOf(count: number, tablesOf = count): Promise<string> {
  const dir = await newProject();
  await cp(lived, dir, { recursive: true });
  await rm(warehouseOf(dir));
  await asking(warehouseOf(dir), async (ask) => {
    await ask(`attach '${warehouseOf(lived)}' as lived (read_only)`);
    await ask('create schema ledger');
    await ask(
      'create table ledger.applied_files (folder varchar not null, name varchar not null, hash varchar not null)',
    );
    for (const [index, { name, text }] of migrations.slice(0, count).entries()) {
      await ask(text);
      const hash = createHash('sha256').update(text).digest('hex');
      await ask(`insert into ledger.applied_files values ('migrations', '${name}', '${hash}')`);
      if (index + 1 !== tablesOf) continue;
      const shared = await ask(
        `select mine.table_name, string_agg(mine.column_name, ', ' order by mine.column_index),
          theirs.table_name, string_agg(theirs.column_name, ', ' order by mine.column_index)
        from duckdb_columns() as mine
        join duckdb_columns() as theirs
          on theirs.database_name = 'lived' and theirs.schema_name = 'ledger'
          and (theirs.table_name = mine.table_name or [mine.table_name, theirs.table_name] in (${renamedTables}))
          and (theirs.column_name = mine.column_name or [mine.column_name, theirs.column_name] in (${renamedColumns}))
        where mine.schema_name = 'ledger' and mine.database_name = current_database() and mine.table_name <> 'applied_files'
          and mine.table_name in (select table_name from duckdb_tables() where database_name = current_database())
        group by mine.table_name, theirs.table_name`,
      );
      for (const [table, columns, theirTable, theirColumns] of shared) {
        await ask(`insert into ledger.${table} (${columns}) select ${theirColumns} from lived.ledger.${theirTable}`);
      }
    }
    await ask('detach lived');
    if (count < 6) for (const text of renamedViews) await ask(text);
    const made = new Set<string>();
    // A view that reads another comes after it; those that never can be made are of later tables.
    for (let pass = 0; pass < 8; pass += 1) {
      for (const { name, text } of views)
        if (!made.has(name))
          await ask(text).then(
            () => made.add(name),
            () => undefined,
          );
    }
    await ask(`insert into ledger.applied_files values ('views', '*', 'of another day')`);
  });
  return dir;
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
      name: '0001_ledger',
      hash: 'f0f42854e08008e17312d3b32ea71c37e1c35e6cff76851fb1be5cd599e5eb5d',
    });
  });

  test('and every later one have unique numbers', () => {
    const numbers = migrations.map(({ name }) => name.slice(0, 4));
    expect(new Set(numbers).size).toBe(numbers.length);
    for (const number of numbers) expect(number).toMatch(/^0\d{3}$/);
  });
});

describe('a warehouse of an earlier version', () => {
  test.each(migrations.map(({ name }, index) => [name, index + 1] as const))(
    'that ends with %s gets the schema and answers of a new one',
    async (_, count) => {
      const [old, fresh] = [await projectOf(count), await projectOf(migrations.length, count)];
      const before = await askFile(
        warehouseOf(old),
        `select sum(cost) as cost, count(*) as rows from ledger.${count < 6 ? 'amounts' : 'hourly_costs'}`,
      );
      expect(before).toEqual([{ cost: '12.000000000000', rows: '3' }]);
      for (const dir of [old, fresh]) {
        const { exitCode, stderr } = await write(dir);
        expect(exitCode, stderr).toBe(0);
      }
      expect(await contentOf(warehouseOf(old))).toEqual(await contentOf(warehouseOf(fresh)));
      const status = await Promise.all(
        [old, fresh].map((dir) => runCli(['status', '--json', '--dir', dir, '--now', later])),
      );
      expect(status[0]?.exitCode).toBe(0);
      expect(status[0]?.stdout).toBe(status[1]?.stdout);
      const copies = (await readdir(join(old, 'data'))).filter((name) => name.includes('before'));
      expect(copies).toEqual(
        count === migrations.length ? [] : [`warehouse.before-${migrations[count]?.name.slice(0, 4)}.duckdb`],
      );
    },
  );

  test('that is new is not copied', async () => {
    const dir = await newProject();
    const { exitCode } = await ingest(dir, await startScriptedPlatform(facts), { now: '2026-09-04T12:30:00Z' });
    expect(exitCode).toBe(0);
    expect((await readdir(join(dir, 'data'))).filter((name) => name.includes('before'))).toEqual([]);
  });
});

test('a journal of a version before 0007_failures is loaded: its failures have no code, and books are rebuilt from it', async () => {
  const dir = await newProject();
  await cp(lived, dir, { recursive: true });
  const run = (...args: string[]) => runCli([...args, '--dir', dir, '--now', later]);
  // No platform is configured, so that the step fails and the run with it.
  expect((await run('run', 'nightly', '--only', 'ingest,alert')).exitCode).toBe(2);
  const folder = join(dir, 'data', 'journal');
  const added: readonly string[] = ['error_code', 'next_step', 'cost_difference'];
  const removed = new Set<string>();
  for (const file of await readdir(folder)) {
    const text = readFileSync(join(folder, file), 'utf8');
    const lines = text.split('\n').map((line) => {
      if (line === '') return line;
      const { values, ...event } = JSON.parse(line) as {
        event: string;
        values: Record<string, unknown>;
        hash?: string;
      };
      delete event.hash;
      for (const key of added) if (Object.hasOwn(values, key)) removed.add(`${event.event} ${key}`);
      const earlier = Object.entries(values).filter(([key]) => !added.includes(key));
      return JSON.stringify({ ...event, values: Object.fromEntries(earlier) });
    });
    await writeFile(join(folder, file), lines.join('\n'));
  }
  expect([...removed]).toEqual(
    expect.arrayContaining([
      'run_ended error_code',
      'run_ended next_step',
      'step_ended error_code',
      'step_ended next_step',
    ]),
  );
  await rm(warehouseOf(dir));
  await rm(join(dir, 'data', 'costbook.duckdb'));

  const repaired = await run('repair');
  expect(repaired.exitCode, repaired.stderr).toBe(0);
  expect(
    await askSnapshot(
      dir,
      "select step, error is not null as has_error, error_code, next_step from run_steps where outcome = 'failed'",
    ),
  ).toEqual([{ step: 'ingest', has_error: true, error_code: null, next_step: null }]);
  const status = JSON.parse((await run('status', '--json')).stdout);
  expect(status.failedIngest).toMatchObject({
    errorCode: null,
    next: expect.stringMatching(/"costbook (ingest|run nightly)" again/),
  });
  const rebuilt = await run('rebuild', '--into', join(dir, 'rebuilt.duckdb'), '--json');
  expect(JSON.parse(rebuilt.stdout), rebuilt.stderr).toMatchObject({ identical: true });
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

  test('copies the warehouse before it migrates, and says where', async () => {
    const dir = await project();
    const before = await contentOf(warehouseOf(dir));
    const { exitCode, stderr } = await write(dir, await newerVersion({ [name]: quick }));
    expect(exitCode, stderr).toBe(0);
    const copy = join(dir, 'data', 'warehouse.before-9000.duckdb');
    const said = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(said).toContainEqual(expect.objectContaining({ event: 'warehouse.copied', copy }));
    expect(await contentOf(copy)).toEqual(before);
    expect(await askFile(warehouseOf(dir), 'select count(*) as marks from ledger.marks')).toEqual([
      { marks: String((before['ledger.runs'] as unknown[]).length) },
    ]);
    // The copy is what goes on with this version.
    await cp(copy, warehouseOf(dir));
    expect((await write(dir)).exitCode).toBe(0);
  });

  test('keeps the two newest copies', async () => {
    const dir = await project();
    for (const [file, text] of [
      ['9000_marks.sql', quick],
      ['9001_more.sql', '--! about: More.\ncreate table ledger.more (x integer not null);\n'],
      ['9002_yet.sql', '--! about: Yet more.\ncreate table ledger.yet (x integer not null);\n'],
    ] as const) {
      const all = {
        [name]: quick,
        '9001_more.sql': '--! about: More.\ncreate table ledger.more (x integer not null);\n',
      };
      const given = file === name ? { [name]: quick } : { ...all, [file]: text };
      expect((await write(dir, await newerVersion(given))).exitCode).toBe(0);
    }
    const copies = (await readdir(join(dir, 'data'))).filter((file) => file.includes('before'));
    expect(copies.sort()).toEqual(['warehouse.before-9001.duckdb', 'warehouse.before-9002.duckdb']);
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
        /notified 1 of 1 sinks[\s\S]*costbook: the warehouse was written by a newer Costbook \(migration 9000_marks is unknown here\)\. Update Costbook\n$/,
      ),
    });
    for (const args of [['status'], ['sql', 'select 1'], ['restatements'], ['check']]) {
      expect(await runCli([...args, '--dir', dir, '--now', later])).toEqual({
        exitCode: 2,
        stdout: '',
        stderr: `costbook: ${join(dir, 'data', 'costbook.duckdb')} was published by a newer Costbook (migration 9000_marks is unknown here). Update Costbook\n`,
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
      'was published by an older Costbook (before migration 9000_marks). Run "costbook ingest" once',
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

  test('locks the warehouse while it copies and migrates', async () => {
    const dir = await project();
    const migrating = startWriting(dir, await newerVersion({ [name]: slow }));
    await appears(dir, /^warehouse\.before-9000\.duckdb$/, migrating.ended);
    const second = await write(dir);
    expect(migrating.process.exitCode).toBe(null);
    expect(second).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('is held by process') });
    expect((await migrating.ended).exitCode).toBe(0);
  });

  describe.each([
    ['while it copies', /^warehouse\.before-9000\.duckdb\.\d+\.part$/, 0],
    ['when the copy is complete', /^warehouse\.before-9000\.duckdb$/, 0],
    ['in the middle of the migration', /^warehouse\.before-9000\.duckdb$/, 300],
    ['later', /^warehouse\.before-9000\.duckdb$/, 900],
  ])('that is killed %s', (_, file, afterMs) => {
    test('starts again on the next run, and loses nothing', async () => {
      const dir = await project();
      const before = await contentOf(warehouseOf(dir));
      const cli = await newerVersion({ [name]: slow });
      const run = startWriting(dir, cli);
      await appears(dir, file, run.ended);
      await sleepFor(afterMs);
      run.process.kill('SIGKILL');
      expect((await run.ended).exitCode).toBe(137);
      await sleepFor(200); // the copier sees that its parent is gone
      expect(await contentOf(warehouseOf(dir))).toEqual(before);

      const { exitCode, stderr } = await write(dir, await newerVersion({ [name]: quick }));
      expect(exitCode, stderr).toBe(0);
      expect(await contentOf(join(dir, 'data', 'warehouse.before-9000.duckdb'))).toEqual(before);
      const after = await contentOf(warehouseOf(dir));
      expect(after['main.costs']).toEqual(before['main.costs']);
      expect(after['ledger.marks']).toHaveLength((before['ledger.runs'] as unknown[]).length);
      const data = await readdir(join(dir, 'data'));
      expect(data.filter((found) => found.endsWith('.part'))).toEqual([]);
      expect(await askSnapshot(dir, 'select sum(cost) as cost from costs')).toEqual([{ cost: '12.000000000000' }]);
    });
  });

  /** Resolves when a file of this name is in the data folder; throws if the run ends before. */
  async function appears(dir: string, pattern: RegExp, ended: Promise<Ended>): Promise<void> {
    const folder = join(dir, 'data');
    let watcher: FSWatcher | undefined;
    const seen = new Promise<void>((resolve) => {
      watcher = watch(folder, (_, found) => {
        if (found !== null && pattern.test(found)) resolve();
      });
    });
    await Promise.race([seen, ended.then(({ stderr }) => Promise.reject(new Error(`it ended: ${stderr}`)))]);
    watcher?.close();
  }
});
