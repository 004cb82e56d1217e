// Second tier: Waits for queries of a project that do not end.

import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ended, ingest, newProject, runCli, startCli } from '../support/project.ts';
import { series, startScriptedPlatform } from '../support/scripted-platform.ts';

const secret = 'a-secret-that-nobody-may-read';
const token = 'tok-that-nobody-may-read';

let loaded = '';
let outside = '';
beforeAll(async () => {
  loaded = await newProject();
  outside = await mkdtemp(join(tmpdir(), 'costbook-outside-'));
  await writeFile(join(outside, 'secret.txt'), `${secret}\n`);
  await writeFile(join(outside, 'orders.csv'), 'date,value\n2026-09-03,10\n');
  const platform = await startScriptedPlatform(
    series(
      { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_compute_runtime_gbs' },
      '2026-09-03T05',
      [0.1, 0.2],
    ),
  );
  await ingest(loaded, platform, { now: '2026-10-03T12:30:00Z' });
});
afterAll(() => rm(outside, { recursive: true, force: true }));

/** A project with these files of its own below `sql`. */
async function projectWith(files: Readonly<Record<string, string>>): Promise<string> {
  const dir = await newProject();
  await cp(join(loaded, 'data'), join(dir, 'data'), { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(dir, 'sql', name, '..'), { recursive: true });
    await writeFile(join(dir, 'sql', name), text);
  }
  return dir;
}

/** Every file below a folder with its bytes. */
async function hashesBelow(root: string): Promise<string[]> {
  const names = (await readdir(root, { recursive: true })).sort();
  return Promise.all(
    names.map(async (name) => {
      const path = join(root, name);
      if ((await stat(path)).isDirectory()) return name;
      return `${name} ${createHash('sha256')
        .update(await readFile(path))
        .digest('hex')}`;
    }),
  );
}

function costbook(dir: string, ...args: string[]): Promise<Ended> {
  return runCli([...args, '--dir', dir, '--now', '2026-10-03T12:40:00Z'], { COSTBOOK_TOKEN: token });
}

/** What a report or a check may try; `to` is a path that must stay as it is. */
const hostile: readonly ((paths: { to: string; secret: string }) => string)[] = [
  ({ to }) => `explain analyze copy (select 1) to '${to}' (format csv, use_tmp_file false)`,
  ({ to }) => `copy (select 1 as x) to '${to}' (format csv, use_tmp_file false)`,
  ({ to }) =>
    `select 1 as x) as report; copy (select 1) to '${to}' (format csv, use_tmp_file false); from (select 1 as x`,
  ({ to }) => `select 1 as x); explain analyze copy (select 1) to '${to}' (format csv, use_tmp_file false); --`,
  ({ to }) => `attach '${to}.db' as other`,
  () => `create or replace temp view costs as select 1 as x`,
  () => `set enable_external_access = true`,
  ({ secret }) => `select content as x from read_text('${secret}')`,
  ({ secret }) => `select content as x from query('from read_' || 'text(''${secret}'')')`,
  ({ secret }) => `select line as x from read_csv('${secret}', header = false, columns = {'line': 'VARCHAR'})`,
  ({ secret }) => `select * as x from '${secret}'`,
  () => `select content as x from read_text('/proc/self/environ')`,
  () => `select getenv('COSTBOOK_TOKEN') as x`,
  ({ to }) =>
    `with e as materialized (select count(*) as n from query('from enable_' || 'profiling(format := ''json'', ` +
    `save_location := ''${to}'')')) select n as x from e`,
  ({ to }) =>
    `select Success as x from query('from enable_' || 'logging(storage := ''file'', storage_path := ''${to}'')')`,
  () => `select x from json_execute_serialized_sql(json_serialize_sql('select 1 as x'))`,
  () => `select count(write_log('x')) as x from range(3)`,
  () => `select cast('Conflicting lock is held in /bin/x (PID 1)' as integer) as x`,
  ({ to }) => `select error('Could not read enough bytes from file "${to}"') as x`,
  () => `select get_type(1) as x`,
];

describe('a report of the project', () => {
  test('that tries to write or to read a file is refused with its file, and changes nothing', async () => {
    const dir = await projectWith({});
    const snapshot = join(dir, 'data', 'costbook.duckdb');
    const names: string[] = [];
    await mkdir(join(dir, 'sql', 'reports'), { recursive: true });
    for (const [index, sql] of hostile.entries()) {
      const name = `hostile_${index}`;
      const text = sql({
        to: index % 2 === 0 ? snapshot : join(outside, 'stolen'),
        secret: join(outside, 'secret.txt'),
      });
      await writeFile(join(dir, 'sql', 'reports', `${name}.sql`), `--! about: x\n--! grain: x\n${text}\n`);
      names.push(name);
    }
    const before = [await hashesBelow(join(dir, 'data')), await hashesBelow(outside)];
    for (const name of names) {
      const { exitCode, stdout, stderr } = await costbook(dir, 'report', name, '--format', 'csv');
      expect([name, exitCode, stdout]).toEqual([name, 2, '']);
      expect(stderr).toContain(`${name}.sql`);
      expect(stderr).not.toContain(secret);
      expect(stderr).not.toContain(token);
      expect([name, await hashesBelow(join(dir, 'data')), await hashesBelow(outside)]).toEqual([name, ...before]);
    }
  }, 180_000);

  test('may open no folder but that of its own temporary files, and one new file with a random name', async () => {
    const report = `--! about: x
--! grain: x
--! formats: json, parquet
select current_setting('allowed_paths')::varchar as x, current_setting('allowed_directories')::varchar as y
`;
    const dir = await projectWith({ 'reports/granted.sql': report });
    expect((await costbook(dir, 'report', 'granted')).exitCode).toBe(0);
    const place = join(dir, 'exports', 'granted');
    const [row] = JSON.parse(await readFile(join(place, 'latest.json'), 'utf8')) as { x: string; y: string }[];
    expect(row?.y).toMatch(/^\[[^,]*\/data\/\.spill[^,]*\]$/);
    const own = (row?.x ?? '').split(', ').filter((path) => path.includes(place));
    expect(own).toEqual([expect.stringMatching(/\/\.granted\.parquet-[0-9a-f-]{36}\.\d+\.part\]?$/)]);
    expect((await readdir(place)).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  test('reads only a file that a parameter names, below the project folder', async () => {
    const report =
      '--! about: x\n--! grain: day\n--! params: prices file\nselect day, price from read_csv($prices, header = true)\n';
    const sneaky = `--! about: x\n--! grain: x\n--! params: prices file\nselect content || $prices as x from read_text('${join(outside, 'secret.txt')}')\n`;
    const dir = await projectWith({ 'reports/priced.sql': report, 'reports/sneaky.sql': sneaky });
    await writeFile(join(dir, 'prices.csv'), 'day,price\n2026-09-01,2\n');
    const { exitCode, stdout } = await costbook(dir, 'report', 'priced', '--param', 'prices=prices.csv');
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('2026-09-01')]);
    expect((await costbook(dir, 'verify')).stdout).toContain('1 export: no difference');
    const refused = await costbook(dir, 'report', 'sneaky', '--param', 'prices=prices.csv');
    expect([refused.exitCode, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain('parameters of type file');
  });

  test('reads a file outside of the project folder only with --allow-files, also through a link', async () => {
    const dir = await projectWith({});
    const orders = join(outside, 'orders.csv');
    const asked = ['report', 'unit_economics', '--month', '2026-09', '--param', `metric=${orders}`];
    const refused = await costbook(dir, ...asked);
    expect([refused.exitCode, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain('--allow-files');
    const allowed = await costbook(dir, ...asked, '--allow-files', outside);
    expect([allowed.exitCode, allowed.stderr]).toEqual([0, '']);
    await cp(orders, join(dir, 'orders.csv'));
    expect((await costbook(dir, 'report', 'unit_economics', '--param', 'metric=orders.csv')).exitCode).toBe(0);
  });

  test('that runs too long is ended by --timeout, and leaves no file', async () => {
    const endless =
      '--! about: x\n--! grain: x\nwith recursive r(i) as (select 1 union all select i + 1 from r) select count(*) as x from r\n';
    const dir = await projectWith({ 'reports/endless.sql': endless });
    const { exitCode, stdout, stderr } = await costbook(dir, 'report', 'endless', '--timeout', '3s');
    expect([exitCode, stdout]).toEqual([7, '']);
    expect(stderr).toContain('the report endless took longer than 3 s');
    const files = await readdir(dir, { recursive: true });
    expect(files.filter((name) => /^exports.*\.(csv|part)$/.test(name))).toEqual([]);
  });

  test('is answered by a process without our environment, with an empty command line', async () => {
    const endless =
      '--! about: x\n--! grain: x\nwith recursive r(i) as (select 1 union all select i + 1 from r) select count(*) as x from r\n';
    const dir = await projectWith({ 'reports/endless.sql': endless });
    const run = startCli(['report', 'endless', '--dir', dir], { COSTBOOK_TOKEN: token });
    const child = await childOf(run.process.pid);
    const environment = await readFile(`/proc/${child}/environ`, 'utf8');
    expect(environment).not.toContain('COSTBOOK');
    // DuckDB gives freed memory back; otherwise the kernel's limit ends a child that has written many files.
    expect(environment).toContain('DUCKDB_JE_MALLOC_CONF=');
    expect(await readFile(`/proc/${child}/cmdline`, 'utf8')).not.toContain(dir);
    run.process.kill('SIGTERM');
    expect((await run.ended).exitCode).toBe(143);
  });
});

describe('a check of the project', () => {
  test('that tries to write or read a file is refused, and the others still run', async () => {
    const files = Object.fromEntries(
      hostile.map((sql, index) => [
        `checks/a_hostile_${index}.sql`,
        `--! about: x\n--! severity: fail\n${sql({ to: join(outside, 'stolen'), secret: join(outside, 'secret.txt') })}\n`,
      ]),
    );
    const counts = '--! about: x\n--! severity: warn\nfrom costs\n';
    const dir = await projectWith({ ...files, 'checks/z_counts.sql': counts });
    const before = [await hashesBelow(join(dir, 'data')), await hashesBelow(outside)];
    const { exitCode, stdout, stderr } = await costbook(dir, 'check', '--json');
    expect(exitCode).toBe(2);
    const { checks } = JSON.parse(stdout) as {
      checks: { name: string; offenders: number | null; error: string | null }[];
    };
    const refused = checks.filter(({ name }) => name.startsWith('a_hostile_'));
    expect(refused.map(({ offenders }) => offenders)).toEqual(hostile.map(() => null));
    expect(checks.find(({ name }) => name === 'z_counts')?.offenders).toBe(2);
    expect(`${stdout}${stderr}`).not.toContain(secret);
    expect([await hashesBelow(join(dir, 'data')), await hashesBelow(outside)]).toEqual(before);
  });

  test('that runs too long, or crashes DuckDB, fails alone', async () => {
    const dir = await projectWith({
      'checks/a_endless.sql':
        '--! about: x\n--! severity: fail\nwith recursive r(i) as (select 1 union all select i + 1 from r) select count(*) from r\n',
      'checks/b_logs.sql': `--! about: x\n--! severity: warn\nfrom query('from en' || 'able_log' || 'ging(storage=''file'')')\n`,
      'checks/c_counts.sql': '--! about: x\n--! severity: warn\nfrom costs\n',
    });
    const { exitCode, stdout, stderr } = await costbook(dir, 'check', '--timeout', '4s');
    expect([2, 7]).toContain(exitCode);
    expect(stdout).toContain('FAIL  a_endless: did not finish');
    expect(stdout).toContain('warn  c_counts: 2 offenders');
    expect(stdout).toContain('pass  series_differ');
    expect(stderr).toContain('a_endless.sql');
    expect(stderr).toContain('took longer than 4 s');
  });
});

describe('a file of SQL that is wrong', () => {
  const broken = {
    'reports/headless.sql': 'select 1 as a\n',
    'reports/misspelt.sql': '--! about: x\n--! grain: a\nselect nosuch as a from costs\n',
    'checks/loud.sql': '--! about: x\n--! severity: loud\nselect 1\n',
    'checks/unfinished.sql': '--! about: x\n--! severity: warn\nselect (1\n',
  };

  test('fails alone: other reports and checks still work', async () => {
    const dir = await projectWith(broken);
    expect((await costbook(dir, 'report', 'cost_by_workspace')).exitCode).toBe(0);
    const list = await costbook(dir, 'report', '--list', '--json');
    expect([list.exitCode, JSON.parse(list.stdout).map(({ name }: { name: string }) => name)]).toEqual([
      0,
      expect.arrayContaining(['cost_by_workspace', 'misspelt']),
    ]);
    expect(list.stderr).toContain('headless.sql:1:1');
    const bad = await costbook(dir, 'report', 'headless');
    expect([bad.exitCode, bad.stdout]).toEqual([2, '']);
    expect(bad.stderr).toContain('headless.sql:1:1');
    expect((await costbook(dir, 'verify')).exitCode).toBe(0);
    const checked = await costbook(dir, 'check');
    expect(checked.exitCode).toBe(2);
    expect(checked.stdout).toContain('pass  series_differ');
    expect(checked.stdout.match(/^FAIL.*/gm)).toEqual([
      'FAIL  loud: its SQL failed',
      'FAIL  unfinished: its SQL failed',
    ]);
  });

  test('is reported by doctor with file and line', async () => {
    const dir = await projectWith(broken);
    const { stdout } = await costbook(dir, 'doctor', '--offline', '--json');
    const found = (JSON.parse(stdout).findings as { subject: string; state: string; found: string }[]).filter(
      ({ subject }) => subject === 'sql',
    );
    expect(found.map(({ state }) => state)).toEqual(['fail', 'fail', 'fail', 'fail']);
    expect(found.map(({ found: words }) => /(\w+\.sql)/.exec(words)?.[1])).toEqual([
      'headless.sql',
      'misspelt.sql',
      'loud.sql',
      'unfinished.sql',
    ]);
  });
});

/** The child process that answers, once it has started to. */
async function childOf(pid: number | undefined): Promise<number> {
  for (let tries = 0; tries < 500; tries += 1) {
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
    const [child] = children.trim().split(' ');
    const program = child === undefined || child === '' ? '' : await readFile(`/proc/${child}/cmdline`, 'utf8');
    if (program.includes('dist/child.js') && !program.startsWith('/bin/sh')) return Number(child);
    await new Promise((done) => setTimeout(done, 20));
  }
  throw new Error(`process ${pid} started none`);
}
