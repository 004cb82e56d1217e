import { expect, test } from 'vitest';
import { parseFaults } from '../../src/emulator/fault-plan.ts';
import fc from '../support/fast-check.ts';
import { allPages, billionths, metrics, now, useEmulator } from './platform.ts';

const platform = useEmulator();
// The same holds at any one instant while amounts are still arriving.
const latePlatform = useEmulator({ faults: parseFaults('late=0.8') });

const historyStart = Date.UTC(2025, 8, 25);
const hourMs = 3_600_000;
const dimensions = ['workspace', 'resource_type', 'resource_name', 'resource_uuid', 'billing_dimension'];

const groupings = fc.subarray(dimensions, { minLength: 1, maxLength: 3 });
/** Three instants in order: a window and a place at which to cut it; to the second, not to the hour. */
const cuts = fc
  .uniqueArray(fc.integer({ min: historyStart / 1_000, max: (now + 48 * hourMs) / 1_000 }), {
    minLength: 3,
    maxLength: 3,
  })
  .map((seconds) => seconds.sort((a, b) => a - b).map((second) => new Date(second * 1_000).toISOString()));

function windowQuery(start: string | undefined, end: string | undefined): string {
  return `startTime=${start}&endTime=${end}&resolution=monthly`;
}

test.each([
  ['settled', () => platform.current],
  ['arriving late', () => latePlatform.current],
] as const)('any grouping of any window adds up to the same cost, with amounts %s', async (_, emulator) => {
  await fc.assert(
    fc.asyncProperty(groupings, cuts, async (groupBy, [start, , end]) => {
      const total = billionths((await metrics(emulator(), windowQuery(start, end))).summary.totalCost);
      const pages = await allPages(emulator(), `${windowQuery(start, end)}&groupBy=${groupBy.join(',')}`);
      const entries = pages.flatMap(({ data }) => data);
      const points = entries.flatMap(({ timeseries }) => timeseries);
      expect(entries.reduce((sum, { summary }) => sum + billionths(summary.cost), 0)).toBe(total);
      expect(points.reduce((sum, { cost }) => sum + billionths(cost), 0)).toBe(total);
    }),
    { numRuns: 30, seed: 1 },
  );
});

test('parts of a window add up to the whole', async () => {
  await fc.assert(
    fc.asyncProperty(cuts, async ([start, middle, end]) => {
      const cost = async (from: string | undefined, to: string | undefined) =>
        billionths((await metrics(platform.current, windowQuery(from, to))).summary.totalCost);
      expect((await cost(start, middle)) + (await cost(middle, end))).toBe(await cost(start, end));
    }),
    { numRuns: 40, seed: 1 },
  );
});

test('the four resolutions of a window have the same cost', async () => {
  const week = 'startTime=2026-09-28T00:00:00Z&endTime=2026-10-05T00:00:00Z&groupBy=billing_dimension&resolution=';
  const told = new Set<number>();
  for (const resolution of ['hourly', 'daily', 'weekly', 'monthly']) {
    const { data } = await metrics(platform.current, week + resolution);
    told.add(data.flatMap(({ timeseries }) => timeseries).reduce((sum, { cost }) => sum + billionths(cost), 0));
  }
  expect(told.size).toBe(1);
});
