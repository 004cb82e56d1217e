// Second tier, long: Lists resources over many nights; property/inventory and contract/listings hold the rules.

import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from 'vitest';
import { secretMarker, startEmulator } from '../../src/emulator/index.ts';
import { readSql } from '../../src/warehouse/sql/index.ts';
import {
  askFile,
  askSnapshot,
  type Ingested,
  type IngestedAccount,
  ingest,
  ingestCommandLine,
  newProject,
  runCli,
  startCli,
} from '../support/project.ts';
import { type ScriptedPlatform, series, startScriptedPlatform } from '../support/scripted-platform.ts';

type Item = Readonly<Record<string, unknown>>;

/** An agent as the platform lists it, with what it should keep to itself. */
function agent(name: string, more: { metadata?: object; spec?: object; status?: string } = {}): Item {
  return {
    metadata: {
      name,
      workspace: 'north',
      createdAt: '2026-09-01T00:00:00Z',
      updatedAt: '2026-09-01T00:00:00Z',
      labels: { team: 'core' },
      ...more.metadata,
    },
    spec: {
      enabled: true,
      region: 'eu-1',
      runtime: {
        generation: 'mk3',
        memory: 2048,
        envs: [{ name: 'KEY', value: 'S3CRET-env', secret: true }],
      },
      network: { proxy: { routing: [{ secrets: { key: 'S3CRET-proxy' } }] } },
      triggers: [{ configuration: { callbackSecret: 'S3CRET-callback' } }],
      ...more.spec,
    },
    status: more.status ?? 'DEPLOYED',
    lastUsedAt: '2026-09-05T00:00:00Z',
    expiresIn: 60,
  };
}

let platform: ScriptedPlatform;
let dir: string;
/** The contents of each listing. */
let fleet: Record<string, readonly Item[] | undefined>;
beforeEach(async () => {
  const facts = series(
    { workspace: 'north', type: 'agent', name: 'a1', uuid: null, dimension: 'agent_compute_runtime_gbs' },
    '2026-09-02T05',
    [1, 2, 4],
  );
  platform = await startScriptedPlatform(facts);
  dir = await newProject();
  fleet = { '/v0/agents': [agent('a1'), agent('a2'), agent('a3'), agent('a4'), agent('a5')] };
  const others = [
    'customdomains',
    'images',
    'integrations/connections',
    'service_accounts',
    'snapshots',
    'users',
    'volumes',
  ];
  for (const path of ['sandboxes', 'functions', 'jobs', 'models', 'policies', ...others]) fleet[`/v0/${path}`] = [];
  platform.listed = ({ path }) => fleet[path];
});

function night(now: string, more: { args?: string[]; env?: Record<string, string> } = {}): Promise<Ingested> {
  return ingest(dir, platform, { now, ...more, env: { COSTBOOK_INVENTORY: 'true', ...more.env } });
}

function states(): Promise<Record<string, unknown>[]> {
  return askSnapshot(dir, 'select * from resources order by resource_name, valid_from, valid_to nulls last');
}

async function agents(): Promise<unknown[][]> {
  const rows = await states();
  return rows.map((row) => ['resource_name', 'labels', 'valid_from', 'valid_to'].map((name) => row[name]));
}

/** What a run logged of listings, as words. */
function toldOf({ stderr }: Ingested): string[] {
  return stderr
    .split('\n')
    .filter((line) => line.includes('listing'))
    .map((line) => JSON.parse(line) as { level: string; event: string; resourceType?: string })
    .map(({ level, event, resourceType }) => [level, event, resourceType].join(' | '))
    .filter((line) => line !== 'info | listing.refused | workspace');
}

test('a listed resource has a state; later nights write only changes', async () => {
  const first = await night('2026-09-04T02:00:00Z');
  expect(first.exitCode, first.stderr).toBe(0);
  expect(first.account.inventory).toMatchObject({ requests: 13, resources: 5, opened: 5, ended: 0 });
  expect((await states())[0]).toMatchObject({
    account: 'acc_one',
    workspace: 'north',
    resource_type: 'agent',
    resource_name: 'a1',
    labels: '{"team":"core"}',
    region: 'eu-1',
    memory_mb: 2048,
    generation: 'mk3',
    status: 'DEPLOYED',
    is_enabled: true,
    valid_from: '2026-09-01 00:00:00',
    valid_to: null,
    recorded_at: '2026-09-04 02:00:00',
  });

  fleet['/v0/agents'] = [
    // Relabelled at a reported hour, switched off at an unreported one, gone, and new.
    agent('a1', { metadata: { labels: { team: 'data' }, updatedAt: '2026-09-04T15:30:00Z' } }),
    agent('a2', { spec: { enabled: false } }),
    { ...agent('a4'), lastUsedAt: '2026-09-05T01:00:00Z', expiresIn: 1, events: [{ type: 'deployment' }] },
    agent('a5', { metadata: { updatedAt: '2026-09-04T20:00:00Z', updatedBy: 'somebody' } }),
    agent('a6', { metadata: { createdAt: '2026-09-04T12:00:00Z' } }),
  ];
  const second = await night('2026-09-05T02:00:00Z');
  expect(second.exitCode, second.stderr).toBe(0);
  expect(second.account.inventory).toMatchObject({ resources: 5, opened: 3, ended: 3 });
  const expected = [
    ['a1', '{"team":"core"}', '2026-09-01 00:00:00', '2026-09-04 15:30:00'],
    ['a1', '{"team":"data"}', '2026-09-04 15:30:00', null],
    ['a2', '{"team":"core"}', '2026-09-01 00:00:00', '2026-09-05 02:00:00'],
    ['a2', '{"team":"core"}', '2026-09-05 02:00:00', null],
    ['a3', '{"team":"core"}', '2026-09-01 00:00:00', '2026-09-05 02:00:00'],
    ['a4', '{"team":"core"}', '2026-09-01 00:00:00', null],
    ['a5', '{"team":"core"}', '2026-09-01 00:00:00', null],
    ['a6', '{"team":"core"}', '2026-09-04 12:00:00', null],
  ];
  expect(await agents()).toEqual(expected);

  const third = await night('2026-09-06T02:00:00Z');
  expect(third.account.inventory).toMatchObject({ resources: 5, opened: 0, ended: 0 });
  expect(await agents()).toEqual(expected);
  const [known] = await askSnapshot(dir, 'select count(*) as known from costs_with_resources where labels is not null');
  expect(known).toEqual({ known: '3' });

  const asOf = await runCli(
    ['sql', '--dir', dir, '--as-of', '2026-09-04T12:00:00Z', '--format', 'csv'].concat(
      `select resource_name, labels, valid_to from resources order by resource_name`,
    ),
  );
  expect(asOf.stdout.trim().split(/\r?\n/).slice(0, 3)).toEqual([
    'resource_name,labels,valid_to',
    'a1,"{""team"":""core""}",',
    'a2,"{""team"":""core""}",',
  ]);

  const rebuilt = await runCli(['rebuild', '--dir', dir, '--into', join(dir, 'rebuilt.duckdb'), '--json']);
  expect(rebuilt.exitCode, rebuilt.stdout).toBe(0);
  const tables = JSON.parse(rebuilt.stdout).tables as { table: string; rows: number }[];
  expect(tables.find(({ table }) => table === 'resources')?.rows).toBe(8);
  expect(tables.find(({ table }) => table === 'listings')?.rows).toBe(30);

  // Everything that was ever written, also the journal and the file's free blocks.
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const bytes = await readFile(join(entry.parentPath, entry.name));
    expect(bytes.includes('S3CRET'), entry.name).toBe(false);
  }
});

test('mounts make states, the last use does not; deployments stay when the platform forgets them; a rebuild restores all', async () => {
  const used = (name: string, lastUsedAt: string, volumes: readonly string[]): Item => ({
    ...agent(name, { spec: { volumes: volumes.map((volume) => ({ name: volume, type: 'persistent' })) } }),
    lastUsedAt,
    state: 'RUNNING',
  });
  const event = (time: string, status: string, revision: string) => ({ type: 'deployment', time, status, revision });
  const scaled = (runtime: object, active: string, events: readonly unknown[]): Item => ({
    ...agent('d1', { spec: { region: 'eu-1', revision: { active }, runtime: { generation: 'mk3', ...runtime } } }),
    events,
  });
  const first = event('2026-09-03T10:00:00Z', 'DEPLOYED', 'r1');
  const image = 'https://me:S3CRET@registry.example/d1:1';
  fleet['/v0/agents'] = [
    ...[used('a1', '2026-09-03T00:00:00Z', ['disk']), used('a2', '2026-09-03T00:00:00Z', [])],
    scaled({ memory: 2048, minScale: 0, image }, 'r1', [first]),
  ];
  expect((await night('2026-09-04T02:00:00Z')).exitCode).toBe(0);
  const again = await night('2026-09-04T03:00:00Z');
  const [journal = ''] = await readdir(join(dir, 'data', 'journal'));
  const lines = (await readFile(join(dir, 'data', 'journal', journal), 'utf8')).split('\n');
  const written = lines.filter((line) => line.includes('"resource_events_listed"'));
  expect({ exitCode: again.exitCode, written: written.length }).toEqual({ exitCode: 0, written: 1 });

  // The old event is forgotten; one event is listed twice, one has no time, and one is no object.
  const second = event('2026-09-04T15:00:00+02:00', 'FAILED', 'r2');
  const later = scaled({ memory: 4096, minScale: 1, image: 'registry.example/d1:2' }, 'r2', [
    ...[second, { ...second, message: 'no space' }, second, { type: 'deployment' }, 7],
  ]);
  const mounted = used('a1', '2026-09-04T01:00:00Z', ['disk']);
  fleet['/v0/agents'] = [mounted, used('a2', '2026-09-03T00:00:00Z', ['disk']), later];
  const changed = await night('2026-09-05T02:00:00Z');
  expect(changed.exitCode, changed.stderr).toBe(0);
  expect(changed.account.inventory).toMatchObject({ opened: 2, ended: 2 }); // the mount, and the memory
  expect(toldOf(changed)).toEqual(['warn | listing.fields_ignored | agent']);
  const mounts = `select resource_name, volumes, valid_to from resources where resource_name <> 'd1'
    order by resource_name, valid_from`;
  expect(await askSnapshot(dir, mounts)).toEqual([
    { resource_name: 'a1', volumes: '["disk"]', valid_to: null },
    { resource_name: 'a2', volumes: '[]', valid_to: '2026-09-05 02:00:00' },
    { resource_name: 'a2', volumes: '["disk"]', valid_to: null },
  ]);
  const use = `select resource_name, runtime_state, last_used_at, recorded_at from resource_use
    where resource_name <> 'd1' order by resource_name`;
  const newest = [
    ['a1', '2026-09-04 01:00:00', '2026-09-05 02:00:00'],
    ['a2', '2026-09-03 00:00:00', '2026-09-04 02:00:00'],
  ].map(([resource_name, last_used_at, recorded_at]) => ({
    ...{ resource_name, runtime_state: 'RUNNING', last_used_at, recorded_at },
  }));
  expect(await askSnapshot(dir, use)).toEqual(newest);
  const events = 'select event_time, status, message, revision, canary_revision from resource_events order by all';
  expect((await askSnapshot(dir, events)).map((row) => Object.values(row))).toEqual([
    ['2026-09-03 10:00:00', 'DEPLOYED', null, 'r1', null],
    ['2026-09-04 13:00:00', 'FAILED', 'no space', 'r2', null],
    ['2026-09-04 13:00:00', 'FAILED', null, 'r2', null],
  ]);
  const changes = 'select setting, old_value, new_value, changed_after, changed_by from resource_changes order by all';
  const range = ['2026-09-04 03:00:00', '2026-09-05 02:00:00'];
  expect((await askSnapshot(dir, changes)).map((row) => Object.values(row))).toEqual([
    ['image', 'https://registry.example/d1:1', 'registry.example/d1:2', ...range],
    ['memory_mb', '2048', '4096', ...range],
    ['min_scale', '0', '1', ...range],
    ['revision', 'r1', 'r2', ...range],
  ]);

  fleet['/v0/agents'] = [mounted, later];
  await night('2026-09-06T02:00:00Z');
  expect(await askSnapshot(dir, use)).toEqual(newest.slice(0, 1));

  const rebuilt = join(dir, 'rebuilt.duckdb');
  expect(await runCli(['rebuild', '--dir', dir, '--into', rebuilt])).toMatchObject({ exitCode: 0, stderr: '' });
  for (const sql of [mounts, use, events, changes]) {
    expect(await askFile(rebuilt, sql)).toEqual(await askSnapshot(dir, sql));
  }
});

test('listings have requests of their own, and none if they are switched off', async () => {
  const on = await night('2026-09-04T02:00:00Z');
  const asked = platform.requests.filter(({ path }) => !path.includes('/metrics'));
  expect(asked.map(({ path }) => path).sort()).toEqual([...Object.keys(fleet), '/v0/workspaces'].sort());
  expect(Object.values(on.account.requests).reduce((sum, count) => sum + count, 0)).toBe(platform.requests.length - 14);

  platform.requests.length = 0;
  const off = await night('2026-09-05T02:00:00Z', { env: { COSTBOOK_INVENTORY: 'false' } });
  expect(off.account.inventory).toEqual({ requests: 0, resources: 0, opened: 0, ended: 0, listings: [] });
  expect(platform.requests.filter(({ path }) => !path.includes('/metrics'))).toEqual([]);
});

test('a listing that answers 401, 403 or 404 is reported once and skipped; the others are read', async () => {
  const refused = { job: ['/v0/jobs', 401], mcp_server: ['/v0/functions', 403], model: ['/v0/models', 404] } as const;
  platform.failures = Object.values(refused).map(([listing, status]) => ({
    ...{ times: 99, status, hits: ({ path }) => path === listing },
  }));
  const first = await night('2026-09-04T02:00:00Z');
  expect(first.exitCode, first.stderr).toBe(0);
  const told = toldOf(first).filter((line) => line.startsWith('warn'));
  expect(told.map((line) => line.split(' | ').at(-1)).sort()).toEqual(Object.keys(refused).sort());
  const outcomes = first.account.inventory.listings.filter(({ outcome }) => outcome === 'refused');
  expect(outcomes.map(({ resourceType }) => resourceType)).toEqual(expect.arrayContaining(Object.keys(refused)));
  expect(await states()).toHaveLength(5);
  const second = await night('2026-09-05T02:00:00Z');
  expect(second.exitCode).toBe(0);
  expect(toldOf(second).filter((line) => line.startsWith('warn'))).toEqual([]);
});

test('a listing that shrinks by more than half keeps its resources with a warning until somebody confirms it', async () => {
  await night('2026-09-04T02:00:00Z');
  fleet['/v0/agents'] = [agent('a1', { status: 'FAILED' }), agent('a9')];
  const shrunk = await night('2026-09-05T02:00:00Z');
  expect(shrunk.exitCode).toBe(0);
  expect(toldOf(shrunk)).toEqual([expect.stringContaining('warn | listing.shrunk | agent')]);
  expect(shrunk.account.inventory).toMatchObject({ opened: 2, ended: 1 }); // present items are trusted
  const present = 'select count(*) as present from resources where valid_to is null';
  expect(await askSnapshot(dir, present)).toEqual([{ present: '6' }]);
  const last = `select outcome, reason from listings where is_last and resource_type = 'agent'`;
  expect(await askSnapshot(dir, last)).toEqual([
    { outcome: 'shrunk', reason: expect.stringContaining('it lists 2 of 5 known resources') },
  ]);
  const check = await runCli(['check', '--dir', dir]);
  expect({ exitCode: check.exitCode, stdout: check.stdout }).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(
      /^warn +listings_are_complete: 1 offender.*agent +shrunk +it lists 2 of 5 known resources/ms,
    ),
  });

  const accepted = await night('2026-09-06T02:00:00Z', { args: ['--accept-shrunk-listings'] });
  expect(accepted.account.inventory).toMatchObject({ opened: 0, ended: 4 });
  expect(await askSnapshot(dir, present)).toEqual([{ present: '2' }]);
});

test('a listing speaks only for the workspaces that occur in it', async () => {
  const south = (name: string) => agent(name, { metadata: { workspace: 'south' } });
  fleet['/v0/agents'] = [agent('a1'), agent('a2'), agent('a3'), south('s1'), south('s2')];
  await night('2026-09-04T02:00:00Z');
  fleet['/v0/agents'] = [agent('a1'), agent('a2'), agent('a4')];
  const without = await night('2026-09-05T02:00:00Z');
  expect(toldOf(without)).toEqual([]);
  const present = await askSnapshot(dir, `select resource_name from resources where valid_to is null order by all`);
  expect(present.map((row) => row['resource_name'])).toEqual(['a1', 'a2', 'a4', 's1', 's2']);
});

test.each([
  ['is empty', [], ['0 of 2', '0 of 3'], 5],
  ['lost whole workspaces', ['n1', 'n2'], ['2 of 5'], 0],
])('a listing that %s has shrunk too', async (_, left, counts, ends) => {
  const north = (name: string) => agent(name, { metadata: { workspace: 'north' } });
  const south = (name: string) => agent(name, { metadata: { workspace: 'south' } });
  fleet['/v0/agents'] = [north('n1'), north('n2'), south('s1'), south('s2'), south('s3')];
  await night('2026-09-04T02:00:00Z');
  fleet['/v0/agents'] = left.map(north);
  const check = await readSql('checks', 'listings_are_complete');
  const shrunk = await night('2026-09-05T02:00:00Z');
  expect(shrunk.exitCode).toBe(0);
  expect(toldOf(shrunk)).toEqual(counts.map(() => 'warn | listing.shrunk | agent'));
  expect(await askSnapshot(dir, check)).toEqual(
    counts.map((count) =>
      expect.objectContaining({
        outcome: 'shrunk',
        reason: expect.stringContaining(`it lists ${count} known resources`),
      }),
    ),
  );
  // Only a listing that was asked for a workspace, or contains it, ends its resources, even with --accept-shrunk-listings.
  const accepted = await night('2026-09-07T02:00:00Z', { args: ['--accept-shrunk-listings'] });
  expect(accepted.account.inventory).toMatchObject({ ended: ends });
  expect(toldOf(await night('2026-09-08T02:00:00Z'))).toEqual([]);
  expect(await askSnapshot(dir, check)).toEqual([]);
  expect(await askSnapshot(dir, 'select count(*) as n from resources where valid_to is null')).toEqual([
    { n: String(5 - ends) },
  ]);
});

test.each([
  [{ agents: 0, jobs: 3 }, 5],
  [{ agents: 0, jobs: 0 }, 0],
])(
  'an empty listing that the platform counts as %j ends %d resources: one that has lost all counts none',
  async (resourceCounts, ended) => {
    fleet['/v0/workspaces'] = [{ name: 'north' }];
    await night('2026-09-04T02:00:00Z');
    fleet['/v0/agents'] = [];
    fleet['/v0/workspaces/north'] = [];
    platform.edit = ({ path }, body) => (path.endsWith('/north') ? JSON.stringify({ resourceCounts }) : body);
    const later = await night('2026-09-05T02:00:00Z');
    expect(later.account.inventory).toMatchObject({ ended });
  },
);

test('an incomplete listing ends no state and fails no ingest', async () => {
  platform.pageSize = 2;
  const first = await night('2026-09-04T02:00:00Z');
  expect(first.account.inventory).toMatchObject({ requests: 15, resources: 5 });
  platform.edit = ({ path, query }, body) => (path === '/v0/agents' && query['cursor'] ? '{"data": 7}' : body);
  fleet['/v0/agents'] = [agent('a1'), agent('a2'), agent('a3'), agent('a4')];
  const broken = await night('2026-09-05T02:00:00Z');
  expect(broken.exitCode, broken.stderr).toBe(0);
  expect(broken.account).toMatchObject({ completeThrough: '2026-09-05T00:00:00Z', errors: [] });
  expect(toldOf(broken)).toEqual([expect.stringContaining('warn | listing.failed | agent')]);
  // The last page counts more items than arrived.
  platform.edit = ({ path }, body) =>
    path === '/v0/agents'
      ? body.replace('"hasMore":true', '"hasMore":false').replace(/"nextCursor":"[^"]*"/, '"nextCursor":""')
      : body;
  const short = await night('2026-09-06T02:00:00Z');
  expect(toldOf(short)).toEqual([expect.stringContaining('warn | listing.partial | agent')]);
  expect(await askSnapshot(dir, 'select count(*) as n from resources where valid_to is null')).toEqual([{ n: '5' }]);
});

test('a listing that is short of its own count by as much on three nights counts as complete, until that changes', async () => {
  let extra = 1;
  platform.edit = ({ path }, body) =>
    path === '/v0/agents'
      ? body.replace(/"total":(\d+)/, (_, total: string) => `"total":${Number(total) + extra}`)
      : body;
  async function nightOf(day: string): Promise<{ told: string[]; agents: unknown }> {
    const ended = await night(`2026-09-${day}T02:00:00Z`);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(ended.account).toMatchObject({ completeThrough: `2026-09-${day}T00:00:00Z`, errors: [] });
    const [row] = await askSnapshot(
      dir,
      "select outcome, shortfall from listings where is_last and resource_type = 'agent'",
    );
    return { told: toldOf(ended), agents: row };
  }
  const isPartial = { told: [expect.stringContaining('warn | listing.partial | agent')] };
  for (const day of ['04', '05']) {
    expect(await nightOf(day)).toMatchObject({ ...isPartial, agents: { outcome: 'partial', shortfall: '1' } });
  }
  // A second reading on the same day is no other night.
  expect(toldOf(await night('2026-09-05T03:00:00Z'))).toEqual(isPartial.told);
  fleet['/v0/agents'] = [agent('a1'), agent('a2'), agent('a3'), agent('a4')];
  expect(await nightOf('06')).toMatchObject({
    told: [expect.stringContaining('warn | listing.count_ignored | agent')],
    agents: { outcome: 'read', shortfall: '1' },
  });
  expect(await askSnapshot(dir, 'select distinct resource_name from resources where valid_to is not null')).toEqual([
    { resource_name: 'a5' },
  ]);
  expect(await nightOf('07')).toMatchObject({ told: [], agents: { outcome: 'read', shortfall: '1' } });
  extra = 2;
  expect(await nightOf('08')).toMatchObject({ ...isPartial, agents: { outcome: 'partial', shortfall: '2' } });
});

test('each workspace with a token of its own is read with it, the others with the token of the account', async () => {
  const south = (name: string) => agent(name, { metadata: { workspace: 'south' } });
  platform.listed = ({ path, token }) => {
    if (path !== '/v0/agents') return fleet[path];
    if (token === 'south-token') return [south('s1'), agent('not-of-south')];
    return [agent('a1'), south('seen-by-the-account-too')];
  };
  await writeFile(join(dir, 'costbook.yaml'), `inventory:\n  tokens:\n    south: \${SOUTH_TOKEN}\n`);
  const ended = await night('2026-09-04T02:00:00Z', { env: { SOUTH_TOKEN: 'south-token' } });
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect((await states()).map((row) => [row['workspace'], row['resource_name']])).toEqual([
    ['north', 'a1'],
    ['south', 's1'],
  ]);
  expect(ended.account.inventory.requests).toBe(26);
});

test('a listing has not shrunk if a workspace now has a token of its own', async () => {
  const south = (name: string) => agent(name, { metadata: { workspace: 'south' } });
  fleet['/v0/agents'] = [agent('a1'), south('s1'), south('s2'), south('s3')];
  await night('2026-09-04T02:00:00Z');
  await writeFile(join(dir, 'costbook.yaml'), `inventory:\n  tokens:\n    south: \${SOUTH_TOKEN}\n`);
  const ended = await night('2026-09-05T02:00:00Z', { env: { SOUTH_TOKEN: 'south-token' } });
  expect(toldOf(ended)).toEqual([]);
  expect(ended.account.inventory).toMatchObject({ requests: 21, opened: 0, ended: 0 });
});

test('five thousand resources need few requests and little memory; three changes are three rows', async () => {
  const many = Array.from({ length: 5000 }, (_, index) =>
    agent(`agent-${String(index).padStart(5, '0')}`, { metadata: { displayName: 'x'.repeat(600) } }),
  );
  platform.pageSize = 200;
  fleet['/v0/agents'] = many;
  /** A night of a process whose memory is limited. */
  async function smallNight(now: string): Promise<IngestedAccount> {
    const env = { COSTBOOK_INVENTORY: 'true', NODE_OPTIONS: '--max-old-space-size=40' };
    const { exitCode, stdout, stderr } = await startCli(...ingestCommandLine(dir, platform, { now, env })).ended;
    expect(exitCode, stderr).toBe(0);
    return JSON.parse(stdout).accounts[0];
  }
  expect((await smallNight('2026-09-04T02:00:00Z')).inventory).toMatchObject({
    requests: 37,
    resources: 5000,
    opened: 5000,
    ended: 0,
  });
  fleet['/v0/agents'] = many.map((item, index) =>
    index % 2000 === 1 ? agent(`agent-${String(index).padStart(5, '0')}`, { status: 'DEACTIVATED' }) : item,
  );
  expect((await smallNight('2026-09-05T02:00:00Z')).inventory).toMatchObject({
    requests: 32,
    resources: 5000,
    opened: 3,
    ended: 3,
  });
  expect(await askSnapshot(dir, 'select count(*) as n from resources')).toEqual([{ n: '5003' }]);
});

test('no secret of a resource is stored or logged', async () => {
  const now = '2026-10-21T03:30:00Z';
  const emulator = await startEmulator({ now: () => Date.parse(now), storyEnd: Date.parse('2026-10-21') });
  try {
    const ended = await runCli(['ingest', '--dir', dir, '--now', now, '--from', '2026-10-20'], {
      COSTBOOK_URL: emulator.url,
      COSTBOOK_TOKEN: emulator.tokens.admin,
      COSTBOOK_ACCOUNT: emulator.account,
      COSTBOOK_INVENTORY: 'true',
    });
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(`${ended.stdout}${ended.stderr}`).not.toContain(secretMarker);
  } finally {
    await emulator.close();
  }
  expect(Number((await askSnapshot(dir, 'select count(*) as n from resources'))[0]?.['n'])).toBeGreaterThan(20);
  // The database compresses texts: each column is read, and the bytes of every file besides.
  const books = join(dir, 'data', 'costbook.duckdb');
  const columns = await askFile(
    books,
    `select schema_name || '.' || table_name as name, column_name as "column" from duckdb_columns()
    where database_name = current_database() and schema_name = 'ledger' and data_type = 'VARCHAR'
      and (schema_name, table_name) in (select (schema_name, table_name) from duckdb_tables())`,
  );
  expect(columns.length).toBeGreaterThan(50);
  const marked = columns.map(
    ({ name, column }) =>
      `select '${name}.${column}' as place from ${name} where contains("${column}", '${secretMarker}')`,
  );
  expect(await askFile(books, marked.join(' union all '))).toEqual([]);
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const bytes = await readFile(join(entry.parentPath, entry.name));
    const text = entry.name.endsWith('.gz') ? gunzipSync(bytes) : bytes;
    expect(text.includes(secretMarker), entry.name).toBe(false);
  }
});

describe('a closed month', () => {
  test('has the same bytes in FOCUS after any later listings', async () => {
    platform.facts = platform.facts.map((fact) => ({ ...fact, hour: fact.hour.replace('-09-02', '-09-20') }));
    await night('2026-10-06T02:00:00Z', { env: { COSTBOOK_VERIFY_DAYS: '0' } });
    const closed = await runCli(['close', '2026-09', '--dir', dir, '--now', '2026-10-06T03:00:00Z']);
    expect(closed.exitCode, closed.stderr).toBe(0);
    async function focus(now: string): Promise<string> {
      const out = join(dir, `out-${now.slice(0, 10)}`);
      const told = await runCli([
        'report',
        'focus',
        '--dir',
        dir,
        '--now',
        now,
        '--param',
        'month=2026-09',
        '--format',
        'csv',
        '--out',
        out,
      ]);
      expect(told.exitCode, told.stderr).toBe(0);
      const names = (await readdir(out, { recursive: true })).filter((name) => name.endsWith('.csv'));
      return readFile(join(out, names[0] ?? ''), 'utf8');
    }
    const before = await focus('2026-10-06T04:00:00Z');
    expect(before).toContain('"{""team"":""core""}"');
    // Changed in September, as the platform now says, renamed, and the others gone.
    fleet['/v0/agents'] = [
      agent('a1', { metadata: { labels: { team: 'data' }, updatedAt: '2026-09-10T00:00:00Z', displayName: 'New' } }),
    ];
    const later = await night('2026-10-07T02:00:00Z', {
      args: ['--accept-shrunk-listings'],
      env: { COSTBOOK_VERIFY_DAYS: '0' },
    });
    expect(later.account.inventory).toMatchObject({ opened: 1, ended: 5 });
    expect(await focus('2026-10-07T04:00:00Z')).toBe(before);
  });
});

describe("the platform's lists of dimensions and resource types", () => {
  const dimensions = ['workspace', 'resource_type', 'resource_name', 'resource_uuid', 'billing_dimension'];
  const readsOfLists = () => platform.requests.filter(({ path }) => path.includes('/enums/')).length;

  async function raised(now: string): Promise<unknown[]> {
    expect((await runCli(['alert', '--dir', dir, '--now', now])).exitCode).toBe(0);
    return askSnapshot(
      dir,
      "select alert_key, severity, is_open from alerts where kind = 'interface' order by alert_key",
    );
  }

  test('are read once a week, and a new or missing name is an alert until the lists match again', async () => {
    platform.lists = { 'group-by': dimensions, 'resource-types': ['agent'] };
    await night('2026-10-01T12:30:00Z');
    expect(readsOfLists()).toBe(0);
    platform.lists = {
      'group-by': [...dimensions.slice(1), 'project'],
      'resource-types': ['agent', 'gpu_pool', platform.tokens.admin],
    };
    const { stderr } = await night('2026-10-08T12:30:00Z');
    expect(readsOfLists()).toBe(2);
    expect(stderr).toContain('platform.lists_differ');
    expect(await raised('2026-10-08T12:40:00Z')).toEqual([
      { alert_key: 'interface/acc_one/dimensions/project', severity: 'info', is_open: true },
      { alert_key: 'interface/acc_one/dimensions/workspace', severity: 'critical', is_open: true },
      { alert_key: 'interface/acc_one/resource_types/***', severity: 'info', is_open: true },
      { alert_key: 'interface/acc_one/resource_types/gpu_pool', severity: 'info', is_open: true },
    ]);
    await night('2026-10-09T12:30:00Z');
    expect(readsOfLists()).toBe(2);
    platform.lists = { 'group-by': dimensions, 'resource-types': ['agent'] };
    await night('2026-10-16T12:30:00Z');
    expect(await raised('2026-10-16T12:40:00Z')).toMatchObject(Array(4).fill({ is_open: false }));
    const rebuilt = await runCli(['rebuild', '--dir', dir, '--into', join(dir, 'rebuilt.duckdb'), '--json']);
    expect(rebuilt.exitCode, rebuilt.stdout).toBe(0);
    const { tables } = JSON.parse(rebuilt.stdout) as { tables: { table: string; rows: number }[] };
    expect(tables.find(({ table }) => table === 'platform_lists')?.rows).toBe(2);
  });

  test('that the platform does not serve are no fault', async () => {
    await night('2026-10-01T12:30:00Z');
    const { exitCode, stderr } = await night('2026-10-09T12:30:00Z');
    expect(exitCode, stderr).toBe(0);
    expect(await raised('2026-10-09T12:40:00Z')).toEqual([]);
  });
});
