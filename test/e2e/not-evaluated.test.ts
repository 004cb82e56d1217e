// Second tier: Reports before and after evaluations at many instants.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { ingest, newProject, runCli } from '../support/project.ts';
import { type ScriptedPlatform, series, startScriptedPlatform } from '../support/scripted-platform.ts';

const box = { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };
const never =
  'warning: anomalies in acc_one were not evaluated yet: run "costbook alert" (jobs/budgets.yaml must not have anomalies: { enabled: false })';

let dir = '';
let platform: ScriptedPlatform;
beforeAll(async () => {
  dir = await newProject();
  await writeFile(join(dir, 'costbook.yaml'), 'accounts: [{ id: acc_one }]\n');
  platform = await startScriptedPlatform(
    Array.from({ length: 36 }, (_, day) =>
      series(box, new Date(Date.UTC(2026, 8, 1 + day, 6)).toISOString().slice(0, 13), [4]),
    ).flat(),
  );
  await load('2026-10-03T02:15:00Z');
});

async function load(now: string): Promise<void> {
  const { exitCode, stderr } = await ingest(dir, platform, { now });
  expect(exitCode, stderr).toBe(0);
}

async function alert(now: string): Promise<void> {
  const { exitCode, stderr } = await runCli(['alert', '--dir', dir, '--now', now]);
  expect(exitCode, stderr).toBe(0);
}

async function report(name: string, ...args: string[]) {
  const { exitCode, stdout, stderr } = await runCli(['report', name, '--dir', dir, ...args]);
  return { exitCode, warnings: stderr.split('\n').filter((line) => line !== ''), lines: stdout.split('\n') };
}

describe('a report that depends on "costbook alert"', () => {
  test('is empty before alert ran, and says so', async () => {
    const anomalies = await report('anomalies', '--month', '2026-09');
    expect(anomalies).toMatchObject({ exitCode: 0, warnings: [never] });
    expect(anomalies.lines).toContain('not evaluated by "costbook alert" yet');
    for (const name of ['stored_forecasts', 'forecast_accuracy', 'forecast_accuracy_summary']) {
      const forecasts = await report(name);
      expect(forecasts, name).toMatchObject({
        exitCode: 0,
        warnings: [
          'warning: no forecast is stored yet: run "costbook alert" ("costbook forecast" shows forecasts without storing them)',
        ],
      });
      expect(forecasts.lines, name).toContain('no forecast is stored yet');
    }
    const { stdout } = await runCli(['report', 'anomalies', '--dir', dir, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ evaluatedThrough: null, rows: [] });
    const folder = join(dir, 'exports', 'anomalies', 'BILLING_PERIOD=2026-09');
    expect(JSON.parse(await readFile(join(folder, '_manifest'), 'utf8'))).toMatchObject({
      evaluatedThrough: null,
    });
    const { stdout: alerts } = await runCli(['alerts', '--open', '--dir', dir]);
    expect(alerts).toContain('No alerts yet: "costbook alert" has not run on these books.');
  });

  test('is refused by --require-complete before alert ran', async () => {
    const { exitCode, warnings } = await report('anomalies', '--month', '2026-09', '--require-complete');
    expect(exitCode).toBe(4);
    expect(warnings.join('\n')).toContain(never.replace('warning: ', ''));
  });

  test('says through when alert has evaluated, and that earlier days were not evaluated', async () => {
    await alert('2026-10-03T02:15:00Z');
    const anomalies = await report('anomalies', '--month', '2026-09', '--require-complete');
    expect(anomalies).toMatchObject({
      exitCode: 0,
      warnings: [
        'warning: anomalies in acc_one that ended before 2026-09-26T00:00:00Z are not listed: they were never evaluated. ' +
          '"costbook budgets backtest --anomalies --lookback 400d" shows them',
      ],
    });
    expect(anomalies.lines).toContain('evaluated by "costbook alert" through 2026-10-03T00:00:00Z');
    const forecasts = await report('stored_forecasts');
    expect(forecasts.warnings).toEqual([]);
    expect(forecasts.lines).toContain('forecast by "costbook alert" with data complete through 2026-10-03T00:00:00Z');
    expect((await report('forecast_accuracy')).lines).toContain(
      'forecast by "costbook alert" with data complete through 2026-10-03T00:00:00Z; no forecast period has ended yet',
    );
    const { stdout } = await runCli(['alerts', '--open', '--dir', dir, '--now', '2026-10-03T03:15:00Z']);
    expect(stdout).toContain('No open alerts.');
  });

  test('says if the books have newer hours than alert has evaluated', async () => {
    await load('2026-10-05T02:15:00Z');
    const anomalies = await report('anomalies', '--month', '2026-10');
    expect(anomalies.warnings).toContain(
      'warning: anomalies in acc_one were evaluated only through 2026-10-03T00:00:00Z: run "costbook alert"',
    );
    expect((await report('anomalies', '--month', '2026-09')).warnings).toHaveLength(1);
    expect((await report('stored_forecasts')).warnings).toEqual([
      'warning: the forecasts use data complete through 2026-10-03T00:00:00Z: run "costbook alert" for newer ones',
    ]);
  });

  test('with --as-of shows what alert had evaluated by then', async () => {
    await alert('2026-10-05T02:15:00Z');
    expect((await report('anomalies', '--month', '2026-10')).lines).toContain(
      'evaluated by "costbook alert" through 2026-10-05T00:00:00Z',
    );
    const then = await report('anomalies', '--month', '2026-09', '--as-of', '2026-10-04T00:00:00Z');
    expect(then.lines).toContain('evaluated by "costbook alert" through 2026-10-03T00:00:00Z');
  });
});

test('a report with an unknown --! evaluated: is refused', async () => {
  const own = await newProject();
  await mkdir(join(own, 'jobs'));
  await mkdir(join(own, 'sql', 'reports'), { recursive: true });
  await writeFile(
    join(own, 'sql', 'reports', 'mine.sql'),
    '--! about: Mine?\n--! grain: a\n--! evaluated: anomaly\nselect 1 as a\n',
  );
  const { exitCode, stderr } = await runCli(['report', 'mine', '--dir', own]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('found "--! evaluated: anomaly", expected one of anomalies, forecasts, outcomes');
});
