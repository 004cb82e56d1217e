// Second tier: Writes a lake and reads it with several readers; e2e/one-month exports in the first tier.

import { spawnSync } from 'node:child_process';
import { lstat, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { beforeAll, describe, expect, test } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import type { Manifest } from '../../src/reports/exports/manifest.ts';
import { askSnapshot, type Ended, newProject, runCli } from '../support/project.ts';
import { type TwoNights, twoNights } from '../support/two-nights.ts';

const account = 'acc one/50% =+é[1]*';
const encoded = 'account=acc one%2F50%25 %3D%2Bé%5B1%5D%2A';

let nights: TwoNights;
beforeAll(async () => {
  nights = await twoNights(account);
});

function lake(dir: string, ...args: string[]): Promise<Ended> {
  const now = args.includes('--now') ? [] : ['--now', '2026-10-03T00:00:00Z'];
  return runCli(['report', 'lake', '--dir', dir, ...now, ...args]);
}

async function laidOut(): Promise<{ dir: string; folder: string }> {
  const dir = await newProject();
  await nights.publish(dir, 'first');
  const { exitCode, stderr } = await lake(dir);
  expect(exitCode, stderr).toBe(0);
  return { dir, folder: join(dir, 'exports', 'lake') };
}

async function manifestIn(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, '_manifest'), 'utf8')) as Manifest;
}

/** Rows, hash of all of them, and cost, as DuckDB reads the partitions by itself. */
async function readByDuckDb(folder: string): Promise<Record<string, unknown>> {
  return askPartitions(
    folder,
    `select count(*) as rows, sum(cost) as cost, sum(usage) as usage, list(distinct account order by account) as accounts,
      list(distinct month order by month) as months`,
  );
}

async function askPartitions(folder: string, select: string): Promise<Record<string, unknown>> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  try {
    const connection = await instance.connect();
    const files = `read_parquet($files, hive_partitioning = true)`;
    const reader = await connection.runAndReadAll(`${select} from ${files}`, {
      files: join(folder, 'costs', '**', '*.parquet'),
    });
    connection.closeSync();
    return (reader.getRowObjectsJson()[0] ?? {}) as Record<string, unknown>;
  } finally {
    instance.closeSync();
  }
}

async function inBooks(dir: string): Promise<Record<string, unknown>> {
  const [row = {}] = await askSnapshot(
    dir,
    `select count(*) as rows, sum(cost) as cost, sum(usage) as usage, list(distinct account order by account) as accounts,
      list(distinct strftime(bucket_start, '%Y-%m') order by strftime(bucket_start, '%Y-%m')) as months
    from costs`,
  );
  return row;
}

describe.concurrent('the lake', () => {
  test('is one Parquet file per account and month, with the same rows as the books', async () => {
    const { dir, folder } = await laidOut();
    const { files, tables = {} } = await manifestIn(folder);
    const months = files.filter(({ table }) => table === 'costs').map(({ name }) => name);
    expect(months).toEqual([`costs/${encoded}/month=2026-09/costs.parquet`]);
    const folders = [...new Set(files.map(({ table }) => table))];
    expect((await readdir(folder)).sort()).toEqual(['_manifest', ...folders].sort());
    // In fresh books nothing was restated.
    expect(Object.keys(tables).filter((name) => !folders.includes(name))).toEqual(['restatements']);
    const read = await readByDuckDb(folder);
    expect(read).toEqual(await inBooks(dir));
    expect(read).toMatchObject({ accounts: [account], months: ['2026-09'] });
    expect(await runCli(['verify', '--dir', dir])).toMatchObject({ exitCode: 0 });
  });

  test('is exact Parquet only: other formats and options are refused', async () => {
    const { dir } = await laidOut();
    const { exitCode, stderr } = await lake(dir, '--format', 'csv,parquet', '--parquet-decimals', 'double');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--format: the report lake is only written as parquet, found csv');
    expect(stderr).toContain('--parquet-decimals: the report lake is only written with exact decimals');
  });

  test('rewrites only months that a load has changed', async () => {
    const { dir, folder } = await laidOut();
    const september = join(folder, 'costs', encoded, 'month=2026-09', 'costs.parquet');
    const before = await lstat(september);
    await nights.publish(dir, 'third'); // September unchanged, October started
    expect((await lake(dir)).exitCode).toBe(0);
    expect(await lstat(september)).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
    expect(await readByDuckDb(folder)).toEqual(await inBooks(dir));
    expect(await readByDuckDb(folder)).toMatchObject({ months: ['2026-09', '2026-10'] });

    const again = await lake(dir, '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({ unchanged: true, rowCount: 7 });
    expect(await runCli(['verify', '--dir', dir])).toMatchObject({ exitCode: 0 });
  });

  test('is written completely for other books, and if a partition is missing', async () => {
    const { dir, folder } = await laidOut();
    await nights.publish(dir, 'second');
    await lake(dir);
    await nights.publish(dir, 'first');
    expect((await lake(dir)).exitCode).toBe(0);
    const { months: _, ...books } = await inBooks(dir);
    expect(await readByDuckDb(folder)).toMatchObject(books); // October's file is empty rather than gone under a reader
    expect(await runCli(['verify', '--dir', dir])).toMatchObject({ exitCode: 0 });

    await rm(join(folder, 'costs', encoded, 'month=2026-09'), { recursive: true });
    expect(await runCli(['verify', '--dir', dir])).toMatchObject({ exitCode: 4 });
    await lake(dir);
    expect(await runCli(['verify', '--dir', dir])).toMatchObject({ exitCode: 0 });
  });

  test('is consistent for a reader while it is written', async () => {
    const { dir, folder } = await laidOut();
    const sums = new Set<unknown>([(await inBooks(dir))['cost']]);
    let isWriting = true;
    const writing = (async () => {
      for (const night of ['second', 'first', 'second'] as const) {
        await nights.publish(dir, night);
        expect((await lake(dir)).exitCode).toBe(0);
      }
      isWriting = false;
    })();
    const seen = new Set<unknown>();
    let reads = 0;
    for (; isWriting; reads += 1) {
      const { cost } = await askPartitions(folder, `select sum(cost) filter (month = '2026-09') as cost`);
      seen.add(cost);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await writing;
    sums.add((await askPartitions(folder, `select sum(cost) filter (month = '2026-09') as cost`))['cost']);
    expect(reads).toBeGreaterThan(10);
    expect([...seen].filter((sum) => !sums.has(sum))).toEqual([]);
    expect(sums.size).toBe(2);
  });

  test('reports a file among the partitions that no manifest names', async () => {
    const { dir, folder } = await laidOut();
    const partition = join(folder, 'costs', encoded, 'month=2026-09');
    await writeFile(join(partition, 'data_0.parquet'), await readFile(join(partition, 'costs.parquet')));
    const { exitCode, stdout } = await runCli(['verify', '--dir', dir]);
    expect(exitCode).toBe(4);
    expect(stdout).toContain('data_0.parquet: file: found a file that no manifest names, expected nothing');
  });

  const python = process.env['COSTBOOK_TEST_PYTHON'] ?? 'python3';
  for (const [reader, packages] of [
    ['pyarrow', 'pyarrow.dataset'],
    ['polars', 'polars'],
  ] as const) {
    const isThere = spawnSync(python, ['-c', `import ${packages}`]).status === 0;
    test.skipIf(!isThere)(
      `is read by ${reader} as by DuckDB, to the last decimal${isThere ? '' : ' (skipped: there is none here)'}`,
      async () => {
        const { dir, folder } = await laidOut();
        await nights.publish(dir, 'second');
        await lake(dir);
        const program = fileURLToPath(new URL('../support/read_lake.py', import.meta.url));
        const { stdout, stderr } = spawnSync(python, [program, reader, folder], { encoding: 'utf8' });
        expect(stdout, stderr).not.toBe('');
        const found = JSON.parse(stdout) as Record<string, TableRead>;
        expect(found).toEqual(await tablesByDuckDb(folder));
        const { rows, cost } = await inBooks(dir);
        expect(found['costs']).toMatchObject({ rows: Number(rows), sums: { cost } });
      },
    );
  }
});

/** Rows, exact sums of decimals, and the first and last instants of a table. */
interface TableRead {
  readonly rows: number;
  readonly sums: Readonly<Record<string, string | null>>;
  readonly instants: Readonly<Record<string, readonly (number | null)[]>>;
}

async function tablesByDuckDb(folder: string): Promise<Record<string, TableRead>> {
  const { tables = {}, files } = await manifestIn(folder);
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  const read: Record<string, TableRead> = {};
  try {
    for (const [name, { partition }] of Object.entries(tables)) {
      if (!files.some(({ table }) => table === name)) continue;
      const source = `read_parquet('${join(folder, name, ...partition.map(() => '*'), '*.parquet')}')`;
      const columns = (await connection.runAndReadAll(`describe from ${source}`)).getRowsJson() as [string, string][];
      const cells = columns.flatMap(([column, type]) => {
        const [, scale] = /^DECIMAL\(\d+,(\d+)\)$/.exec(type) ?? [];
        if (scale !== undefined)
          return [`cast(sum(cast("${column}" as decimal(38, ${scale}))) as varchar) as "sums.${column}"`];
        if (type !== 'TIMESTAMP WITH TIME ZONE') return [];
        return [`cast([min(epoch_us("${column}")), max(epoch_us("${column}"))] as varchar) as "instants.${column}"`];
      });
      const reader = await connection.runAndReadAll(`select ${['count(*)', ...cells].join(', ')} from ${source}`);
      const [rows, ...values] = reader.getRowsJson()[0] ?? [];
      const named = values.map((value, index) => [reader.columnNames()[index + 1] ?? '', value] as const);
      const ofKind = (kind: string) => named.filter(([each]) => each.startsWith(`${kind}.`));
      read[name] = {
        rows: Number(rows),
        sums: Object.fromEntries(ofKind('sums').map(([each, value]) => [each.slice(5), value as string | null])),
        instants: Object.fromEntries(
          ofKind('instants').map(([each, value]) => [
            each.slice(9),
            JSON.parse(String(value).replaceAll('NULL', 'null')) as (number | null)[],
          ]),
        ),
      };
    }
    return read;
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

describe('a month of the lake with several row groups', () => {
  test('has its rows in order, whatever the number of threads', async () => {
    const dir = await newProject();
    const now = '2026-10-01T02:00:00Z';
    const platform = await startEmulator({ now: () => Date.parse(now), resources: 600 });
    const ingested = await runCli(['ingest', '--dir', dir, '--now', now], {
      COSTBOOK_URL: platform.url,
      COSTBOOK_TOKEN: platform.tokens.admin,
      COSTBOOK_ACCOUNT: platform.account,
      COSTBOOK_SINCE: '2026-09-01',
      COSTBOOK_INVENTORY: 'false',
    });
    await platform.close();
    expect(ingested.exitCode, ingested.stderr).toBe(0);
    expect(await lake(dir, '--now', now)).toMatchObject({ exitCode: 0 });
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    for (const table of ['costs', 'costs_allocated']) {
      const files = join(dir, 'exports', 'lake', table, '*', 'month=2026-09', '*.parquet');
      const reader = await connection.runAndReadAll(
        `with placed as (
          select *, lag(series_id) over (order by file_row_number) as series_before,
            lag(bucket_start) over (order by file_row_number) as start_before
          from read_parquet($files, file_row_number = true)
        )
        select count(*) > 3 * 122880 as is_large, count(distinct series_id) as series,
          count(*) filter (series_id is distinct from series_before) as runs_of_series,
          count(*) filter (series_id = series_before and bucket_start < start_before) as back_in_time
        from placed`,
        { files },
      );
      const [found] = reader.getRowObjectsJson();
      expect({ table, ...found }).toMatchObject({
        is_large: true,
        runs_of_series: found?.['series'],
        back_in_time: '0',
      });
    }
    connection.closeSync();
    instance.closeSync();
  });
});
