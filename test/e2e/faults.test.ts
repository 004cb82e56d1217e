// Second tier: One ingest for each fault and role; e2e/faults-by-chance mixes them in the first tier.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Fault, faultNames } from '../../src/emulator/fault-plan.ts';
import { type Emulator, startEmulator } from '../../src/emulator/index.ts';
import { askSnapshot, newProject, runCli } from '../support/project.ts';

const now = Date.UTC(2026, 9, 21, 3, 30);
const open: Emulator[] = [];
afterAll(async () => {
  for (const emulator of open) await emulator.close();
});

async function ingestFrom(faults: readonly Fault[], as: 'admin' | 'member', since = '2026-10-20') {
  // Enough resources for several pages, so that there are cursors to expire.
  const emulator = await startEmulator({ now: () => now, storyEnd: now, resources: 80, faults });
  open.push(emulator);
  const dir = await newProject();
  const ended = await runCli(['ingest', '--dir', dir, '--now', '2026-10-21T03:30:00Z', '--json'], {
    COSTBOOK_URL: emulator.url,
    COSTBOOK_TOKEN: emulator.tokens[as],
    COSTBOOK_ACCOUNT: emulator.account,
    COSTBOOK_SINCE: since,
  });
  return { ...ended, dir, emulator };
}

/** Everything in the books, as one value to compare. */
async function digestOf(dir: string): Promise<unknown> {
  const [digest] = await askSnapshot(
    dir,
    `select count(*) as rows, cast(sum(cost) as varchar) as cost, cast(sum(usage) as varchar) as usage,
      md5(string_agg(concat_ws('|', coalesce(workspace, '-'), resource_type, coalesce(resource_name, '-'),
        coalesce(resource_uuid, '-'), billing_dimension, bucket_start, cost, usage), ';' order by all)) as md5
    from costs`.replace(
      'order by all',
      'order by workspace, resource_type, resource_name, resource_uuid, billing_dimension, bucket_start',
    ),
  );
  return digest;
}

let truth: Record<'admin' | 'member', unknown>;
beforeAll(async () => {
  const [admin, member] = [await ingestFrom([], 'admin'), await ingestFrom([], 'member')];
  expect([admin.exitCode, member.exitCode]).toEqual([0, 0]);
  truth = { admin: await digestOf(admin.dir), member: await digestOf(member.dir) };
});

describe.concurrent('books from a platform with faults equal books without faults', () => {
  test.each<[string, readonly Fault[]]>([
    ['429', [{ name: '429', rate: 0.6 }]],
    ['429-date', [{ name: '429-date', rate: 0.6 }]],
    ['500', [{ name: '500', rate: 0.6 }]],
    ['503', [{ name: '503', rate: 0.6 }]],
    ['reset', [{ name: 'reset', rate: 0.6 }]],
    ['truncated', [{ name: 'truncated', rate: 0.6 }]],
    ['slow-body', [{ name: 'slow-body', rate: 0.6 }]],
    ['expired-cursor', [{ name: 'expired-cursor', rate: 1 }]],
  ])('%s', async (name, faults) => {
    const { exitCode, stdout, dir, emulator } = await ingestFrom(faults, 'admin');
    expect(emulator.requests.some(({ fault }) => fault === name)).toBe(true);
    expect({ exitCode, unproven: JSON.parse(stdout).accounts[0].unproven }).toEqual({ exitCode: 0, unproven: [] });
    expect(await digestOf(dir)).toEqual(truth.admin);
  });

  test.each(['admin', 'member'] as const)('missing-without-uuid, read as %s', async (as) => {
    const { exitCode, dir } = await ingestFrom([{ name: 'missing-without-uuid', rate: 1 }], as);
    expect(exitCode).toBe(0);
    expect(await digestOf(dir)).toEqual(truth[as]);
  });

  test('with all faults at once', async () => {
    const passing = ['429', '500', '503', 'reset', 'truncated', 'expired-cursor', 'missing-without-uuid'] as const;
    const { exitCode, dir } = await ingestFrom(
      faultNames.filter((name) => passing.some((each) => each === name)).map((name) => ({ name, rate: 0.1 })),
      'admin',
    );
    expect(exitCode).toBe(0);
    expect(await digestOf(dir)).toEqual(truth.admin);
  });
});

test.concurrent('a window whose first total was wrong is proven by the second attempt', async () => {
  const { exitCode, stdout, dir } = await ingestFrom([{ name: 'totals-flicker', rate: 1 }], 'admin');
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout).accounts[0].requests.repair).toBeGreaterThan(0);
  expect(await digestOf(dir)).toEqual(truth.admin);
});

test.concurrent('windows whose totals disagree are never loaded', async () => {
  const { exitCode, dir } = await ingestFrom([{ name: 'totals-disagree', rate: 1 }], 'admin');
  expect(exitCode).toBe(4);
  expect(await askSnapshot(dir, 'select count(*) as rows from costs')).toEqual([{ rows: '0' }]);
});

test.concurrent('rows that are wrong in answers with status 200 are never loaded, and their windows are named', async () => {
  const { exitCode, stdout, dir } = await ingestFrom([{ name: 'wrong-rows', rate: 1 }], 'admin', '2026-10-01');
  expect(exitCode).toBe(4);
  expect(await askSnapshot(dir, 'select count(*) as rows from costs')).toEqual([{ rows: '0' }]);
  const [{ unproven, completeThrough }] = JSON.parse(stdout).accounts;
  expect(completeThrough).toBeNull();
  expect(unproven.map(({ start }: { start: string }) => start)).toContain('2026-10-01T00:00:00Z');
  for (const { reason } of unproven) expect(reason).toMatch(/found .*, expected .*, difference /);
});
