// Second tier: Seven kinds of changed hours, each with the checks of whole months; sql/checks holds the rules.

import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { runChecks } from '../../src/query/index.ts';
import { factsOf, factsSince } from '../../src/warehouse/integrity/contents.ts';
import { readSeal } from '../../src/warehouse/integrity/seal.ts';
import { readChecks } from '../../src/warehouse/ledger/index.ts';
import { openDatabase } from '../../src/warehouse/store/database.ts';
import { ingest, loadedProject, newProject, runCli } from '../support/project.ts';
import { series, startScriptedPlatform } from '../support/scripted-platform.ts';

const box = { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };
const other = { ...box, name: 'other', uuid: 'sbx-2' };

/** What the published file has, by reading every row of it. */
async function contentsOf(dir: string) {
  const database = await openDatabase(join(dir, 'data', 'costbook.duckdb'), { readOnly: true });
  try {
    return await factsOf(await database.connect(), 'wh');
  } finally {
    database.close();
  }
}

async function sealOf(dir: string) {
  const found = await readSeal(join(dir, 'data', 'costbook.duckdb'));
  if (found.state !== 'intact') throw new Error(`the snapshot is ${found.state}`);
  return found.seal;
}

test('what a night adds, changes and removes is in the seal, without reading what earlier nights wrote', async () => {
  const { dir, platform } = await loadedProject(series(box, '2026-09-01T00', [1, 2, 3, 4]), {
    now: '2026-09-03T12:30:00Z',
  });
  const first = await sealOf(dir);
  expect(first).toMatchObject({ rowCount: 4, cost: '10.000000000000' });

  platform.facts = [...series(box, '2026-09-01T00', [1, 2.5]), ...series(other, '2026-09-03T05', [7, 8])];
  await ingest(dir, platform, { now: '2026-09-04T12:30:00Z' });
  expect(await sealOf(dir)).toMatchObject({ ...(await contentsOf(dir)), rowCount: 4, cost: '18.500000000000' });

  const database = await openDatabase(join(dir, 'data', 'costbook.duckdb'), { readOnly: true });
  try {
    const connection = await database.connect();
    // Another cost than the books had: the change since is added to it, so no old row was read.
    expect(await factsSince(connection, { ...first, cost: '100' })).toMatchObject({ cost: '108.500000000000' });
    // Another number of rows shows that they are not the books which are known: every row is read.
    expect(await factsSince(connection, { ...first, rowCount: 9, cost: '100' })).toEqual(await contentsOf(dir));
  } finally {
    database.close();
  }
});

/** Books with a cost with negative usage in September, which a check warns of, and costs in October; before an alert and after. */
let withOffender = '';
let alerted = '';
beforeAll(async () => {
  withOffender = await newProject();
  const [wrong] = series(box, '2026-09-10T00', [1]);
  if (wrong === undefined) throw new Error('there is no hour');
  const platform = await startScriptedPlatform([{ ...wrong, usage: -5 }, ...series(other, '2026-10-10T00', [3, 4])]);
  const { exitCode, stderr } = await ingest(withOffender, platform, { now: '2026-10-20T12:30:00Z' });
  expect(exitCode, stderr).toBe(0);
  alerted = await copyOf(withOffender);
  const evaluated = await runCli(['alert', '--dir', alerted, '--now', '2026-10-20T13:00:00Z']);
  expect(evaluated.exitCode, evaluated.stderr).toBe(0);
});

/** A project like another one, for a test that changes it. */
async function copyOf(project: string): Promise<string> {
  const dir = await newProject();
  await cp(project, dir, { recursive: true });
  return dir;
}

test('checks of some months see only these, except the checks that are named', async () => {
  const all = await readChecks(join(withOffender, 'sql'));
  const one = all.filter(({ name }) => name === 'usage_is_not_negative');
  const { signal } = new AbortController();
  const from = Date.UTC(2026, 9, 1);
  async function offenders(hours?: { from: number; whole: string[] }, rowsAtOnce?: number, checks = all) {
    const results = await runChecks(withOffender, checks, { signal, hours, rowsAtOnce });
    expect(results.map(({ error }) => error?.message).filter(Boolean)).toEqual([]);
    // The scripted platform has no listings.
    const found = results.filter(({ offenders: count }) => count !== 0).map(({ check }) => check.name);
    return found.filter((name) => name !== 'listings_are_complete');
  }
  expect(await offenders()).toEqual(['usage_is_not_negative']);
  expect(await offenders({ from, whole: [] })).toEqual([]);
  const whole = ['usage_is_not_negative'];
  expect(await offenders({ from, whole }, undefined, one)).toEqual(whole);
  expect(await offenders({ from: Date.UTC(2026, 8, 1), whole: [] }, undefined, one)).toEqual(whole);
  // Of large books, some months at a time.
  expect(await offenders(undefined, 1)).toEqual(['usage_is_not_negative']);
  expect(await offenders({ from, whole: [] }, 1)).toEqual([]);
  expect(await offenders({ from, whole }, 1, one)).toEqual(whole);
});

/** What `check --changed` reads and finds. */
async function checkChanged(dir: string): Promise<{ changedFrom: string | null; offending: string[] }> {
  const { stdout } = await runCli(['check', '--changed', '--json', '--dir', dir]);
  const { changedFrom, checks } = JSON.parse(stdout);
  const offending = checks.filter(({ offenders }: { offenders: number }) => offenders !== 0);
  const names = offending.map(({ name }: { name: string }) => name);
  // The scripted platform has no listings.
  return { changedFrom, offending: names.filter((name: string) => name !== 'listings_are_complete') };
}

test('check --changed reads every hour until alert has run, then what changed since, and whole where an alert is open', async () => {
  const dir = await newProject();
  const costs = [...series(box, '2026-09-10T00', [1]), ...series(other, '2026-10-10T00', [3, 4])];
  const platform = await startScriptedPlatform(costs);
  await ingest(dir, platform, { now: '2026-10-20T12:30:00Z' });
  expect(await checkChanged(dir)).toEqual({ changedFrom: null, offending: [] });
  await runCli(['alert', '--dir', dir, '--now', '2026-10-20T13:00:00Z']);
  expect(await checkChanged(dir)).toEqual({ changedFrom: '2026-10-01T00:00:00Z', offending: [] });

  // A correction of September: the hours from September on are new.
  const [first, ...others] = costs;
  if (first === undefined) throw new Error('there is no hour');
  platform.facts = [{ ...first, usage: -5 }, ...others];
  await ingest(dir, platform, { now: '2026-10-21T12:30:00Z', args: ['--from', '2026-09-10', '--refetch'] });
  const found = { changedFrom: '2026-09-01T00:00:00Z', offending: ['usage_is_not_negative'] };
  expect(await checkChanged(dir)).toEqual(found);
  await runCli(['alert', '--dir', dir, '--now', '2026-10-21T13:00:00Z']);
  await ingest(dir, platform, { now: '2026-10-22T12:30:00Z' });
  await runCli(['alert', '--dir', dir, '--now', '2026-10-22T13:00:00Z']);
  expect(await checkChanged(dir)).toEqual({ ...found, changedFrom: '2026-10-01T00:00:00Z' });
});

test('in a job, alert takes what its step check has found in the same books', async () => {
  const dir = await copyOf(withOffender);
  await mkdir(join(dir, 'jobs'), { recursive: true });
  await writeFile(join(dir, 'jobs', 'mine.yaml'), 'schedule: "15 2 * * *"\nsteps: [{check: {changed: true}}, alert]\n');
  const { exitCode, stderr } = await runCli(['run', 'mine', '--dir', dir, '--now', '2026-10-20T13:00:00Z']);
  expect(exitCode, stderr).toBe(0);
  const { stdout } = await runCli(['alerts', '--open', '--json', '--dir', dir, '--now', '2026-10-20T13:00:00Z']);
  expect(JSON.parse(stdout).alerts.map(({ key }: { key: string }) => key)).toContain('check/usage_is_not_negative');
});

test('a rebuilt warehouse is checked as a whole, whatever the journal says of earlier evaluations', async () => {
  const dir = await copyOf(alerted);
  expect(await checkChanged(dir)).toMatchObject({ changedFrom: '2026-10-01T00:00:00Z' });
  for (const name of ['warehouse.duckdb', 'costbook.duckdb']) await rm(join(dir, 'data', name), { force: true });
  const { exitCode, stderr } = await runCli(['repair', '--dir', dir, '--now', '2026-10-20T14:00:00Z']);
  expect(exitCode, stderr).toBe(0);
  expect(await checkChanged(dir)).toMatchObject({ changedFrom: null });
});

test('an alert of a check stays open while the offending hour is there, however old that is', async () => {
  const dir = await copyOf(alerted);
  async function alert(now: string): Promise<void> {
    const { exitCode, stderr } = await runCli(['alert', '--dir', dir, '--now', now]);
    expect(exitCode, stderr).toBe(0);
  }
  async function openChecks(now: string): Promise<string[]> {
    const { stdout } = await runCli(['alerts', '--open', '--json', '--dir', dir, '--now', now]);
    return JSON.parse(stdout).alerts.flatMap(({ key }: { key: string }) => (key.startsWith('check/') ? [key] : []));
  }
  expect(await openChecks('2026-10-20T13:00:00Z')).toEqual(['check/usage_is_not_negative']);
  await alert('2026-10-20T14:00:00Z');
  expect(await openChecks('2026-10-20T14:00:00Z')).toEqual(['check/usage_is_not_negative']);
  await alert('2026-10-20T15:00:00Z');
  expect(await openChecks('2026-10-20T15:00:00Z')).toEqual(['check/usage_is_not_negative']);
});
