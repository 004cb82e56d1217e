import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { formatMetrics } from '../../src/reports/index.ts';
import { type ParsedMetric, parseExposition } from '../support/exposition.ts';
import { ingest, ingestCommandLine, newProject, runCli } from '../support/project.ts';
import { series, startScriptedPlatform } from '../support/scripted-platform.ts';

const box = { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };
const facts = series(box, '2026-09-03T05', [1, 2]);
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

async function metricsOf(dir: string): Promise<Map<string, ParsedMetric>> {
  return parseExposition(await readFile(join(dir, 'data', 'metrics.prom'), 'utf8'));
}

/** The value of a metric by its labels, as text. */
function values(metrics: Map<string, ParsedMetric>, name: string): Record<string, number> {
  const samples = metrics.get(name)?.samples ?? [];
  return Object.fromEntries(samples.map(({ labels, value }) => [Object.values(labels).join(' '), value]));
}

async function begun(): Promise<string> {
  const dir = await newProject();
  await mkdir(join(dir, 'jobs'));
  await writeFile(join(dir, 'jobs', 'budgets.yaml'), 'budgets: [{ name: all, period: monthly, amount: 4 USD }]\n');
  await writeFile(
    join(dir, 'costbook.yaml'),
    'sinks: { hook: { type: webhook, url: "http://127.0.0.1:1/in", secret: a-secret-that-is-long, allowPrivateNetwork: true } }\n',
  );
  return dir;
}

const seconds = (instant: string) => Date.parse(instant) / 1000;

describe.concurrent('metrics.prom', () => {
  test('says after each run what the books know', async () => {
    const dir = await begun();
    await ingest(dir, await startScriptedPlatform(facts), { now: '2026-09-04T12:30:00Z' });
    const restated = await startScriptedPlatform(facts.map((fact) => ({ ...fact, cost: fact.cost + 0.5 })));
    await ingest(dir, restated, { now: '2026-09-05T12:30:00Z' });
    const first = await metricsOf(dir);
    expect(values(first, 'costbook_run_last_success_timestamp_seconds')).toEqual({
      ingest: seconds('2026-09-05T12:30:00Z'),
    });
    expect(values(first, 'costbook_complete_through_timestamp_seconds')).toEqual({
      acc_one: seconds('2026-09-05T10:00:00Z'),
    });
    expect(values(first, 'costbook_settled_through_timestamp_seconds')).toEqual({
      acc_one: seconds('2026-09-02T10:00:00Z'),
    });
    expect(values(first, 'costbook_restated_usd_total')).toEqual({ acc_one: 1 });
    expect(values(first, 'costbook_restated_rows_total')).toEqual({ acc_one: 2 });
    expect(values(first, 'costbook_unproven_windows')).toEqual({ acc_one: 0 });
    expect(values(first, 'costbook_budget_used_ratio')).toEqual({ 'all monthly': 1 });
    expect(values(first, 'costbook_runs_total')).toEqual({ 'ingest done': 2 });

    // Exceeded: somebody is to be told, and the sink is not there.
    const told = await runCli(['alert', '--dir', dir, '--now', '2026-09-05T12:40:00Z']);
    expect(told.exitCode).toBe(8);
    const after = await metricsOf(dir);
    expect(values(after, 'costbook_open_alerts')).toEqual({ critical: 1, info: 0, warning: 0 });
    expect(values(after, 'costbook_outbox_messages')).toEqual({ dead: 0, pending: 1 });
    expect(values(after, 'costbook_run_last_exit_code')).toEqual({ alert: 8, ingest: 0 });
    expect(values(after, 'costbook_run_last_success_timestamp_seconds')).toEqual({
      ingest: seconds('2026-09-05T12:30:00Z'),
    });
    expect((await readdir(join(dir, 'data'))).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  test('counts the answers of the platform over the runs, by status, and requests that were sent again', async () => {
    const dir = await newProject();
    const platform = await startScriptedPlatform(facts);
    await ingest(dir, platform, { now: '2026-09-04T12:30:00Z' });
    const first = values(await metricsOf(dir), 'costbook_responses_total');
    expect(first).toEqual({ 200: platform.requests.length });
    platform.failures = [{ times: 2, status: 503, body: {} }];
    await ingest(dir, platform, { now: '2026-09-05T12:30:00Z' });
    const metrics = await metricsOf(dir);
    expect(values(metrics, 'costbook_responses_total')).toEqual({ 200: platform.requests.length - 2, 503: 2 });
    expect(values(metrics, 'costbook_retries_total')).toEqual({ acc_one: 2 });
  });

  test('of a run that failed says so, and keeps when one last ended well', async () => {
    const dir = await newProject();
    const platform = await startScriptedPlatform(facts);
    await ingest(dir, platform, { now: '2026-09-04T12:30:00Z' });
    platform.tells = ({ query }, truth) =>
      query['groupBy']?.includes('resource_name') ? truth : truth.map((fact) => ({ ...fact, cost: fact.cost + 1 }));
    const { exitCode } = await ingest(dir, platform, { now: '2026-09-09T12:30:00Z', args: ['--refetch'] });
    expect(exitCode).toBe(4);
    const metrics = await metricsOf(dir);
    expect(values(metrics, 'costbook_run_last_exit_code')).toEqual({ ingest: 4 });
    expect(values(metrics, 'costbook_run_last_success_timestamp_seconds')).toEqual({
      ingest: seconds('2026-09-04T12:30:00Z'),
    });
    expect(values(metrics, 'costbook_unproven_windows')['acc_one']).toBeGreaterThan(0);
  });

  test('that cannot be written is a warning, and the run is none the worse', async () => {
    const dir = await newProject();
    const platform = await startScriptedPlatform(facts);
    await ingest(dir, platform, { now: '2026-09-04T12:30:00Z' });
    await rm(join(dir, 'data', 'metrics.prom'));
    await mkdir(join(dir, 'data', 'metrics.prom'));
    const { exitCode, stderr } = await ingest(dir, platform, { now: '2026-09-05T12:30:00Z' });
    expect(exitCode).toBe(0);
    expect(stderr).toContain('"event":"the metrics could not be written"');
  });

  test('of a job has its steps', async () => {
    const dir = await newProject();
    const platform = await startScriptedPlatform(facts);
    const [, env] = ingestCommandLine(dir, platform, { now: '2026-09-04T12:30:00Z' });
    const line = ['run', 'nightly', '--only', 'ingest,check', '--dir', dir, '--now', '2026-09-04T12:30:00Z'];
    const { exitCode, stderr } = await runCli(line, env);
    expect(exitCode, stderr).toBe(0);
    const metrics = await metricsOf(dir);
    expect(values(metrics, 'costbook_step_last_exit_code')).toEqual({ 'nightly check': 0, 'nightly ingest': 0 });
    expect(values(metrics, 'costbook_step_last_duration_seconds')['nightly ingest']).toBeGreaterThan(0);
    expect(Object.keys(values(metrics, 'costbook_run_last_success_timestamp_seconds'))).toEqual(['run nightly']);
  });

  test.skipIf(!hasPromtool)(
    `is as promtool wants it${hasPromtool ? '' : ' (skipped: promtool is not here)'}`,
    async () => {
      const dir = await begun();
      await ingest(dir, await startScriptedPlatform(facts), { now: '2026-09-05T12:30:00Z' });
      await runCli(['alert', '--dir', dir, '--now', '2026-09-05T12:40:00Z']);
      const text = await readFile(join(dir, 'data', 'metrics.prom'));
      const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
      expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
    },
  );
});

describe('formatMetrics(metrics)', () => {
  test('escapes what a label or a help text may not hold as it is', () => {
    const strange = 'a "quote", a \\ and\na new line {} = é';
    const text = formatMetrics([
      {
        name: 'costbook_x',
        type: 'gauge',
        help: 'One\ntwo \\ three.',
        samples: [{ labels: { name: strange }, value: '1.50' }],
      },
    ]);
    expect(text.split('\n')).toHaveLength(4);
    expect(parseExposition(text).get('costbook_x')?.samples).toEqual([{ labels: { name: strange }, value: 1.5 }]);
  });
});
