import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CostbookError } from '../../src/base/errors.ts';
import { type Books, openBooks } from '../../src/warehouse/integrity/books.ts';
import { walk } from '../../src/warehouse/sql/parse-tree.ts';
import type { AdmitOptions } from '../../src/warehouse/store/connection.ts';
import { openWarehouse } from '../../src/warehouse/warehouse.ts';
import { type Hostile, hostileStatements } from '../support/hostile-sql.ts';
import { newProject } from '../support/project.ts';

let dir = '';
let outside = '';
let filesBefore: string[] = [];
let statements: Hostile[] = [];
beforeAll(async () => {
  dir = await newProject();
  const warehouse = await openWarehouse(dir, new AbortController().signal);
  await warehouse.publish();
  warehouse.close();
  outside = await mkdtemp(join(tmpdir(), 'costbook-outside-'));
  await writeFile(join(outside, 'secret.txt'), 'a-secret-that-nobody-may-read\n');
  filesBefore = await filesWithHashes();
  statements = hostileStatements({
    snapshot: join(dir, 'data', 'costbook.duckdb'),
    warehouse: join(dir, 'data', 'warehouse.duckdb'),
    stolen: join(outside, 'stolen'),
    secret: join(outside, 'secret.txt'),
  });
});
afterAll(() => rm(outside, { recursive: true, force: true }));

/** Every file of the project and of the folder outside, with its bytes. */
async function filesWithHashes(): Promise<string[]> {
  const found = await Promise.all(
    [dir, outside].map(async (root) =>
      Promise.all(
        (await readdir(root, { recursive: true })).sort().map(async (name) => {
          const path = join(root, name);
          if ((await stat(path)).isDirectory()) return path;
          return `${path} ${createHash('sha256')
            .update(await readFile(path))
            .digest('hex')}`;
        }),
      ),
    ),
  );
  return found.flat();
}

/** Every file and folder of both with what changes when it is written: quicker than their bytes. */
async function filesAsWritten(): Promise<string[]> {
  const found = await Promise.all(
    [dir, outside].map(async (root) => {
      const names = (await readdir(root, { recursive: true })).sort();
      return Promise.all(
        names.map(async (name) => {
          const { ino, size, mtimeNs } = await stat(join(root, name), { bigint: true });
          return `${join(root, name)} ${ino} ${size} ${name.includes('.spill') ? '' : mtimeNs}`;
        }),
      );
    }),
  );
  return found.flat();
}

/** What a statement answers, or the error that refuses it. */
async function ask({ connection }: Books, sql: string, options: AdmitOptions = {}): Promise<string | Error> {
  try {
    const { chunks } = await connection.query(sql, options);
    const told: string[] = [];
    for await (const rows of chunks) told.push(rows.map(String).join('\n'));
    return told.join('\n');
  } catch (error) {
    return error as Error;
  }
}

/** The statements that did not end as they must, each with what it said; the books and all files are as before. */
async function failing(tried: readonly Hostile[], asOf?: number): Promise<[string, string][]> {
  const wrong: [string, string][] = [];
  const books = await openBooks(dir, { lockedDown: true, asOf });
  try {
    const asWritten = await filesAsWritten();
    for (const { sql, isRefused } of tried) {
      const said = await ask(books, sql);
      const isOrderly = said instanceof Error ? said instanceof CostbookError : true;
      const isSecret = String(said).includes('a-secret-that-nobody-may-read');
      if (said instanceof Error !== isRefused || !isOrderly || isSecret) wrong.push([sql, String(said)]);
      expect([sql, await filesAsWritten()]).toEqual([sql, asWritten]);
      // What fails ends the transaction that keeps the past from being changed.
      if (asOf === undefined || !(said instanceof Error)) continue;
      await books.connection.run('rollback');
      await books.connection.seal();
    }
    expect(await filesWithHashes()).toEqual(filesBefore);
    expect(await books.connection.rows('select count(*) as rows from costs')).toEqual([{ rows: '0' }]);
  } finally {
    books.close();
  }
  return wrong;
}

test('at least 510 hostile statements are tried, each once', () => {
  expect(statements.length).toBeGreaterThanOrEqual(510);
  expect(new Set(statements.map(({ sql }) => sql)).size).toBe(statements.length);
});

test('no hostile statement changes a byte of the books, leaves a file or reads one', async () => {
  expect(await failing(statements)).toEqual([]);
});

test('no hostile statement does so in books as of an instant', async () => {
  expect(await failing(statements, Date.UTC(2026, 0, 1))).toEqual([]);
});

/** What a viewer or an agent from elsewhere may try to learn where the books are. */
const askingForPlaces = [
  ...['duckdb_databases()', 'duckdb_databases', 'duckdb_settings()', 'duckdb_settings', 'pg_settings', '"PG_SETTINGS"'],
  ...['pragma_database_list', 'system.main.pragma_database_list', 'pg_catalog.pg_settings', 'pg_catalog.pg_database'],
  ...['duckdb_extensions()', 'duckdb_temporary_files()', 'duckdb_external_file_cache()', 'duckdb_secrets()'],
  ...['pragma_database_size()', 'duckdb_views()', 'duckdb_tables', 'duckdb_variables()', 'duckdb_memory()'],
  ...[
    "query('from duckdb_databases()')",
    "query_table('duckdb_databases')",
    "query_table(['pg_settings', 'costs'], true)",
    ...["histogram('duckdb_databases', path)", 'histogram_values(duckdb_databases, path)'],
    ...["histogram('duckdb_' || 'databases', path)", "histogram(E'\\n\\x64uckdb_databases', path)"],
    ...["histogram(col_name := path, source := 'duckdb_databases')", `histogram('"main"."duckdb_databases"', path)`],
    "histogram((select 'duckdb_' || 'databases'), path)",
  ],
  ...["query_table('system.main.pragma_database_list')", 'information_schema.schemata', 'duckdb_profiling_settings()'],
  ...['(select * from duckdb_databases() limit 1)', '(describe pragma_database_list)', '(show databases)'],
  ...["glob('**')", "glob('/*')", "read_blob('*')", "read_text('.')", 'read_csv(getvariable($$x$$))', "'./*.duckdb'"],
]
  .map((source) => `from ${source}`)
  .concat(
    ...['allowed_paths', 'allowed_directories', 'temp_directory', 'home_directory', 'secret_directory'].flatMap(
      (name) => [
        `select current_setting('${name}')::varchar`,
        `select "Current_Setting"('${name}')::varchar || 'x'`,
        `select reverse(system.main.current_setting('${name}')::varchar)`,
        `from range(1), lateral (select current_setting('${name}')::varchar)`,
      ],
    ),
    ['show databases', 'show all tables', 'describe duckdb_databases', 'summarize pragma_database_list', 'show tables'],
    [`pivot (select 1 as a, bin from histogram('duckdb_' || 'databases', path)) on a using first(bin)`],
    ['pivot (from pragma_database_list) on name using any_value(file)', 'explain analyze from pragma_database_list'],
    ['select current_query()', 'select current_database()', `select error('x')`, 'explain analyze from costs'],
  );

test('nobody who asks from elsewhere learns in which folder the books are', async () => {
  const books = await openBooks(dir, { lockedDown: true });
  const told: [string, string][] = [];
  try {
    for (const sql of [...askingForPlaces, ...statements.map((one) => one.sql)]) {
      // Words of the question come back in errors, and are no news.
      const said = String(await ask(books, sql, { hidesPlaces: true })).replaceAll(sql, '');
      const isNews =
        !sql.includes(dir) &&
        [dir, basename(dir), [...basename(dir)].reverse().join('')].some((name) => said.includes(name));
      if (isNews) told.push([sql, said.slice(0, 300)]);
    }
  } finally {
    books.close();
  }
  expect(told).toEqual([]);
});

test.each([
  ['as they are', undefined],
  ['as of an instant', Date.UTC(2026, 0, 1)],
])('a PIVOT answers from the books %s, and the connection stays read-only', async (_, asOf) => {
  const books = await openBooks(dir, { lockedDown: true, asOf });
  try {
    const pivot = `pivot (values ('a', 1), ('b', 2), ('a', 3)) as t(k, v) on k using sum(v); -- by name`;
    const { columns, chunks } = await books.connection.query(pivot);
    const rows: string[] = [];
    for await (const chunk of chunks) rows.push(...chunk.map(String));
    expect({ columns: columns.map(({ name }) => name), rows }).toEqual({ columns: ['a', 'b'], rows: ['4,2'] });
    await expect(books.connection.query('pivot costs on nowhere using sum(cost)')).rejects.toThrow(
      /^Binder Error.*nowhere/,
    );
    if (asOf !== undefined)
      await expect(books.connection.run('create table t (x integer)')).rejects.toThrow('read-only');
  } finally {
    books.close();
  }
});

test('a text that is read in many ways as EXPLAIN is refused at once', async () => {
  const books = await openBooks(dir, { lockedDown: true });
  try {
    for (const options of ['format xanalyze'.repeat(2000), ' '.repeat(200_000)]) {
      const asked = books.connection.query(`explain (${options}!) select 1`);
      await expect(asked, options.slice(0, 20)).rejects.toThrow();
    }
  } finally {
    books.close();
  }
});

test('a tree is walked however many values a list in it has', () => {
  let count = 0;
  const values = Array.from({ length: 300_000 }, () => ({ class: 'CONSTANT' }));
  walk({ children: values }, ({ class: kind }) => {
    count += kind === 'CONSTANT' ? 1 : 0;
  });
  expect(count).toBe(values.length);
});

test('if a statement passes the guard, the paths that DuckDB itself allows lead nowhere', async () => {
  const books = await openBooks(dir, { lockedDown: true });
  try {
    const [setting] = await books.connection.rows(`select current_setting('allowed_paths') as paths`);
    const paths = setting?.['paths'] as string[];
    expect(paths.length).toBeGreaterThan(0);
    for (const path of [...paths, join(dir, 'data', 'costbook.duckdb')]) {
      for (const how of ['copy', 'explain analyze copy']) {
        const statement = `${how} (select 1) to '${path}' (format csv, use_tmp_file false)`;
        await expect(books.connection.run(statement), statement).rejects.toThrow(/Cannot (open|access) file/);
      }
    }
  } finally {
    books.close();
  }
  expect(await filesWithHashes()).toEqual(filesBefore);
});
