// Second tier: Forty command lines of the report command, a process each.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { readXlsx } from 'hucre/xlsx';
import { asyncBufferFromFile, parquetMetadata, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { beforeAll, describe, expect, test } from 'vitest';
import { exportFormats } from '../../src/tables/file-formats.ts';
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
  const now = args.includes('--now') ? [] : ['--now', '2026-10-03T12:40:00Z'];
  return runCli(['report', '--dir', dir, ...now, ...args]);
}

const goldenCsv = [
  'account,month,workspace,resource_type,billing_dimension,unit,usage,cost',
  `acc_one,2026-09-01,"'@south, ""east""",sandbox,sandbox_compute_runtime_gbs,GB-seconds,3000.000000,3.000000000000`,
  'acc_one,2026-09-01,north,sandbox,sandbox_compute_runtime_gbs,GB-seconds,1300.000000,1.300000000001',
  'acc_one,2026-09-01,,sandbox,sandbox_compute_runtime_gbs,GB-seconds,2000.000000,2.000000000000',
  '',
].join('\r\n');

describe.concurrent('costbook report cost_by_workspace', () => {
  test('writes the last complete month as CSV and Parquet, byte for byte as agreed', async () => {
    const dir = await projectOfOurs();
    const { exitCode, stdout, stderr } = await report(dir, 'cost_by_workspace');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const folder = join(dir, 'exports', 'cost_by_workspace', 'BILLING_PERIOD=2026-09');
    expect((await readdir(folder)).sort()).toEqual(['_manifest', 'latest.csv', 'latest.parquet']);
    expect(await readFile(join(folder, 'latest.csv'), 'utf8')).toBe(goldenCsv);
    expect(stdout).toContain('(3 rows) complete through 2026-10-03T10:00:00Z, settled through 2026-09-30T10:00:00Z');
  });

  test('writes Parquet with the same decimals for another reader', async () => {
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

  test('writes Arrow with exact decimals, and complete-through in its metadata', async () => {
    const dir = await projectOfOurs();
    await report(dir, 'cost_by_workspace', '--format', 'arrow');
    const table = tableFromIPC(
      await readFile(join(dir, 'exports', 'cost_by_workspace', 'BILLING_PERIOD=2026-09', 'latest.arrow')),
    );
    expect(Object.fromEntries(table.schema.metadata)).toEqual({
      complete_through: '2026-10-03T10:00:00Z',
      settled_through: '2026-09-30T10:00:00Z',
    });
    const cost = table.getChild('cost');
    expect(cost?.type).toMatchObject({ precision: 38, scale: 12, bitWidth: 128 });
    expect([...(cost ?? [])].map((words) => String(BigInt(words[0]) | (BigInt(words[1]) << 32n)))).toEqual([
      '3000000000000',
      '1300000000001',
      '2000000000000',
    ]);
  });

  test('writes doubles into Parquet only with --parquet-decimals double', async () => {
    const dir = await projectOfOurs();
    const { stdout } = await report(
      dir,
      'cost_by_workspace',
      '--format',
      'parquet',
      '--parquet-decimals',
      'double',
      '--json',
    );
    const { files } = JSON.parse(stdout) as { files: { path: string }[] };
    const file = await asyncBufferFromFile(files[0]?.path ?? '');
    const { schema } = await parquetMetadataAsync(file);
    expect(schema.filter(({ type }) => type === 'DOUBLE').map(({ name }) => name)).toEqual(['usage', 'cost']);
    expect((await parquetReadObjects({ file, compressors })).map((row) => row['cost'])).toEqual([3, 1.300000000001, 2]);
  });

  test('refuses --parquet-decimals without the format Parquet', async () => {
    const dir = await projectOfOurs();
    const ended = await report(dir, 'cost_by_workspace', '--format', 'csv', '--parquet-decimals', 'double');
    expect([ended.exitCode, ended.stderr]).toEqual([
      2,
      expect.stringContaining('--parquet-decimals applies only to parquet, but the requested formats are csv'),
    ]);
  });

  test('prints rows, month, complete-through and files with --json', async () => {
    const dir = await projectOfOurs();
    const { stdout } = await report(dir, 'cost_by_workspace', '--format', 'csv', '--json');
    const said = JSON.parse(stdout) as { files: { path: string; bytes: number; sha256: string }[] };
    const folder = join(dir, 'exports', 'cost_by_workspace', 'BILLING_PERIOD=2026-09');
    const path = join(folder, 'latest.csv');
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

  test('writes below --out, and unguarded text with --raw', async () => {
    const dir = await projectOfOurs();
    await report(dir, 'cost_by_workspace', '--out', join(dir, 'elsewhere'), '--format', 'csv', '--raw');
    const text = await readFile(
      join(dir, 'elsewhere', 'cost_by_workspace', 'BILLING_PERIOD=2026-09', 'latest.csv'),
      'utf8',
    );
    expect(text).toBe(goldenCsv.replace("'@south", '@south'));
  });

  test('warns about a month that is not complete, and writes it', async () => {
    const dir = await projectOfOurs();
    const { exitCode, stderr } = await report(dir, 'cost_by_workspace', '--month', '2026-10', '--format', 'csv');
    expect(exitCode).toBe(0);
    expect(stderr).toBe(
      'warning: 2026-10 (2026-10-01T00:00:00Z/2026-11-01T00:00:00Z) is not complete: acc_one is complete through 2026-10-03T10:00:00Z\n',
    );
    expect(await readdir(join(dir, 'exports', 'cost_by_workspace', 'BILLING_PERIOD=2026-10'))).toContain('latest.csv');
  });

  test('does not call a month before the first hour of the books complete', async () => {
    const dir = await projectOfOurs();
    const { exitCode, stderr } = await report(dir, 'cost_by_workspace', '--month', '2026-08', '--require-complete');
    expect(exitCode).toBe(4);
    expect(stderr).toContain('the books of acc_one start at 2026-09-01T00:00:00Z');
    expect(await readdir(dir)).toEqual(['data']);
  });

  test.each([
    ['a future month', ['--month', '2027-03'], '2027-03 is in the future'],
    ['a month before the books', ['--month', '2019-03'], '2019-03 is before the books'],
    ['a misspelled workspace', ['--param', 'workspace=nroth'], 'did you mean "north"?'],
    ['an unknown account', ['--param', 'account=zzz'], 'expected one of acc_one'],
  ])('refuses %s and writes nothing, unless --allow-empty', async (_, args, words) => {
    const dir = await projectOfOurs();
    const { exitCode, stdout, stderr } = await report(dir, 'cost_by_workspace', ...args);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain(words);
    expect(await readdir(dir)).toEqual(['data']);
    const allowed = await report(dir, 'cost_by_workspace', ...args, '--allow-empty');
    expect([allowed.exitCode, allowed.stdout]).toEqual([0, expect.stringContaining('(0 rows)')]);
  });

  test('refuses a range with months that are not in the books, names all of them, and writes none', async () => {
    const dir = await projectOfOurs();
    const range = ['--month', '2026-07..2026-12'];
    const { exitCode, stdout, stderr } = await report(dir, 'cost_by_workspace', ...range);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain('2026-07 and 2026-08 are before the books');
    expect(stderr).toContain('2026-11 and 2026-12 are in the future');
    expect(stderr).toContain('nothing was written');
    expect(await readdir(dir)).toEqual(['data']);
    const allowed = await report(dir, 'cost_by_workspace', ...range, '--allow-empty');
    expect([allowed.exitCode, allowed.stdout]).toEqual([0, expect.stringContaining('2026-12')]);
  });

  test('by owner explains how to start if the books have no allocation rules', async () => {
    const dir = await projectOfOurs();
    const { exitCode, stderr } = await report(dir, 'chargeback');
    expect(exitCode).toBe(0);
    expect(stderr).toContain('warning: the books have no allocation rules, so no cost has an owner');
    expect(stderr).toContain(join(dir, 'jobs', 'allocation.yaml'));
    expect(stderr).toContain('costbook allocation test');
    expect((await report(dir, 'cost_by_workspace')).stderr).toBe('');
  });
});

describe.concurrent('a report of the project', () => {
  const own =
    '--! about: Dearest hours\n--! grain: hour\nselect bucket_start as hour, sum(cost) as cost\nfrom costs\ngroup by hour\n';

  test('is one SQL file that is listed and written, also without a month', async () => {
    const dir = await projectWith('dearest_hours.sql', own);
    const list = await report(dir, '--list');
    expect(list.stdout.split('\n').map((line) => line.split(/\s{2,}/)[0])).toEqual(
      expect.arrayContaining(['cost_by_workspace', 'dearest_hours']),
    );
    expect(list.stdout).toContain('Dearest hours');
    const { exitCode, stderr } = await report(dir, 'dearest_hours', '--format', 'csv');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const text = await readFile(join(dir, 'exports', 'dearest_hours', 'latest.csv'), 'utf8');
    expect(text.split('\r\n').slice(0, 3)).toEqual([
      'hour,cost',
      '2026-09-03T05:00:00Z,0.100000000000',
      '2026-09-03T06:00:00Z,0.200000000000',
    ]);
  });

  test('may have CRLF line ends, and column names in any case', async () => {
    const text =
      '\uFEFF--! about: x\r\n--! grain: A\r\n--! cost: SPENT\r\n--! formats: csv\r\nselect 1 as a,\r\n  2.50 as Spent\r\n';
    const dir = await projectWith('windows.sql', text);
    const { exitCode, stderr } = await report(dir, 'windows');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const manifest = JSON.parse(await readFile(join(dir, 'exports', 'windows', '_manifest'), 'utf8'));
    expect(manifest).toMatchObject({ costColumn: 'Spent', cost: '2.50', rows: 1 });
    expect(await runCli(['verify', '--dir', dir])).toMatchObject({ exitCode: 0 });
    await writeFile(join(dir, 'sql', 'reports', 'windows.sql'), text.replace('2.50', 'nosuch'));
    expect((await report(dir, 'windows')).stderr).toMatch(/windows\.sql:6: Binder Error/);
  });

  test('with wrong SQL is shown with the place in its file', async () => {
    const text =
      '--! about: x\n--! grain: a\n--! params: month month = last-complete\nselect workspace as a\nfrom costs\nwhere nosuch = $month\n';
    const dir = await projectWith('broken.sql', text);
    const lines = (await report(dir, 'broken')).stderr.split('\n');
    expect(lines[0]).toMatch(/^costbook: .*broken\.sql:6: Binder Error: /);
    const at = lines.findIndex((line) => line.startsWith('costbook: LINE 6: where nosuch = $month'));
    expect(at).toBeGreaterThan(0);
    expect(lines[at + 1]?.indexOf('^')).toBe(lines[at]?.indexOf('nosuch'));
  });

  test('that fails on the data is reported as a mistake of the report', async () => {
    const text = `--! about: x\n--! grain: a\nselect cast(workspace as integer) as a\nfrom costs\n`;
    for (const format of ['csv', 'parquet', 'arrow', 'json']) {
      const dir = await projectWith('broken.sql', text);
      const { exitCode, stderr } = await report(dir, 'broken', '--format', format);
      expect(exitCode).toBe(2);
      expect(stderr).toMatch(/^costbook: .*broken\.sql:3: Conversion Error: /);
    }
  });

  test.each([
    ['a wrong header', '--! abuot: x\nselect 1\n', 'broken.sql:1:1: unknown header key "abuot"'],
    ['no grain', '--! about: x\nselect 1\n', 'no "--! grain:" line'],
    [
      'two statements',
      '--! about: x\n--! grain: a\nselect 1 as a;\nselect 2 as a\n',
      'broken.sql: the query has 2 statements',
    ],
    [
      'several statements after an extra closing parenthesis',
      `--! about: x\n--! grain: a\nselect 1 as a) as r; copy (select 1) to '${join(tmpdir(), 'costbook-never')}'; select * from (select 1 as a\n`,
      'broken.sql:3: Parser Error',
    ],
    ['an unclosed parenthesis', '--! about: x\n--! grain: a\nselect (1 as a\n', 'broken.sql:3: Parser Error'],
    ['an unknown format', '--! about: x\n--! grain: a\n--! formats: csv, xls\nselect 1 as a\n', 'xls'],
    [
      'a grain that is not a column',
      '--! about: x\n--! grain: workspce\nselect workspace from costs\n',
      'broken.sql:2:1: the grain names "workspce" (did you mean "workspace"?), expected columns of the report: workspace',
    ],
    [
      'a cost that is not a column',
      '--! about: x\n--! grain: a\n--! cost: spnt\nselect 1 as a, 2 as spent\n',
      'broken.sql:3:1: the cost is "spnt" (did you mean "spent"?), expected a column of the report: a, spent',
    ],
    [
      'a cost without an exact sum',
      '--! about: x\n--! grain: a\n--! cost: spent\nselect 1 as a, 0.5::double as spent\n',
      'broken.sql:3:1: the cost "spent" is DOUBLE, expected a DECIMAL or an integer, which have exact sums',
    ],
  ])('with %s ends with 2 and says so', async (_, text, words) => {
    const dir = await projectWith('broken.sql', text);
    const { exitCode, stderr } = await report(dir, 'broken');
    expect(exitCode).toBe(2);
    expect(stderr).toContain(words);
    expect(stderr).not.toContain('    at ');
    expect(existsSync(join(tmpdir(), 'costbook-never'))).toBe(false);
  });
});

describe.concurrent('a report about days', () => {
  const spent = [
    '--! about: What was spent by day, and by how many users?',
    '--! grain: day, workspace',
    '--! params: from date = -30d, to date = complete-through, workspace text = *,',
    '--! params: floor decimal = 0, users file',
    '--! formats: csv, json',
    'select',
    '  cast(bucket_start as date) as day,',
    '  workspace,',
    '  cast(sum(cost) as decimal(38, 12)) as cost,',
    '  any_value(users) as users',
    'from costs',
    `left join read_csv($users, columns = {'day': 'date', 'users': 'integer'}) as by_day`,
    '  on by_day.day = cast(bucket_start as date)',
    'where bucket_start >= cast($from as timestamp)',
    '  and bucket_start < cast($to as timestamp)',
    '  and ($workspace is null or workspace = $workspace)',
    '  and cost >= cast($floor as decimal(18, 12))',
    'group by cast(bucket_start as date), workspace',
    '',
  ].join('\n');

  async function projectOfDays(): Promise<string> {
    const dir = await projectWith('spent.sql', spent);
    await writeFile(join(dir, 'users.csv'), 'day,users\n2026-09-03,7\n');
    return dir;
  }

  test('takes parameters from the command line, and names them in the answer and the folders', async () => {
    const dir = await projectOfDays();
    const given = ['--from', '2026-09-03', '--to', '2026-09-16', '--param', 'floor=0.2', '--param', 'users=users.csv'];
    const { exitCode, stdout, stderr } = await report(dir, 'spent', ...given, '--json');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const asked = join('from=2026-09-03', 'to=2026-09-16', 'floor=0.2', 'spent', 'users=users.csv');
    const folder = join(dir, 'exports', asked);
    expect(JSON.parse(stdout)).toMatchObject({
      parameters: { from: '2026-09-03', to: '2026-09-16', workspace: null, floor: '0.2', users: 'users.csv' },
      rows: [
        { day: '2026-09-03', workspace: 'north', cost: '0.200000000000', users: 7 },
        { day: '2026-09-15', workspace: '@south, "east"', cost: '3.000000000000', users: null },
        { day: '2026-09-15', workspace: null, cost: '2.000000000000', users: null },
      ],
      files: ['csv', 'json'].map((format) => ({
        format,
        rows: 3,
        latest: join(folder, `latest.${format}`),
      })),
    });
    expect(await readFile(join(folder, 'latest.json'), 'utf8')).toBe(
      [
        '[',
        '{"day":"2026-09-03","workspace":"north","cost":"0.200000000000","users":7},',
        '{"day":"2026-09-15","workspace":"@south, \\"east\\"","cost":"3.000000000000","users":null},',
        '{"day":"2026-09-15","workspace":null,"cost":"2.000000000000","users":null}',
        ']',
        '',
      ].join('\n'),
    );
  });

  test('counts relative dates from now, or from --as-of', async () => {
    const dir = await projectOfDays();
    const users = ['--param', 'users=users.csv', '--format', 'csv', '--json'];
    const now = JSON.parse((await report(dir, 'spent', ...users)).stdout);
    expect(now).toMatchObject({ parameters: { from: '2026-09-03', to: '2026-10-03' } });
    const then = ['--as-of', '2026-10-03T12:35:00Z', '--now', '2027-01-01'];
    const past = JSON.parse((await report(dir, 'spent', ...users, ...then)).stdout);
    expect(past).toMatchObject({ parameters: now.parameters, rows: now.rows, asOf: '2026-10-03T12:35:00Z' });
  });

  test('gives the same answer with --as-of now', async () => {
    const dir = await projectOfDays();
    const users = ['--param', 'users=users.csv', '--json'];
    await report(dir, 'spent', ...users);
    expect(await report(dir, 'spent', ...users, '--as-of', 'now')).toEqual(await report(dir, 'spent', ...users));
  });

  test('writes different parameters into different folders', async () => {
    const dir = await projectOfDays();
    const users = ['--param', 'users=users.csv', '--format', 'csv', '--allow-empty'];
    for (const workspace of ['north', 'a/b', 'a_b', '../x', '..']) {
      expect(await report(dir, 'spent', ...users, '--param', `workspace=${workspace}`)).toMatchObject({ exitCode: 0 });
    }
    expect((await readdir(join(dir, 'exports'))).sort()).toEqual(
      ['..', '..%2Fx', 'a%2Fb', 'a_b', 'north'].map((value) => `workspace=${value}`),
    );
  });

  test('writes a header or a schema if the answer is empty', async () => {
    const dir = await projectOfDays();
    const none = [
      '--param',
      'users=users.csv',
      '--param',
      'workspace=nobody',
      '--allow-empty',
      '--format',
      exportFormats.join(),
    ];
    const { stdout } = await report(dir, 'spent', ...none, '--json');
    const { files, rows } = JSON.parse(stdout) as { files: { path: string; rows: number }[]; rows: unknown[] };
    expect(rows).toEqual([]);
    expect(files.map((file) => file.rows)).toEqual(exportFormats.map(() => 0));
    const [csv, parquet, arrow, json] = await Promise.all(files.map(({ path }) => readFile(path)));
    expect(String(csv)).toBe('day,workspace,cost,users\r\n');
    expect(String(json)).toBe('[]\n');
    expect(tableFromIPC(arrow).schema.fields.map(String)).toEqual([
      'day: Date32<DAY>',
      'workspace: Utf8',
      'cost: Decimal[38e+12]',
      'users: Int32',
    ]);
    expect(
      parquetMetadata(new Uint8Array(parquet ?? []).buffer)
        .schema.map(({ name }) => name)
        .slice(1),
    ).toEqual(['day', 'workspace', 'cost', 'users']);
  });

  test('is complete if its own days are, though the month is not', async () => {
    const dir = await projectOfDays();
    const given = ['--param', 'users=users.csv', '--from', '2026-09-20', '--require-complete', '--format', 'csv'];
    expect(await report(dir, 'spent', ...given, '--to', '2026-10-03')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await report(dir, 'spent', ...given, '--to', '2026-10-04')).toMatchObject({
      exitCode: 4,
      stderr:
        'costbook: 2026-09-20T00:00:00Z/2026-10-04T00:00:00Z is not complete: acc_one is complete through 2026-10-03T10:00:00Z\ncostbook: nothing was written\n',
    });
  });

  test('reports every mistake in its parameters at once, and writes nothing', async () => {
    const dir = await projectOfDays();
    const wrong = [
      '--month',
      '2026-09',
      '--from',
      'soon',
      '--param',
      'workspce=x',
      '--param',
      'floor',
      '--format',
      'xls',
    ];
    const { exitCode, stderr } = await report(dir, 'spent', ...wrong);
    expect(exitCode).toBe(2);
    expect(stderr.split('\n')).toEqual([
      'costbook: --format: found "xls", expected csv, parquet, arrow, json or xlsx; did you mean xlsx?',
      'costbook: --param: found "floor", expected name=value',
      expect.stringContaining(
        '--month: the report spent has no parameter "month"; expected one of --from <date>, --to',
      ),
      expect.stringContaining(
        '--param workspce: the report spent has no parameter "workspce" (did you mean "workspace"?)',
      ),
      expect.stringContaining('--from: "soon" is not a valid value for the report spent; expected a date such as'),
      'costbook: the report spent needs --param users=<file>: expected a file, its path relative to the project folder',
      '',
    ]);
    expect(await readdir(dir)).not.toContain('exports');
  });

  test('is listed with its parameters', async () => {
    const dir = await projectOfDays();
    const { stdout } = await report(dir, '--list');
    // As wide as the longest of all reports needs.
    expect(stdout.replaceAll(/ {2,}/g, '  ')).toContain(
      '--from -30d --to complete-through --param workspace=* --param floor=0 --param users=<file>  csv, json',
    );
    const listed = JSON.parse((await report(dir, '--list', '--json')).stdout) as Record<string, unknown>[];
    expect(listed.find(({ name }) => name === 'spent')).toEqual({
      name: 'spent',
      about: 'What was spent by day, and by how many users?',
      grain: ['day', 'workspace'],
      parameters: [
        { name: 'from', type: 'date', default: '-30d' },
        { name: 'to', type: 'date', default: 'complete-through' },
        { name: 'workspace', type: 'text', default: '*' },
        { name: 'floor', type: 'decimal', default: '0' },
        { name: 'users', type: 'file', default: null },
      ],
      formats: ['csv', 'json'],
    });
  });
});

describe.concurrent('costbook report', () => {
  test('requires a name, and suggests the nearest one for a typo', async () => {
    const dir = await projectOfOurs();
    expect(await report(dir)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('cost_by_workspace') });
    expect(await report(dir, 'cost_by_workspac')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(
        /^costbook: there is no report "cost_by_workspac" \(did you mean "cost_by_workspace"\?\): expected one of .*\bcost_by_workspace\b.*\n$/,
      ),
    });
  });
});

describe.concurrent('a report for people', () => {
  test('--excel writes a self-explaining CSV, and exact files only with --format', async () => {
    const dir = await projectOfOurs();
    const asked = ['cost_by_workspace', '--month', '2026-09', '--excel', '--totals'];
    expect(await report(dir, ...asked)).toMatchObject({ exitCode: 0, stderr: '' });
    const folder = join(dir, 'exports', 'cost_by_workspace', 'BILLING_PERIOD=2026-09');
    const people = join(folder, 'cost_by_workspace-2026-09.csv');
    const head =
      '\uFEFFAccount,Month,Workspace,Resource type,Billing dimension,Billing dimension name,Unit,Usage,Usage GB-hours,Cost,Currency';
    const line = (workspace: string, usage: string, hours: string, cost: string) =>
      `acc_one,2026-09,${workspace},sandbox,sandbox_compute_runtime_gbs,Sandbox Compute Runtime,GB-seconds,${usage},${hours},${cost},USD`;
    const text = [
      head,
      line(`"'@south, ""east"""`, '3000.00', '0.83', '3.00'),
      line('north', '1300.00', '0.36', '1.30'),
      line('no workspace', '2000.00', '0.56', '2.00'),
      'Total,,,,,,,,,6.30,USD',
      '',
    ].join('\r\n');
    expect(await readFile(people, 'utf8')).toBe(text);
    expect((await readdir(folder)).filter((name) => name.startsWith('latest'))).toEqual([]);
    // Written again without being asked for, it is what it was: with its totals.
    expect(await report(dir, 'cost_by_workspace', '--month', '2026-09')).toMatchObject({ exitCode: 0 });
    expect(await readFile(people, 'utf8')).toBe(text);
    expect(await readFile(join(folder, 'latest.csv'), 'utf8')).toBe(goldenCsv);
    expect(await runCli(['verify', '--dir', dir])).toMatchObject({ exitCode: 0 });
  });

  test('--excel=de is for German spreadsheets, also when it is written again; a word behind --excel is no language', async () => {
    const dir = await projectOfOurs();
    const asked = await report(dir, 'cost_by_workspace', '--month', '2026-09', '--excel=de', '--totals');
    expect(asked).toMatchObject({ exitCode: 0, stderr: '' });
    const people = join(dir, 'exports', 'cost_by_workspace', 'BILLING_PERIOD=2026-09', 'cost_by_workspace-2026-09.csv');
    const text = await readFile(people, 'utf8');
    expect(text).toMatch(/;GB-seconds;1300,00;0,36;1,30;USD\r\n/);
    expect(text).toMatch(/\r\nTotal;;;;;;;;;6,30;USD\r\n$/);
    expect(await report(dir, 'cost_by_workspace', '--month', '2026-09')).toMatchObject({ exitCode: 0 });
    expect(await readFile(people, 'utf8')).toBe(text);
    expect(await runCli(['verify', '--dir', dir])).toMatchObject({ exitCode: 0 });
    const usual = await runCli(['report', '--excel', 'cost_by_workspace', '--month', '2026-09', '--dir', dir]);
    expect(usual.exitCode).toBe(0);
    expect(await readFile(people, 'utf8')).toContain(',GB-seconds,1300.00,0.36,1.30,USD');
    expect((await report(dir, 'cost_by_workspace', '--excel=german')).stderr).toContain(
      '--excel: found "german", expected the language of the spreadsheet, such as --excel=de or --excel=fr-CH',
    );
  });

  test('--excel names the columns that a spreadsheet changes; a workbook holds the same values as texts', async () => {
    const sql = "--! about: x\n--! grain: name\nselect unnest(['007', '1e5', '3-4']) as name, '1.5' as version\n";
    const dir = await projectWith('names.sql', sql);
    const { stdout } = await report(dir, 'names', '--excel', '--format', 'xlsx');
    expect(stdout).toContain(
      'A spreadsheet that opens the CSV for people changes texts in Name (such as 007). They stay as they are in a workbook: --format xlsx.',
    );
    const json = JSON.parse((await report(dir, 'names', '--excel=de', '--json')).stdout);
    expect(json.changedBySpreadsheets).toEqual([
      { name: 'Name', example: '007' },
      { name: 'Version', example: '1.5' },
    ]);
    const { sheets } = await readXlsx(await readFile(join(dir, 'exports', 'names', 'latest.xlsx')));
    expect(sheets[0]?.rows.slice(1, 4)).toEqual([
      ['007', '1.5'],
      ['1e5', '1.5'],
      ['3-4', '1.5'],
    ]);
  });

  test('--totals adds up the costs in the last row of the table', async () => {
    const { stdout } = await report(await projectOfOurs(), 'cost_by_workspace', '--month', '2026-09', '--totals');
    expect(stdout).toMatch(/^Total\s.*6\.30/m);
  });

  test('a report without a cost column refuses --totals', async () => {
    const dir = await projectWith('names.sql', '--! about: x\n--! grain: name\nselect 1.5::double as name\n');
    const { exitCode, stderr } = await report(dir, 'names', '--totals');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('the report names has no column to sum');
  });

  test('a report of the project makes columns of rows with --! spread:', async () => {
    const sql = `--! about: x\n--! grain: month\n--! spread: name, amount, sum\n--! cost: sum
      select '2026-09' as month, name, amount from (values ('a', 1.5), ('month', 2), (null, 4)) as t(name, amount)\n`;
    const dir = await projectWith('wide.sql', sql);
    const { stdout } = await report(dir, 'wide', '--json', '--format', 'csv,parquet,arrow,json');
    const { rows, files } = JSON.parse(stdout);
    expect(rows).toEqual([{ month: '2026-09', a: '1.5', 'month (2)': '2.0', 'no name': '4.0', sum: '7.5' }]);
    expect(files).toHaveLength(4);
    expect(await runCli(['verify', '--dir', dir])).toMatchObject({ exitCode: 0 });
  });
});

describe.concurrent('a range of months', () => {
  test('writes one export per month, and one JSON value', async () => {
    const dir = await projectOfOurs();
    const { exitCode, stdout } = await report(dir, 'cost_by_workspace', '--month', '2026-09..2026-10', '--json');
    expect(exitCode).toBe(0);
    const answers = JSON.parse(stdout) as { parameters: { month: string }; rows: unknown[] }[];
    expect(answers.map(({ parameters, rows }) => [parameters.month, rows.length])).toEqual([
      ['2026-09', 3],
      ['2026-10', 1],
    ]);
    const months = await readdir(join(dir, 'exports', 'cost_by_workspace'));
    expect(months.filter((name) => name.startsWith('BILLING'))).toEqual([
      'BILLING_PERIOD=2026-09',
      'BILLING_PERIOD=2026-10',
    ]);
  });

  test('with an incomplete month writes nothing with --require-complete', async () => {
    const dir = await projectOfOurs();
    const asked = ['cost_by_workspace', '--month', '2026-09..2026-10', '--require-complete'];
    const { exitCode, stderr } = await report(dir, ...asked);
    expect(exitCode).toBe(4);
    expect(stderr).toMatch(/2026-10 .*\n.*nothing was written/);
    expect(existsSync(join(dir, 'exports'))).toBe(false);
  });

  test('gives one answer for a report with months as rows', async () => {
    const dir = await projectOfOurs();
    const { stdout } = await report(dir, 'monthly_by_workspace', '--month', '2026-09..2026-10', '--json');
    const { rows } = JSON.parse(stdout) as { rows: { month: string; total: string }[] };
    expect(rows.map(({ month, total }) => [month, total])).toEqual([
      ['2026-09-01', '6.300000000001'],
      ['2026-10-01', '64.000000000000'],
    ]);
  });
});
