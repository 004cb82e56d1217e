import { watch } from 'node:fs';
import { cp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { VerifiedExport } from '../../src/reports/index.ts';
import { newProject, runCli, startCli } from '../support/project.ts';
import { type TwoNights, twoNights } from '../support/two-nights.ts';

const reports = [
  ['cost_by_workspace', ['--month', '2026-09', '--format', 'csv,parquet,arrow,json'], 'BILLING_PERIOD=2026-09'],
  ['lake', [], '.'],
] as const;
type Name = (typeof reports)[number][0];

let nights: TwoNights;
const exported = new Map<Name, string>();
beforeAll(async () => {
  nights = await twoNights();
  for (const [name, args] of reports) {
    const dir = await newProject();
    await nights.publish(dir, 'first');
    expect((await runCli(['report', name, ...args, '--dir', dir])).exitCode).toBe(0);
    exported.set(name, dir);
  }
});

async function verified(dir: string): Promise<{ exitCode: number; one: VerifiedExport | undefined; said: string }> {
  const { exitCode, stdout, stderr } = await runCli(['verify', '--dir', dir, '--json']);
  const { exports } = JSON.parse(stdout) as { exports: VerifiedExport[] };
  return { exitCode, one: exports[0], said: stdout + stderr };
}

const seed = Number(process.env['COSTBOOK_CRASH_SEED'] ?? '1');
const rounds = Number(process.env['COSTBOOK_CRASH_EXPORTS'] ?? '8');

describe.concurrent.each(reports)('an export of %s that is killed', (name, args, below) => {
  const asOfs = new Set<string>();
  // What happens in the folders is counted; the process is killed at one of the things that do.
  const moments = Array.from({ length: rounds }, (_, round) => 1 + round * 3 + ((round * 7 + seed) % 3));

  test.each(moments)(
    'at moment %i is the one before or the new one, whole; the next run is the new one',
    async (moment) => {
      const dir = await newProject();
      await cp(exported.get(name) ?? '', dir, { recursive: true });
      await nights.publish(dir, 'second');
      const folder = join(dir, 'exports', name, below);
      const places = [folder, ...(await foldersBelow(folder))];
      const before = await readFile(join(folder, 'manifest.json'), 'utf8');

      const run = startCli(['report', name, ...args, '--dir', dir]);
      let seen = 0;
      const watchers = places.map((place) =>
        watch(place, () => {
          seen += 1;
          if (seen === moment) run.process.kill('SIGKILL');
        }),
      );
      const { exitCode } = await run.ended;
      for (const watcher of watchers) watcher.close();
      expect([0, 137]).toContain(exitCode); // it may have been over before

      const after = await verified(dir);
      expect(after.exitCode, after.said).toBe(0);
      expect(after.one?.notCompared).toBeNull();
      asOfs.add(after.one?.asOf ?? '');
      const manifest = await readFile(join(folder, 'manifest.json'), 'utf8');
      if (after.one?.asOf === '2026-10-01T12:30:00Z') expect(manifest).toBe(before);

      expect((await runCli(['report', name, ...args, '--dir', dir])).exitCode).toBe(0);
      const healed = await verified(dir);
      expect(healed, healed.said).toMatchObject({
        exitCode: 0,
        one: { asOf: '2026-10-02T12:30:00Z', notes: [], differences: [], notCompared: null },
      });
      const left = (await readdir(folder, { recursive: true })).filter((one) => /\.part$|\.next/.test(one));
      expect(left).toEqual([]);
    },
  );

  test('was met before and after it was committed', () => {
    expect([...asOfs].sort()).toEqual(['2026-10-01T12:30:00Z', '2026-10-02T12:30:00Z']);
  });
});

async function foldersBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
}
