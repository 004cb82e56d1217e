// Second tier: Reads many workspaces as two roles.

import { describe, expect, test } from 'vitest';
import { askSnapshot, copyOfLoaded, costsIn, ingest, newProject, projectWithPlatform } from '../support/project.ts';
import { expectedCosts, type Fact, series, startScriptedPlatform } from '../support/scripted-platform.ts';

/** A day after the last fact, so that everything is claimed. */
const now = '2026-09-05T12:30:00Z';
const later = '2026-09-05T13:30:00Z';

const volume = { type: 'volume', uuid: null, dimension: 'volume_storage_gbs' } as const;
const sandbox = { type: 'sandbox', dimension: 'sandbox_compute_runtime_gbs' } as const;

/** One of everything that is hard: shared names, rows without uuid, cost in no workspace. */
const facts: readonly Fact[] = [
  ...series({ ...volume, workspace: 'north', name: 'data' }, '2026-09-03T05', [0.25, 0.5, 0]),
  ...series({ ...volume, workspace: 'south', name: 'data' }, '2026-09-03T05', [0.125, 0, 0.0625]),
  ...series({ ...volume, workspace: 'south', name: 'data', uuid: 'vol-1' }, '2026-09-03T05', [1.5, 1.25]),
  ...series({ ...volume, workspace: null, name: 'data' }, '2026-09-03T06', [0.03125]),
  ...series({ ...volume, workspace: 'north', name: 'scratch' }, '2026-09-04T00', [0.000000001, 0.75]),
  ...series({ ...sandbox, workspace: 'north', name: 'data', uuid: 'sbx-1' }, '2026-09-03T05', [2, 2, 2]),
  ...series({ ...sandbox, workspace: 'south', name: 'data', uuid: 'sbx-2' }, '2026-09-03T05', [3, 3]),
  ...series({ ...sandbox, workspace: null, name: null, uuid: null }, '2026-09-03T05', [0.5]),
];

/** Amounts in steps of a billionth, which no double carries exactly. */
const shares = [0.100000001, 0.200000002, 0.300000003];

describe.concurrent('fetched by an account admin', () => {
  test('rows without UUID get their workspace, even if several share a name', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    const { exitCode, account } = await ingest(dir, platform, { now });
    expect({ exitCode, role: account.role, unproven: account.unproven }).toEqual({
      exitCode: 0,
      role: 'admin',
      unproven: [],
    });
    expect(await costsIn(dir)).toEqual(expectedCosts(facts, 'admin'));
  });

  test('two volumes of one name in two workspaces stay two series, next to one of that name with a UUID', async () => {
    const dir = await newProject();
    await ingest(dir, await startScriptedPlatform(facts), { now });
    const rows = await askSnapshot(
      dir,
      `select workspace, resource_uuid, cast(sum(cost) as varchar) as cost from costs
      where resource_name = 'data' and resource_type = 'volume' group by all order by all`,
    );
    expect(rows).toEqual([
      { workspace: 'north', resource_uuid: null, cost: '0.750000000000' },
      { workspace: 'south', resource_uuid: 'vol-1', cost: '2.750000000000' },
      { workspace: 'south', resource_uuid: null, cost: '0.187500000000' },
      { workspace: null, resource_uuid: null, cost: '0.031250000000' },
    ]);
  });

  test('a name that only one workspace uses is queried as well: enrichment looks the same as a merge', async () => {
    const dir = await newProject();
    const alone = series({ ...volume, workspace: 'north', name: 'alone' }, '2026-09-03T05', shares);
    await ingest(dir, await startScriptedPlatform(alone), { now });
    expect(await costsIn(dir)).toEqual(expectedCosts(alone, 'admin'));
  });
});

describe.concurrent('fetched by a member', () => {
  test('rows without UUID have no workspace, and the same costs', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    const { exitCode, account } = await ingest(dir, platform, { now, as: 'member' });
    expect({ exitCode, role: account.role, unproven: account.unproven }).toEqual({
      exitCode: 0,
      role: 'member',
      unproven: [],
    });
    expect(await costsIn(dir)).toEqual(expectedCosts(facts, 'member'));
  });

  test('workspaces are queried once per run, not once per window', async () => {
    const { dir, platform } = await projectWithPlatform(facts);
    const { account } = await ingest(dir, platform, { now: '2026-09-24T00:00:00Z', as: 'member' });
    expect(account.windows).toBeGreaterThan(3);
    expect(platform.requests.filter(({ query }) => query['groupBy']?.includes('workspace'))).toHaveLength(1);
  });
});

describe.concurrent('rows that the platform omits when grouping by resource_uuid', () => {
  describe.concurrent.each(['rows', 'rows and totals'] as const)('of the %s', (leavesOut) => {
    test.each(['admin', 'member'] as const)('are queried by name as %s', async (as) => {
      const { dir, platform } = await projectWithPlatform(facts);
      platform.leavesOut = leavesOut;
      const { exitCode, account } = await ingest(dir, platform, { now, as });
      expect({ exitCode, unproven: account.unproven }).toEqual({ exitCode: 0, unproven: [] });
      expect(await costsIn(dir)).toEqual(expectedCosts(facts, as));
    });
  });
});

describe.concurrent('a lost page', () => {
  test.each(['admin', 'member'] as const)('is fetched again, not mistaken for omitted rows, as %s', async (as) => {
    const { dir, platform } = await projectWithPlatform(facts);
    let lost = 0;
    platform.hides = ({ query }, { uuid }) => {
      const isLost = lost < 1 && query['groupBy']?.includes('resource_uuid') === true && uuid === 'sbx-2';
      if (isLost) setImmediate(() => (lost += 1));
      return isLost;
    };
    const { exitCode, account } = await ingest(dir, platform, { now, as });
    expect({ exitCode, repaired: account.requests.repair > 0 }).toEqual({ exitCode: 0, repaired: true });
    expect(await costsIn(dir)).toEqual(expectedCosts(facts, as));
  });

  test('is fetched again even if rows of another billing dimension are always omitted', async () => {
    const dir = await newProject();
    const named = facts.filter(({ type, uuid }) => type === 'volume' || uuid !== null);
    const platform = await startScriptedPlatform(named);
    platform.leavesOut = 'rows';
    await ingest(dir, platform, { now });
    let asked = 0;
    platform.hides = ({ query }, { uuid }) => {
      if (query['groupBy']?.includes('resource_uuid') && uuid === 'sbx-2') asked += 1;
      return asked <= 2 && asked > 0 && uuid === 'sbx-2' && query['groupBy']?.includes('resource_uuid') === true;
    };
    const { exitCode } = await ingest(dir, platform, { now: later });
    expect(exitCode).toBe(0);
    expect(await costsIn(dir)).toEqual(expectedCosts(named, 'admin'));
  });
});

describe.concurrent('rows without UUID of many resource types', () => {
  const domain = { type: 'custom_domain', uuid: null, dimension: 'custom_domain_active_time_hours' } as const;
  const job = { type: 'job', uuid: null, dimension: 'job_compute_runtime_gbs' } as const;
  const many: readonly Fact[] = [
    ...facts.filter(({ type }) => type === 'volume'),
    ...series({ ...domain, workspace: 'north', name: 'data' }, '2026-09-03T05', [0.5, 0.25]),
    ...series({ ...domain, workspace: 'south', name: 'data' }, '2026-09-03T05', [4]),
    ...series({ ...job, workspace: 'south', name: 'data' }, '2026-09-03T05', [0.125, 8]),
    ...series({ ...job, workspace: 'north', name: 'data', uuid: 'job-1' }, '2026-09-03T05', [16]),
  ];

  test('are queried at once by workspace if no billing dimension is shared', async () => {
    const { dir, platform } = await projectWithPlatform(many);
    const { exitCode, account } = await ingest(dir, platform, { now });
    expect({ exitCode, unproven: account.unproven }).toEqual({ exitCode: 0, unproven: [] });
    expect(await costsIn(dir)).toEqual(expectedCosts(many, 'admin'));
    expect(platform.requests, 'detail, control, and one more').toHaveLength(3);
  });

  test('are queried by type if one is shared', async () => {
    const dir = await newProject();
    const shared = [
      ...many,
      ...series(
        { ...job, type: 'disk', dimension: 'storage_gbs', workspace: 'south', name: 'data' },
        '2026-09-03T05',
        [2],
      ),
    ];
    const platform = await startScriptedPlatform(shared);
    const { exitCode } = await ingest(dir, platform, { now });
    expect(exitCode).toBe(0);
    expect(await costsIn(dir)).toEqual(expectedCosts(shared, 'admin'));
    expect(platform.requests.filter(({ query }) => query['resourceType'] !== undefined)).toHaveLength(4);
  });

  test('are queried at once by type as a member if their billing dimensions are unknown', async () => {
    const dir = await newProject();
    const unknown = ['x', 'y', 'z'].flatMap((letter) => [
      ...series(
        { type: 'disk', uuid: null, dimension: `${letter}_gbs`, workspace: 'south', name: 'data' },
        '2026-09-03T05',
        [2],
      ),
      ...series(
        { type: 'tape', uuid: null, dimension: `${letter}_gbs`, workspace: 'south', name: 'data' },
        '2026-09-03T05',
        [3],
      ),
    ]);
    const platform = await startScriptedPlatform(unknown);
    const { exitCode } = await ingest(dir, platform, { now, as: 'member' });
    expect(exitCode).toBe(0);
    expect(await costsIn(dir)).toEqual(expectedCosts(unknown, 'member'));
    expect(platform.requests, 'the role, detail, control, and one more').toHaveLength(4);
  });
});

describe.concurrent('a billing dimension that several resource types share', () => {
  const disk = { workspace: 'north', type: 'disk', name: 'data', uuid: null, dimension: 'storage_gbs' };
  const shared = [
    ...series(disk, '2026-09-03T05', [1, 2]),
    ...series({ ...disk, type: 'tape' }, '2026-09-03T05', [0.5, 0.25]),
    ...series({ ...disk, type: 'tape', workspace: 'south' }, '2026-09-03T05', [4]),
  ];
  test.each(['nothing', 'rows', 'rows and totals'] as const)(
    'does not mix the types, if the detail leaves out %s of the rows without uuid',
    async (leavesOut) => {
      const { dir, platform } = await projectWithPlatform(shared);
      platform.leavesOut = leavesOut;
      const { exitCode, account } = await ingest(dir, platform, { now });
      expect({ exitCode, unproven: account.unproven }).toEqual({ exitCode: 0, unproven: [] });
      expect(await costsIn(dir)).toEqual(expectedCosts(shared, 'admin'));
    },
  );
});

describe.concurrent('a window that was fetched as admin', () => {
  test('needs a confirmation before a member replaces it, and nothing is written before', async () => {
    const { dir, platform } = await copyOfLoaded(facts, { now });
    const before = await askSnapshot(dir, 'select count(*) as loads from ledger.loads');
    const asked = await ingest(dir, platform, { now: later, as: 'member' });
    expect(asked.exitCode).toBe(4);
    expect(asked.account.errors).toEqual([
      expect.stringMatching(/acc_one: the books were fetched with an admin token.*--accept-reduced-access/),
    ]);
    expect(await askSnapshot(dir, 'select count(*) as loads from ledger.loads')).toEqual(before);
    expect(await costsIn(dir)).toEqual(expectedCosts(facts, 'admin'));

    const answered = await ingest(dir, platform, { now: later, as: 'member', args: ['--accept-reduced-access'] });
    expect(answered.exitCode).toBe(0);
    const next = await ingest(dir, platform, { now: '2026-09-05T16:30:00Z', as: 'member' });
    expect(next.exitCode, 'asked once, answered once').toBe(0);
  });

  test('with settled days is fetched by a member after one confirmation, and no query of workspaces is sent twice', async () => {
    const { dir, platform } = await copyOfLoaded(facts, { now: '2026-09-20T12:30:00Z' });
    const settled = { now: '2026-09-20T13:30:00Z', as: 'member' } as const;
    const asked = await ingest(dir, platform, settled);
    expect(asked.exitCode).toBe(4);
    const sent = platform.requests.length;
    const answered = await ingest(dir, platform, { ...settled, args: ['--accept-reduced-access'] });
    expect({ exitCode: answered.exitCode, errors: answered.account.errors }).toEqual({ exitCode: 0, errors: [] });
    const ofWorkspaces = platform.requests.slice(sent).filter(({ query }) => query['groupBy']?.includes('workspace'));
    expect(ofWorkspaces, 'the one that shows the role').toHaveLength(1);
    const next = await ingest(dir, platform, { ...settled, now: '2026-09-21T13:30:00Z' });
    expect({ exitCode: next.exitCode, errors: next.account.errors }).toEqual({ exitCode: 0, errors: [] });
  });

  test('needs the confirmation also if the totals of the past are the first query of workspaces', async () => {
    const { dir, platform } = await copyOfLoaded(facts, { now: '2026-09-20T12:30:00Z' });
    // Nothing is new, and no daily totals are compared: the series are the first queries.
    const again = { now: '2026-09-20T12:30:00Z', as: 'member', env: { COSTBOOK_VERIFY_DAYS: '0' } } as const;
    const asked = await ingest(dir, platform, again);
    expect({ exitCode: asked.exitCode, errors: asked.account.errors }).toEqual({
      exitCode: 4,
      errors: [expect.stringContaining('--accept-reduced-access')],
    });
    const answered = await ingest(dir, platform, { ...again, args: ['--accept-reduced-access'] });
    expect({ exitCode: answered.exitCode, errors: answered.account.errors }).toEqual({ exitCode: 0, errors: [] });
  });

  test('does not lose its workspaces when a member confirms its totals', async () => {
    const { dir, platform } = await copyOfLoaded(facts, { now });
    const { exitCode, account } = await ingest(dir, platform, {
      now: later,
      as: 'member',
      args: ['--accept-reduced-access'],
    });
    expect({ exitCode, role: account.role, restated: account.restated }).toEqual({
      exitCode: 0,
      role: 'member',
      restated: 0,
    });
    expect(await costsIn(dir)).toEqual(expectedCosts(facts, 'admin'));
    expect(await askSnapshot(dir, 'select * from restatements')).toEqual([]);
    // The hour that only the member has seen is the member's.
    expect(
      await askSnapshot(
        dir,
        `select strftime(max(window_end), '%dT%H') as until, role from coverage group by role order by role`,
      ),
    ).toEqual([
      { until: '05T12', role: 'admin' },
      { until: '05T13', role: 'member' },
    ]);
  });

  test('is replaced by the rows of a member if the totals differ, and the restatement has old and new', async () => {
    const { dir, platform } = await copyOfLoaded(facts, { now });
    const more = series({ ...volume, workspace: 'south', name: 'data' }, '2026-09-04T09', [4]);
    platform.facts = [...facts, ...more];
    const { exitCode } = await ingest(dir, platform, { now: later, as: 'member', args: ['--accept-reduced-access'] });
    expect(exitCode).toBe(0);
    expect(await costsIn(dir)).toEqual(expectedCosts(platform.facts, 'member'));
    const [sums] = await askSnapshot(
      dir,
      'select cast(sum(old_cost) as varchar) as old, cast(sum(new_cost) as varchar) as new from restatements',
    );
    // North's and south's rows go, the nameless ones' sums come, and the new one: the difference is the new one alone.
    expect(Number(sums?.['new']) - Number(sums?.['old'])).toBe(4);
  });

  test('gets its workspaces back when an admin fetches it again', async () => {
    const { dir, platform } = await copyOfLoaded(facts, { now, as: 'member' });
    await ingest(dir, platform, { now: later, as: 'admin' });
    expect(await costsIn(dir)).toEqual(expectedCosts(facts, 'admin'));
  });
});
