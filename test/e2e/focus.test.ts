import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Given, givenBooks } from '../support/given-books.ts';
import { type Ended, newProject, runCli } from '../support/project.ts';

const october = { window_start: '2026-10-01', window_end: '2026-11-01', claimed_end: '2026-11-01' };

/** A project of which these books were published. */
async function projectWith(given: Given): Promise<string> {
  const dir = await newProject();
  await mkdir(join(dir, 'data'));
  (await givenBooks(given, join(dir, 'data', 'costbook.duckdb'))).close();
  return dir;
}

let loaded = '';
beforeAll(async () => {
  loaded = await projectWith({
    accounts: [{ history_start: '2026-10-01', name: 'From the books' }],
    loads: [{ ...october, seen_at: '2026-11-04 02:00:00.5' }],
    covered: [october],
    costs: [
      { bucket_start: '2026-10-01 00:00:00', cost: '0.000000123457', usage: '3' },
      { bucket_start: '2026-10-31 23:00:00', cost: '-1', usage: '0.5' },
    ],
  });
});

async function projectOfOurs(config?: string): Promise<string> {
  const dir = await newProject();
  await cp(join(loaded, 'data', 'costbook.duckdb'), join(dir, 'data', 'costbook.duckdb'), { recursive: true });
  if (config !== undefined) await writeFile(join(dir, 'costbook.yaml'), config);
  return dir;
}

function report(dir: string, ...args: string[]): Promise<Ended> {
  return runCli(['report', '--dir', dir, '--now', '2026-11-10T00:00:00Z', ...args]);
}

/** The files below a folder by their names, manifests and locks left out. */
async function filesBelow(dir: string): Promise<Map<string, Buffer>> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name !== '_manifest');
  const read = files.map(async ({ parentPath, name }): Promise<[string, Buffer]> => {
    const path = join(parentPath, name);
    return [path.slice(dir.length + 1), await readFile(path)];
  });
  return new Map((await Promise.all(read)).sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function rowsOf(dir: string): Promise<Record<string, unknown>[]> {
  const files = await filesBelow(join(dir, 'exports'));
  const name = [...files.keys()].find((path) => path.endsWith('.parquet')) ?? '';
  return parquetReadObjects({ file: await asyncBufferFromFile(join(dir, 'exports', name)), compressors });
}

describe.concurrent('costbook report focus', () => {
  test('writes CSV, Parquet and the metadata of both; the same books give the same bytes', async () => {
    const one = await projectOfOurs();
    const other = await projectOfOurs();
    for (const dir of [one, other]) expect(await report(dir, 'focus')).toMatchObject({ exitCode: 0, stderr: '' });
    const files = await filesBelow(join(one, 'exports'));
    expect([...files.keys()].map((name) => name.replace(/^.*\./, ''))).toEqual(
      expect.arrayContaining(['csv', 'json', 'parquet']),
    );
    expect(await filesBelow(join(other, 'exports'))).toEqual(files);

    const text = [...files].find(([name]) => name.endsWith('.json'))?.[1].toString() ?? '';
    const metadata = JSON.parse(text) as { ColumnDefinition: { ColumnName: string }[] } & Record<string, unknown>;
    expect(metadata).toMatchObject({ FocusVersion: '1.4', CreationDate: '2026-11-04T02:00:00Z' });
    const csv = [...files].find(([name]) => name.endsWith('.csv'))?.[1].toString() ?? '';
    expect(metadata.ColumnDefinition.map(({ ColumnName }) => ColumnName).join(',')).toBe(csv.split('\r\n')[0]);
    expect(csv).toContain(
      ',0.000000123457,acc_one,From the books,Account,USD,2026-11-01T00:00:00Z,2026-10-01T00:00:00Z,',
    );
  });

  test('states no precision for doubles in metadata and manifest', async () => {
    const dir = await projectOfOurs();
    const args = ['--format', 'csv,parquet', '--parquet-decimals', 'double'];
    expect(await report(dir, 'focus', ...args)).toMatchObject({ exitCode: 0, stderr: '' });
    const folder = join(dir, 'exports', 'focus', 'BILLING_PERIOD=2026-10');
    const metadata = JSON.parse(await readFile(join(folder, 'latest-metadata.json'), 'utf8'));
    const costs = metadata.ColumnDefinition.filter(({ ColumnName }: { ColumnName: string }) =>
      /Cost$/.test(ColumnName),
    );
    expect(costs).toHaveLength(5);
    for (const column of costs) expect(column).toEqual({ ColumnName: column.ColumnName, DataType: 'DECIMAL' });
    const { files } = JSON.parse(await readFile(join(folder, '_manifest'), 'utf8'));
    expect(files.map(({ format, inexact }: Record<string, unknown>) => [format, inexact])).toEqual([
      ['csv', undefined],
      ['parquet', true],
      ['metadata', undefined],
    ]);
    expect(await runCli(['verify', '--dir', dir])).toMatchObject({ exitCode: 0 });
    // Asked without, everything is exact again.
    expect(await report(dir, 'focus')).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(await readFile(join(folder, 'latest-metadata.json'), 'utf8')).ColumnDefinition).toContainEqual({
      ColumnName: 'BilledCost',
      DataType: 'DECIMAL',
      NumericPrecision: 38,
      NumberScale: 12,
    });
  });

  test('writes another version next to the first', async () => {
    const dir = await projectOfOurs();
    await report(dir, 'focus');
    const before = await filesBelow(join(dir, 'exports'));
    expect(await report(dir, 'focus', '--focus-version', '1.2')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await report(dir, 'focus', '--with-deprecated-columns')).toMatchObject({ exitCode: 0, stderr: '' });
    const after = await filesBelow(join(dir, 'exports'));
    expect(after.size).toBe(3 * before.size);
    for (const [name, bytes] of before) expect(after.get(name)).toEqual(bytes);
  });

  test('takes provider and account from --param before the configuration', async () => {
    const dir = await projectOfOurs('focus: { provider: Acme, accountName: Ours }\n');
    await report(dir, 'focus', '--format', 'parquet');
    const [row] = await rowsOf(dir);
    expect(row).toMatchObject({ ServiceProviderName: 'Acme', InvoiceIssuerName: 'Acme', BillingAccountName: 'Ours' });
    const other = await projectOfOurs('focus: { provider: Acme }\n');
    await report(other, 'focus', '--format', 'parquet', '--param', 'provider=Another');
    expect((await rowsOf(other))[0]).toMatchObject({
      ServiceProviderName: 'Another',
      BillingAccountName: 'From the books',
    });
  });

  test('refuses one account name for several accounts', async () => {
    const two = ['acc_one', 'acc_two'];
    const dir = await projectWith({
      accounts: two.map((account) => ({ account, history_start: '2026-10-01' })),
      loads: two.map((account, index) => ({ ...october, account, load_number: index + 1 })),
      covered: two.map((account, index) => ({ ...october, account, load_number: index + 1 })),
      costs: two.map((account) => ({ account, bucket_start: '2026-10-01 00:00:00', cost: '1' })),
    });
    const { exitCode, stderr } = await report(dir, 'focus', '--month', '2026-10', '--param', 'account_name=Ours');
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr:
        'costbook: focus.accountName is "Ours", but the books have 2 accounts: acc_one, acc_two; ' +
        'remove it and set name in each entry of accounts; the next ingest stores these names in the books\n',
    });
    expect(await readdir(dir)).toEqual(['data']);
  });

  test.each([
    [['focus', '--focus-version', '1.1'], '--focus-version: found "1.1", expected 1.4, 1.3 or 1.2'],
    [['focus', '--focus-version', '1.2', '--with-deprecated-columns'], 'FOCUS 1.2 has no deprecated columns'],
    [['focus', '--grain', 'weekly'], '--grain: found "weekly", expected hourly or daily'],
    [['cost_by_workspace', '--grain', 'daily'], 'has no parameter "grain"'],
    [['cost_by_workspace', '--focus-version', '1.2'], 'has no parameter "focus_version"'],
    [['cost_by_workspace', '--with-deprecated-columns'], 'has no parameter "deprecated_columns"'],
  ])('%j is refused, and nothing is written', async (args, words) => {
    const dir = await projectOfOurs();
    const { exitCode, stderr } = await report(dir, ...args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(words);
    expect(await readdir(dir)).toEqual(['data']);
  });
});
