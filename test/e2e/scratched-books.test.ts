// Second tier: Damages books and makes them again; e2e/one-month repairs in the first tier.

import { cp } from 'node:fs/promises';
import { beforeAll, expect, test } from 'vitest';
import { scratchCosts, snapshotOf, warehouseOf } from '../support/breakages.ts';
import { ingest, newProject, runCli } from '../support/project.ts';
import { type ScriptedPlatform, series, startScriptedPlatform } from '../support/scripted-platform.ts';

/** So many different costs that they fill blocks of their own. */
const facts = Array.from({ length: 30 }, (_, box) =>
  series(
    {
      workspace: 'north',
      type: 'sandbox',
      name: `box-${box}`,
      uuid: `sbx-${box}`,
      dimension: 'sandbox_image_storage_gbs',
    },
    '2026-09-01T00',
    Array.from({ length: 240 }, (_, hour) => Math.round(1e9 * (1 + Math.sin((box + 1) * hour * hour))) / 1e6),
  ),
).flat();
const sum = ['sql', 'select sum(cost) as cost from costs', '--json'];

let platform: ScriptedPlatform;
let whole = '';
let total = '';
beforeAll(async () => {
  platform = await startScriptedPlatform(facts);
  whole = await newProject();
  expect((await ingest(whole, platform, { now: '2026-09-12T12:30:00Z' })).exitCode).toBe(0);
  total = (await runCli([...sum, '--dir', whole])).stdout;
});

async function copyOfBooks(): Promise<string> {
  const dir = await newProject();
  await cp(whole, dir, { recursive: true });
  return dir;
}

test('a warehouse whose costs cannot be read is not published: the snapshot stays right', async () => {
  const dir = await copyOfBooks();
  await scratchCosts(warehouseOf(dir));
  const night = await ingest(dir, platform, { now: '2026-09-13T12:30:00Z' });
  expect(night).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('costbook repair') });
  expect((await runCli([...sum, '--dir', dir])).stdout).toBe(total);
  const { exitCode, stdout } = await runCli(['repair', '--dir', dir]);
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining('rebuilt from the snapshot') });
});

test('if neither warehouse nor snapshot can be read, repair makes both from the landing folder', async () => {
  const dir = await copyOfBooks();
  await scratchCosts(warehouseOf(dir));
  await scratchCosts(snapshotOf(dir));
  const { exitCode, stdout, stderr } = await runCli(['repair', '--dir', dir]);
  expect({ exitCode, stdout }, stderr).toEqual({
    exitCode: 0,
    stdout: expect.stringContaining('in the landing folder'),
  });
  expect((await runCli([...sum, '--dir', dir])).stdout).toBe(total);
});
