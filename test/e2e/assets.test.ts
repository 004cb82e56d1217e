// Second tier: Six nights of the emulated account; unit/listings, sql/listed-costs and e2e/workspaces read listings in the first tier.

import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { type Emulator, secretMarker, startEmulator } from '../../src/emulator/index.ts';
import { bytesOf } from '../../src/ingest/listing-details.ts';
import { askSnapshot, type Ingested, ingest, newProject, runCli } from '../support/project.ts';
import { agentOf, type Fact, type ScriptedPlatform, startScriptedPlatform } from '../support/scripted-platform.ts';

const nights = ['2026-10-21T03:30:00Z', '2026-10-22T03:30:00Z', '2026-10-28T03:30:00Z'];

/** The requests of each night for listings, and the project with its books. */
interface Nights {
  readonly dir: string;
  readonly asked: readonly (readonly string[])[];
}

/** Nights of an emulated account with a personal key. */
async function nightsOf(config: string, count: number): Promise<Nights> {
  let now = nights[0] ?? '';
  const emulator: Emulator = await startEmulator({
    now: () => Date.parse(now),
    storyEnd: Date.parse('2026-10-21'),
    workspaceRule: 'demand',
  });
  const asked: string[][] = [];
  const dir = await newProject();
  try {
    const env = {
      ...{ COSTBOOK_URL: emulator.url, COSTBOOK_TOKEN: emulator.tokens.admin, COSTBOOK_ACCOUNT: emulator.account },
      COSTBOOK_INVENTORY: 'true',
    };
    await writeFile(join(dir, 'costbook.yaml'), `since: 2026-10-19\n${config}`);
    for (now of nights.slice(0, count)) {
      const before = emulator.requests.length;
      const ended = await runCli(['ingest', '--dir', dir, '--now', now], env);
      expect(ended.exitCode, ended.stderr).toBe(0);
      asked.push(emulator.requests.slice(before).map(({ path }) => path.replace(/\?.*/, '')));
    }
  } finally {
    await emulator.close();
  }
  return { dir, asked };
}

let given: Nights;
beforeAll(async () => {
  given = await nightsOf('', 3);
});

function rows(sql: string, { dir } = given): Promise<Record<string, unknown>[]> {
  return askSnapshot(dir, sql);
}

test('volumes have labels, a size, and what they are attached to; labels of a tool are not stored', async () => {
  const volumes = await rows(`select resource_name, labels, size_bytes, attached_to from resources
    where resource_type = 'volume' and workspace = 'production' and valid_to is null order by all`);
  expect(volumes).toEqual([
    {
      ...{ resource_name: 'customer-uploads', labels: '{"team":"Platform"}', size_bytes: String(140 * 1024 ** 3) },
      attached_to: 'agent:invoice-reader',
    },
    {
      ...{ resource_name: 'model-cache', labels: null, size_bytes: String(260 * 1024 ** 3) },
      attached_to: 'agent:checkout-assistant',
    },
  ]);
});

test('images, snapshots, domains, connections, workspaces and people are listed, without any secret', async () => {
  const counts = await rows(`select resource_type, count(*) > 0 as has_some from resources
    where resource_type in ('image', 'snapshot', 'custom_domain', 'connection', 'workspace', 'user', 'service_account')
    group by all order by all`);
  expect(counts.map(({ resource_type }) => resource_type)).toEqual([
    'connection',
    'custom_domain',
    'image',
    'service_account',
    'snapshot',
    'user',
    'workspace',
  ]);
  expect(
    await rows(`select distinct provider from resources where resource_type = 'connection' and provider = 'stripe'`),
  ).toEqual([{ provider: 'stripe' }]);
  const people = await rows(`select distinct resource_name, display_name, status, labels from resources
    where resource_type = 'user' and resource_name like 'ana@%'`);
  expect(people).toEqual([
    { resource_name: 'ana@harborlabs.example', display_name: 'Ana Ferreira', status: null, labels: null },
  ]);
  const files = await readdir(given.dir, { recursive: true, withFileTypes: true });
  for (const file of files.filter((each) => each.isFile() && /journal|landing/.test(each.parentPath))) {
    expect((await readFile(join(file.parentPath, file.name))).includes(secretMarker), file.name).toBe(false);
  }
});

test('a steady night asks for what owners depend on, and once a week for the rest', () => {
  const [first = [], second = [], weekLater = []] = given.asked;
  const of = (paths: readonly string[], path: string) => paths.filter((each) => each === path).length;
  for (const path of [
    '/v0/images',
    '/v0/snapshots',
    '/v0/users',
    '/v0/service_accounts',
    '/v0/integrations/connections',
  ])
    expect([path, of(first, path), of(second, path), of(weekLater, path)]).toEqual([path, 4, 0, 4]);
  for (const path of ['/v0/volumes', '/v0/customdomains', '/v0/sandboxes'])
    expect([path, of(first, path), of(second, path)]).toEqual([path, 4, 4]);
  const costs = second.filter((path) => path.includes('/accounts'));
  expect(costs.length).toBeLessThanOrEqual(13);
  expect(second.length - costs.length).toBe(33);
  // Volumes are read one by one only when they are new or changed.
  expect([first, second].map((paths) => paths.filter((path) => path.startsWith('/v0/volumes/')).length)).toEqual([
    6, 0,
  ]);
});

test('rules test who created a resource, by name, the providers behind it, and labels of its workspace', async () => {
  const { dir } = given;
  const { mkdir } = await import('node:fs/promises');
  await mkdir(join(dir, 'jobs'), { recursive: true });
  await writeFile(
    join(dir, 'jobs', 'allocation.yaml'),
    `rules:
  - { name: team of a volume, when: { resource_type: volume, label: { team: "*" } }, owner: { team: { label: team } } }
  - { name: crm, when: { provider: crm }, owner: { team: Payments } }
  - { name: ana, when: { created_by: Ana Ferreira }, owner: { team: Ana } }
  - { name: live, when: { workspace_label: { stage: live }, resource_type: job }, owner: { team: Live } }
default: { team: Nobody }
`,
  );
  const applied = await runCli(['allocation', 'apply', '--dir', dir, '--now', nights[2] ?? '']);
  expect(applied.exitCode, applied.stderr).toBe(0);
  const owners = await rows(`select distinct resource_name, team from costs_allocated
    where bucket_start > '2026-10-20' and resource_name in
      ('customer-uploads', 'checkout-assistant', 'crm-tools', 'dev-ana', 'invoice-export', 'model-cache', 'training-data')
      and workspace <> 'staging' or resource_name = 'dev-ana'
    order by all`);
  expect(owners.map(({ resource_name, team }) => `${resource_name} ${team}`)).toEqual([
    'checkout-assistant Nobody',
    'crm-tools Payments',
    'customer-uploads Platform',
    'dev-ana Ana',
    'invoice-export Live',
    'model-cache Nobody',
    'training-data Nobody',
  ]);
});

test('idle names images that nothing runs and snapshots of sandboxes that are gone, with bytes and age', async () => {
  const idle = await runCli(['report', 'idle', '--dir', given.dir, '--now', nights[2] ?? '', '--json']);
  expect(idle.exitCode, idle.stderr).toBe(0);
  const { rows: found } = JSON.parse(idle.stdout) as { rows: Record<string, unknown>[] };
  const kept = found.filter(({ resource_type }) => ['image', 'snapshot'].includes(String(resource_type)));
  expect(kept).toContainEqual(
    expect.objectContaining({
      ...{ state: 'unused image', resource_name: 'sandbox/pr-1702-preview', cost_per_month: null },
      reason: 'last deployed 2026-09-15; nothing runs it',
    }),
  );
  expect(kept.map(({ size_bytes }) => Number(size_bytes))).toContain(6_000_000_000);
});

test('executions explain the billed compute of jobs', async () => {
  const jobs = await rows('select resource_name, difference < 1 as is_explained from job_executions order by all');
  expect(jobs.map(({ resource_name }) => resource_name)).toContain('nightly-embeddings');
  expect(jobs.filter(({ is_explained }) => is_explained !== true)).toEqual([]);
  const rebuilt = await runCli(['rebuild', '--dir', given.dir, '--into', join(given.dir, 'rebuilt.duckdb'), '--json']);
  expect(JSON.parse(rebuilt.stdout)).toMatchObject({ identical: true });
});

test('without people, nobody is asked for names, and detailCalls limits single items', async () => {
  const { asked } = await nightsOf('inventory:\n  people: false\n  detailCalls: 2\n', 2);
  const paths = asked.flat();
  expect(paths).not.toContain('/v0/users');
  expect(paths).not.toContain('/v0/service_accounts');
  expect(asked.map((night) => night.filter((path) => path.startsWith('/v0/volumes/')).length)).toEqual([2, 2]);
});

test('a size is known only if its two values differ as gigabytes and megabytes do', () => {
  expect([bytesOf(2, 2048), bytesOf(2, 2000), bytesOf(2048, 2048), bytesOf(undefined, 5)]).toEqual([
    ...[2 * 1024 ** 3, 2_000_000_000],
    ...[undefined, undefined],
  ]);
});

let platform: ScriptedPlatform;
let dir: string;
let workspaces: readonly string[];
beforeEach(async () => {
  platform = await startScriptedPlatform(['north', 'south'].flatMap(agentOf));
  workspaces = ['north', 'south', 'west'];
  platform.listed = ({ path, query: { workspace = '' } }) => {
    if (path === '/v0/workspaces')
      return workspaces.map((name) => ({ name, metadata: { createdAt: '2026-09-01T00:00:00Z' } }));
    const metadata = { name: `${workspace}-1`, workspace, createdAt: '2026-09-01T00:00:00Z' };
    if (path === '/v0/agents') return [{ metadata }];
    // A domain of north, which south may use, too.
    const shared = { metadata: { ...metadata, name: 'north.example', sharedFromWorkspace: 'north' } };
    if (path === '/v0/customdomains') return [shared];
    return /^\/v0\/(sandboxes|functions|jobs|models|policies)$/.test(path) ? [] : undefined;
  };
  dir = await newProject();
});

function night(day: string): Promise<Ingested> {
  return ingest(dir, platform, { now: `2026-09-${day}T02:00:00Z`, env: { COSTBOOK_INVENTORY: 'true' } });
}

test('a listing that the platform does not have is noted once, is no alert, and is asked for again after a week', async () => {
  const { stderr, exitCode } = await night('04');
  expect(exitCode).toBe(0);
  expect(stderr).toContain('without it Costbook does not know labels of volumes, and what they are attached to');
  // Also where each workspace is asked.
  expect(stderr.split('does not know the age of snapshots').length).toBe(2);
  platform.requests.length = 0;
  await night('05');
  expect(platform.requests.filter(({ path }) => path === '/v0/volumes')).toEqual([]);
  await night('12');
  expect(platform.requests.filter(({ path }) => path === '/v0/volumes').length).toBeGreaterThan(0);
  const alerts = await runCli(['alert', '--dir', dir, '--now', '2026-09-12T03:00:00Z', '--dry-run', '--json']);
  expect(alerts.stdout).not.toContain('listings/');
});

test('a shared domain counts once, under its owner', async () => {
  await night('04');
  expect(
    await rows(`select workspace from resources where resource_type = 'custom_domain'`, { dir, asked: [] }),
  ).toEqual([{ workspace: 'north' }]);
});

test('resources of a workspace that the platform no longer lists have ended', async () => {
  const alive = 'select distinct workspace from resources where valid_to is null order by all';
  await night('04');
  expect(await rows(alive, { dir, asked: [] })).toEqual([
    { workspace: 'north' },
    { workspace: 'south' },
    { workspace: 'west' },
  ]);
  workspaces = ['north', 'south'];
  await night('05');
  expect(await rows(alive, { dir, asked: [] })).toEqual([{ workspace: 'north' }, { workspace: 'south' }]);
});

/** Costs of one hour of a workspace's resource. */
function billed(type: string, name: string, dimension: string, usage: number): Fact {
  return { workspace: 'north', type, name, uuid: null, dimension, hour: '2026-09-02T05', cost: 1, usage };
}

test('what executions explain of the billed compute of jobs is asked for once a week, and doctor says it', async () => {
  platform.facts.push(
    billed('job', 'etl', 'job_compute_runtime_gbs', 100),
    billed('job', 'gone', 'job_compute_runtime_gbs', 1),
  );
  const { listed } = platform;
  const at = (day: string, time: string) => `2026-${day}T${time}Z`;
  const ran = (startedAt: string, completedAt: string) => ({ createdAt: startedAt, startedAt, completedAt });
  const overMidnight = ran(at('09-01', '23:59:50'), at('09-02', '00:00:10'));
  const inTheMorning = ran(at('09-02', '05:00:00'), at('09-02', '05:00:30.500'));
  platform.listed = (seen) => {
    if (seen.path === '/v0/jobs' && seen.query['workspace'] === 'north')
      return [
        {
          metadata: { name: 'etl', workspace: 'north', createdAt: at('08-01', '00:00:00') },
          spec: { runtime: { memory: 2048 } },
        },
      ];
    if (seen.path === '/v0/jobs/etl/executions')
      return [
        { metadata: { id: 'x-3', ...ran(at('09-03', '05:00:00'), at('09-03', '06:00:00')) } },
        { metadata: { id: 'x-2', ...inTheMorning }, spec: { memoryOverride: 1e308 } },
        { metadata: { id: 'x-1', ...overMidnight }, spec: { memoryOverride: 1024 } },
        { metadata: { id: 'x-0', ...ran(at('08-30', '05:00:00'), at('08-30', '06:00:00')) } },
      ];
    if (seen.path === '/v0/jobs/etl/executions/x-2/tasks')
      return ['a', 'b'].map((name) => ({ metadata: { name, ...inTheMorning } }));
    if (seen.path === '/v0/jobs/etl/executions/x-1/tasks') return [{ metadata: { name: 'a', ...overMidnight } }];
    return listed(seen);
  };
  await night('03');
  expect(
    await rows(`select resource_name, day_start, executions, tasks, task_usage, difference from job_executions`, {
      ...{ dir, asked: [] },
    }),
  ).toEqual([
    {
      ...{ resource_name: 'etl', day_start: '2026-09-02 00:00:00', executions: 2, tasks: 3 },
      // 10 seconds with 1 GB, and twice 30.5 seconds with 2 GB: no machine has 1e308 MB.
      ...{ task_usage: '132.000000000', difference: '-32.000000000' },
    },
  ]);
  const asked = () => platform.requests.filter(({ path }) => path.includes('/executions')).length;
  const before = asked();
  await night('04');
  expect(asked()).toBe(before);
  const { stdout } = await runCli(['doctor', '--dir', dir, '--now', '2026-09-04T03:00:00Z'], { COSTBOOK_TOKEN: 'x' });
  expect(stdout).toContain(
    'compute of 0 of 1 job on 2026-09-02; north/etl: 32 GB-seconds of tasks more than 100 billed',
  );
});

test('snapshots are read by sandbox where the platform has no listing of all', async () => {
  platform.facts.push(billed('sandbox', 'box', 'sandbox_snapshot_storage_gbs', 1));
  const { listed } = platform;
  platform.listed = (seen) =>
    seen.path === '/v0/sandboxes/box/snapshots'
      ? [{ id: 's-1', name: 'nightly', sandboxName: 'box', workspace: 'north', createdAt: '2026-09-02T02:00:00Z' }]
      : listed(seen);
  await night('04');
  expect(
    await rows(`select resource_name, attached_to from resources where resource_type = 'snapshot'`, { dir, asked: [] }),
  ).toEqual([{ resource_name: 'nightly', attached_to: 'box' }]);
});
