import { afterEach, describe, expect, test } from 'vitest';
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/index.ts';
import { allPages, type Metrics, metrics, now, useEmulator } from './platform.ts';

const running: Emulator[] = [];
afterEach(async () => {
  for (const emulator of running.splice(0)) await emulator.close();
});

async function start(options: Partial<EmulatorOptions> = {}): Promise<Emulator> {
  const emulator = await startEmulator({ now: () => now, ...options });
  running.push(emulator);
  return emulator;
}

const september = 'startTime=2026-09-01T00:00:00Z&endTime=2026-10-01T00:00:00Z';
const year = 'startTime=2025-10-01T00:00:00Z&endTime=2026-10-01T00:00:00Z&resolution=monthly';
const byEverything = 'groupBy=resource_name,resource_uuid,billing_dimension';

function pastOf(emulator: Emulator): Promise<Metrics[]> {
  return allPages(emulator, `${september}&${byEverything}`);
}

describe('reproducibility', () => {
  test('one seed gives one story, including the tokens', async () => {
    const [one, other] = [await start({ seed: 7 }), await start({ seed: 7 })];
    expect(other.tokens).toEqual(one.tokens);
    expect(await pastOf(other)).toEqual(await pastOf(one));
  });

  test('another seed gives other costs under the same names', async () => {
    const [one] = await pastOf(await start({ seed: 7 }));
    const [other] = await pastOf(await start({ seed: 8 }));
    expect(other?.summary.totalCost).not.toBe(one?.summary.totalCost);
    expect(new Set(other?.data.map((entry) => entry.resourceName))).toEqual(
      new Set(one?.data.map((entry) => entry.resourceName)),
    );
  });

  test('a later clock shows the same past', async () => {
    const earlier = await start();
    const later = await start({ now: () => now + 25 * 86_400_000 });
    expect(await pastOf(later)).toEqual(await pastOf(earlier));
  });

  test('even the last week stays the same if the end of the story is set', async () => {
    const storyEnd = Date.UTC(2026, 9, 21);
    const lastWeek = 'startTime=2026-10-14T00:00:00Z&endTime=2026-10-21T00:00:00Z&groupBy=resource_name';
    const earlier = await metrics(await start({ storyEnd }), lastWeek);
    const later = await metrics(await start({ storyEnd, now: () => now + 40 * 86_400_000 }), lastWeek);
    expect(later).toEqual(earlier);
  });

  test('the cost of a resource does not depend on the number of others', async () => {
    const query = `${september}&${byEverything}&resourceName=code-runner`;
    expect(await metrics(await start({ resources: 500 }), query)).toEqual(await metrics(await start(), query));
  });

  test('a dozen resources already have every type', async () => {
    const { data } = await metrics(await start({ resources: 12 }), `${year}&groupBy=resource_type`);
    expect(data.map((entry) => entry.resourceType)).toEqual([
      'agent',
      'custom_domain',
      'job',
      'mcp_server',
      'sandbox',
      'volume',
    ]);
  });

  test('a clock in the distant past has a history too', async () => {
    const emulator = await start({ now: () => Date.UTC(2024, 5, 15) });
    const query = 'startTime=2023-05-01T00:00:00Z&endTime=2024-06-15T00:00:00Z&resolution=monthly';
    const costs = (await metrics(emulator, query)).data[0]?.timeseries.map(({ cost }) => cost) ?? [];
    expect(costs).toHaveLength(14);
    expect(costs.every((cost) => cost > 1_000)).toBe(true);
  });
});

describe('the story', () => {
  const platform = useEmulator();

  test('has about sixty resources, in four workspaces, of six types and all twelve dimensions', async () => {
    const query = 'startTime=2025-10-01T00:00:00Z&endTime=2026-10-21T00:00:00Z&resolution=monthly';
    const count = async (groupBy: string) =>
      (await allPages(platform.current, `${query}&groupBy=${groupBy}`)).flatMap(({ data }) => data).length;
    expect(await count('workspace,resource_name,resource_uuid')).toBe(60);
    expect(await count('workspace')).toBe(5); // and one without
    expect(await count('resource_type')).toBe(6);
    expect(await count('billing_dimension')).toBe(12);
  });

  test('a month costs two to six thousand dollars, and more as time goes by', async () => {
    const costs = (await metrics(platform.current, year)).data[0]?.timeseries.map(({ cost }) => cost) ?? [];
    expect(Math.min(...costs)).toBeGreaterThan(1_900);
    expect(Math.max(...costs)).toBeLessThan(6_000);
    expect(costs[11]).toBeGreaterThan(2 * (costs[0] ?? 0));
  });

  test('has nothing before the history starts', async () => {
    const query = 'startTime=2020-01-01T00:00:00Z&endTime=2025-10-01T00:00:00Z';
    expect((await metrics(platform.current, query)).summary.totalCost).toBe(0);
  });

  test('the price of sandbox compute rose on 2026-07-01', async () => {
    const price = async (window: string) => {
      const query = `${window}&groupBy=billing_dimension&billingDimension=sandbox_compute_runtime_gbs`;
      const summary = (await metrics(platform.current, query)).data[0]?.summary;
      return (summary?.cost ?? 0) / (summary?.usage ?? 1);
    };
    expect(await price('startTime=2026-06-30T00:00:00Z&endTime=2026-07-01T00:00:00Z')).toBeCloseTo(0.0000115, 10);
    expect(await price('startTime=2026-07-01T00:00:00Z&endTime=2026-07-02T00:00:00Z')).toBeCloseTo(0.0000138, 10);
  });

  test('has an agent with runaway cost in the last week', async () => {
    const query =
      'startTime=2026-10-07T00:00:00Z&endTime=2026-10-21T00:00:00Z&resourceName=demo-analyst&resolution=daily';
    const costs = (await metrics(platform.current, query)).data[0]?.timeseries.map(({ cost }) => cost) ?? [];
    expect(Math.max(...costs.slice(0, 7))).toBeLessThan(2);
    expect(Math.min(...costs.slice(8))).toBeGreaterThan(70);
  });

  test('a volume outlives its sandbox by most of a year', async () => {
    const months = async (name: string) =>
      (await metrics(platform.current, `${year}&resourceName=${name}`)).data[0]?.timeseries.filter(
        ({ cost }) => cost > 0,
      );
    expect(await months('legacy-embeddings-lab')).toHaveLength(3);
    expect(await months('legacy-embeddings')).toHaveLength(12);
  });

  test('usage is lower at weekends', async () => {
    const query = 'startTime=2026-09-07T00:00:00Z&endTime=2026-09-14T00:00:00Z&resolution=daily&resourceName=dev-ana';
    const costs = (await metrics(platform.current, query)).data[0]?.timeseries.map(({ cost }) => cost) ?? [];
    expect(costs[5]).toBeLessThan((costs[2] ?? 0) / 5);
  });

  test('has trials that return under the same name with another UUID', async () => {
    const { data } = await metrics(platform.current, `${year}&resourceName=trial-aster-foods&groupBy=resource_uuid`);
    expect(new Set(data.map((entry) => entry.resourceUuid)).size).toBe(2);
    expect(new Set(data.map((entry) => entry.resourceName)).size).toBe(1);
  });
});
