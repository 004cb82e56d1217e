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
  const [closing] = await askSnapshot(dir, "select command_line from ledger.runs where command = 'close'");
  expect(closing?.['command_line']).toMatch(/^close 2026-09 --dir /);

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

test('a month of two accounts that is closed again keeps the invoice of the one that is not named', async () => {
  const dir = await newProject();
  const platform = await startScriptedPlatform(
    ['acc_one', 'acc_two'].flatMap((account) => september.map((fact) => ({ ...fact, account }))),
  );
  platform.accounts = ['acc_one', 'acc_two'];
  await writeFile(
    join(dir, 'costbook.yaml'),
    `url: ${platform.url}\ntoken: ${platform.tokens.admin}\nsince: 2026-09-01\ninventory: false\naccounts: [{ id: acc_one }, { id: acc_two }]\n`,
  );
  const at = (hour: string, ...args: string[]) => runCli([...args, '--dir', dir, '--now', `2026-10-05T${hour}:00:00Z`]);
  expect(await at('02', 'ingest')).toMatchObject({ exitCode: 0 });
  expect(await at('03', 'close', '2026-09', '--invoice', 'acc_one=3.51')).toMatchObject({ exitCode: 0 });
  const late = await at('04', 'close', '2026-09', '--invoice', 'acc_two=3.49');
  const kept = '"costbook close 2026-09 --invoice acc_one=3.51,acc_two=3.49"';
  expect(late).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(kept) });
  expect(await at('05', 'reopen', '2026-09', '--reason', 'correction')).toMatchObject({ exitCode: 0 });
  const partly = await at('06', 'close', '2026-09', '--invoice', 'acc_two=3.49');
  expect(partly.exitCode).toBe(2);
  expect(partly.stderr).toContain('had an invoice when it was last closed: 3.51 USD for account acc_one');
  const [, option = ''] = /or "--invoice ([^"]+)" to close it without/.exec(partly.stderr) ?? [];
  expect(option).toBe('acc_two=3.49,acc_one=none');
  const closed = await at('07', 'close', '2026-09', '--invoice', option, '--json');
  expect(JSON.parse(closed.stdout).accounts).toMatchObject([
    { account: 'acc_one', invoiced: null, noInvoice: true },
    { account: 'acc_two', invoiced: '3.49', noInvoice: false },
  ]);
  expect(await at('08', 'close', '2026-09', '--invoice', option)).toMatchObject({ exitCode: 0 });
});
