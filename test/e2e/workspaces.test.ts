// Second tier: Nights of listings by workspace; contract/listings and unit/listings read them in the first tier.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { askSnapshot, type Ingested, ingest, newProject, runCli } from '../support/project.ts';
import { agentOf, type ScriptedPlatform, type Seen, startScriptedPlatform } from '../support/scripted-platform.ts';

let platform: ScriptedPlatform;
let dir: string;
/** The agents that the platform lists for a workspace that a request names, or for none. */
let agents: (workspace: string | undefined) => readonly { metadata: object }[];
beforeEach(async () => {
  platform = await startScriptedPlatform(['north', 'south'].flatMap(agentOf));
  platform.listed = ({ path, query }: Seen) => {
    if (path === '/v0/agents') return agents(query['workspace']);
    return /^\/v0\/(sandboxes|functions|jobs|models|policies)$/.test(path) ? [] : undefined;
  };
  dir = await newProject();
});

function item(name: string, workspace?: string): { metadata: object } {
  return {
    metadata: { name, createdAt: '2026-09-01T00:00:00Z', labels: { team: name }, ...(workspace && { workspace }) },
  };
}

function night(day: string): Promise<Ingested> {
  return ingest(dir, platform, { now: `2026-09-${day}T02:00:00Z`, env: { COSTBOOK_INVENTORY: 'true' } });
}

async function stored(): Promise<unknown[][]> {
  const rows = await askSnapshot(
    dir,
    `select workspace, resource_name from resources where resource_type <> 'workspace' order by all`,
  );
  return rows.map((row) => Object.values(row));
}

test('resources that name no workspace belong to the workspace that was asked for', async () => {
  agents = (workspace) => [item(`${workspace}-1`)];
  await night('04');
  expect(await stored()).toEqual([
    ['north', 'north-1'],
    ['south', 'south-1'],
  ]);
});

test('resources without a workspace that are the same for two workspaces are attributed to none, with a step', async () => {
  // What changes from one answer to the next makes no other resource of it.
  agents = () => [{ ...item('north-1'), expiresIn: platform.requests.length }];
  const ended = await night('04');
  expect(ended.exitCode).toBe(0);
  expect(await stored()).toEqual([]);
  const alerts = await runCli(['alert', '--dir', dir, '--now', '2026-09-04T03:00:00Z', '--dry-run', '--json']);
  expect(alerts.stdout).toContain('workspaceHeader');
});

test('a platform that ignores the workspace of a request and names it in its items is read once', async () => {
  agents = () => [item('north-1', 'north'), item('south-1', 'south')];
  const { account } = await night('04');
  expect(await stored()).toEqual([
    ['north', 'north-1'],
    ['south', 'south-1'],
  ]);
  expect(account.inventory.listings.filter(({ resourceType }) => resourceType === 'agent')).toEqual([
    expect.objectContaining({ workspace: null, outcome: 'read', resources: 2 }),
  ]);
});

test('inventory.workspaces limits what is listed', async () => {
  agents = (workspace) => [item(`${workspace}-1`, workspace)];
  await writeFile(join(dir, 'costbook.yaml'), 'inventory:\n  workspaces: [south]\n');
  await night('04');
  expect(await stored()).toEqual([['south', 'south-1']]);
});

test('names that no request can have, or far too many of them, stop no other listing', async () => {
  let names = ['north', 'nörth', ' south', 'x\r\nX-Evil: 1', '..', '.', 'y'.repeat(1_000_000)];
  const { listed } = platform;
  platform.listed = (seen) => (seen.path === '/v0/workspaces' ? names.map((name) => ({ name })) : listed?.(seen));
  agents = (workspace) => [item(`${workspace}-1`)];
  await writeFile(join(dir, 'costbook.yaml'), 'workspaceHeader: X-Service-Workspace\n');
  const { account } = await night('04');
  expect(account.inventory.listings.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
  expect((await stored()).map(([workspace]) => workspace)).toEqual([' south', 'north', 'nörth']);
  names = Array.from({ length: 2000 }, (_, index) => `w${index}`);
  agents = () => [item('north-1', 'north'), item('south-1', 'south')];
  platform.requests.length = 0;
  expect((await night('05')).exitCode).toBe(0);
  expect(platform.requests.length).toBeLessThan(150);
  // Nobody can be asked for by name, and nobody names a workspace: nothing was read.
  agents = () => [item('somebody')];
  const { account: unnamed } = await night('06');
  const last = unnamed.inventory.listings.filter(({ resourceType }) => resourceType === 'agent');
  expect(last).toEqual([expect.objectContaining({ outcome: 'failed', resources: 0 })]);
});

test('a listing that the platform refuses is asked for again after a week', async () => {
  agents = (workspace) => [item(`${workspace}-1`, workspace)];
  const asked = async (day: string) => {
    platform.requests.length = 0;
    await night(day);
    return platform.requests.filter(({ path }) => path === '/v0/workspaces').length;
  };
  expect([await asked('04'), await asked('05'), await asked('12')]).toEqual([1, 0, 1]);
});

test('a workspace that the token may not list is named with its cost', async () => {
  agents = (workspace) => [item(`${workspace}-1`, workspace)];
  platform.failures = [{ times: 99, status: 403, hits: ({ query }) => query['workspace'] === 'south' }];
  await night('04');
  const { stdout } = await runCli(['alert', '--dir', dir, '--now', '2026-09-04T03:00:00Z', '--dry-run', '--json']);
  expect(stdout).toContain('key unlisted/acc_one');
  expect(stdout).toContain('south: 3.00 USD');
});

test('resources of a workspace that the platform no longer names end only when it has cost nothing for days', async () => {
  agents = (workspace) => [item(`${workspace}-1`, workspace)];
  const listed = platform.listed;
  let names = ['north', 'east', 'south'];
  platform.listed = (seen) => (seen.path === '/v0/workspaces' ? names.map((name) => ({ name })) : listed?.(seen));
  await night('03');
  names = ['north', 'east'];
  const alive = () =>
    askSnapshot(
      dir,
      `select resource_name from resources where valid_to is null and resource_type = 'agent' order by all`,
    );
  await night('04');
  expect(await alive()).toHaveLength(3);
  await night('07');
  expect(await alive()).toEqual([{ resource_name: 'east-1' }, { resource_name: 'north-1' }]);
});
