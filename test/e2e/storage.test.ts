// Second tier: Installs and starts an S3 server, kills it and its clients, and waits for time limits.

import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodeOf, InterruptedError } from '../../src/base/errors.ts';
import { landingPlaces } from '../../src/fetch/landing-places.ts';
import { filesOfManifest } from '../../src/reports/exports/export-content.ts';
import { archiveLoads } from '../../src/storage/archive.ts';
import type { LeaseTimes } from '../../src/storage/index.ts';
import { mirrorExport } from '../../src/storage/mirror.ts';
import type { ObjectStore } from '../../src/storage/store.ts';
import { verifyArchive } from '../../src/storage/verify-archive.ts';
import { listen } from '../support/listen.ts';
import {
  credentials,
  exportOf,
  type Fault,
  type Opening,
  openStore,
  type S3Server,
  s3Program,
  secretKey,
  sha256Of,
  startFaultyStore,
  startS3,
} from '../support/s3-server.ts';

const program = s3Program();
if (program === undefined) console.log('object stores are not tested: there is no Go to install an S3 server with');

Object.assign(process.env, credentials);
let server: S3Server;
beforeAll(async () => {
  if (program !== undefined) server = await startS3(program);
});
afterAll(async () => server?.kill());

const times: LeaseTimes = { deadAfterMs: 2000, patienceMs: 500 };
let nextPrefix = 0;

/** A place of its own. */
function newPrefix(): string {
  nextPrefix += 1;
  return `p${nextPrefix}`;
}

function open({ endpoint = server.url, prefix = newPrefix(), ...more }: Partial<Opening> = {}): Promise<ObjectStore> {
  return openStore({ endpoint, prefix, ...more });
}

async function textsIn(store: ObjectStore): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { key } of store.list('')) found[key] = (await store.readText(key))?.text ?? '';
  return found;
}

const options = { signal: new AbortController().signal, times, tell: () => undefined, progress: () => undefined };

/** What a reader of all partitions finds, and whether everything that the manifest names is as it says. */
async function wholeIn(store: ObjectStore): Promise<string> {
  const manifest = await store.readText('lake/_manifest');
  if (manifest === undefined) return 'no manifest';
  const found = await textsIn(store);
  const names = filesOfManifest('_manifest', manifest.text);
  const wrong = names.filter(({ name, sha256 }) => sha256 !== sha256Of(found[`lake/${name}`] ?? ''));
  const strangers = Object.keys(found).length - names.length - 1;
  return `${names.length} files, ${wrong.length} wrong, ${strangers} strangers`;
}

const before = { 'a.csv': 'a one', 'b.csv': 'b one', 'c.csv': 'c one' };
const after = { 'a.csv': 'a one', 'b.csv': 'b two', 'd.csv': 'd two' };
const exitCodeOfMirror = (mirrored: Promise<unknown>) =>
  mirrored.then(
    () => 'done',
    (error: unknown) => `${exitCodeOf(error)} ${error instanceof Error ? error.message : String(error)}`,
  );

const patient = { ...options, times: { deadAfterMs: 1000, patienceMs: 5000 } };

describe.skipIf(program === undefined)('an export in an object store', () => {
  test('has the files and the manifest, and nothing else', async () => {
    const store = await open();
    const one = await exportOf({ 'a.csv': 'one', 'costs/account=ü%2F1/month=2026-10/costs.parquet': 'two' });
    expect(await mirrorExport(store, one, options)).toEqual({ sent: 2, bytes: 6, removed: 0, isUnchanged: false });
    expect(await textsIn(store)).toEqual({
      'lake/_manifest': one.content.manifest,
      'lake/a.csv': 'one',
      'lake/costs/account=ü%2F1/month=2026-10/costs.parquet': 'two',
    });
  });

  test('without a change is only looked at', async () => {
    const faulty = await startFaultyStore(server.url);
    const store = await open({ endpoint: faulty.url });
    const one = await exportOf(before);
    await mirrorExport(store, one, options);
    const already = faulty.seen.length;
    expect(await mirrorExport(store, one, options)).toMatchObject({ sent: 0, isUnchanged: true });
    expect(faulty.seen.slice(already).map(({ method }) => method)).toEqual(['GET', 'GET']);
    await faulty.close();
  });

  test('gets only what changed, and objects of others stay', async () => {
    const store = await open();
    await mirrorExport(store, await exportOf(before), options);
    await store.putText('lake/notes.txt', 'of somebody else', {}, undefined);
    const two = await exportOf(after);
    expect(await mirrorExport(store, two, options)).toEqual({ sent: 2, bytes: 10, removed: 1, isUnchanged: false });
    expect(Object.keys(await textsIn(store))).toEqual([
      'lake/_manifest',
      'lake/a.csv',
      'lake/b.csv',
      'lake/d.csv',
      'lake/notes.txt',
    ]);
  });

  test('is sent in parts if it is large, with its hash, and read back the same', async () => {
    const store = await open();
    const large = randomBytes(21 * 1024 * 1024 + 7);
    await mirrorExport(store, await exportOf({ 'large.parquet': large }), options);
    const hash = createHash('sha256');
    for await (const piece of (await store.open('lake/large.parquet')) ?? []) hash.update(piece as Buffer);
    expect(hash.digest('hex')).toBe(sha256Of(large));
    expect((await store.describe('lake/large.parquet'))?.labels['costbook-sha256']).toBe(sha256Of(large));
  });

  test('is not sent if a local file is not the one of its manifest', async () => {
    const store = await open();
    const one = await exportOf({ 'a.csv': 'one' });
    await writeFile(join(one.folder, 'a.csv'), 'two');
    expect(await exitCodeOfMirror(mirrorExport(store, one, options))).toMatch(
      /^7 .*a\.csv was not sent: found the SHA-256/,
    );
    const large = await exportOf({ 'large.csv': randomBytes(20 * 1024 * 1024) });
    await writeFile(join(large.folder, 'large.csv'), randomBytes(20 * 1024 * 1024));
    expect(await exitCodeOfMirror(mirrorExport(store, large, options))).toMatch(/^7 .*large\.csv was not sent/);
    expect(Object.keys(await textsIn(store))).toEqual(['lake/.costbook-lease.json']);
  });
});

describe.skipIf(program === undefined)('a fault of a moment', () => {
  test.each<Fault>(['reset', 'lose-answer', { status: 503, code: 'SlowDown' }, { status: 500, code: 'InternalError' }])(
    '%j at any request changes nothing',
    async (fault) => {
      const faulty = await startFaultyStore(server.url);
      const two = await exportOf(after);
      // On a busy machine, a fault takes seconds: its own lease must live longer.
      const lasting = { ...options, times: { ...times, deadAfterMs: 10_000 } };
      let requests = 0;
      for (let at = 1; at <= requests || at === 1; at += 1) {
        faulty.script = () => undefined;
        const prefix = newPrefix();
        const store = await open({ endpoint: faulty.url, prefix });
        await mirrorExport(store, await exportOf(before), lasting);
        const begin = faulty.seen.length;
        faulty.script = ({ number }) => (number === begin + at ? fault : undefined);
        expect(await exitCodeOfMirror(mirrorExport(store, two, lasting)), `request ${at}`).toBe('done');
        requests = Math.max(requests, faulty.seen.length - begin);
        expect(await wholeIn(await open({ prefix })), `request ${at}`).toBe('3 files, 0 wrong, 0 strangers');
      }
      expect(requests).toBeGreaterThan(10);
      await faulty.close();
    },
  );
});

describe.skipIf(program === undefined)('a fault that stays', () => {
  const cases: readonly [name: string, fault: Fault, expected: RegExp][] = [
    ['no rights', { status: 403, code: 'AccessDenied' }, /^3 cannot store s3:.*403 AccessDenied.*s3:PutObject/s],
    ['expired credentials', { status: 400, code: 'ExpiredToken' }, /^3 .*400 ExpiredToken.*[Rr]enew/s],
    ['no bucket', { status: 404, code: 'NoSuchBucket' }, /^2 .*no such bucket. Create it/],
    ['another region', { status: 301, code: 'PermanentRedirect' }, /^2 .*storage\.region/],
    ['no room', { status: 507, code: 'InsufficientStorage' }, /^3 .*it has no room.*Give the bucket more room/],
    [
      'a failing store',
      { status: 500, code: 'InternalError' },
      /^3 .*500 InternalError.*next run, within a day, continues/i,
    ],
    ['a store that hangs', 'hang', /^3 .*did not answer in time.*next run, within a day, continues/i],
    ['a store that closes connections', 'reset', /^3 .*cannot be reached.*next run, within a day, continues/i],
  ];
  test.each(cases)('%s is named, readers see nothing of it, and the next run completes', async (_, fault, expected) => {
    const faulty = await startFaultyStore(server.url);
    const prefix = newPrefix();
    const store = await open({ endpoint: faulty.url, prefix, timeoutMs: 700 });
    await mirrorExport(store, await exportOf(before), options);
    // Only data is refused: the lease is written.
    faulty.script = ({ method, path }) => (method === 'PUT' && /b\.csv/.test(path) ? fault : undefined);
    const two = await exportOf(after);
    const failed = await exitCodeOfMirror(mirrorExport(store, two, options));
    expect(failed).toMatch(expected);
    expect(failed).not.toContain(secretKey);
    const direct = await open({ prefix });
    const { 'lake/b.csv': b, 'lake/_manifest': manifest } = await textsIn(direct);
    expect([b, manifest === (await exportOf(before)).content.manifest]).toEqual(['b one', true]);
    faulty.script = () => undefined;
    expect(await exitCodeOfMirror(mirrorExport(store, two, options))).toBe('done');
    expect(await wholeIn(direct)).toBe('3 files, 0 wrong, 0 strangers');
    await faulty.close();
  });

  test('a store that is killed and comes back has the next publication whole', async () => {
    const own = await startS3(program ?? '');
    const faulty = await startFaultyStore(own.url);
    const store = await open({ endpoint: faulty.url, timeoutMs: 1000 });
    await mirrorExport(store, await exportOf(before), options);
    faulty.script = async ({ method, path }) => {
      if (method === 'PUT' && path.includes('b.csv')) await own.kill();
      return undefined;
    };
    const two = await exportOf(after);
    expect(await exitCodeOfMirror(mirrorExport(store, two, options))).toMatch(/^3 .*cannot be reached/);
    faulty.script = () => undefined;
    await own.start();
    // The lease could not be given back, and its process still runs.
    expect(await exitCodeOfMirror(mirrorExport(store, two, patient))).toBe('done');
    expect(await wholeIn(store)).toBe('3 files, 0 wrong, 0 strangers');
    await faulty.close();
    await own.kill();
  });
});

describe.skipIf(program === undefined)('two publishers', () => {
  test('the second stops with the name of the first, and changes nothing', async () => {
    const faulty = await startFaultyStore(server.url);
    const prefix = newPrefix();
    const [first, second] = [await open({ endpoint: faulty.url, prefix }), await open({ prefix })];
    let isHeld = true;
    faulty.script = async ({ method, path }) => {
      while (isHeld && method === 'PUT' && path.includes('b.csv')) await sleepFor(20);
      return undefined;
    };
    const running = exitCodeOfMirror(mirrorExport(first, await exportOf(before), options));
    while (!faulty.seen.some(({ path }) => path.includes('b.csv'))) await sleepFor(10);
    expect(await exitCodeOfMirror(mirrorExport(second, await exportOf(after), options))).toMatch(
      /^5 .*lease\.json is held by .*process \d+: it publishes the same export there now/,
    );
    isHeld = false;
    expect(await running).toBe('done');
    expect(await wholeIn(second)).toBe('3 files, 0 wrong, 0 strangers');
    await faulty.close();
  });

  test('of other books replace and remove nothing of each other', async () => {
    const store = await open({});
    const [own, other] = [
      { ...(await exportOf(before)), books: 'a' },
      { ...(await exportOf(after)), books: 'b' },
    ];
    await mirrorExport(store, own, options);
    expect(await exitCodeOfMirror(mirrorExport(store, other, options))).toMatch(
      /^4 .*lake\/_manifest is of other books/,
    );
    expect(await mirrorExport(store, own, options)).toMatchObject({ isUnchanged: true });
    expect(await mirrorExport(store, { ...other, books: 'a' }, options)).toMatchObject({ sent: 2, removed: 1 });
  });

  test('one that was paused finds its lease gone and mixes nothing', async () => {
    const faulty = await startFaultyStore(server.url);
    const prefix = newPrefix();
    const [paused, other] = [await open({ endpoint: faulty.url, prefix }), await open({ prefix })];
    await mirrorExport(other, await exportOf(before), options);
    let isPaused = false;
    // From the first file on, nothing of the paused one arrives, not even its renewals.
    faulty.script = async ({ method, path }) => {
      if (method === 'PUT' && path.includes('b.csv')) isPaused = true;
      while (isPaused) await sleepFor(20);
      return undefined;
    };
    const running = exitCodeOfMirror(mirrorExport(paused, await exportOf({ ...after, 'b.csv': 'b three' }), options));
    while (!isPaused) await sleepFor(10);
    expect(await exitCodeOfMirror(mirrorExport(other, await exportOf(after), patient))).toBe('done');
    isPaused = false;
    expect(await running).toMatch(/^5 .*(took over the publication|was written by somebody else)/);
    expect(await wholeIn(other)).toBe('3 files, 0 wrong, 0 strangers');
    expect((await other.readText('lake/b.csv'))?.text).toBe('b two');
    await faulty.close();
  });

  test('a store that ignores conditions is named once', async () => {
    const faulty = await startFaultyStore(server.url);
    faulty.script = () => 'ignore-conditions';
    const store = await open({ endpoint: faulty.url });
    const told: string[] = [];
    const telling = { ...options, tell: (words: string) => told.push(words) };
    expect(await exitCodeOfMirror(mirrorExport(store, await exportOf(before), telling))).toBe('done');
    expect(told).toEqual([expect.stringContaining('ignores conditional writes, so two publishers')]);
    await faulty.close();
  });
});

describe.skipIf(program === undefined)('an archive of landing pages', () => {
  async function landingOf(loads: Readonly<Record<string, string>>): Promise<string> {
    const root = await mkdtemp(join(tmpdir(), 'costbook-landing-'));
    for (const [place, page] of Object.entries(loads)) {
      const pages = [{ file: 'detail-0001.json', sha256: sha256Of(page) }];
      await mkdir(join(root, place), { recursive: true });
      await writeFile(join(root, place, 'detail-0001.json'), page);
      await writeFile(join(root, place, 'load.json'), JSON.stringify({ pages }));
    }
    return root;
  }
  const three = { 'acc/load-000000001': 'one', 'b%2Fc/load-000000002': 'two', 'acc/load-000000003': 'three' };
  const silent = (): void => undefined;

  test('has each load once, continues after a failure, and is verified page by page', async () => {
    const faulty = await startFaultyStore(server.url);
    const prefix = newPrefix();
    const store = await open({ endpoint: faulty.url, prefix });
    const root = await landingOf(three);
    const loads = await landingPlaces(root);
    faulty.script = ({ method, path }) =>
      method === 'PUT' && path.includes('load-000000003') ? { status: 403, code: 'AccessDenied' } : undefined;
    expect(await exitCodeOfMirror(archiveLoads(store, root, loads, silent))).toMatch(/^3 .*403 AccessDenied/);
    faulty.script = () => undefined;
    expect(await archiveLoads(store, root, loads, silent)).toEqual({ through: 3, sent: 3 });
    const already = faulty.seen.length;
    expect(await archiveLoads(store, root, loads, silent)).toEqual({ through: 3, sent: 0 });
    expect(faulty.seen.length - already).toBe(1);
    expect(await verifyArchive(store, silent)).toEqual({
      ...{ loads: 3, pages: 3, through: 3, unknown: 3, unsent: 0, differences: [] },
    });
    expect((await store.readText('b%2Fc/load-000000002/detail-0001.json'))?.text).toBe('two');
    const folder = join(server.bucketFolder('books'), prefix);
    await writeFile(join(folder, 'acc', 'load-000000001', 'detail-0001.json'), 'eno');
    await rm(join(folder, 'acc', 'load-000000003', 'load.json'));
    expect((await verifyArchive(store, silent))?.differences).toMatchObject([
      { file: 'acc/load-000000001/detail-0001.json', what: 'sha256', expected: sha256Of('one') },
      { file: 'load 3', what: 'file', found: 'nothing' },
    ]);
    await faulty.close();
  });

  test('of other books, and a damaged page, are refused', async () => {
    const store = await open();
    const root = await landingOf(three);
    await store.putText('acc/load-000000001/detail-0001.json', 'of others', {}, undefined);
    expect(await exitCodeOfMirror(archiveLoads(store, root, await landingPlaces(root), silent))).toMatch(
      /^4 .*the archive is of other books/,
    );
    await writeFile(join(root, 'acc/load-000000001/detail-0001.json'), 'changed');
    expect(await exitCodeOfMirror(archiveLoads(await open(), root, await landingPlaces(root), silent))).toMatch(
      /^4 .*its load\.json says .* Run "costbook repair"/,
    );
  });
});

test('a text that never ends, and does not say its length, is read up to a limit only', async () => {
  const endless = createServer((_, response) => {
    const more = () => {
      while (response.write('['.repeat(65_536)));
    };
    response.on('drain', more);
    more();
  });
  const store = await open({ endpoint: `http://127.0.0.1:${await listen(endless)}` });
  expect(await exitCodeOfMirror(store.readText('manifest.json'))).toMatch(/^7 .*larger than a manifest can be/);
  store.close();
  endless.closeAllConnections();
  endless.close();
});

describe.skipIf(program === undefined)('a large file', () => {
  test.each([0, 3, 6, 9, 12, 15])(
    'that is interrupted leaves no parts that the next run keeps (%i ms after a part was sent)',
    async (ms) => {
      const faulty = await startFaultyStore(server.url);
      const prefix = newPrefix();
      const stop = new AbortController();
      const store = await open({ endpoint: faulty.url, prefix, signal: stop.signal });
      const large = await exportOf({ 'large.parquet': randomBytes(30 * 1024 * 1024) });
      faulty.script = ({ path }) => (path.includes('partNumber=2') ? 'hang' : undefined);
      const running = exitCodeOfMirror(mirrorExport(store, large, { ...options, signal: stop.signal }));
      while (!faulty.seen.some(({ path }) => path.includes('partNumber=2'))) await sleepFor(10);
      await sleepFor(ms);
      stop.abort(new InterruptedError('SIGTERM'));
      expect(await running).toMatch(/^143 /);
      const direct = await open({ prefix });
      // A part that the store was still writing may have outlived it, which the next run removes.
      expect(await direct.removeUnfinished('')).toBeLessThanOrEqual(1);
      expect(await direct.removeUnfinished('')).toBe(0);
      await faulty.close();
    },
  );
});
