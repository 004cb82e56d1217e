import { execFileSync } from 'node:child_process';
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from 'vitest';
import { UnprovenError } from '../../src/base/errors.ts';
import { missingPages, openLandingReader, readStoredLoads, type StoredLoad } from '../../src/fetch/landing-reader.ts';
import { type LoadRecord, openLandingWriter } from '../../src/fetch/landing-writer.ts';
import { controlQuery, detailQuery, repairQuery, residualQuery } from '../../src/fetch/plan/queries.ts';
import { putInPlace } from '../../src/ingest/rebuild.ts';
import { bodyOf, group, windowOf } from '../support/http-metrics.ts';
import { newProject } from '../support/project.ts';

const window = windowOf(2);
const copyFolder = (from: string, to: string) => cp(from, to, { recursive: true });
const detail = detailQuery(window);
const last = { hasMore: false };
const more = { hasMore: true, nextCursor: 'c1' };

const record: LoadRecord = {
  loadNumber: 1,
  runNumber: 1,
  attempt: 1,
  reason: 'new',
  role: 'admin',
  claimedEnd: window.end,
  seenAt: Date.UTC(2026, 9, 1, 3),
  requests: 2,
  pagesRead: 2,
  queries: [],
  known: { decimals: { cost: 9, usage: 3 }, agreedTolerance: null },
  leavesOut: false,
  outcome: 'loaded',
  rowCount: 0,
  restated: 0,
  cost: '0',
  covered: [],
  reconciliations: null,
};

let root = '';
beforeEach(async () => {
  root = join(await newProject(), 'landing');
});

function page(cost: number, meta: { hasMore: boolean; nextCursor?: string }): { bytes: Buffer; gzipped: boolean } {
  const hours = [cost, cost].map((each) => [each, 1] as const);
  const body = bodyOf(2, [group(hours)], { meta });
  return { bytes: Buffer.from(JSON.stringify(body)), gzipped: false };
}

/** Lands these pages of the detail as one load and reads it back. */
async function stored(pages: readonly { bytes: Buffer; gzipped: boolean }[], loadNumber = 1): Promise<StoredLoad> {
  const folder = await openLandingWriter(root).begin('acc/one', window, record.seenAt);
  for (const [index, body] of pages.entries()) await folder.page(detail, index + 1, body);
  await folder.file({ ...record, loadNumber }, true);
  const load = (await readStoredLoads(root)).loads.find((each) => each.record.loadNumber === loadNumber);
  if (load === undefined) throw new Error('no such load');
  return load;
}

/** The costs of a query's pages, as they are handed over. */
async function costsOf(load: StoredLoad, query = detail): Promise<string[]> {
  const costs: string[] = [];
  await openLandingReader(root, load).ask(query, { page: ({ totalCost }) => void costs.push(totalCost) });
  return costs;
}

describe('a stored load', () => {
  test('is read back as it was written', async () => {
    const load = await stored([page(1, last)]);
    expect(load).toMatchObject({ account: 'acc/one', window, record });
    expect(load.pages.map(({ file, number }) => [file, number])).toEqual([['detail-0001.json', 1]]);
  });

  test('names pages of its own folder only', async () => {
    const { place } = await stored([page(1, last)]);
    const path = join(root, place, 'load.json');
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace('"detail-0001.json"', '"../../../costbook.yaml"'));
    expect((await readStoredLoads(root)).losses).toMatchObject([{ problem: `${path}: pages cannot be read` }]);
  });

  test('answers its queries page by page, gzipped or not', async () => {
    const zipped = page(2, more);
    const load = await stored([page(1, more), { bytes: gzipSync(zipped.bytes), gzipped: true }, page(3, last)]);
    expect(await costsOf(load)).toEqual(['2', '4', '6']);
  });

  test('names stored queries that nobody ran', async () => {
    const folder = await openLandingWriter(root).begin('acc_one', window, record.seenAt);
    for (const query of [detail, controlQuery(window, 'admin'), residualQuery(window, 'volume')]) {
      await folder.page(query, 1, page(1, last));
    }
    await folder.file(record, true);
    const [load] = (await readStoredLoads(root)).loads;
    const answers = openLandingReader(root, load as StoredLoad);
    await answers.ask(detail, { page: () => undefined });
    expect(answers.unasked().sort()).toEqual(['control', 'residual volume']);
  });

  test.each([
    [
      'another query',
      repairQuery(window, 'volume_storage_gbs', 'member'),
      /repair volume_storage_gbs: this query has no stored answer/,
    ],
    ['another window', detailQuery(windowOf(3)), /detail: this query has no stored answer/],
    [
      'another grain',
      { ...detail, groupBy: ['billing_dimension'] as const },
      /detail: this query has no stored answer/,
    ],
  ])('has no answer to %s', async (_, query, message) => {
    const failure = costsOf(await stored([page(1, last)]), query);
    await expect(failure).rejects.toThrow(message);
    await expect(failure).rejects.toBeInstanceOf(UnprovenError);
  });

  test.each([
    ['whose last page says that more follow', [page(1, more)], /page 1 says that more pages follow/],
    ['whose first page says that it is the last', [page(1, last), page(2, last)], /page 1 says that no pages follow/],
  ])('%s is refused', async (_, pages, message) => {
    await expect(costsOf(await stored(pages))).rejects.toThrow(message);
  });

  test('with a changed byte in a page is refused, even if the page is valid', async () => {
    const load = await stored([page(1, last)]);
    const path = join(root, load.place, 'detail-0001.json');
    await writeFile(path, (await readFile(path, 'utf8')).replace('crawler', 'crawlex'));
    await expect(costsOf(load)).rejects.toThrow(/detail-0001\.json has changed since it was stored/);
  });

  test('names its missing pages', async () => {
    const load = await stored([page(1, more), page(2, last)]);
    await rm(join(root, load.place, 'detail-0002.json'));
    expect(await missingPages(root, load)).toEqual(['detail-0002.json']);
  });
});

describe('the list of stored loads', () => {
  test('is ordered by number, across accounts', async () => {
    for (const number of [11, 2, 1]) await stored([page(1, last)], number);
    expect((await readStoredLoads(root)).loads.map((load) => load.record.loadNumber)).toEqual([1, 2, 11]);
    expect(await openLandingWriter(root).newestLoad()).toBe(11);
    // Nobody waits for a pipe.
    const newest = join(root, 'acc_one', 'load-000000012');
    await mkdir(newest, { recursive: true });
    execFileSync('mkfifo', [join(newest, 'load.json')]);
    expect(await openLandingWriter(root).newestLoad()).toBe(12);
  });

  test('is empty for an empty landing folder', async () => {
    expect(await readStoredLoads(root)).toEqual({ loads: [], losses: [] });
    expect(await openLandingWriter(root).newestLoad()).toBe(0);
  });

  test.each([
    ['not JSON', () => '{"account":', /load\.json is not JSON/],
    ['JSON of something else', () => 'null', /load\.json: account, window, loadNumber/],
    [
      'without the role',
      (text: string) => text.replace('"role": "admin"', '"role": "guest"'),
      /load\.json: role cannot/,
    ],
    ['without a time', (text: string) => text.replace(/"seenAt": ".*"/, '"seenAt": "x"'), /load\.json: seenAt cannot/],
  ])('names a load as lost if its load.json is %s, and keeps the intact loads', async (_, change, message) => {
    const load = await stored([page(1, last)]);
    await stored([page(1, last)], 2);
    const path = join(root, load.place, 'load.json');
    await writeFile(path, change(await readFile(path, 'utf8')));
    const { loads, losses } = await readStoredLoads(root);
    expect(loads.map(({ record }) => record.loadNumber)).toEqual([2]);
    expect(losses).toMatchObject([{ loadNumber: 1, place: load.place, problem: expect.stringMatching(message) }]);
  });

  test('names a load without load.json as lost', async () => {
    const load = await stored([page(1, last)]);
    await rm(join(root, load.place, 'load.json'));
    const { loads, losses } = await readStoredLoads(root);
    expect(loads).toEqual([]);
    expect(losses).toMatchObject([{ loadNumber: 1, problem: expect.stringContaining('load.json is missing') }]);
  });

  test('names two loads of one number', async () => {
    await stored([page(1, last)]);
    const other = await openLandingWriter(root).begin('acc_two', window, record.seenAt);
    await other.file(record, true);
    const { losses } = await readStoredLoads(root);
    expect(losses).toMatchObject([{ loadNumber: 1, problem: expect.stringMatching(/are both load 1/) }]);
  });

  test.each([
    ['moved to another account', rename, []],
    ['copied to another account', copyFolder, ['acc_two/load-000000001.copy']],
    [
      'copied to another account, while the original is damaged',
      async (from: string, to: string) => {
        await copyFolder(from, to);
        await writeFile(join(from, 'load.json'), '{');
      },
      ['acc%2Fone/load-000000001.lost'],
    ],
  ])('puts a load in its place that was %s', async (_, move, aside) => {
    const load = await stored([page(1, last)]);
    await mkdir(join(root, 'acc_two'));
    await move(join(root, load.place), join(root, 'acc_two', 'load-000000001'));
    expect((await readStoredLoads(root)).losses).not.toEqual([]);
    expect(await putInPlace(root)).toEqual(aside.map((place) => join(root, place)));
    const healed = await readStoredLoads(root);
    expect(healed.losses).toEqual([]);
    expect(healed.loads.map(({ place }) => place)).toEqual([load.place]);
  });
});
