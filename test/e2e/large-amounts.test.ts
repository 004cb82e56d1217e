import { expect, test } from 'vitest';
import { askSnapshot, ingest, newProject } from '../support/project.ts';
import { series, startScriptedPlatform } from '../support/scripted-platform.ts';

const box = {
  workspace: 'north',
  type: 'sandbox',
  name: 'box',
  uuid: 'sbx-1',
  dimension: 'sandbox_compute_runtime_gbs',
};

test('days and months of more than a million USD are loaded and reconciled to the last decimal', async () => {
  const perHour = 51_234.567890123;
  const dir = await newProject();
  const platform = await startScriptedPlatform(series(box, '2026-09-01T00', Array<number>(30 * 24).fill(perHour)));
  for (const now of ['2026-10-10T12:30:00Z', '2026-10-11T12:30:00Z']) {
    const { exitCode, stderr, account } = await ingest(dir, platform, { now });
    expect(exitCode, stderr).toBe(0);
    expect(account.errors).toEqual([]);
  }
  expect(await askSnapshot(dir, 'select cast(sum(cost) as varchar) as cost from costs_monthly')).toEqual([
    { cost: '36888888.880888560000' },
  ]);
  // Both nights asked totals of whole days and months, and the books met them.
  expect(platform.requests.some(({ query }) => query['resolution'] === 'monthly')).toBe(true);
  expect(
    await askSnapshot(dir, 'select count(*) filter (not proven) as failed, count(*) > 0 as any from proofs'),
  ).toEqual([{ failed: '0', any: true }]);
}, 60_000);
