import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseExposition } from '../support/exposition.ts';
import { ingest, loadedProject, newProject, projectWithPlatform, runCli } from '../support/project.ts';
import { box, series, startScriptedPlatform } from '../support/scripted-platform.ts';

const facts = series(box, '2026-09-02T05', [1]);
const now = '2026-09-13T00:30:00Z';

async function metricsOf(dir: string) {
  const text = await readFile(join(dir, 'data', 'metrics.prom'), 'utf8');
  const read = parseExposition(text);
  return {
    text,
    value(name: string, labels: Record<string, string> = {}): number | undefined {
      return read
        .get(`costbook_${name}`)
        ?.samples.find((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
        ?.value;
    },
  };
}

test('a run writes its metrics to a file that everybody may read, in the format of Prometheus', async ({ skip }) => {
  const dir = await newProject();
  const { exitCode, stderr, account } = await ingest(dir, await startScriptedPlatform(facts), { now });
  expect(exitCode, stderr).toBe(0);
  const metrics = await metricsOf(dir);
  expect((await stat(join(dir, 'data', 'metrics.prom'))).mode & 0o777).toBe(0o644);
  expect((await readdir(join(dir, 'data'))).filter((name) => name.includes('part'))).toEqual([]);
  expect(metrics.value('last_run_exit_code', { command: 'ingest' })).toBe(0);
  expect(metrics.value('last_success_timestamp_seconds', { command: 'ingest' })).toBe(Date.parse(now) / 1000);
  // The books' clock does not advance with --now, but the duration of a run is real time.
  expect(metrics.value('last_run_duration_seconds', { command: 'ingest' })).toBeGreaterThan(0);
  expect(metrics.value('complete_through_timestamp_seconds', { account: 'acc_one' })).toBe(
    Date.parse(account.completeThrough ?? '') / 1000,
  );
  expect(metrics.value('rows')).toBe(account.rows);
  const asked = Object.values(account.requests).reduce((sum, count) => sum + count, 0);
  expect(metrics.value('last_ingest_requests', { account: 'acc_one' })).toBe(asked);
  expect(metrics.value('http_answers_total', { status: '200' })).toBeGreaterThanOrEqual(asked);
  expect(metrics.value('snapshot_bytes')).toBe((await stat(join(dir, 'data', 'costbook.duckdb'))).size);

  const promtool = spawnSync('promtool', ['check', 'metrics'], { input: metrics.text, encoding: 'utf8' });
  if (promtool.error) skip('promtool is not on this machine: only our own reading of the format was tried');
  expect({ status: promtool.status, said: promtool.stdout + promtool.stderr }).toEqual({ status: 0, said: '' });
});

test('a failed run writes metrics too: the last success stays, and responses are counted over runs', async () => {
  const { dir, platform } = await loadedProject(facts, { now });
  const before = await metricsOf(dir);
  platform.tokens = { admin: 'another', member: 'another one' };
  const later = '2026-09-14T00:30:00Z';
  const { exitCode } = await ingest(dir, platform, { now: later, env: { COSTBOOK_TOKEN: 'a-token-of-old' } });
  expect(exitCode).toBe(3);
  const after = await metricsOf(dir);
  expect(after.value('last_run_exit_code', { command: 'ingest' })).toBe(3);
  expect(after.value('last_run_timestamp_seconds', { command: 'ingest' })).toBe(Date.parse(later) / 1000);
  expect(after.value('last_success_timestamp_seconds', { command: 'ingest' })).toBe(Date.parse(now) / 1000);
  expect(after.value('http_answers_total', { status: '200' })).toBe(
    before.value('http_answers_total', { status: '200' }),
  );
  expect(after.value('http_answers_total', { status: '401' })).toBeGreaterThan(0);
  expect(before.value('http_answers_total', { status: '401' })).toBe(0);
});

test('metrics that cannot be written cause a warning, and the run succeeds', async () => {
  const dir = await newProject();
  await mkdir(join(dir, 'data', 'metrics.prom'), { recursive: true });
  const { exitCode, stderr } = await ingest(dir, await startScriptedPlatform(facts), { now });
  expect(exitCode, stderr).toBe(0);
  expect(stderr).toContain('metrics.failed');
  expect((await readdir(join(dir, 'data'))).filter((name) => name.includes('part'))).toEqual([]);
  await rm(join(dir, 'data', 'metrics.prom'), { recursive: true });
  expect((await runCli(['alert', '--dir', dir, '--now', now])).exitCode).toBe(0);
  expect((await metricsOf(dir)).value('last_run_exit_code', { command: 'ingest' })).toBe(0);
});

test('a job has its own metrics, and its steps those of their commands', async () => {
  const { dir, platform } = await projectWithPlatform(facts);
  await mkdir(join(dir, 'jobs'));
  await writeFile(join(dir, 'jobs', 'budgets.yaml'), 'budgets:\n  - { name: "all", period: monthly, amount: 4 USD }\n');
  const { exitCode, stderr } = await runCli(['run', 'nightly', '--only', 'ingest,alert', '--dir', dir, '--now', now], {
    COSTBOOK_URL: platform.url,
    COSTBOOK_TOKEN: platform.tokens.admin,
    COSTBOOK_ACCOUNT: 'acc_one',
    COSTBOOK_SINCE: '2026-09-01',
    COSTBOOK_INVENTORY: 'false',
  });
  expect(exitCode, stderr).toBe(0);
  const metrics = await metricsOf(dir);
  expect(metrics.value('job_last_success_timestamp_seconds', { job_name: 'nightly' })).toBe(Date.parse(now) / 1000);
  expect(metrics.value('job_last_run_duration_seconds', { job_name: 'nightly' })).toBeGreaterThan(0);
  expect(metrics.value('last_run_exit_code', { command: 'alert' })).toBe(0);
  expect(metrics.value('last_run_duration_seconds', { command: 'ingest' })).toBeGreaterThan(0);
  // The spend that alert computed equals a new query of the books.
  expect(metrics.value('budget_spent_ratio', { budget: 'all' })).toBe(0.25);
  const url = { COSTBOOK_URL: platform.url, COSTBOOK_TOKEN: platform.tokens.admin };
  await runCli(['ingest', '--dir', dir, '--now', now], {
    ...url,
    COSTBOOK_ACCOUNT: 'acc_one',
    COSTBOOK_INVENTORY: 'false',
  });
  expect((await metricsOf(dir)).value('budget_spent_ratio', { budget: 'all' })).toBe(0.25);
  expect(metrics.value('open_alerts', { severity: 'critical' })).toBe(0);
  expect(metrics.text).not.toContain('command="run');
});
