import { expect, test } from 'vitest';
import { ingest, loadedProject, runCli } from '../support/project.ts';
import { box, series } from '../support/scripted-platform.ts';

const disk = {
  workspace: 'south',
  type: 'volume',
  name: 'disk',
  uuid: null,
  dimension: 'volume_storage_gbs',
};
const small = [1, 2, 3, 4, 5].map((n) => ({ ...box, name: `box-${n}`, uuid: `sbx-1${n}` }));
const smallCosts = (cost: number) => small.flatMap((each) => series(each, '2026-09-08T02', [cost]));
const facts = [
  ...series(box, '2026-09-08T00', [1, 1, 1]),
  ...series(disk, '2026-09-08T00', [0.5]),
  ...smallCosts(0.25),
];
const now = '2026-09-09T12:00:00Z';
const later = '2026-09-10T12:00:00Z';

test('restatements shows changes by month, driver and hour, which add up; --since filters by the time they were found', async () => {
  const { dir, platform } = await loadedProject(facts, { now });
  platform.facts = [...series(box, '2026-09-08T00', [1, 3, 1]), ...smallCosts(0.5)];
  await ingest(dir, platform, { now: later });

  const told = await runCli(['restatements', '--dir', dir, '--json']);
  const { completeThrough, months, buckets } = JSON.parse(told.stdout);
  expect(completeThrough).toBe('2026-09-10T10:00:00Z');
  expect(months).toEqual([
    {
      account: 'acc_one',
      month: '2026-09',
      difference: '2.750000000000',
      others: { series: 2, difference: '0.500000000000' },
      drivers: [
        expect.objectContaining({ workspace: 'north', resource_name: 'box', difference: '2.000000000000' }),
        expect.objectContaining({ workspace: 'south', resource_name: 'disk', difference: '-0.500000000000' }),
        ...[1, 2, 3].map((n) => expect.objectContaining({ resource_name: `box-${n}`, difference: '0.250000000000' })),
      ],
    },
  ]);
  expect((await runCli(['restatements', '--dir', dir])).stdout).toMatch(/ 0\.50\d* +2 others: /);
  expect(buckets.slice(0, 2)).toMatchObject([
    { bucket_start: '2026-09-08T00:00:00Z', resource_name: 'disk', old_cost: '0.500000000000', new_cost: null },
    {
      bucket_start: '2026-09-08T01:00:00Z',
      resource_name: 'box',
      old_cost: '1.000000000000',
      new_cost: '3.000000000000',
    },
  ]);
  expect(buckets[0].seen_at).toBe(later);

  const since = await runCli(['restatements', '--dir', dir, '--since', '2026-09-11', '--json']);
  expect(JSON.parse(since.stdout)).toMatchObject({ months: [], buckets: [] });
  const text = await runCli(['restatements', '--dir', dir, '--since', '2026-09-11']);
  expect(text.stdout, text.stderr).toContain('No restatements.');
});
