import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { breakages } from '../support/breakages.ts';
import { askSnapshot, costsIn, type Ended, newProject, runCli } from '../support/project.ts';
import { expectedCosts, type ScriptedPlatform, series, startScriptedPlatform } from '../support/scripted-platform.ts';
import { type SinkServer, startSink } from '../support/sink-server.ts';

// One project lives through a month, so that each part of the product runs once with the others. What each part does
// in every other case is in the file of its name; the slow ones of them are in the second tier.

const box = { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };
const september = series(box, '2026-09-03T05', [1, 2, 0.5]);
const october = series(box, '2026-10-02T05', [70]);
const budgets = `budgets:
  - name: everything
    period: monthly
    amount: 50 USD
    thresholds: [{ at: 100%, severity: critical }]
`;

let dir = '';
let platform: ScriptedPlatform;
let sink: SinkServer;
beforeAll(async () => {
  dir = await newProject();
  platform = await startScriptedPlatform(september);
  sink = await startSink();
  await mkdir(join(dir, 'jobs'));
  await writeFile(join(dir, 'jobs', 'budgets.yaml'), budgets);
  await writeFile(join(dir, 'jobs', 'mine.yaml'), 'schedule: "15 2 * * *"\nsteps: [ingest, check, alert]\n');
  await writeFile(
    join(dir, 'costbook.yaml'),
    `sinks:\n  hook: { type: webhook, url: "${sink.url}/", secret: sixteen-letters-or-more, allowPrivateNetwork: true }\n`,
  );
});

function run(now: string, ...args: string[]): Promise<Ended> {
  return runCli([...args, '--dir', dir, '--now', now], {
    COSTBOOK_URL: platform.url,
    COSTBOOK_TOKEN: platform.tokens.admin,
    COSTBOOK_ACCOUNT: 'acc_one',
    COSTBOOK_SINCE: '2026-09-01',
    COSTBOOK_INVENTORY: 'false',
  });
}

test('a month is loaded by a job, exported, verified, closed, restated, alerted, repaired and rebuilt', async () => {
  expect(await run('2026-10-05T02:15:00Z', 'run', 'mine')).toMatchObject({ exitCode: 0 });
  expect(await costsIn(dir)).toEqual(expectedCosts(september, 'admin'));
  expect(await askSnapshot(dir, 'select step, outcome from run_steps order by position')).toEqual([
    { step: 'ingest', outcome: 'done' },
    { step: 'check', outcome: 'done' },
    { step: 'alert', outcome: 'done' },
  ]);
  expect(sink.told).toEqual([]);

  const report = ['report', 'cost_by_workspace', '--month', '2026-09', '--format', 'csv,parquet'];
  expect(await run('2026-10-05T03:00:00Z', ...report)).toMatchObject({ exitCode: 0 });
  const verified = await run('2026-10-05T03:00:00Z', 'verify', '--json');
  expect(verified).toMatchObject({ exitCode: 0 });
  expect(JSON.parse(verified.stdout).exports).toMatchObject([{ differences: [], notCompared: null }]);
  expect(await run('2026-10-05T04:00:00Z', 'close', '2026-09')).toMatchObject({ exitCode: 0 });

  // September was closed with 3.50 USD and becomes 4 USD; October exceeds its budget.
  const restated = september.map((fact) => (fact.cost === 2 ? { ...fact, cost: 2.5 } : fact));
  platform.facts = [...restated, ...october];
  await run('2026-10-06T02:15:00Z', 'run', 'mine');
  expect(await costsIn(dir)).toEqual(expectedCosts(platform.facts, 'admin'));
  const alerted = sink.told.flatMap(({ body }) => body.alerts.map((entry) => `${entry.transition} ${entry.key}`));
  expect(alerted.sort()).toEqual(['raised budget/@all/everything/2026-10/100%', 'raised closed_month/acc_one/2026-09']);

  await breakages['a client that wrote to the snapshot and ended']?.(dir, dir);
  const refused = await run('2026-10-06T03:00:00Z', 'sql', 'select sum(cost) as cost from costs');
  expect(refused).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('costbook repair') });
  expect(await run('2026-10-06T03:00:00Z', 'repair')).toMatchObject({ exitCode: 0 });
  const sum = await run('2026-10-06T03:00:00Z', 'sql', 'select sum(cost) as cost from costs', '--format', 'csv');
  expect(sum.stdout).toBe('cost\r\n74.000000000000\r\n');

  const rebuilt = await run('2026-10-06T04:00:00Z', 'rebuild', '--into', join(await newProject(), 'rebuilt.duckdb'));
  expect(rebuilt).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('identical') });
});
