import { access, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { demoExcerpt, terminalPicture } from '../support/demo-picture.ts';
import { askSnapshot, newProject, runCli } from '../support/project.ts';

test('the demo shows months, proof and a chargeback in which each team pays once, and all of the month is charged', async () => {
  const dir = await newProject();
  const { exitCode, stdout, stderr } = await runCli(['demo', '--dir', dir, '--now', '2026-11-12T10:30:00Z']);
  expect(exitCode, stderr).toBe(0);
  expect(stdout).toContain('all of them met');
  expect(stdout).toContain('difference 0.000000000000');

  // `npm run docs` writes it; README shows it.
  const shown = demoExcerpt(stdout);
  expect(shown.length).toBeGreaterThan(20);
  const file = new URL('../../docs/demo.svg', import.meta.url);
  if (process.env['UPDATE_README']) await writeFile(file, terminalPicture(shown));
  else expect(await readFile(file, 'utf8')).toBe(terminalPicture(shown));

  const [, windows] = /^Proven: (\d+) windows/m.exec(stdout) ?? [];
  const [loads] = await askSnapshot(join(dir, 'costbook-demo'), 'select count(*)::integer as loads from ledger.loads');
  expect(Number(windows)).toBe(loads?.['loads']);

  const [, table = ''] = /^Charged back.*\n((?:.+\n)+)/m.exec(stdout) ?? [];
  const [, , ...lines] = table.trimEnd().split('\n'); // below the heads and the ruler
  const rows = lines.map((line) => line.split(/ {2,}/)).filter(({ length }) => length === 4);
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

  const forecast = /^everything +2026-11 +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +5000\.00 +2026-11-\d\d$/m.exec(
    stdout,
  );
  const [, spent = 0, mean = 0, low = 0, high = 0] = (forecast ?? []).map(Number);
  expect(spent < low && low < mean && mean < high, stdout).toBe(true);
  expect(stdout).toContain('Budget everything is forecast to reach 100% in 2026-11');

  const project = join(dir, 'costbook-demo');
  const chargeback = join(project, 'exports', 'chargeback', 'BILLING_PERIOD=2026-10');
  for (const name of ['latest.csv', 'latest.parquet']) await access(join(chargeback, name));
  // Each rule of the demo is there because it catches something.
  const told = await runCli(['allocation', 'test', '--dir', project, '--json']);
  const { rules } = JSON.parse(told.stdout) as { rules: { rule: string; resources: number }[] };
  expect(rules.filter(({ resources }) => resources === 0)).toEqual([]);
  const written = await askSnapshot(
    project,
    `select count(distinct json_extract_string(labels, '/team')) as spellings from costs_with_resources`,
  );
  expect(Number(written[0]?.['spellings'])).toBeGreaterThan(10);
}, 300_000);
