// Second tier: Statements that attack, some of which are ended by a time limit only.

import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { askSnapshot, type Ended, ingest, newProject, runCli, type Started, startCli } from '../support/project.ts';
import { series, startScriptedPlatform } from '../support/scripted-platform.ts';

const token = 'tok-that-nobody-may-read';

let dir = '';
let outside = '';
let filesBefore: string[] = [];
beforeAll(async () => {
  dir = await newProject();
  outside = await mkdtemp(join(tmpdir(), 'costbook-outside-'));
  const platform = await startScriptedPlatform(
    series(
      { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_compute_runtime_gbs' },
      '2026-09-03T05',
      [0.1, 0.2],
    ),
  );
  await ingest(dir, platform, { now: '2026-09-05T12:30:00Z' });
  filesBefore = await filesWithSizes();
});
afterAll(() => rm(outside, { recursive: true, force: true }));

/** Every file of the project, with its size: what an attack leaves behind shows. */
async function filesWithSizes(): Promise<string[]> {
  const names = await readdir(dir, { recursive: true });
  return Promise.all(
    names.sort().map(async (name) => {
      const found = await stat(join(dir, name));
      return found.isDirectory() ? name : `${name} ${found.size}`;
    }),
  );
}

afterEach(async () => {
  expect(await filesWithSizes()).toEqual(filesBefore);
  expect(await readdir(outside)).toEqual([]);
  expect(await askSnapshot(dir, 'select count(*) as rows, sum(cost) as cost from costs')).toEqual([
    { rows: '2', cost: '0.300000000000' },
  ]);
});

/** Asks with secrets in the environment, as a real run would have them. */
function attack(query: string, ...args: string[]): Promise<Ended> {
  return runCli(['sql', '--dir', dir, ...args, '--', query], { COSTBOOK_TOKEN: token, AWS_SECRET_ACCESS_KEY: token });
}

describe('typed SQL reads no file', () => {
  test.each([
    [`select * from read_text('/etc/passwd')`],
    [`select * from read_blob('/proc/self/environ')`],
    [`select * from read_csv('/etc/passwd')`],
    [`select * from read_json('/etc/passwd')`],
    [`select * from read_parquet('/etc/passwd')`],
    [`select * from '/etc/passwd'`],
    [`from query('from read_text(''/etc/passwd'')')`],
    [`select * from query_table('/etc/passwd')`],
    [`select * from glob('/etc/*')`],
    [`select * from glob('**')`],
    [`select * from sniff_csv('/etc/passwd')`],
    [`select * from parquet_metadata('/etc/passwd')`],
    [`select * from read_text('https://example.com/')`],
    [`select * from duckdb_secrets()`],
    [`select * from which_secret('s3://bucket/key', 's3')`],
    [`select getenv('COSTBOOK_TOKEN')`],
    [`explain analyze select * from read_text('/etc/passwd')`],
    [`select * from json_execute_serialized_sql(json_serialize_sql('from read_text(''/etc/passwd'')'))`],
  ])('%s', async (query) => {
    const { exitCode, stdout, stderr } = await attack(query, '--format', 'csv');
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(
      /^costbook: (\w+\(\) is refused|(Permission|Catalog|Invalid Input|Binder|Parser|IO|Not implemented) Error: )/,
    );
    expect(stderr).not.toMatch(/root:|^ {4}at /m);
  });

  test('and no setting shows a secret, or anything of the machine outside the project', async () => {
    const { exitCode, stdout } = await attack('from duckdb_settings()', '--format', 'csv');
    expect(exitCode).toBe(0);
    expect(stdout).not.toContain(token);
    const paths = [...stdout.matchAll(/(?<![\w.])\/[\w./-]+/g)].map(([path]) => path);
    expect(paths.filter((path) => !path.startsWith(join(dir, 'data')) && path.length > 1)).toEqual([]);
  });
});

describe('typed SQL writes nothing and changes nothing', () => {
  test.each([
    [(to: string) => `copy (select 1) to '${to}'`],
    [(to: string) => `-- innocent\ncopy costs to '${to}'`],
    [(to: string) => `explain analyze copy (select 1) to '${to}'`],
    [(to: string) => `from query('copy (select 1) to ''${to}''')`],
    [(to: string) => `select 1) to '${to}' (format csv); --`],
    [(to: string) => `attach '${to}' as other`],
    [(to: string) => `export database '${to}'`],
    [(to: string) => `install httpfs from '${to}'`],
    [(to: string) => `load '${to}'`],
    [(to: string) => `pragma enable_profiling='${to}'`],
    [(to: string) => `pragma log_query_path='${to}'`],
    [(to: string) => `set temp_directory='${to}'`],
    [(to: string) => `set enable_external_access=true; copy (select 1) to '${to}'`],
    [(to: string) => `call enable_logging(storage='file', storage_config={'path': '${to}'})`],
    [(to: string) => `select * from enable_logging(storage='file', storage_config={'path': '${to}'})`],
    [(to: string) => `from query('from ENABLE_LOGGING(storage=''file'', storage_config={''path'': ''${to}''})')`],
    [() => 'create temp view costs as select 1 as cost'],
    [() => 'create or replace view costs as select 1 as cost'],
    [() => 'create macro sum(x) as 0'],
    [() => 'delete from ledger.hourly_costs'],
    [() => 'begin; drop view costs; commit'],
    [() => 'set variable x = 1'],
    [() => 'checkpoint'],
  ])('%s', async (queryTo) => {
    const { exitCode, stdout, stderr } = await attack(queryTo(join(outside, 'stolen')), '--format', 'csv');
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(/^costbook: .*(refused|statements|Permission Error|Parser Error)/);
  });

  test.each([
    [(to: string) => `select 1) to '${to}' (format csv); --`],
    [(to: string) => `select '1''') to ''${to}'' (format csv); --'`],
    [(to: string) => `from read_text('${to}')`],
    [(to: string) => `copy (select 1) to '${to}'`],
  ])('also where DuckDB itself writes Parquet: %s', async (queryTo) => {
    const { exitCode, stdout } = await attack(queryTo(join(outside, 'stolen')), '--format', 'parquet');
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  });

  test('a logger that was switched on by a hidden name ends with its process', async () => {
    // DuckDB lets a SELECT switch it on, and then accepts no more statements.
    const hidden = `from query('from en' || 'able_log' || 'ging(storage=''file'', storage_config={''path'': ''${join(dir, 'data/costbook.duckdb.wal')}''})')`;
    const { exitCode, stderr } = await attack(hidden);
    expect([0, 2, 7]).toContain(exitCode);
    expect(stderr).not.toContain('    at ');
    expect((await attack('select 1 as one')).exitCode).toBe(0);
  });

  test('text that DuckDB prints itself is not treated as data', async () => {
    const hidden = `select * from query('select * from en' || 'able_log' || 'ging(storage=''stdout'')'), range(3)`;
    const { stdout } = await attack(hidden, '--format', 'csv');
    expect(stdout).not.toMatch(/QueryLog|CONNECTION/);
  });

  test('process list and environment show no query, no path of the books and no secret', async () => {
    const endless = 'with recursive r(i) as (select 1 union all select i + 1 from r) select count(*) from r';
    const run = startAttack(['-', '--timeout', '20s'], endless);
    const child = await childOf(run.process.pid);
    const [commandLine, environment] = await Promise.all(
      ['cmdline', 'environ'].map((name) => readFile(`/proc/${child}/${name}`, 'utf8')),
    );
    expect(commandLine?.replaceAll('\0', ' ')).toMatch(/node --max-old-space-size=\d+ \S*dist\/child\.js $/);
    expect(environment).not.toContain('COSTBOOK');
    expect(environment).not.toContain(token);
    // What a query might write is bounded by the kernel.
    const limits = await readFile(`/proc/${child}/limits`, 'utf8');
    expect(limits).toMatch(/^Max file size +\d+ /m);
    expect(limits).toMatch(/^Max core file size +0 /m);
    run.process.kill('SIGTERM');
    expect((await run.ended).exitCode).toBe(143);
  });
});

describe('typed SQL ends', () => {
  test.each([
    ['an endless recursion', 'with recursive r(i) as (select 1 union all select i + 1 from r) select count(*) from r'],
    [
      'a product that spills to disk',
      'select a.i from range(1e7::bigint) a(i), range(1e7::bigint) b(i) order by hash(a.i, b.i)',
    ],
    [
      'a query that ignores interruption',
      `select sum(length(format('{:>1000000000}', i::varchar))) from range(1000) t(i)`,
    ],
    ['a query that sleeps', 'select sleep_ms(60000)'],
  ])('%s, after --timeout', async (_, query) => {
    const { exitCode, stdout, stderr } = await attack(query, '--timeout', '2s');
    expect({ exitCode, stdout }).toEqual({ exitCode: 7, stdout: '' });
    expect(stderr).toMatch(/^costbook: (the query took longer than 2 s and was stopped|this needs more than)/);
  });

  test.each([
    [`select length(repeat('x', 3000000000))`],
    [`select length(repeat('x', 2000000000)) + length(lpad('x', 2000000000, 'y'))`],
    [`select max(length(repeat('abc', 500000000) || i)) from range(8) t(i)`],
    [`select list(repeat('x', 1000000)) from range(100000)`],
    [`select repeat('x', 600000000) as x`],
    [`select ${'('.repeat(20_000)}1${')'.repeat(20_000)}`],
    [`select ${'-1 + '.repeat(100_000)}1`],
  ])('with an error if it needs too much memory or time: %#', async (query) => {
    const { exitCode, stdout, stderr } = await attackThroughStdin(query);
    expect({ exitCode: [2, 7].includes(exitCode), stdout }).toEqual({ exitCode: true, stdout: '' });
    expect(stderr).toMatch(/^costbook: /);
    expect(stderr).not.toMatch(/bug in Costbook|^ {4}at /m);
  });

  test('when nobody reads its answer', async () => {
    const run = startAttack(['select * from range(1000000000)', '--format', 'csv']);
    const child = await childOf(run.process.pid);
    run.process.stdout?.once('data', () => run.process.stdout?.destroy());
    expect(await run.ended).toMatchObject({ exitCode: 141, stderr: '' });
    expect(isAlive(child)).toBe(false);
  });

  test('at Ctrl-C, which a terminal sends to both processes', async () => {
    const run = startAttack(['select * from range(1000000000)', '--format', 'csv']);
    const child = await childOf(run.process.pid);
    run.process.stdout?.once('data', () => {
      process.kill(child, 'SIGINT');
      run.process.kill('SIGINT');
    });
    const { exitCode, stderr } = await run.ended;
    expect(exitCode).toBe(130);
    expect(stderr).toBe('costbook: ended by SIGINT\n');
    expect(isAlive(child)).toBe(false);
  });

  test('when the process that started it is killed', async () => {
    const deaf = `select sum(length(format('{:>1000000000}', i::varchar))) from range(1000) t(i)`;
    const run = startAttack([deaf]);
    const child = await childOf(run.process.pid);
    run.process.kill('SIGKILL');
    await run.ended;
    for (let tries = 0; tries < 100 && isAlive(child); tries += 1) await sleep(100);
    expect(isAlive(child)).toBe(false);
    await rm(join(dir, 'data', `.spill-${child}`), { recursive: true, force: true }); // the next reader removes it in time
  });
});

/** Asks in a process of its own, which is killed or left alone. */
function startAttack(args: readonly string[], stdin?: string): Started {
  return startCli(['sql', ...args, '--dir', dir], { COSTBOOK_TOKEN: token }, stdin === undefined ? {} : { stdin });
}

/** Asks with the query on stdin: one that is longer than a command line may be. */
function attackThroughStdin(query: string): Promise<Ended> {
  return runCli(['sql', '-', '--dir', dir, '--timeout', '5s'], { COSTBOOK_TOKEN: token }, { stdin: query });
}

/** The child process that answers, once it has started to. */
async function childOf(pid: number | undefined): Promise<number> {
  for (let tries = 0; tries < 200; tries += 1) {
    const [child] = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ');
    const program = child === undefined || child === '' ? '' : await readFile(`/proc/${child}/cmdline`, 'utf8');
    if (program.includes('dist/child.js') && !program.startsWith('/bin/sh')) return Number(child);
    await sleep(20);
  }
  throw new Error(`process ${pid} started none`);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
