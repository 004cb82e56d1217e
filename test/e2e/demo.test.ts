// Second tier: Makes the whole demo project, and a night after it.

import { access, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import { metricNames } from '../../src/metrics/metrics.ts';
import { openTab } from '../support/browser.ts';
import { serve } from '../support/dashboard.ts';
import { copyOfDemo, demoNow, storyEnd } from '../support/demo.ts';
import { parseExposition } from '../support/exposition.ts';
import { askSnapshot, type Ended, runCli } from '../support/project.ts';

let project: string;
let demo: Ended;
beforeAll(async () => {
  ({ dir: project, ended: demo } = await copyOfDemo());
}, 900_000);

/** Runs a command line at an instant of the demo's platform, or of a smaller one. */
async function onPlatform(
  now: string,
  { as = 'admin', resources }: { readonly as?: 'admin' | 'member'; readonly resources?: number },
  args: readonly string[],
): Promise<Ended> {
  const size = resources === undefined ? {} : { resources };
  const platform = await startEmulator({ now: () => Date.parse(now), storyEnd: Date.parse(storyEnd), ...size });
  try {
    return await runCli([...args, '--now', now], {
      COSTBOOK_URL: platform.url,
      COSTBOOK_TOKEN: platform.tokens[as],
      COSTBOOK_ACCOUNT: platform.account,
    });
  } finally {
    await platform.close();
  }
}

test('the demo shows months, reconciliation and a chargeback that charges each cost to one team', async () => {
  const { exitCode, stdout, stderr } = demo;
  expect(exitCode, stderr).toBe(0);
  expect(stdout).toContain('all match');
  expect(stdout).toContain('difference 0.000000000000');

  const [, windows] = /^Reconciled: (\d+) windows/m.exec(stdout) ?? [];
  const [loads] = await askSnapshot(project, 'select count(*)::integer as loads from ledger.loads');
  expect(Number(windows)).toBe(loads?.['loads']);
  expect(Number(windows)).toBeGreaterThan(55);

  const [, table = ''] = /^Chargeback of.*\n((?:.+\n)+)/m.exec(stdout) ?? [];
  const [, , ...lines] = table.trimEnd().split('\n'); // below the heads and the ruler
  const rows = lines.map((line) => line.split(/ {2,}/)).filter(({ length }) => length >= 5);
  expect(rows.map(([team]) => team)).toEqual([
    ...['Analytics', 'Engineering', 'Payments', 'Platform', 'Research', 'Sales', 'Search', 'Support', '(nobody)'],
  ]);
  for (const [team, direct, shared, cost] of rows) {
    expect(Math.abs(Number(direct) + Number(shared) - Number(cost)), team).toBeLessThan(0.011);
    if (team !== '(nobody)') expect(Number(shared), team).toBeGreaterThan(0);
  }
  const [, total = ''] = /^2026-10 .* ([\d.]+)$/m.exec(stdout) ?? [];
  const charged = rows.reduce((sum, [, , , cost]) => sum + Number(cost), 0);
  expect(Math.abs(charged - Number(total))).toBeLessThan(0.01 * rows.length);

  // The change is there too, and the one budget of a team.
  expect(rows.filter(({ length }) => length === 6).map(([team, , , , , budget]) => [team, budget])).toEqual([
    ['Sales', '400.00'],
  ]);
  const accrued = /^Accrue ([\d.]+) USD for 2026-11: ([\d.]+) in complete hours, ([\d.]+) expected/m.exec(stdout) ?? [];
  const [, accrual = 0, sofar = 0, rest = 0] = accrued.map(Number);
  expect(Math.abs(accrual - sofar - rest)).toBeLessThan(0.011);
  expect(stdout).toMatch(new RegExp(`^2026-11 .* ${sofar.toFixed(2)}$`, 'm'));

  const forecast = /^everything +2026-11 +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +5000\.00 +2026-11-\d\d$/m.exec(
    stdout,
  );
  const [, spent = 0, mean = 0, low = 0, high = 0] = (forecast ?? []).map(Number);
  expect(spent < low && low < mean && mean < high, stdout).toBe(true);
  // The alert of the runaway names the budget, so the forecast of the budget sends none.
  expect(stdout).toMatch(/also\s+(│\s+)?counts\s+(│\s+)?in\s+(│\s+)?budgets?\s+(│\s+)?everything/);
  expect(stdout).not.toContain('Budget everything: ');

  const chargeback = join(project, 'exports', 'chargeback', 'BILLING_PERIOD=2026-10');
  for (const name of ['latest.csv', 'latest.parquet', 'chargeback-2026-10.csv']) await access(join(chargeback, name));
  // Each rule of the demo is there because it catches something.
  const told = await runCli(['allocation', 'test', '--dir', project, '--json']);
  const { rules } = JSON.parse(told.stdout) as { rules: { rule: string; resources: number }[] };
  expect(rules.filter(({ resources }) => resources === 0)).toEqual([]);
  const written = await askSnapshot(
    project,
    `select count(distinct json_extract_string(labels, '/team')) as spellings from costs_with_resources`,
  );
  expect(Number(written[0]?.['spellings'])).toBeGreaterThan(10);
}, 900_000);

test('the README shows the overview of the demo’s dashboard', async () => {
  const served = await serve(project, ['--now', demoNow]);
  const { page, complaints } = await openTab(served.url, { width: 1280 });
  await page.goto(served.url, { waitUntil: 'networkidle' });
  expect(await page.locator('h1').textContent()).toBe('Overview');
  expect(complaints).toEqual([]);
  // `npm run docs` writes the picture. Its pixels differ with the fonts of a machine, so only its size is compared.
  const file = new URL('../../docs/overview.png', import.meta.url);
  const picture = await page.screenshot({ fullPage: true });
  if (process.env['UPDATE_README']) await writeFile(file, picture);
  const stored = await readFile(file);
  expect([stored.readUInt32BE(16), picture.readUInt32BE(16)]).toEqual([1280, 1280]);
  expect(Math.abs(stored.readUInt32BE(20) - picture.readUInt32BE(20))).toBeLessThan(200);
  expect(await readFile(new URL('../../README.md', import.meta.url), 'utf8')).toContain('(docs/overview.png)');
}, 900_000);

test('a nightly run on the demo writes every metric, and all that rules and panels use', async () => {
  // Port 9 of this machine takes nothing: what is sent there stays in the outbox.
  await writeFile(
    join(project, 'costbook.yaml'),
    'sinks:\n  ops: {type: webhook, url: "http://127.0.0.1:9/alerts", secret: "0123456789abcdef0123456789abcdef", allowPrivateNetwork: true}\n',
  );
  const { exitCode, stderr } = await onPlatform('2026-11-13T02:15:00Z', {}, ['run', 'nightly', '--dir', project]);
  expect(exitCode, stderr).toBe(8); // loaded, checked, and the message not delivered
  const metrics = parseExposition(await readFile(join(project, 'data', 'metrics.prom'), 'utf8'));
  // Only a job that ended well has a last success, and only books that could not be opened have unrecorded runs.
  const unwritten = metricNames.filter((name) => !metrics.has(name));
  expect(unwritten).toEqual([
    'costbook_job_last_success_timestamp_seconds',
    'costbook_unrecorded_runs_total',
    'costbook_job_unrecorded_runs_total',
  ]);

  const deploy = new URL('../../docs/deploy/', import.meta.url);
  for (const file of ['prometheus-rules.yaml', 'grafana-dashboard.json']) {
    const text = await readFile(new URL(file, deploy), 'utf8');
    const asked = new Set([...text.matchAll(/\bcostbook_[a-z_]+/g)].map(([name]) => name));
    expect(asked.size).toBeGreaterThan(10);
    expect([...asked].filter((name) => !metrics.has(name))).toEqual([]);
  }
  const samples = metrics.get('costbook_budget_forecast_ratio')?.samples ?? [];
  expect(samples.map(({ labels }) => labels['budget'])).toContain('everything');
}, 900_000);
