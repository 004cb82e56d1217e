// Second tier: Fills disks and waits for what gives up.

import { spawnSync } from 'node:child_process';
import { chmod, chown, cp, mkdir, readdir, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { costsIn, ingest, ingestCommandLine, newProject, runCli, startCli } from '../support/project.ts';
import { casesOf } from '../support/rounds.ts';
import { expectedCosts, type Fact, series, startScriptedPlatform } from '../support/scripted-platform.ts';
import { startSink } from '../support/sink-server.ts';
import { type TwoNights, twoNights } from '../support/two-nights.ts';

const volume = { workspace: 'north', type: 'volume', name: 'data', uuid: null, dimension: 'volume_storage_gbs' };
const box = { workspace: 'south', type: 'sandbox', dimension: 'sandbox_image_storage_gbs' };
const old: readonly Fact[] = series(volume, '2026-09-02T05', [1, 2]);
/** Thirty resources for three weeks: pages and rows that need room. */
const facts: readonly Fact[] = [
  ...old.map((fact) => ({ ...fact, cost: fact.cost * 1.1 })),
  ...Array.from({ length: 30 }, (_, index) =>
    series(
      { ...box, name: `box ${index}`, uuid: `sbx-${index}` },
      '2026-09-05T00',
      Array.from({ length: 400 }, (_, hour) => 0.01 * (1 + ((hour * 7 + index) % 97))),
    ),
  ).flat(),
];
const now = '2026-09-22T00:30:00Z';
/** Other numbers for the same hours, where no room is needed. */
const few = old.map((fact) => ({ ...fact, cost: fact.cost * 2 }));
const costs = new Map([old, few, facts].map((each) => [each, expectedCosts(each, 'admin')]));

let loaded = '';
beforeAll(async () => {
  loaded = await newProject();
  const platform = await startScriptedPlatform(old);
  expect((await ingest(loaded, platform, { now: '2026-09-04T00:30:00Z' })).exitCode).toBe(0);
});

/** The next run has what it needs: it ends well, the books are the truth, nothing else is left. */
async function expectHealed(dir: string, truth: readonly Fact[]): Promise<void> {
  const { exitCode, stderr } = await ingest(dir, await startScriptedPlatform(truth), { now, args: ['--refetch'] });
  expect(exitCode, stderr).toBe(0);
  expect(await costsIn(dir)).toEqual(costs.get(truth));
  expect((await readdir(join(dir, 'data'))).sort()).toEqual([
    'costbook.duckdb',
    'journal',
    'landing',
    'metrics.prom',
    'warehouse.duckdb',
  ]);
}

// A small disk of its own takes the right to mount one.
const probe = 'd=$(mktemp -d) && mount -t tmpfs -o size=1M tmpfs "$d" && umount "$d" && rmdir "$d"';
const mayMount = spawnSync('sh', ['-c', probe]).status === 0;
const skipped = mayMount ? '' : ' (skipped: mounting a small one is not allowed here)';

describe.skipIf(!mayMount)(`a disk that is full${skipped}`, () => {
  let disk = '';
  const places = new Set<string>();
  let nights: TwoNights;
  beforeAll(async () => {
    nights = await twoNights();
    disk = await newProject();
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=48M', 'tmpfs', disk]).status).toBe(0);
  });
  afterAll(() => {
    spawnSync('umount', ['-l', disk]);
  });

  test.each([0, 16, 512, 2048, 4096, 6144])(
    'except for %i KB ends an ingest with 7 or does not affect it; the next run with room completes the books',
    async (kb) => {
      const dir = join(disk, `room-${kb}`);
      await mkdir(dir);
      await cp(loaded, dir, { recursive: true });
      const { bavail, bsize } = await statfs(disk);
      const ballast = join(disk, 'ballast');
      await writeFile(ballast, Buffer.alloc(Math.max(0, bavail * bsize - kb * 1024), 1));

      const { exitCode, stderr } = await ingest(dir, await startScriptedPlatform(facts), { now, args: ['--refetch'] });
      await rm(ballast);
      expect([0, 7], stderr).toContain(exitCode);
      if (exitCode === 7) {
        expect(stderr).toContain(
          'costbook: the disk is full: free some space (delete nothing in data/) and run this again',
        );
        const told = stderr.split('\n').filter((line) => line.startsWith('costbook: '))[0] ?? '';
        places.add(/copyfile/.test(told) ? 'publishing' : /warehouse\.duckdb/.test(told) ? 'loading' : 'landing');
      }
      // What readers have is whole, as it was before the run or after it.
      expect([costs.get(old), costs.get(facts)]).toContainEqual(await costsIn(dir));
      await expectHealed(dir, facts);
      expect(
        await runCli(['rebuild', '--dir', dir, '--into', join(await newProject(), 'rebuilt.duckdb')]),
      ).toMatchObject({
        exitCode: 0,
        stdout: expect.stringContaining('identical to the current warehouse'),
      });
      await rm(dir, { recursive: true });
    },
  );

  test('is hit at each place where an ingest writes', () => {
    expect([...places].sort()).toEqual(['landing', 'loading', 'publishing']);
  });

  test.each([0, 24, 4].slice(0, casesOf({ fixed: 2, fresh: 3 })))(
    'except for %i KB leaves the old export unchanged or writes the new one; the next run with room writes the new one',
    async (kb) => {
      const dir = join(disk, `export-${kb}`);
      await nights.publish(dir, 'first');
      const reports = [['cost_by_workspace', '--month', '2026-09', '--format', 'csv,parquet'], ['lake']];
      for (const report of reports) expect((await runCli(['report', ...report, '--dir', dir])).exitCode).toBe(0);
      await nights.publish(dir, 'second');
      const { bavail, bsize } = await statfs(disk);
      const ballast = join(disk, 'ballast');
      await writeFile(ballast, Buffer.alloc(Math.max(0, bavail * bsize - kb * 1024), 1));

      for (const report of reports) {
        const { exitCode, stderr } = await runCli(['report', ...report, '--dir', dir]);
        expect([0, 7], stderr).toContain(exitCode);
        if (kb === 0) expect(exitCode).toBe(7);
        if (exitCode === 7)
          expect(stderr).toContain('the disk is full: free some space (delete nothing in data/) and run this again');
      }
      const names = await readdir(join(dir, 'exports'), { recursive: true });
      expect(names.filter((name) => /\.part$|\.next/.test(name))).toEqual([]);
      expect(await runCli(['verify', '--dir', dir])).toMatchObject({ exitCode: 0 });

      await rm(ballast);
      for (const report of reports) expect((await runCli(['report', ...report, '--dir', dir])).exitCode).toBe(0);
      const { exitCode, stdout } = await runCli(['verify', '--dir', dir]);
      expect(exitCode).toBe(0);
      expect(stdout.match(/as of 2026-10-02T12:30:00Z/g)).toHaveLength(2);
      await rm(dir, { recursive: true });
    },
  );

  test('is reported to the sinks once, by a job and by alert, and again after a repair', async () => {
    const dir = join(disk, 'alert');
    await mkdir(dir);
    await cp(loaded, dir, { recursive: true });
    const sink = await startSink();
    await writeFile(
      join(dir, 'costbook.yaml'),
      `sinks: { hook: { type: webhook, url: "${sink.url}", secret: a-long-secret-of-a-test, allowPrivateNetwork: true } }\n`,
    );
    const platform = await startScriptedPlatform(facts);
    const [, env] = ingestCommandLine(dir, platform, { now });
    const run = () => runCli(['run', 'nightly', '--dir', dir, '--now', now], env);
    const ballast = join(disk, 'ballast');
    async function fill(): Promise<void> {
      const { bavail, bsize } = await statfs(disk);
      await writeFile(ballast, Buffer.alloc(bavail * bsize, 1));
    }
    await fill();
    expect((await run()).exitCode).toBe(7);
    expect((await run()).exitCode).toBe(7);
    expect((await runCli(['alert', '--dir', dir, '--now', now])).exitCode).toBe(7);
    const status = () => runCli(['status', '--dir', dir, '--now', now]);
    expect((await status()).stdout).toContain('disk is full');
    // Without a sink nobody is notified, and status names the full disk all the same.
    const [sinks, memory] = [join(dir, 'costbook.yaml'), join(dir, 'data', '.unstored-disk.json')];
    await Promise.all([rename(sinks, `${sinks}.away`), rename(memory, `${memory}.away`)]);
    expect((await run()).exitCode).toBe(7);
    expect((await status()).stdout).toContain('disk is full');
    await Promise.all([rename(`${sinks}.away`, sinks), rename(`${memory}.away`, memory)]);
    const aboutDisk = () => sink.told.filter(({ body }) => body.alerts.some(({ key }) => key === 'run/disk'));
    expect(aboutDisk()).toHaveLength(1);
    expect(aboutDisk()[0]?.body).toMatchObject({ mayBeRepeat: true, text: expect.stringContaining('is full') });
    // What is published can still be read.
    expect(aboutDisk()[0]?.body).toMatchObject({ completeThrough: expect.stringMatching(/^20/) });
    await rm(ballast);
    const healthy = await run();
    expect(healthy.exitCode, healthy.stderr).not.toBe(7);
    // It is a small disk: that the next run may fill it is told before it does.
    expect((await status()).stdout).toContain('almost full');
    expect(sink.told.flatMap(({ body }) => body.alerts.map(({ key }) => key))).toContain('disk/room');
    const transitions = () =>
      aboutDisk().flatMap(({ body }) =>
        body.alerts.flatMap(({ key, transition }) => (key === 'run/disk' ? transition : [])),
      );
    expect(transitions()).toEqual(['raised', 'resolved']);
    await fill();
    expect((await run()).exitCode).toBe(7);
    expect(transitions()).toEqual(['raised', 'resolved', 'raised']);
    await rm(ballast);
    await sink.close();
    await rm(dir, { recursive: true });
  });

  test('ends a query that needs more than memory with 7, and no file is left', async () => {
    const dir = join(disk, 'query');
    await mkdir(dir);
    await cp(loaded, dir, { recursive: true });
    const greedy = `select len(list(repeat('x', 20000) || i)) as n from range(400000) t(i)`;
    const { exitCode, stdout, stderr } = await runCli(['sql', greedy, '--dir', dir]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 7, stdout: '' });
    expect(stderr).toMatch(/^costbook: this needs more than the \d+ MB of memory, .* Query less at once/m);
    expect((await readdir(join(dir, 'data'))).filter((name) => name.startsWith('.spill'))).toEqual([]);
    expect(await costsIn(dir)).toEqual(costs.get(old));
  });
});

describe('a file of another user', () => {
  // Root can write everywhere, so another user runs the command.
  const isRoot = process.getuid?.() === 0;
  const sent = isRoot ? { uid: 65534, gid: 65534 } : {};

  test.each(['data', 'data/landing', 'data/landing/acc_one', 'data/journal', 'data/warehouse.duckdb'])(
    'or a read-only one (%s) ends an ingest with 7; after a repair the next run completes the books',
    async (path) => {
      const dir = await newProject();
      await cp(loaded, dir, { recursive: true });
      const entries = ['.', ...(await readdir(dir, { recursive: true }))].map((name) => join(dir, name));
      if (isRoot) for (const entry of entries) await chown(entry, 65534, 65534);
      const kept = entries.filter(
        (entry) => entry === join(dir, path) || (path === 'data/journal' && entry.startsWith(join(dir, path))),
      );
      for (const entry of kept) {
        await chmod(entry, entry.endsWith('json') || entry.endsWith('.duckdb') ? 0o444 : 0o555);
        if (isRoot) await chown(entry, 0, 0);
      }
      const platform = await startScriptedPlatform(few);
      const [args, env] = ingestCommandLine(dir, platform, { now, args: ['--refetch'] });
      const { exitCode, stderr } = await startCli(args, env, sent).ended;
      expect(exitCode, stderr).toBe(7);
      expect(stderr).toMatch(/^costbook: .*(permission denied|is not writable for this user)/im);
      expect(stderr).toContain(join(dir, path));
      expect([costs.get(old), costs.get(few)]).toContainEqual(await costsIn(dir));

      for (const entry of kept) await chmod(entry, entry.endsWith('json') || entry.endsWith('.duckdb') ? 0o644 : 0o755);
      await expectHealed(dir, few);
    },
  );
});
