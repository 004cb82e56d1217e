// Second tier: Loads months for amounts that no account has; sums of usual sizes are in contract/sums.

import { expect, test } from 'vitest';
import { askSnapshot, ingest, projectWithPlatform } from '../support/project.ts';
import { box, series } from '../support/scripted-platform.ts';

test('days and months of more than a million USD are loaded and reconciled to the last decimal', async () => {
  const perHour = 51_234.567890123;
  const { dir, platform } = await projectWithPlatform(
    series(box, '2026-09-01T00', Array<number>(30 * 24).fill(perHour)),
  );
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
    await askSnapshot(dir, 'select count(*) filter (not proven) as failed, count(*) > 0 as any from reconciliation'),
  ).toEqual([{ failed: '0', any: true }]);
}, 60_000);

test('hours in which many series together cost more than a million USD are loaded and proven', async () => {
  const { dir, platform } = await projectWithPlatform(
    Array.from({ length: 12 }, (_, index) =>
      series({ ...box, name: `box ${index}`, uuid: `sbx-${index}` }, '2026-10-01T00', [98_765.432109876, 1, 99_999.5]),
    ).flat(),
  );
  for (const as of ['admin', 'member'] as const) {
    const { exitCode, stderr } = await ingest(dir, platform, {
      now: '2026-10-02T12:30:00Z',
      args: ['--refetch', '--accept-reduced-access'],
      as,
    });
    expect(exitCode, stderr).toBe(0);
    expect(await askSnapshot(dir, 'select cast(sum(cost) as varchar) as cost from costs')).toEqual([
      { cost: '2385191.185318512000' },
    ]);
  }
}, 60_000);

test('an hour of one series of a million USD is refused with its place, as it exceeds the column', async () => {
  const { dir, platform } = await projectWithPlatform(series(box, '2026-10-01T00', [999_999.999999, 1_000_000]));
  const { exitCode, stderr } = await ingest(dir, platform, { now: '2026-10-02T12:30:00Z' });
  expect(exitCode).not.toBe(0);
  expect(stderr).toMatch(/detail.*timeseries\[\d+\]\.cost: found 1000000, expected a finite number below 1000000/);
}, 60_000);
