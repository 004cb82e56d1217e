import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Ended, ingest, newProject, runCli } from '../support/project.ts';
import { box, series, startScriptedPlatform } from '../support/scripted-platform.ts';

const disk = { ...box, type: 'volume', workspace: 'south', name: 'disk', uuid: null, dimension: 'volume_storage_gbs' };
const total = `select sum(cost) as cost, count(*) as "rows" from costs`;
const firstNight = '2026-10-01T12:30:00Z';
const secondNight = '2026-10-02T12:30:00Z';
const now = '2026-10-03T08:00:00Z';

let dir = '';
/** What was answered between the two nights. */
let answeredThen: Record<string, unknown> = {};
beforeAll(async () => {
  dir = await newProject();
  const before = [...series(box, '2026-09-29T05', [1, 2]), ...series(disk, '2026-09-29T05', [4])];
  const platform = await startScriptedPlatform(before);
  await ingest(dir, platform, { now: firstNight });
  const { stdout } = await runCli(['sql', total, '--dir', dir, '--json', '--now', firstNight]);
  answeredThen = JSON.parse(stdout);
  // An hour is restated, a row vanishes, and a new day comes.
  platform.facts = [...series(box, '2026-09-29T05', [1, 3]), ...series(box, '2026-10-01T20', [10])];
  await ingest(dir, platform, { now: secondNight });
});

function ask(command: string, ...args: string[]): Promise<Ended> {
  return runCli([command, '--dir', dir, '--now', now, ...args]);
}

describe.concurrent('costbook sql --as-of', () => {
  test('gives the answer of that instant, and names the instant', async () => {
    const { exitCode, stdout } = await ask('sql', total, '--as-of', firstNight, '--json');
    expect(exitCode).toBe(0);
    expect(answeredThen).toMatchObject({
      asOf: null,
      completeThrough: '2026-10-01T10:00:00Z',
      rows: [{ cost: '7.000000000000', rows: 3 }],
    });
    expect(JSON.parse(stdout)).toEqual({ ...answeredThen, asOf: firstNight });
  });

  test('includes changes seen at the instant itself, and nothing later', async () => {
    const costs = await Promise.all(
      [firstNight, '2026-10-02T12:29:59.999Z', secondNight, '2026-10-03'].map(async (asOf) => {
        const { stdout } = await ask('sql', total, '--as-of', asOf, '--json');
        return JSON.parse(stdout).rows[0].cost;
      }),
    );
    expect(costs).toEqual(['7.000000000000', '7.000000000000', '14.000000000000', '14.000000000000']);
  });

  test('names the instant below a table', async () => {
    const { stdout } = await ask('sql', total, '--as-of', firstNight);
    expect(stdout).toContain(`(1 row) as of ${firstNight}, complete through 2026-10-01T10:00:00Z, settled through`);
  });

  test('applies to the ledger and every public view; the catalog present has the current books', async () => {
    const { stdout } = await ask(
      'sql',
      `select
        (select sum(cost) from ledger.hourly_costs) as ledger,
        (select sum(cost) from costs_monthly where usage_month = '2026-09-01') as monthly,
        (select count(*) from restatements) as restated,
        (select count(*) from runs) as runs,
        (select sum(cost) from present.costs) as present`,
      ...['--as-of', firstNight, '--json'],
    );
    expect(JSON.parse(stdout).rows).toEqual([
      { ledger: '7.000000000000', monthly: '7.000000000000', restated: 0, runs: 1, present: '14.000000000000' },
    ]);
  });

  test('returns no rows before the first load', async () => {
    const { exitCode, stdout } = await ask('sql', 'select * from costs', '--as-of', '2026-09-30', '--json');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      asOf: '2026-09-30T00:00:00Z',
      completeThrough: null,
      settledThrough: null,
      rows: [],
    });
  });

  test.each([
    ['2026-10-04', '--as-of: 2026-10-04T00:00:00Z is in the future; expected an instant up to 2026-10-03T08:00:00Z'],
    ['yesterday', '--as-of: "yesterday" is not a date'],
  ])('ends with 2 for %s', async (asOf, words) => {
    const { exitCode, stderr } = await ask('sql', total, '--as-of', asOf);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(words);
  });
});

describe.concurrent('costbook report --as-of', () => {
  test('writes separate files with their instant and the numbers of that time', async () => {
    const out = join(dir, 'then');
    const said = await ask(
      'report',
      'cost_by_workspace',
      ...['--month', '2026-09', '--as-of', firstNight, '--out', out, '--json'],
    );
    expect(said.exitCode).toBe(0);
    const { asOf, completeThrough, rows } = JSON.parse(said.stdout);
    expect({ asOf, completeThrough }).toEqual({ asOf: firstNight, completeThrough: '2026-10-01T10:00:00Z' });
    expect(rows).toMatchObject([
      { workspace: 'north', cost: '3.000000000000' },
      { workspace: 'south', cost: '4.000000000000' },
    ]);
    const folder = join(out, 'as-of=2026-10-01T123000Z', 'cost_by_workspace', 'BILLING_PERIOD=2026-09');
    expect(await readdir(folder)).toEqual(expect.arrayContaining(['latest.csv', 'latest.parquet', '_manifest']));
    const file = await asyncBufferFromFile(join(folder, 'latest.parquet'));
    const { key_value_metadata } = await parquetMetadataAsync(file);
    expect(key_value_metadata).toEqual(
      expect.arrayContaining([
        { key: 'as_of', value: firstNight },
        { key: 'complete_through', value: '2026-10-01T10:00:00Z' },
      ]),
    );
  });

  test('uses the month that was the last complete one then', async () => {
    const out = join(dir, 'last');
    const { stdout } = await ask('report', 'cost_by_workspace', '--as-of', firstNight, '--out', out, '--json');
    expect(JSON.parse(stdout).parameters).toMatchObject({ month: '2026-09' });
  });
});
