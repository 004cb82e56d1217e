// Second tier: Kills exports at many moments, each with two runs and a verification.

import { watch } from 'node:fs';
import { cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { findExports } from '../../src/reports/exports/find-exports.ts';
import { type VerifiedExport, verifyExport } from '../../src/reports/exports/verify-exports.ts';
import { openExportVerifier } from '../../src/reports/publishing/requery.ts';
import { readReports } from '../../src/reports/questions/catalogue.ts';
import { openScratch } from '../../src/warehouse/store/database.ts';
import { newProject, runCli, startCli } from '../support/project.ts';
import { seedsOfRounds } from '../support/rounds.ts';
import { type TwoNights, twoNights } from '../support/two-nights.ts';

/** A report, how it is asked, and the folder of its manifest. */
type Asked = readonly [name: string, args: readonly string[], below: string];
const reports: readonly Asked[] = [
  ['cost_by_workspace', ['--month', '2026-09', '--format', 'csv,parquet,arrow,json,xlsx'], 'BILLING_PERIOD=2026-09'],
  ['lake', [], '.'],
];

let nights: TwoNights;
const exported = new Map<string, string>();
beforeAll(async () => {
  nights = await twoNights();
  for (const [name, args] of reports) {
    const dir = await newProject();
    await nights.publish(dir, 'first');
    expect((await runCli(['report', name, ...args, '--dir', dir])).exitCode).toBe(0);
    exported.set(name, dir);
  }
});

/** What `costbook verify` says of the only export, without starting a process. */
async function verified(dir: string): Promise<VerifiedExport> {
  const root = join(dir, 'exports');
  const scratch = await openScratch(root);
  const files = await scratch.connect();
  const verifier = await openExportVerifier(dir, await readReports(join(dir, 'sql')), {
    files,
    reader: 'test',
    signal: new AbortController().signal,
  });
  try {
    const [folder = root] = await findExports(root);
    return await verifyExport(root, folder, files, verifier);
  } finally {
    verifier.close();
    scratch.close();
  }
}

const seed = inject('seed');
const rounds = seedsOfRounds('COSTBOOK_CRASH_EXPORTS', { fixed: 1, fresh: 6 }).length;

/** Runs the export of the second night over that of the first, and reports what happens in its folders. */
async function overwrite(
  [name, args, below]: Asked,
  onChange: (count: number, file: string, kill: () => void) => void,
): Promise<{ dir: string; folder: string; exitCode: number; changes: number }> {
  const dir = await newProject();
  await cp(exported.get(name) ?? '', dir, { recursive: true });
  await nights.publish(dir, 'second');
  const folder = join(dir, 'exports', name, below);
  const run = startCli(['report', name, ...args, '--dir', dir]);
  let changes = 0;
  const watchers = [folder, ...(await foldersBelow(folder))].map((place) =>
    watch(place, (_, file) => {
      changes += 1;
      onChange(changes, file ?? '', () => run.process.kill('SIGKILL'));
    }),
  );
  const { exitCode } = await run.ended;
  for (const watcher of watchers) watcher.close();
  return { dir, folder, exitCode, changes };
}

describe.each(reports)('a killed export of %s', (...report) => {
  const [name, args] = report;
  let changesInAll = 0;
  beforeAll(async () => {
    const { exitCode, changes } = await overwrite(report, () => {});
    expect({ exitCode, isWatched: changes > 5 }).toEqual({ exitCode: 0, isWatched: true });
    changesInAll = changes;
  });

  /** Everything it left is complete, and the next run writes the new export. */
  async function expectWhole({ dir, folder }: { dir: string; folder: string }): Promise<string | null> {
    const left = await verified(dir);
    expect(left).toMatchObject({ differences: [], notCompared: null });
    expect((await runCli(['report', name, ...args, '--dir', dir])).exitCode).toBe(0);
    expect(await verified(dir)).toMatchObject({
      asOf: '2026-10-02T12:30:00Z',
      notes: [],
      differences: [],
      notCompared: null,
    });
    expect((await readdir(folder, { recursive: true })).filter((one) => /\.part$|\.next/.test(one))).toEqual([]);
    return left.asOf;
  }

  test.each(Array.from({ length: rounds }, (_, round) => round))(
    'is completely the old or the new one (kill %i); after the next run it is the new one',
    async (round) => {
      const share = (round + ((seed * 0.37) % 1)) / rounds;
      const moment = 1 + Math.floor(changesInAll * share);
      const killed = await overwrite(report, (count, _, kill) => count === moment && kill());
      expect([0, 137]).toContain(killed.exitCode); // its last changes are seen when it is over
      expect(['2026-10-01T12:30:00Z', '2026-10-02T12:30:00Z']).toContain(await expectWhole(killed));
    },
  );

  test('is the old one if killed while files are written', async () => {
    const killed = await overwrite(report, (count, _, kill) => count === 1 && kill());
    expect(killed.exitCode).toBe(137);
    expect(await expectWhole(killed)).toBe('2026-10-01T12:30:00Z');
  });

  test('is the new one if killed after its manifest was renamed', async () => {
    const killed = await overwrite(report, (_, file, kill) => file === '_manifest' && kill());
    expect(await expectWhole(killed)).toBe('2026-10-02T12:30:00Z');
  });
});

async function foldersBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
}
