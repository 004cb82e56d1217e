// Second tier: Rebuilds books for one case; e2e/one-month and sql/alerts have alerts of budgets in the first tier.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { askFile, askSnapshot, ingest, newProject, runCli } from '../support/project.ts';
import { box, series, startScriptedPlatform } from '../support/scripted-platform.ts';
import { startSink } from '../support/sink-server.ts';

test('an open alert of a budget shows what is spent now, sends nothing new, and rebuilt books have it too', async () => {
  const dir = await newProject();
  const hours = Array.from({ length: 10 * 24 }, () => 1);
  const platform = await startScriptedPlatform(series(box, '2026-09-01T00', hours));
  const sink = await startSink();
  const yaml = `accounts: [{ id: acc_one }]\nsinks:\n  hook: { type: webhook, url: "${sink.url}/in", secret: "\${SINK_SECRET}", allowPrivateNetwork: true }\n`;
  const budgets =
    'budgets:\n  - { name: all, period: monthly, amount: 100 USD, thresholds: [{ at: 80% }, { at: 150%, severity: critical }] }\n';
  await writeFile(join(dir, 'costbook.yaml'), yaml);
  await mkdir(join(dir, 'jobs'));
  await writeFile(join(dir, 'jobs', 'budgets.yaml'), budgets);
  const env = { SINK_SECRET: 'a-secret-of-the-webhook' };
  const night = async (now: string) => {
    expect(await ingest(dir, platform, { now })).toMatchObject({ exitCode: 0 });
    expect(await runCli(['alert', '--dir', dir, '--now', now], env)).toMatchObject({ exitCode: 0, stderr: '' });
    const { stdout } = await runCli(['alerts', '--open', '--dir', dir, '--now', now], env);
    return stdout.replaceAll(/\s+/g, ' ');
  };
  expect(await night('2026-09-05T02:15:00Z')).toContain('98.00 of 100.00 USD spent');
  expect(await night('2026-09-07T02:15:00Z')).toMatch(
    /146\.00 of 100\.00 USD spent.*It is 46\.00 USD over its budget\..*Amounts as of 2026-09-07T00:00:00Z/,
  );
  expect(await night('2026-09-08T02:15:00Z')).toMatch(
    /🔴 critical Budget all: 170\.00 of 100\.00 USD.*🟠 warning Budget all: 80% \(80\.00 USD\) is reached in 2026-09 The alert budget\S+ says how much, and what to do\. open since/,
  );
  expect(sink.told.map(({ body }) => body.alerts.map(({ transition }) => transition))).toEqual([
    ['raised'],
    ['raised'],
  ]);
  const stored = "select fact ->> '$.value' as value, occurrence from alerts where severity = 'warning'";
  expect(await askSnapshot(dir, stored)).toEqual([{ value: '170.000000000000', occurrence: 1 }]);
  const rebuilt = join(dir, 'rebuilt.duckdb');
  const { stdout } = await runCli(['rebuild', '--into', rebuilt, '--dir', dir]);
  expect(stdout).toContain('identical');
  expect(await askFile(rebuilt, stored)).toEqual([{ value: '170.000000000000', occurrence: 1 }]);
});
