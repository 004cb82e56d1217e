import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { ingest, newProject, runCli } from '../support/project.ts';
import { series, startScriptedPlatform } from '../support/scripted-platform.ts';

const box = {
  workspace: 'north',
  type: 'sandbox',
  name: 'box',
  uuid: 'sbx-1',
  dimension: 'sandbox_compute_runtime_gbs',
};
const disk = { workspace: 'south', type: 'volume', name: 'disk', uuid: 'vol-1', dimension: 'volume_storage_gbs' };

let dir = '';
beforeAll(async () => {
  dir = await newProject();
  const platform = await startScriptedPlatform([
    ...series(box, '2026-09-03T05', [1.5, 0.25]),
    ...series(disk, '2026-09-30T22', [3, 0.000001]),
    ...series(box, '2026-10-01T00', [8]),
  ]);
  const first = await ingest(dir, platform, { now: '2026-10-03T12:30:00Z' });
  expect(first.exitCode, first.stderr).toBe(0);
  platform.facts = platform.facts.map((fact) => (fact.hour === '2026-09-03T05' ? { ...fact, cost: 2 } : fact));
  const second = await ingest(dir, platform, { now: '2026-10-10T12:30:00Z' });
  expect(second.exitCode, second.stderr).toBe(0);
});

/** The lines of the CSV that a report writes. */
async function csvOf(name: string, ...args: string[]): Promise<string[]> {
  const out = await newProject();
  const ended = await runCli(['report', name, '--dir', dir, '--out', out, '--format', 'csv', ...args]);
  expect(ended.exitCode, ended.stderr).toBe(0);
  const file = (await readdir(out, { recursive: true })).find((path) => basename(path) === 'latest.csv');
  return (await readFile(join(out, file ?? 'latest.csv'), 'utf8')).split('\r\n');
}

describe.concurrent('to the byte what was agreed:', () => {
  test('invoice_lines, after the total of a past month had changed', async () => {
    expect(await csvOf('invoice_lines', '--month', '2026-09')).toEqual([
      'account,month,charge_class,incurred_month,billing_dimension,unit,usage,effective_rate,cost,platform_cost,difference,proven',
      'acc_one,2026-09-01,,2026-09-01,sandbox_compute_runtime_gbs,GB-seconds,1750.000000,0.001285714285714286,2.250000000000,2.250000000000,0.000000000000,true',
      'acc_one,2026-09-01,,2026-09-01,volume_storage_gbs,GB-seconds,3000.001000,0.001000000000000000,3.000001000000,3.000001000000,0.000000000000,true',
      '',
    ]);
  });

  test('invoice_lines, as of the night before that', async () => {
    const args = ['--month', '2026-09', '--as-of', '2026-10-04'];
    const lines = await csvOf('invoice_lines', ...args);
    expect(lines[1]).toContain(',1.750000000000,1.750000000000,0.000000000000,true');
  });

  test('reconciliation_summary', async () => {
    const lines = await csvOf('reconciliation_summary', '--month', '2026-09');
    expect(lines).toEqual([
      'account,month,hours,hours_proven,cost,platform_cost,difference,tolerance,proven,compared_at,comparisons,comparisons_not_proven,correction_cost,closed_at,invoiced,invoice_difference',
      expect.stringMatching(
        /^acc_one,2026-09-01,720,720,5\.250001000000,5\.250001000000,0\.000000000000,0\.0\d+,true,2026-10-10T12:30:00Z,\d+,1,,,,$/, // the day that changed did not meet when it was found
      ),
      '',
    ]);
  });

  test('reconciliation', async () => {
    const lines = await csvOf('reconciliation', '--month', '2026-09');
    expect(lines[0]).toBe(
      'account,window_start,window_end,compared,measure,billing_dimension,run_number,reading,load_number,proven_at,amounts,ours,theirs,difference,tolerance,proven',
    );
    const ofMonth = lines
      .filter((line) => line.includes(",month = the platform's total,"))
      .map((line) => line.replace(/,0\.0\d+,true$/, ',tolerance,true'));
    expect(ofMonth).toEqual([
      "acc_one,2026-09-01T00:00:00Z,2026-10-01T00:00:00Z,month = the platform's total,cost,,1,1,,2026-10-03T12:30:00Z,4,4.750001000000,4.750001000000,0.000000000000,tolerance,true",
      "acc_one,2026-09-01T00:00:00Z,2026-10-01T00:00:00Z,month = the platform's total,cost,,2,1,,2026-10-10T12:30:00Z,4,5.250001000000,5.250001000000,0.000000000000,tolerance,true",
    ]);
  });

  test('restatements', async () => {
    const golden = [
      'account,usage_date,workspace,billing_dimension,unit,seen_at,first_told_at,changes,old_usage,new_usage,usage_change,old_cost,new_cost,cost_change',
      'acc_one,2026-09-03,north,sandbox_compute_runtime_gbs,GB-seconds,2026-10-10T12:30:00Z,2026-10-03T12:30:00Z,1,1500.000000,1500.000000,0.000000,1.500000000000,2.000000000000,0.500000000000',
      '',
    ];
    expect(await csvOf('restatements')).toEqual(golden);
    expect(await csvOf('restatements', '--month', '2026-09')).toEqual(golden);
  });

  test('unit_economics', async () => {
    await writeFile(join(dir, 'orders.csv'), 'date,value\n2026-09-03,9\n2026-09-04,\n2026-10-10,4\n');
    const args = ['--param', 'metric=orders.csv', '--from', '2026-09-03', '--to', '2026-09-05'];
    expect(await csvOf('unit_economics', ...args)).toEqual([
      'usage_date,cost,value,cost_per_unit,note',
      '2026-09-03,2.250000000000,9.000000,0.250000000000000000,',
      '2026-09-04,0.000000000000,,,no metric',
      '',
    ]);
  });
});

test('a metric file that is wrong is named with its line, and nothing is written', async () => {
  await writeFile(join(dir, 'wrong.csv'), 'date,value\n2026-09-03,nine\n');
  const out = await newProject();
  const { exitCode, stderr } = await runCli([
    'report',
    'unit_economics',
    '--dir',
    dir,
    '--out',
    out,
    '--param',
    'metric=wrong.csv',
  ]);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/^costbook: \/\S*\/wrong\.csv:2: found "2026-09-03,nine", expected a day and a number/m);
  expect(stderr).not.toContain('unit_economics.sql');
});
