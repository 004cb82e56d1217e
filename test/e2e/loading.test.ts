// Second tier: Splits, repeats and restates ingests; e2e/one-month restates in the first tier.

import { describe, expect, test } from 'vitest';
import fc from '../support/fast-check.ts';
import { askSnapshot, copyOfLoaded, costsIn, ingest, projectWithPlatform } from '../support/project.ts';
import { expectedCosts, type Fact, series } from '../support/scripted-platform.ts';

const now = '2026-09-09T12:30:00Z';

function resource(index: number): Omit<Fact, 'hour' | 'cost' | 'usage'> {
  return {
    workspace: index % 2 === 0 ? 'north' : 'south',
    type: 'sandbox',
    name: `box-${index % 5}`,
    uuid: `sbx-${index}`,
    dimension: 'sandbox_compute_runtime_gbs',
  };
}

/** Two windows' worth: some facts before the newest seven days and some within. */
const facts: readonly Fact[] = [
  ...series(resource(0), '2026-09-01T00', [1, 2, 3]),
  ...series(resource(1), '2026-09-08T22', [0.1, 0.2, 0.3, 0.4]),
  ...series(resource(2), '2026-09-09T03', [5, 0, 7]),
  // Usage without cost is a row, neither is none.
  { ...resource(3), hour: '2026-09-09T04', cost: 0, usage: 12.5 },
  { ...resource(4), hour: '2026-09-09T04', cost: 0, usage: 0 },
];

async function loads(dir: string): Promise<unknown[]> {
  return askSnapshot(dir, 'select outcome, restated from ledger.loads order by load_number');
}

test.concurrent('loading the same rows twice changes nothing', async () => {
  const { dir, platform } = await projectWithPlatform(facts);
  const first = await ingest(dir, platform, { now });
  const before = await costsIn(dir);
  const writtenBy = 'select load_number, count(*) as rows from ledger.hourly_costs group by all order by all';
  const written = await askSnapshot(dir, writtenBy);
  const second = await ingest(dir, platform, { now, args: ['--refetch'] });

  expect([first.exitCode, second.exitCode]).toEqual([0, 0]);
  expect(before).toEqual(expectedCosts(facts, 'admin'));
  expect(await costsIn(dir)).toEqual(before);
  expect(second.account).toMatchObject({ windows: 2, rows: first.account.rows, restated: 0 });
  expect(await loads(dir)).toEqual([
    { outcome: 'loaded', restated: '0' },
    { outcome: 'loaded', restated: '0' },
    { outcome: 'unchanged', restated: '0' },
    { outcome: 'unchanged', restated: '0' },
  ]);
  expect(await askSnapshot(dir, 'select * from restatements')).toEqual([]);
  // Rows that did not change keep the load that wrote them.
  expect(await askSnapshot(dir, writtenBy)).toEqual(written);
});

test.concurrent('the same rows in any pages give the same books', async () => {
  const many = Array.from({ length: 9 }, (_, index) =>
    series(resource(index), `2026-09-08T0${index}`, [0.1 + index, 0.2, 0.000000003]),
  ).flat();
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 10 }),
      fc.shuffledSubarray(many, { minLength: 20 }),
      async (size, some) => {
        const { dir, platform } = await projectWithPlatform(some);
        platform.pageSize = size;
        const { exitCode } = await ingest(dir, platform, { now, env: { COSTBOOK_SINCE: '2026-09-08' } });
        expect(exitCode).toBe(0);
        expect(await costsIn(dir)).toEqual(expectedCosts(some, 'admin'));
      },
    ),
    { numRuns: 3 },
  );
});

test.concurrent('rows of every page are counted', async () => {
  const { dir, platform } = await projectWithPlatform(
    series(resource(0), '2026-09-09T00', [1]).concat(series(resource(1), '2026-09-09T00', [1])),
  );
  platform.pageSize = 1;
  const { account } = await ingest(dir, platform, { now, env: { COSTBOOK_SINCE: '2026-09-09' } });
  // Detail: two resources, two pages. Control: two workspaces, two pages.
  expect(account).toMatchObject({ pages: 4, requests: { new: 4, settle: 0, verify: 0, repair: 0 } });
  expect(platform.requests).toHaveLength(4);
});

describe.concurrent('a later change of the past', () => {
  const later = '2026-09-09T14:30:00Z';

  test('an empty window erases earlier rows', async () => {
    const { dir, platform } = await copyOfLoaded(facts, { now });
    platform.facts = [];
    const { exitCode } = await ingest(dir, platform, { now, args: ['--refetch'] });
    expect(exitCode).toBe(0);
    expect(await costsIn(dir)).toEqual([]);
    const [gone] = await askSnapshot(
      dir,
      'select count(*) as hours, count(new_cost) as still, cast(sum(old_cost) as varchar) as old from restatements',
    );
    expect(gone).toEqual({ hours: String(expectedCosts(facts, 'admin').length), still: '0', old: '19.000000000000' });
  });

  test('an hour that changed within settleDays is replaced, and both values are stored', async () => {
    const { dir, platform } = await copyOfLoaded(facts, { now });
    platform.facts = facts.map((fact) => (fact.hour === '2026-09-08T23' ? { ...fact, cost: 0.7, usage: 0.25 } : fact));
    const { exitCode, account } = await ingest(dir, platform, { now: later });
    expect({ exitCode, restated: account.restated }).toEqual({ exitCode: 0, restated: 1 });
    expect(await costsIn(dir)).toEqual(expectedCosts(platform.facts, 'admin'));
    expect(
      await askSnapshot(
        dir,
        `select strftime(bucket_start, '%Y-%m-%dT%H') as hour, resource_uuid, old_cost, new_cost, old_usage, new_usage,
          strftime(seen_at, '%Y-%m-%dT%H:%M') as seen_at
        from restatements`,
      ),
    ).toEqual([
      {
        hour: '2026-09-08T23',
        resource_uuid: 'sbx-1',
        old_cost: '0.200000000000',
        new_cost: '0.700000000000',
        old_usage: '200.000000',
        new_usage: '0.250000',
        seen_at: '2026-09-09T14:30',
      },
    ]);
  });

  test('a series that disappears is a restatement to nothing', async () => {
    const { dir, platform } = await copyOfLoaded(facts, { now });
    platform.facts = facts.filter((fact) => fact.uuid !== 'sbx-2');
    await ingest(dir, platform, { now: later });
    expect(await costsIn(dir)).toEqual(expectedCosts(platform.facts, 'admin'));
    expect(
      await askSnapshot(dir, 'select resource_uuid, old_cost, new_cost from restatements order by old_cost'),
    ).toEqual([
      { resource_uuid: 'sbx-2', old_cost: '5.000000000000', new_cost: null },
      { resource_uuid: 'sbx-2', old_cost: '7.000000000000', new_cost: null },
    ]);
  });

  test('an hour that arrives after its window was loaded is a restatement from nothing', async () => {
    const { dir, platform } = await copyOfLoaded(facts, { now });
    platform.facts = [...facts, ...series(resource(0), '2026-09-09T01', [9])];
    await ingest(dir, platform, { now: later });
    expect(await costsIn(dir)).toEqual(expectedCosts(platform.facts, 'admin'));
    expect(await askSnapshot(dir, 'select old_cost, new_cost from restatements')).toEqual([
      { old_cost: null, new_cost: '9.000000000000' },
    ]);
  });

  test('hours that are loaded for the first time are not restatements', async () => {
    const { dir, platform } = await copyOfLoaded(facts, { now });
    platform.facts = [...facts, ...series(resource(0), '2026-09-09T12', [9])];
    const { account } = await ingest(dir, platform, { now: later });
    expect(account.restated).toBe(0);
    expect(await costsIn(dir)).toEqual(expectedCosts(platform.facts, 'admin'));
  });

  test('a change older than settleDays waits for --refetch if the past is not verified', async () => {
    const { dir, platform } = await copyOfLoaded(facts, { now });
    platform.facts = facts.map((fact) => (fact.hour === '2026-09-01T01' ? { ...fact, cost: 8 } : fact));
    const env = { COSTBOOK_VERIFY_DAYS: '0', COSTBOOK_DEEP_VERIFY_PAGES: '0' };
    await ingest(dir, platform, { now: later, env });
    expect(await costsIn(dir)).toEqual(expectedCosts(facts, 'admin'));
    await ingest(dir, platform, { now: later, args: ['--from', '2026-09-01', '--to', '2026-09-02', '--refetch'] });
    expect(await costsIn(dir)).toEqual(expectedCosts(platform.facts, 'admin'));
  });
});
