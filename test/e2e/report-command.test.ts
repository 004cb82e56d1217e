import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Ended, ingest, newProject, runCli } from '../support/project.ts';
import { series, startScriptedPlatform } from '../support/scripted-platform.ts';

let loaded = '';
beforeAll(async () => {
  loaded = await newProject();
  const box = { type: 'sandbox', dimension: 'sandbox_compute_runtime_gbs' };
  const platform = await startScriptedPlatform([
    ...series({ ...box, workspace: 'north', name: 'a', uuid: 'sbx-1' }, '2026-09-03T05', [0.1, 0.2]),
    ...series({ ...box, workspace: 'north', name: 'b', uuid: 'sbx-2' }, '2026-09-30T23', [1.000000000001, 64]),
    ...series({ ...box, workspace: '@south, "east"', name: 'c', uuid: 'sbx-3' }, '2026-09-15T05', [3]),
    ...series({ ...box, workspace: null, name: 'd', uuid: 'sbx-4' }, '2026-09-15T05', [2]),
  ]);
  // The books are complete through 3 October, so September is.
  const { exitCode } = await ingest(loaded, platform, { now: '2026-10-03T12:30:00Z' });
  expect(exitCode).toBe(0);
});

async function projectOfOurs(): Promise<string> {
  const dir = await newProject();
  await cp(join(loaded, 'data', 'costbook.duckdb'), join(dir, 'data', 'costbook.duckdb'), { recursive: true });
  return dir;
}

async function projectWith(name: string, text: string): Promise<string> {
  const dir = await projectOfOurs();
  await mkdir(join(dir, 'sql', 'reports'), { recursive: true });
  await writeFile(join(dir, 'sql', 'reports', name), text);
  return dir;
}

function report(dir: string, ...args: string[]): Promise<Ended> {
  return runCli(['report', '--dir', dir, '--now', '2026-10-03T12:40:00Z', ...args]);
}

const goldenCsv = [
  'account,month,workspace,resource_type,billing_dimension,unit,usage,cost',
  `acc_one,2026-09-01,"'@south, ""east""",sandbox,sandbox_compute_runtime_gbs,GB-seconds,3000.000000,3.000000000000`,
  'acc_one,2026-09-01,north,sandbox,sandbox_compute_runtime_gbs,GB-seconds,1300.000000,1.300000000001',
  'acc_one,2026-09-01,,sandbox,sandbox_compute_runtime_gbs,GB-seconds,2000.000000,2.000000000000',
  '',
].join('\r\n');

describe.concurrent('costbook report cost_by_workspace', () => {
  test('writes the last complete month as CSV and Parquet, to the byte what was agreed', async () => {
    const dir = await projectOfOurs();
    const { exitCode, stdout, stderr } = await report(dir, 'cost_by_workspace');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const folder = join(dir, 'exports', 'cost_by_workspace');
    expect((await readdir(folder)).sort()).toEqual([
      'cost_by_workspace-2026-09.csv',
      'cost_by_workspace-2026-09.parquet',
    ]);
    expect(await readFile(join(folder, 'cost_by_workspace-2026-09.csv'), 'utf8')).toBe(goldenCsv);
    expect(stdout).toContain('(3 rows) complete through 2026-10-03T10:00:00Z, settled through 2026-09-30T10:00:00Z');
  });

  test('writes Parquet that another reader reads with the same decimals', async () => {
    const dir = await projectOfOurs();
    const { stdout } = await report(dir, 'cost_by_workspace', '--format', 'parquet', '--json');
    const { rows, files } = JSON.parse(stdout) as { rows: Record<string, unknown>[]; files: { path: string }[] };
    const file = await asyncBufferFromFile(files[0]?.path ?? '');
    const metadata = await parquetMetadataAsync(file);
    const cost = metadata.schema.find(({ name }) => name === 'cost');
    expect(cost).toMatchObject({ converted_type: 'DECIMAL', precision: 38, scale: 12 });
    expect(metadata.key_value_metadata).toEqual(
      expect.arrayContaining([
        { key: 'complete_through', value: '2026-10-03T10:00:00Z' },
        { key: 'settled_through', value: '2026-09-30T10:00:00Z' },
      ]),
    );
    const read = await parquetReadObjects({ file, compressors });
    expect(
      read.map((row) => [row['workspace'] ?? null, Number(row['cost']).toFixed(12), Number(row['usage']).toFixed(6)]),
    ).toEqual(rows.map((row) => [row['workspace'], row['cost'], row['usage']]));
    expect(rows.map((row) => row['cost'])).toEqual(['3.000000000000', '1.300000000001', '2.000000000000']);
  });

  test('answers in JSON with the rows, the month, how far it is complete, and the files', async () => {
    const dir = await projectOfOurs();
    const { stdout } = await report(dir, 'cost_by_workspace', '--format', 'csv', '--json');
    const said = JSON.parse(stdout) as { files: { path: string; bytes: number; sha256: string }[] };
    const path = join(dir, 'exports', 'cost_by_workspace', 'cost_by_workspace-2026-09.csv');
    expect(said).toMatchObject({
      report: 'cost_by_workspace',
      parameters: { month: '2026-09' },
      completeThrough: '2026-10-03T10:00:00Z',
      files: [
        {
          path,
          format: 'csv',
          bytes: Buffer.byteLength(goldenCsv),
          sha256: createHash('sha256')
            .update(await readFile(path))
            .digest('hex'),
        },
      ],
    });
  });

  test('writes the same bytes for the same books, whenever it is asked', async () => {
    const dir = await projectOfOurs();
    const hashes: string[][] = [];
    for (const now of ['2026-10-03T12:40:00Z', '2027-01-01T00:00:00Z']) {
      const { stdout } = await runCli([
        'report',
        'cost_by_workspace',
        '--dir',
        dir,
        '--month',
        '2026-09',
        '--json',
        '--now',
        now,
      ]);
      hashes.push((JSON.parse(stdout) as { files: { sha256: string }[] }).files.map(({ sha256 }) => sha256));
    }
    expect(hashes[0]).toHaveLength(2);
    expect(hashes[1]).toEqual(hashes[0]);
  });

  test('writes where it is told to, and text as it is with --raw', async () => {
    const dir = await projectOfOurs();
    await report(dir, 'cost_by_workspace', '--out', join(dir, 'elsewhere'), '--format', 'csv', '--raw');
    const text = await readFile(join(dir, 'elsewhere', 'cost_by_workspace-2026-09.csv'), 'utf8');
    expect(text).toBe(goldenCsv.replace("'@south", '@south'));
  });

  test('warns of a month that is not complete, and writes it', async () => {
    const dir = await projectOfOurs();
    const { exitCode, stderr } = await report(dir, 'cost_by_workspace', '--month', '2026-10', '--format', 'csv');
    expect(exitCode).toBe(0);
    expect(stderr).toBe(
      'warning: 2026-10 is not complete: the books are complete through 2026-10-03T10:00:00Z, the month is 2026-10-01T00:00:00Z/2026-11-01T00:00:00Z\n',
    );
    expect(await readdir(join(dir, 'exports', 'cost_by_workspace'))).toEqual(['cost_by_workspace-2026-10.csv']);
  });

  test('ends with 4 and writes nothing where completeness is required and not given', async () => {
    const dir = await projectOfOurs();
    const { exitCode, stdout, stderr } = await report(
      dir,
      'cost_by_workspace',
      '--month',
      '2026-10',
      '--require-complete',
    );
    expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: '' });
    expect(stderr).toContain('2026-10 is not complete');
    expect(await readdir(dir)).toEqual(['data']);
  });

  test('does not call a month complete that was over before the books begin: nothing known is not nothing spent', async () => {
    const dir = await projectOfOurs();
    const { exitCode } = await report(dir, 'cost_by_workspace', '--month', '2026-08', '--require-complete');
    expect(exitCode).toBe(4);
    expect(await readdir(dir)).toEqual(['data']);
  });

  test('leaves no part of a file behind', async () => {
    const dir = await projectOfOurs();
    await report(dir, 'cost_by_workspace');
    const names = await readdir(dir, { recursive: true });
    expect(names.filter((name) => /\.part|\.wal|spill/.test(name))).toEqual([]);
  });
});

describe.concurrent('a report of one’s own', () => {
  const own =
    '--! about: Dearest hours\n--! grain: hour\nselect bucket_start as hour, sum(cost) as cost\nfrom costs\ngroup by hour\n';

  test('is one SQL file: it is listed and written, though it asks for no month', async () => {
    const dir = await projectWith('dearest_hours.sql', own);
    const list = await report(dir, '--list');
    expect(list.stdout.split('\n').map((line) => line.split(/\s{2,}/)[0])).toEqual(
      expect.arrayContaining(['cost_by_workspace', 'dearest_hours']),
    );
    expect(list.stdout).toContain('Dearest hours');
    const { exitCode, stderr } = await report(dir, 'dearest_hours', '--format', 'csv');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const text = await readFile(join(dir, 'exports', 'dearest_hours', 'dearest_hours-2026-09.csv'), 'utf8');
    expect(text.split('\r\n').slice(0, 3)).toEqual([
      'hour,cost',
      '2026-09-03T05:00:00Z,0.100000000000',
      '2026-09-03T06:00:00Z,0.200000000000',
    ]);
  });

  test('lies over a built-in one of the same name', async () => {
    const dir = await projectWith(
      'cost_by_workspace.sql',
      '--! about: Mine\n--! grain: a\nselect 1 as a where $month is not null\n',
    );
    const { stdout } = await report(dir, 'cost_by_workspace', '--json', '--format', 'csv');
    expect(JSON.parse(stdout)).toMatchObject({ rows: [{ a: 1 }] });
  });

  test('that is wrong is told with its file and line', async () => {
    const text = '--! about: x\n--! grain: a\nselect workspace as a\nfrom costs\nwhere nosuch = $month\n';
    const dir = await projectWith('broken.sql', text);
    const { exitCode, stderr } = await report(dir, 'broken');
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`${join(dir, 'sql', 'reports', 'broken.sql')}:5`);
    expect(stderr).toContain('nosuch');
    expect(await readdir(dir)).not.toContain('exports');
  });

  test('that is wrong is shown at its place, as it stands in the file', async () => {
    const text = '--! about: x\n--! grain: a\nselect workspace as a\nfrom costs\nwhere nosuch = $month\n';
    const dir = await projectWith('broken.sql', text);
    const lines = (await report(dir, 'broken')).stderr.split('\n');
    expect(lines[0]).toMatch(/^costbook: .*broken\.sql:5: Binder Error: /);
    const at = lines.findIndex((line) => line.startsWith('costbook: LINE 5: where nosuch = $month'));
    expect(at).toBeGreaterThan(0);
    expect(lines[at + 1]?.indexOf('^')).toBe(lines[at]?.indexOf('nosuch'));
  });

  test('that goes wrong only with the numbers is the report’s mistake too', async () => {
    const text = `--! about: x\n--! grain: a\nselect cast(workspace as integer) as a\nfrom costs\n`;
    for (const format of ['csv', 'parquet']) {
      const dir = await projectWith('broken.sql', text);
      const { exitCode, stderr } = await report(dir, 'broken', '--format', format);
      expect(exitCode).toBe(2);
      expect(stderr).toMatch(/^costbook: .*broken\.sql:3: Conversion Error: /);
    }
  });

  test.each([
    ['a header that is wrong', '--! abuot: x\nselect 1\n', 'broken.sql:1:1: unknown header key "abuot"'],
    ['no grain', '--! about: x\nselect 1\n', 'no "--! grain:" line'],
    [
      'a format that there is none of',
      '--! about: x\n--! grain: a\n--! formats: csv, xlsx\nselect 1 as a where $month is not null\n',
      'xlsx',
    ],
    [
      'a grain that is no column',
      '--! about: x\n--! grain: nosuch\nselect 1 as a where $month is not null\n',
      'nosuch',
    ],
  ])('with %s ends with 2 and says so', async (_, text, words) => {
    const dir = await projectWith('broken.sql', text);
    const { exitCode, stderr } = await report(dir, 'broken');
    expect(exitCode).toBe(2);
    expect(stderr).toContain(words);
    expect(stderr).not.toContain('    at ');
  });
});

describe.concurrent('costbook report', () => {
  test('asks which of them where none is named, and guesses what a typo meant', async () => {
    const dir = await projectOfOurs();
    expect(await report(dir)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('cost_by_workspace') });
    expect(await report(dir, 'cost_by_workspac')).toMatchObject({
      exitCode: 2,
      stderr:
        'costbook: there is no report "cost_by_workspac" (did you mean "cost_by_workspace"?): expected one of cost_by_workspace\n',
    });
  });

  test('tells everything that is wrong with its options at once', async () => {
    const dir = await projectOfOurs();
    const { exitCode, stderr } = await report(dir, 'cost_by_workspace', '--month', '2026-13', '--format', 'xlsx');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('2026-13');
    expect(stderr).toContain('xlsx');
  });
});
