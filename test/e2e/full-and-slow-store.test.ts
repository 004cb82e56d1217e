// Second tier: Fills the disk of an S3 server, kills it, and waits for a slow one.

import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { exitCodeOf } from '../../src/base/errors.ts';
import { filesOfManifest } from '../../src/reports/exports/export-content.ts';
import type { ExportToMirror, LeaseTimes } from '../../src/storage/index.ts';
import { mirrorExport } from '../../src/storage/mirror.ts';
import type { ObjectStore } from '../../src/storage/store.ts';
import {
  credentials,
  exportOf,
  openStore,
  type S3Server,
  s3Program,
  secretKey,
  sha256Of,
  startFaultyStore,
  startS3,
} from '../support/s3-server.ts';

const program = s3Program();
if (program === undefined)
  console.log('full and slow stores are not tested: there is no Go to install an S3 server with');
const canMount = platform() === 'linux' && mountsASmallDisk();
if (!canMount) console.log('a full store is not tested: this user cannot mount a small disk');

Object.assign(process.env, credentials);
const million = 1024 * 1024;
const times: LeaseTimes = { deadAfterMs: 3000, patienceMs: 8000 };
const options = { signal: new AbortController().signal, times, tell: () => undefined, progress: () => undefined };

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const one of undo.splice(0).reverse()) await one();
});

function mount(folder: string, ...words: readonly string[]): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', words.join(','), 'tmpfs', folder]).status === 0;
}

function mountsASmallDisk(): boolean {
  const folder = spawnSync('mktemp', ['-d'], { encoding: 'utf8' }).stdout.trim();
  const isMounted = mount(folder, 'size=1m');
  if (isMounted) spawnSync('umount', [folder]);
  return isMounted;
}

/** An S3 server whose disk has this many megabytes. */
async function startOnSmallDisk(megabytes: number): Promise<{ server: S3Server; grow(to: number): void }> {
  const folder = await mkdtemp(join(tmpdir(), 'costbook-small-disk-'));
  expect(mount(folder, `size=${megabytes}m`)).toBe(true);
  const server = await startS3(program ?? '', folder);
  undo.push(async () => {
    await server.kill();
    expect(spawnSync('umount', [folder]).status).toBe(0);
    await rm(folder, { recursive: true });
  });
  return { server, grow: (to) => expect(mount(folder, 'remount', `size=${to}m`)).toBe(true) };
}

function open(endpoint: string, timeoutMs = 5000): Promise<ObjectStore> {
  return openStore({ endpoint, prefix: 'p', timeoutMs });
}

async function hashIn(store: ObjectStore, key: string): Promise<string> {
  const body = await store.open(key);
  if (body === undefined) return 'nothing';
  const hash = createHash('sha256');
  for await (const piece of body) hash.update(piece as Buffer);
  return hash.digest('hex');
}

const january = 'costs/month=2026-01/costs.parquet';
const february = 'costs/month=2026-02/costs.parquet';
const march = 'costs/month=2026-03/costs.parquet';
const before = { [january]: randomBytes(2 * million), [february]: randomBytes(2 * million) };
const after = {
  [january]: randomBytes(3 * million),
  [february]: randomBytes(30 * million),
  [march]: randomBytes(2 * million),
};

async function namedIn(store: ObjectStore): Promise<number> {
  const manifest = await store.readText('lake/_manifest');
  return manifest === undefined ? 0 : filesOfManifest('_manifest', manifest.text).length;
}

/**
 * Reads every file of both publications without a pause, straight from the server, until it is told to stop. Ends with the
 * number of reads and those that were neither whole old nor whole new files. A killed server answers nothing for a while.
 */
function readOnAndOn(
  endpoint: string,
  { isKilled = false } = {},
): { stop(): Promise<{ reads: number; torn: string[] }> } {
  let isOver = false;
  const torn: string[] = [];
  let reads = 0;
  const whole = new Map<string, Set<string>>();
  for (const files of [before, after]) {
    for (const [name, content] of Object.entries(files)) {
      whole.set(name, (whole.get(name) ?? new Set(name in before ? [] : ['nothing'])).add(sha256Of(content)));
    }
  }
  function unanswered(error: unknown): undefined {
    if (!isKilled) torn.push(String(error));
  }
  const reading = (async () => {
    const store = await open(endpoint);
    while (!isOver) {
      for (const [name, allowed] of whole) {
        const found = await hashIn(store, `lake/${name}`).catch(unanswered);
        if (found === undefined) continue;
        reads += 1;
        if (!allowed.has(found)) torn.push(`${name}: ${found}`);
      }
      const files = await namedIn(store).catch(unanswered);
      if (files !== undefined && files < 2) torn.push(`the manifest names ${files} files`);
      await sleepFor(5);
    }
    store.close();
  })();
  async function stop(): Promise<{ reads: number; torn: string[] }> {
    isOver = true;
    await reading;
    return { reads, torn };
  }
  undo.push(stop);
  return { stop };
}

/** A server with the first publication, a store at it, and a proxy that can slow it down. */
async function startWithPublication() {
  const server = await startS3(program ?? '');
  undo.push(() => server.kill());
  const direct = await open(server.url);
  undo.push(() => direct.close());
  await mirrorExport(direct, await exportOf(before), options);
  const slow = await startFaultyStore(server.url);
  undo.push(() => slow.close());
  return { server, direct, slow };
}

/** Whether the store has exactly the files of an export, each with its content. */
async function differencesIn(store: ObjectStore, { content }: ExportToMirror): Promise<string[]> {
  const wrong: string[] = [];
  for (const { name, sha256 } of content.files) if ((await hashIn(store, `lake/${name}`)) !== sha256) wrong.push(name);
  const names = new Set(['lake/_manifest', ...content.files.map(({ name }) => `lake/${name}`)]);
  for await (const { key } of store.list('')) if (!names.has(key)) wrong.push(key);
  if ((await store.readText('lake/_manifest'))?.text !== content.manifest) wrong.push('_manifest');
  return wrong;
}

function outcome(mirrored: Promise<unknown>): Promise<string> {
  return mirrored.then(
    () => 'done',
    (error: unknown) => `${exitCodeOf(error)} ${error instanceof Error ? error.message : String(error)}`,
  );
}

describe.skipIf(program === undefined || !canMount)('a store whose disk becomes full in a publication', () => {
  test('is named, readers meet whole files only, and the next run completes once there is room', async () => {
    const { server, grow } = await startOnSmallDisk(24);
    const store = await open(server.url);
    undo.push(() => store.close());
    await mirrorExport(store, await exportOf(before), options);
    const reader = readOnAndOn(server.url);
    const two = await exportOf(after);
    const failed = await outcome(mirrorExport(store, two, options));
    expect(failed).toMatch(/^3 .*it has no room/);
    expect(failed).not.toContain(secretKey);
    // Full again: nothing gets better or worse by itself.
    expect(await outcome(mirrorExport(store, two, options))).toMatch(/^3 /);
    grow(200);
    expect(await outcome(mirrorExport(store, two, options))).toBe('done');
    const { reads, torn } = await reader.stop();
    expect(torn).toEqual([]);
    expect(reads).toBeGreaterThan(10);
    expect(await differencesIn(store, two)).toEqual([]);
  });
});

describe.skipIf(program === undefined)('a slow store', () => {
  test('gets the whole publication, and readers meet whole files only', async () => {
    const { server, direct, slow } = await startWithPublication();
    slow.script = () => ({ bytesPerSecond: 4 * million, afterMs: 300 });
    const reader = readOnAndOn(server.url);
    const two = await exportOf(after);
    const store = await open(slow.url, 15_000);
    undo.push(() => store.close());
    const started = Date.now();
    expect(await outcome(mirrorExport(store, two, options))).toBe('done');
    expect(Date.now() - started).toBeGreaterThan(3000);
    const { reads, torn } = await reader.stop();
    expect(torn).toEqual([]);
    expect(reads).toBeGreaterThan(10);
    expect(await differencesIn(direct, two)).toEqual([]);
  });

  test('that is too slow to ever finish is given up by name, and the next run continues', async () => {
    const { server, direct, slow } = await startWithPublication();
    slow.script = ({ method }) => (method === 'PUT' ? { bytesPerSecond: 20_000, afterMs: 0 } : undefined);
    const reader = readOnAndOn(server.url);
    const two = await exportOf(after);
    const store = await open(slow.url, 300);
    undo.push(() => store.close());
    expect(await outcome(mirrorExport(store, two, options))).toMatch(
      /^3 .*did not answer in time.*next run, within a day, continues/i,
    );
    expect(await outcome(mirrorExport(direct, two, options))).toBe('done');
    const { torn } = await reader.stop();
    expect(torn).toEqual([]);
    expect(await differencesIn(direct, two)).toEqual([]);
  });
});

describe.skipIf(program === undefined)('a store that is killed in the middle of a large file', () => {
  test('comes back with whole files only, and the next run completes', async () => {
    const server = await startS3(program ?? '');
    undo.push(() => server.kill());
    const seen = await startFaultyStore(server.url);
    undo.push(() => seen.close());
    const store = await open(seen.url, 2000);
    undo.push(() => store.close());
    await mirrorExport(store, await exportOf(before), options);
    const reader = readOnAndOn(server.url, { isKilled: true });
    let kills = 0;
    seen.script = async ({ path }) => {
      if (!path.includes('partNumber=3') || kills > 0) return undefined;
      kills += 1;
      await server.kill();
      return undefined;
    };
    const two = await exportOf(after);
    expect(await outcome(mirrorExport(store, two, options))).toMatch(/^3 .*cannot be reached/);
    await server.start();
    expect(await outcome(mirrorExport(store, two, options))).toBe('done');
    const { reads, torn } = await reader.stop();
    expect([kills, torn]).toEqual([1, []]);
    expect(reads).toBeGreaterThan(10);
    expect(await differencesIn(store, two)).toEqual([]);
  });
});
