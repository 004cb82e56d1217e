import { cp } from 'node:fs/promises';
import { beforeAll, expect, inject, test } from 'vitest';
import { hashText, toUnit } from '../../src/emulator/random.ts';
import { breakages, snapshotOf } from '../support/breakages.ts';
import { costsIn, ingest, newProject, runCli } from '../support/project.ts';
import { expectedCosts, type ScriptedPlatform, series, startScriptedPlatform } from '../support/scripted-platform.ts';

// Broken files and commands in orders drawn by seed: COSTBOOK_CRASH_ROUNDS=200 goes on for longer.
const rounds = Number(process.env['COSTBOOK_CRASH_ROUNDS'] ?? 6);
const stepsPerRound = 6;

const box = { workspace: 'north', type: 'sandbox', name: 'box', uuid: 'sbx-1', dimension: 'sandbox_image_storage_gbs' };
const first = series(box, '2026-09-02T05', [1, 2]);
const facts = [...first, ...series(box, '2026-09-09T05', [4, 8])];
const now = '2026-09-12T12:30:00Z';
const sum = 'select cast(sum(cost) as decimal(9, 2)) as cost from costs';

let platform: ScriptedPlatform;
let older = '';
let whole = '';
beforeAll(async () => {
  platform = await startScriptedPlatform(first);
  older = await newProject();
  expect((await ingest(older, platform, { now: '2026-09-05T12:30:00Z' })).exitCode).toBe(0);
  whole = await newProject();
  await cp(older, whole, { recursive: true });
  platform.facts = facts;
  expect((await ingest(whole, platform, { now })).exitCode).toBe(0);
});

const commands: Readonly<Record<string, (dir: string) => Promise<{ exitCode: number; stderr: string }>>> = {
  ingest: (dir) => ingest(dir, platform, { now }),
  repair: (dir) => runCli(['repair', '--dir', dir]),
  report: (dir) => runCli(['report', 'cost_by_workspace', '--month', '2026-09', '--dir', dir, '--now', now]),
  rebuild: (dir) => runCli(['rebuild', '--into', `${snapshotOf(dir)}.${Date.now()}.rebuilt`, '--dir', dir]),
  status: (dir) => runCli(['status', '--dir', dir, '--now', now]),
  check: (dir) => runCli(['check', '--dir', dir]),
  alert: (dir) => runCli(['alert', '--dir', dir, '--now', now]),
};

test.concurrent.each(Array.from({ length: rounds }, (_, round) => inject('seed') + round))(
  'books whose files break in the order of seed %i never give a wrong number, and repair heals them',
  async (seed) => {
    const dir = await newProject();
    await cp(whole, dir, { recursive: true });
    let story = `seed ${seed}`;
    function drawn(names: readonly string[], what: string): string {
      return names[Math.floor(toUnit(hashText(seed, what)) * names.length)] ?? '';
    }
    // What repair cannot give back is another test's; here landing and journal stay.
    const breaks = Object.keys(breakages).filter((name) => !name.includes('landing without'));
    for (let step = 0; step < stepsPerRound; step += 1) {
      if (toUnit(hashText(seed, `breaks ${step}`)) < 0.6) {
        const name = drawn(breaks, `breakage ${step}`);
        story += `; ${name}`;
        await breakages[name]?.(dir, older).catch(() => undefined); // what it would break may be broken already
      }
      const command = drawn(Object.keys(commands), `command ${step}`);
      story += `; ${command}`;
      const ended = await commands[command]?.(dir);
      expect([0, 2, 4, 5, 7], `${story}: ${ended?.stderr}`).toContain(ended?.exitCode);
      const read = await runCli(['sql', sum, '--json', '--dir', dir]);
      expect([0, 2, 4, 7], `${story}: ${read.stderr}`).toContain(read.exitCode);
      if (read.exitCode === 0) expect(JSON.parse(read.stdout).rows, story).toEqual([{ cost: '15.00' }]);
      else expect(read.stderr, story).toContain('costbook repair');
    }
    const repair = await runCli(['repair', '--dir', dir]);
    expect(repair.exitCode, `${story}; repair: ${repair.stderr}`).toBe(0);
    expect(await costsIn(dir), story).toEqual(expectedCosts(facts, 'admin'));
    expect((await runCli(['status', '--exit-code', '--dir', dir, '--now', now])).exitCode, story).toBe(0);
    expect((await ingest(dir, platform, { now })).exitCode, story).toBe(0);
    expect(await costsIn(dir), story).toEqual(expectedCosts(facts, 'admin'));
  },
  60_000 * stepsPerRound,
);
