// Second tier: Runs every cost report in a process; sql/cost-reports holds their numbers.

import { copyFile, mkdir, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Emulator, startEmulator } from '../../src/emulator/index.ts';
import { newProject, runCli } from '../support/project.ts';
import { expectReadersToAgree } from '../support/second-readers.ts';

/** Ten weeks of the demo's account: within them a price changes, and August is not over. */
const now = '2026-08-11T09:30:00Z';
let emulator: Emulator | undefined;
let dir = '';
beforeAll(async () => {
  emulator = await startEmulator({ now: () => Date.parse(now), storyEnd: Date.UTC(2026, 7, 9) });
  dir = await newProject();
  await mkdir(join(dir, 'jobs'));
  await copyFile(
    fileURLToPath(new URL('../../jobs/demo/allocation.yaml', import.meta.url)),
    join(dir, 'jobs', 'allocation.yaml'),
  );
  const { exitCode, stderr } = await runCli(['ingest', '--dir', dir, '--now', now], {
    COSTBOOK_URL: emulator.url,
    COSTBOOK_TOKEN: emulator.tokens.admin,
    COSTBOOK_ACCOUNT: emulator.account,
    COSTBOOK_SINCE: '2026-06-01',
  });
  expect(exitCode, stderr).toBe(0);
});
afterAll(() => emulator?.close());

/** The CSV that the command writes; the other files have the same content in other formats. */
async function written(report: string, ...args: string[]): Promise<string> {
  const out = join(await newProject(), 'out');
  const { exitCode, stderr } = await runCli(
    ['report', report, '--dir', dir, '--now', now, '--format', 'csv,parquet,arrow', '--out', out, ...args],
    {},
  );
  expect(exitCode, stderr).toBe(0);
  const latest = (await readdir(out, { recursive: true })).find((path) => path.endsWith('latest.csv')) ?? '';
  await expectReadersToAgree(join(out, dirname(latest)));
  return readFile(join(out, latest), 'utf8');
}

const asked: Readonly<Record<string, readonly string[]>> = {
  cost_by_workspace: ['--month', '2026-07'],
  cost_by_resource: ['--month', '2026-07'],
  daily_trend: ['--from', '2026-07-28', '--to', '2026-08-12'],
  top_movers: ['--month', '2026-08'],
  price_volume: ['--month', '2026-07'],
  unit_rates: ['--from', '2026-06-28', '--to', '2026-07-04'],
  idle: [],
  chargeback: ['--month', '2026-07'],
  unallocated: ['--month', '2026-07', '--param', 'dimension=environment'],
  label_coverage: [],
  monthly_by_workspace: [],
  chargeback_summary: ['--month', '2026-07'],
  summary: [],
};

describe('the demo account, compared with its golden files', () => {
  test.each(Object.entries(asked))('%s', async (report, args) => {
    await expect(await written(report, ...args)).toMatchFileSnapshot(`../golden/${report}.csv`);
  });
});
