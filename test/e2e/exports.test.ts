// Second tier: Every format, overwritten, cut and verified in processes; e2e/one-month exports and verifies two.

import { createHash } from 'node:crypto';
import { link, lstat, mkdir, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Manifest } from '../../src/reports/exports/manifest.ts';
import type { VerifiedExport } from '../../src/reports/exports/verify-exports.ts';
import { type Ended, newProject, runCli, startCli } from '../support/project.ts';
import { type TwoNights, twoNights } from '../support/two-nights.ts';

let nights: TwoNights;
beforeAll(async () => {
  nights = await twoNights();
});

const period = 'BILLING_PERIOD=2026-09';
const formats = 'csv,parquet,arrow,json,xlsx';

/** The command line of a report of September. */
function reportLine(dir: string, ...args: string[]): string[] {
  const usual = { '--month': '2026-09', '--now': '2026-10-03T00:00:00Z' };
  const asked = Object.entries(usual).filter(([name]) => !args.includes(name));
  return ['report', 'cost_by_workspace', '--dir', dir, ...asked.flat(), ...args];
}

function report(dir: string, ...args: string[]): Promise<Ended> {
  return runCli(reportLine(dir, ...args));
}

async function exported(...args: string[]): Promise<{ dir: string; folder: string }> {
  const dir = await newProject();
  await nights.publish(dir, 'first');
  const { exitCode, stderr } = await report(dir, ...(args.includes('--format') ? [] : ['--format', formats]), ...args);
  expect(exitCode, stderr).toBe(0);
  return { dir, folder: join(dir, 'exports', 'cost_by_workspace', period) };
}

async function manifestIn(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, '_manifest'), 'utf8')) as Manifest;
}

interface Verified extends Ended {
  readonly exports: readonly VerifiedExport[];
  readonly differences: readonly string[];
}

async function verify(dir: string, ...args: string[]): Promise<Verified> {
  const ended = await runCli(['verify', '--dir', dir, '--json', ...args]);
  const { exports } = (ended.stdout === '' ? { exports: [] } : JSON.parse(ended.stdout)) as Pick<Verified, 'exports'>;
  const differences = exports.flatMap((one) =>
    one.differences.map(({ file, what, found, expected }) => `${file}: ${what}: ${found} / ${expected}`),
  );
  return { ...ended, exports, differences };
}

/** Every file below a folder, with what changes when it is written again. */
async function stateOf(folder: string): Promise<string[]> {
  const names = (await readdir(folder, { recursive: true })).sort();
  const states = await Promise.all(
    names.map(async (name) => {
      const found = await lstat(join(folder, name));
      const { ino, mtimeMs, ctimeMs, size, nlink } = found;
      return found.isDirectory() ? name : [name, ino, mtimeMs, ctimeMs, size, nlink].join(' ');
    }),
  );
  expect(states.length).toBeGreaterThan(3);
  return states;
}

describe.concurrent('an export', () => {
  test('has files named by their hash, a manifest that names them, and stable names', async () => {
    const { folder } = await exported();
    const manifest = await manifestIn(folder);
    expect(manifest).toMatchObject({
      manifest: 1,
      report: 'cost_by_workspace',
      parameters: { month: '2026-09' },
      asOf: '2026-10-01T12:30:00Z',
      completeThrough: '2026-10-01T10:00:00Z',
      settledThrough: '2026-09-28T10:00:00Z',
      focusVersion: null,
      costColumn: 'cost',
      rows: 3,
      cost: '5.300000001000',
      previous: null,
    });
    expect(manifest.files.map(({ format, rows, cost }) => [format, rows, cost])).toEqual(
      formats.split(',').map((format) => [format, 3, '5.300000001000']),
    );
    for (const { name, format, bytes, sha256 } of manifest.files) {
      const content = await readFile(join(folder, name));
      expect(createHash('sha256').update(content).digest('hex')).toBe(sha256);
      expect(content.length).toBe(bytes);
      expect(name).toBe(`latest.${format}`);
    }
    expect((await readdir(folder)).sort()).toEqual([...manifest.files.map(({ name }) => name), '_manifest'].sort());
  });

  test('has each row once for a reader of all of its files', async () => {
    const { dir } = await exported();
    const instance = await DuckDBInstance.create();
    const connection = await instance.connect();
    const all = join(dir, 'exports', 'cost_by_workspace', '**');
    for (const from of [`read_parquet('${all}/*.parquet')`, `read_csv('${all}/*.csv')`, `read_json('${all}/*.json')`]) {
      const read = await connection.runAndReadAll(`select count(*), sum(cast(cost as decimal(38, 12))) from ${from}`);
      expect(JSON.stringify(read.getRowsJson())).toBe('[["3","5.300000001000"]]');
    }
    const files = (await readdir(join(dir, 'exports', 'cost_by_workspace'), { recursive: true })).map((path) =>
      basename(path),
    );
    expect(files.sort()).toEqual(
      [period, '_manifest', ...formats.split(',').map((format) => `latest.${format}`)].sort(),
    );
    connection.closeSync();
    instance.closeSync();
  });

  test('with a manifest of an earlier name is verified, and the next run gives it the present one', async () => {
    const { dir, folder } = await exported();
    await rename(join(folder, '_manifest'), join(folder, '_manifest.json'));
    expect(await verify(dir)).toMatchObject({ exitCode: 0, differences: [] });
    expect((await report(dir, '--format', 'csv')).exitCode).toBe(0);
    expect(await readdir(folder)).not.toContain('_manifest.json');
    expect(await verify(dir)).toMatchObject({ exitCode: 0, differences: [], exports: [{ files: 5 }] });
  });

  test('that an earlier version wrote under two names is verified, and replaced by the next one', async () => {
    const { dir, folder } = await exported('--format', 'csv,parquet');
    const manifest = await manifestIn(folder);
    const names = new Map(
      manifest.files.map(({ name, sha256, format }) => [name, `cost_by_workspace-${sha256.slice(0, 8)}.${format}`]),
    );
    for (const [name, hashed] of names) await link(join(folder, name), join(folder, hashed));
    const files = manifest.files.map((file) => ({ ...file, name: names.get(file.name) }));
    await writeFile(join(folder, 'manifest.json'), JSON.stringify({ ...manifest, files }));
    await rm(join(folder, '_manifest'));
    await rm(join(dir, 'data', 'journal', 'exports.ndjson'));
    expect(await verify(dir)).toMatchObject({
      exitCode: 0,
      differences: [],
      exports: [{ notes: [expect.stringContaining('no record of its exports')] }],
    });
    expect((await report(dir, '--format', 'csv')).exitCode).toBe(0);
    const after = await manifestIn(folder);
    expect(after.files).toEqual(manifest.files);
    expect((await readdir(folder)).sort()).toEqual(['_manifest', ...manifest.files.map(({ name }) => name)].sort());
    expect(await verify(dir)).toMatchObject({ exitCode: 0, differences: [] });
  });

  test('that is unchanged writes nothing to the disk', async () => {
    const { dir } = await exported();
    const before = await stateOf(join(dir, 'exports'));
    const { stdout } = await report(dir, '--format', formats, '--now', '2027-01-01T00:00:00Z');
    expect(stdout).toContain('latest.csv (unchanged)');
    expect(JSON.parse((await report(dir, '--json')).stdout)).toMatchObject({ unchanged: true });
    expect(await stateOf(join(dir, 'exports'))).toEqual(before);
  });

  test('of newer books replaces the previous one, which its manifest names', async () => {
    const { dir, folder } = await exported();
    const before = await manifestIn(folder);
    const sha256 = createHash('sha256')
      .update(await readFile(join(folder, '_manifest')))
      .digest('hex');
    await nights.publish(dir, 'second');
    expect((await report(dir, '--format', formats)).exitCode).toBe(0);
    const manifest = await manifestIn(folder);
    expect(manifest).toMatchObject({ asOf: '2026-10-02T12:30:00Z', cost: '6.300000001000', previous: { sha256 } });
    expect(Object.values(manifest.previous?.files ?? {})).toEqual(before.files.map((file) => file.sha256));
    expect((await readdir(folder)).sort()).toEqual(['_manifest', ...before.files.map(({ name }) => name)].sort());
    expect(await readFile(join(folder, 'latest.csv'), 'utf8')).toContain('4.000000000000');
    expect(await verify(dir)).toMatchObject({ exitCode: 0, differences: [] });
  });

  test('writes the requested formats and those already in the folder, from the same data', async () => {
    const { dir, folder } = await exported();
    await nights.publish(dir, 'second');
    await report(dir, '--format', 'csv');
    expect((await manifestIn(folder)).files.map(({ format, cost }) => [format, cost])).toEqual(
      formats.split(',').map((format) => [format, '6.300000001000']),
    );
  });

  test('of the past, or of a part, does not change the current one', async () => {
    const { dir } = await exported();
    await nights.publish(dir, 'second');
    await report(dir, '--format', 'csv');
    const before = await stateOf(join(dir, 'exports', 'cost_by_workspace'));
    const { exitCode } = await report(dir, '--format', 'csv', '--as-of', '2026-10-01T13:00:00Z');
    expect(exitCode).toBe(0);
    const past = join(dir, 'exports', 'as-of=2026-10-01T130000Z', 'cost_by_workspace', period);
    expect(await manifestIn(past)).toMatchObject({ asOf: '2026-10-01T13:00:00Z', cost: '5.300000001000' });
    expect(await stateOf(join(dir, 'exports', 'cost_by_workspace'))).toEqual(before);
    const verified = await verify(dir);
    expect(verified).toMatchObject({ exitCode: 0, differences: [] });
    expect(verified.exports).toHaveLength(2);
  });

  test('without rows has a header or a schema, and the run says so', async () => {
    const { dir } = await exported();
    const { exitCode } = await report(dir, '--format', formats, '--month', '2026-08', '--allow-empty');
    expect(exitCode).toBe(0);
    const folder = join(dir, 'exports', 'cost_by_workspace', 'BILLING_PERIOD=2026-08');
    const manifest = await manifestIn(folder);
    expect(manifest).toMatchObject({ rows: 0, cost: null, costColumn: 'cost' });
    expect(new Set(manifest.files.map(({ rows }) => rows))).toEqual(new Set([0]));
    expect(await readFile(join(folder, 'latest.csv'), 'utf8')).toMatch(/^account,month,workspace,.*,cost\r\n$/);
    expect(await verify(dir)).toMatchObject({ exitCode: 0, differences: [] });
  });

  test('removes files of a killed run, and no others', async () => {
    const { dir, folder } = await exported();
    const left = ['.cost_by_workspace.csv.123.part', 'cost_by_workspace-00000000.csv', '.manifest.json.99.part'];
    const others = ['notes.csv', 'cost_by_workspace-final.csv', 'other-00000000.csv', 'README.md'];
    for (const name of [...left, ...others]) await writeFile(join(folder, name), 'x');
    expect((await verify(dir)).exports[0]?.notes).toHaveLength(2);
    await report(dir);
    const names = await readdir(folder);
    expect(names).toEqual(expect.arrayContaining(others));
    expect(names.filter((name) => left.includes(name))).toEqual([]);
  });

  test('replaces damaged files', async () => {
    const { dir, folder } = await exported();
    const before = await manifestIn(folder);
    await writeFile(join(folder, before.files[0]?.name ?? ''), 'spoilt');
    await rm(join(folder, before.files[1]?.name ?? ''));
    expect((await verify(dir)).exitCode).toBe(4);
    await report(dir);
    expect(await manifestIn(folder)).toEqual(before);
    expect(await verify(dir)).toMatchObject({ exitCode: 0, differences: [] });
  });

  test('is refused in a folder with a foreign _manifest', async () => {
    const { dir, folder } = await exported();
    await writeFile(join(folder, '_manifest'), '{"name": "mine"}');
    const { exitCode, stderr } = await report(dir);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`${join(folder, '_manifest')} is not a manifest of an export`);
    expect(await readFile(join(folder, '_manifest'), 'utf8')).toBe('{"name": "mine"}');
  });

  test('written by several processes at once is complete and comes from one of them', async () => {
    const { dir, folder } = await exported();
    await nights.publish(dir, 'second');
    const ended = await Promise.all(
      ['csv', 'parquet', 'arrow', 'json'].map((format) => startCli(reportLine(dir, '--format', format)).ended),
    );
    expect(ended.map(({ exitCode, stderr }) => `${exitCode}${stderr}`)).toEqual(['0', '0', '0', '0']);
    expect((await manifestIn(folder)).files).toHaveLength(5);
    expect(await verify(dir)).toMatchObject({ exitCode: 0, differences: [] });
    expect(await readdir(folder)).toHaveLength(6);
  });
});

describe.concurrent('costbook verify', () => {
  test('lists the exports that it compared, below any folder', async () => {
    const dir = await newProject();
    await nights.publish(dir, 'first');
    const out = await newProject();
    await report(dir, '--out', out);
    const { exitCode, stdout } = await runCli(['verify', out, '--dir', dir]);
    expect(exitCode).toBe(0);
    expect(stdout).toBe(
      `same     cost_by_workspace/${period}  2 files, 3 rows, cost 5.300000001000 USD, as of 2026-10-01T12:30:00Z\n1 export: no differences\n`,
    );
  });

  test('compares an export with the books as of its instant; newer loads are no difference', async () => {
    const { dir } = await exported();
    await nights.publish(dir, 'second');
    const { exitCode, exports } = await verify(dir);
    expect({ exitCode, notCompared: exports[0]?.notCompared }).toEqual({ exitCode: 0, notCompared: null });
  });

  test.each(formats.split(','))('finds a changed byte of %s', async (format) => {
    const { dir, folder } = await exported();
    const file = (await manifestIn(folder)).files.find((one) => one.format === format);
    const path = join(folder, file?.name ?? '');
    const bytes = await readFile(path);
    const middle = bytes.length >> 1;
    bytes[middle] = (bytes[middle] ?? 0) ^ 1;
    await writeFile(path, bytes);
    const { exitCode, differences } = await verify(dir);
    expect(exitCode).toBe(4);
    expect(differences[0]).toContain(`${file?.name}: sha256: `);
    expect(differences[0]).toContain(`/ ${file?.sha256}`);
  });

  test('says how to write an export again that differs, and that works as it is printed', async () => {
    const { dir, folder } = await exported();
    const [file] = (await manifestIn(folder)).files;
    await truncate(join(folder, file?.name ?? ''), 100);
    const found = await runCli(['verify', '--dir', dir]);
    const [, words = ''] = /1 export differs\. .* write it again:\n {2}costbook (.*)\n$/.exec(found.stdout) ?? [];
    expect(words).toMatch(/^report cost_by_workspace --month 2026-09 --format /);
    expect(await runCli([...words.split(' '), '--dir', dir])).toMatchObject({ exitCode: 0 });
    expect(await verify(dir)).toMatchObject({ exitCode: 0, differences: [] });
  });

  test.each(formats.split(','))('finds a truncated and a missing %s', async (format) => {
    const { dir, folder } = await exported();
    const file = (await manifestIn(folder)).files.find((one) => one.format === format);
    const path = join(folder, file?.name ?? '');
    await truncate(path, 100);
    const cut = await verify(dir);
    expect(cut.exitCode).toBe(4);
    expect(cut.differences[0]).toContain(`${file?.name}: bytes: 100 / ${file?.bytes}`);
    await rm(path);
    const gone = await verify(dir);
    expect(gone.exitCode).toBe(4);
    expect(gone.differences[0]).toContain(`${file?.name}: file: nothing / ${file?.bytes} bytes`);
  });

  test('finds an added row, with the difference of the sums', async () => {
    const { dir, folder } = await exported();
    const path = join(folder, 'latest.csv');
    const text = await readFile(path, 'utf8');
    const row = text
      .trimEnd()
      .split('\r\n')
      .at(-1)
      ?.replace(/[^,]*$/, '100.000000000000');
    await writeFile(path, `${text}${row}\r\n`);
    const { exitCode, differences } = await verify(dir);
    expect(exitCode).toBe(4);
    expect(differences.map((text) => text.replace(/.*\.csv: /, ''))).toEqual(
      expect.arrayContaining(['rows: 4 / 3', 'cost: 105.300000001000 / 5.300000001000']),
    );
  });

  test('finds a changed file with a fitting manifest by the books', async () => {
    const { dir, folder } = await exported();
    await rm(join(dir, 'exports'), { recursive: true });
    await report(dir, '--format', 'csv');
    const manifest = await manifestIn(folder);
    const text = (await readFile(join(folder, 'latest.csv'), 'utf8')).replace('3.000000000000', '2.000000000000');
    await writeFile(join(folder, 'latest.csv'), text);
    const sha256 = createHash('sha256').update(text).digest('hex');
    const files = manifest.files.map((file) => ({ ...file, sha256, cost: '4.300000001000' }));
    await writeFile(join(folder, '_manifest'), JSON.stringify({ ...manifest, cost: '4.300000001000', files }));
    const { exitCode, differences } = await verify(dir);
    expect(exitCode).toBe(4);
    expect(differences).toEqual([
      expect.stringMatching(/_manifest: manifest: \w+ \/ \w+, by the journal$/),
      `cost_by_workspace/${period}/_manifest: cost: 4.300000001000 / 5.300000001000, by the books`,
    ]);
  });

  test('finds books that end before their export', async () => {
    const dir = await newProject();
    await nights.publish(dir, 'second');
    await report(dir, '--format', 'csv');
    await nights.publish(dir, 'first');
    const { exitCode, differences } = await verify(dir);
    expect(exitCode).toBe(4);
    expect(differences[0]).toContain('end of the books: 2026-10-01T12:30:00Z / 2026-10-02T12:30:00Z');
  });

  test('names changed SQL of a report, and still checks the files', async () => {
    const { dir } = await exported();
    await mkdir(join(dir, 'sql', 'reports'), { recursive: true });
    await writeFile(
      join(dir, 'sql', 'reports', 'cost_by_workspace.sql'),
      '--! about: x\n--! grain: a\n--! params: month month\nselect 1 as a where $month is not null\n',
    );
    const { exitCode, exports } = await verify(dir);
    // Nobody can say whether this is what was exported.
    expect(exitCode).toBe(4);
    expect(exports[0]?.notCompared).toContain('the report cost_by_workspace has no parameter "account"');
  });

  test('checks the files without books, and says that it could not query the books', async () => {
    const { dir } = await exported();
    const elsewhere = await newProject();
    const { exitCode, stdout } = await runCli(['verify', join(dir, 'exports'), '--dir', elsewhere]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('not compared with the books: ');
  });

  test('checks exports of a part, of a file parameter and of doubles', async () => {
    const dir = await newProject();
    await nights.publish(dir, 'first');
    await mkdir(join(dir, 'sql', 'reports'), { recursive: true });
    await writeFile(join(dir, 'orders.csv'), 'day,orders\n2026-09-03,7\n');
    await writeFile(
      join(dir, 'sql', 'reports', 'own.sql'),
      [
        '--! about: x',
        '--! grain: bucket_start, orders',
        '--! params: month month = last-complete, workspace text = *, metric file',
        '--! cost: usd',
        '--! formats: csv, parquet',
        `select bucket_start, orders, cost as usd from costs, read_csv($metric, columns = {day: 'DATE', orders: 'INTEGER'})`,
        `where ($workspace is null or workspace = $workspace) and bucket_start >= cast($month as date)`,
        '',
      ].join('\n'),
    );
    const args = ['--dir', dir, '--month', '2026-09', '--param', 'workspace=north', '--param', 'metric=orders.csv'];
    const { exitCode, stderr } = await runCli(['report', 'own', ...args, '--parquet-decimals', 'double']);
    expect(exitCode, stderr).toBe(0);
    const folder = join(dir, 'exports', 'workspace=north', 'own', 'metric=orders.csv', period);
    expect(await manifestIn(folder)).toMatchObject({ costColumn: 'usd', cost: '2.300000001000', rows: 4 });
    expect(await verify(dir)).toMatchObject({ exitCode: 0, differences: [], exports: [{ notCompared: null }] });

    await writeFile(join(dir, 'orders.csv'), 'day,orders\n2026-09-03,8\n');
    expect(await verify(dir)).toMatchObject({
      exitCode: 4,
      exports: [{ notCompared: 'the file of the parameter metric has changed since' }],
    });
  });

  test('ends with 2 if there is no export', async () => {
    const dir = await newProject();
    expect(await runCli(['verify', '--dir', dir])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('is not a Costbook project'),
    });
    await mkdir(join(dir, 'jobs'));
    expect(await runCli(['verify', '--dir', dir])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('there is nothing to verify yet'),
    });
    await mkdir(join(dir, 'exports'));
    expect(await runCli(['verify', '--dir', dir])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('there is nothing to verify yet'),
    });
    expect(await runCli(['verify', join(dir, 'elsewhere'), '--dir', dir])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('is not a folder'),
    });
  });
});
