import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type LandingFolder, type LoadRecord, openLandingWriter } from '../../src/fetch/landing-writer.ts';
import { controlQuery, detailQuery, type Query, repairQuery, residualQuery } from '../../src/fetch/plan/queries.ts';
import { windowOf } from '../support/http-metrics.ts';

const window = windowOf(2);
const askedAt = Date.UTC(2026, 9, 21, 3, 30);
const seenAt = Date.UTC(2026, 9, 21, 3, 31, 5);
const detail = detailQuery(window);
const control = controlQuery(window, 'admin');

let parent = '';
let root = '';
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'costbook-landing-'));
  root = join(parent, 'data', 'landing');
});
afterEach(() => rmSync(parent, { recursive: true }));

function plain(text: string): { bytes: Buffer; gzipped: boolean } {
  return { bytes: Buffer.from(text), gzipped: false };
}
function begin(account = 'acc_one'): Promise<LandingFolder> {
  return openLandingWriter(root).begin(account, window, askedAt);
}
/** What a load that changed something is filed with. */
function record(loadNumber: number, role: 'admin' | 'member' = 'admin'): LoadRecord {
  return {
    loadNumber,
    runNumber: 3,
    attempt: 1,
    reason: 'new',
    role,
    claimedEnd: window.end,
    seenAt,
    requests: 2,
    pagesRead: 2,
    queries: [{ purpose: 'detail', resourceType: null, billingDimension: null, pages: 2 }],
    known: { decimals: { cost: 9, usage: 3 }, agreedTolerance: '0.01' },
    leavesOut: false,
    outcome: 'loaded',
    rowCount: 5,
    restated: 1,
    cost: '12.5',
    covered: [{ window: '2026-10-01T00:00:00Z/2026-10-01T02:00:00Z', role }],
    reconciliations: null,
  };
}
/** Every file below a folder, as paths with slashes. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}
function loadJson(place: string): { pages: { file: string; query: string; request: object }[] } {
  return JSON.parse(readFileSync(join(root, place, 'load.json'), 'utf8'));
}

describe('a landing folder', () => {
  test('stores bodies byte for byte, gzip as gzip, under the names of query and page', async () => {
    const folder = await begin();
    const zipped = gzipSync('{"a":1}');
    await folder.page(detail, 1, { bytes: zipped, gzipped: true });
    await folder.page(detail, 12, plain('{ "b" : 2 }'));
    await folder.page(control, 1, plain('{}'));
    await folder.page(residualQuery(window, 'volume'), 1, plain('{}'));
    await folder.page(repairQuery(window, 'volume_storage_gbs', 'member'), 1, plain('{}'));
    expect(filesBelow(folder.path)).toEqual([
      'control-0001.json',
      'detail-0001.json.gz',
      'detail-0012.json',
      'repair-volume_storage_gbs-0001.json',
      'residual-volume-0001.json',
    ]);
    expect(readFileSync(join(folder.path, 'detail-0001.json.gz'))).toEqual(zipped);
    expect(readFileSync(join(folder.path, 'detail-0012.json'), 'utf8')).toBe('{ "b" : 2 }');
  });

  test('becomes a load of its account, with its queries, time and role', async () => {
    const folder = await begin();
    await folder.page(detail, 2, plain('{}'));
    await folder.page(detail, 1, plain('{}'));
    await folder.page(control, 1, plain('{}'));
    const place = await folder.file(record(42), true);
    expect(place).toBe(join('acc_one', 'load-000000042'));
    expect(filesBelow(root)).toEqual([
      'acc_one/load-000000042/control-0001.json',
      'acc_one/load-000000042/detail-0001.json',
      'acc_one/load-000000042/detail-0002.json',
      'acc_one/load-000000042/load.json',
    ]);
    const span = { accountId: 'acc_one', startTime: '2026-10-01T00:00:00Z', endTime: '2026-10-01T02:00:00Z' };
    const page = { ...span, resolution: 'hourly', limit: '100' };
    const detailRequest = { ...page, groupBy: 'resource_name,resource_uuid,billing_dimension' };
    const sha256 = createHash('sha256').update('{}').digest('hex');
    const control1 = { ...page, groupBy: 'workspace,billing_dimension' };
    const { seenAt: _, claimedEnd: __, ...said } = record(42);
    expect(loadJson(place)).toEqual({
      ...said,
      account: 'acc_one',
      window: '2026-10-01T00:00:00Z/2026-10-01T02:00:00Z',
      askedAt: '2026-10-21T03:30:00Z',
      claimedEnd: '2026-10-01T02:00:00Z',
      seenAt: '2026-10-21T03:31:05Z',
      platformAt: null,
      pages: [
        { file: 'control-0001.json', sha256, purpose: 'control', query: 'control', number: 1, request: control1 },
        { file: 'detail-0001.json', sha256, purpose: 'detail', query: 'detail', number: 1, request: detailRequest },
        { file: 'detail-0002.json', sha256, purpose: 'detail', query: 'detail', number: 2, request: detailRequest },
      ],
    });
  });

  test('the same page fetched again replaces the earlier one', async () => {
    const folder = await begin();
    await folder.page(detail, 1, plain('long and broken'));
    await folder.page(detail, 1, plain('{}'));
    expect(readFileSync(join(folder.path, 'detail-0001.json'), 'utf8')).toBe('{}');
    expect(loadJson(await folder.file(record(1), true)).pages).toHaveLength(1);
  });

  test('even if one came plain and the other gzipped', async () => {
    const folder = await begin();
    await folder.page(detail, 1, plain('<html>'));
    await folder.page(detail, 1, { bytes: gzipSync('{}'), gzipped: true });
    await folder.page(control, 1, { bytes: gzipSync('{}').subarray(0, 10), gzipped: true });
    await folder.page(control, 1, plain('{}'));
    expect(filesBelow(folder.path)).toEqual(['control-0001.json', 'detail-0001.json.gz']);
    const { pages } = loadJson(await folder.file(record(1), true));
    expect(pages.map(({ file }) => file)).toEqual(['control-0001.json', 'detail-0001.json.gz']);
  });

  test('replaces what a killed run stored under the same number', async () => {
    const killed = await begin();
    await killed.page(detail, 1, plain('old'));
    await killed.page(detail, 2, plain('old'));
    await killed.file(record(7), true);
    const folder = await begin();
    await folder.page(detail, 1, plain('new'));
    const place = await folder.file(record(7, 'member'), true);
    expect(filesBelow(join(root, place))).toEqual(['detail-0001.json', 'load.json']);
    expect(readFileSync(join(root, place, 'detail-0001.json'), 'utf8')).toBe('new');
  });

  test('leaves nothing behind when discarded, and affects no other', async () => {
    const landing = openLandingWriter(root);
    const [first, second] = [
      await landing.begin('acc_one', window, askedAt),
      await landing.begin('acc_one', window, askedAt),
    ];
    await first.page(detail, 1, plain('{}'));
    await second.page(detail, 1, plain('{}'));
    await first.discard();
    expect(existsSync(first.path)).toBe(false);
    expect(filesBelow(second.path)).toEqual(['detail-0001.json']);
  });
});

describe('the answers of a load', () => {
  test('that changed nothing are removed if they are not needed; the queries stay', async () => {
    const folder = await begin();
    await folder.page(detail, 1, plain('{}'));
    await folder.page(control, 1, { bytes: gzipSync('{}'), gzipped: true });
    const place = await folder.file(record(1), false);
    expect(filesBelow(root)).toEqual(['acc_one/load-000000001/load.json']);
    expect(loadJson(place).pages.map(({ file }) => file)).toEqual(['control-0001.json.gz', 'detail-0001.json']);
  });

  test('are removed on request, but load.json stays; other loads keep theirs', async () => {
    const places: string[] = [];
    for (const number of [1, 2]) {
      const folder = await begin();
      await folder.page(detail, 1, plain('{}'));
      await folder.page(control, 1, { bytes: gzipSync('{}'), gzipped: true });
      places.push(await folder.file(record(number), true));
    }
    writeFileSync(join(root, places[0] ?? '', 'notes.txt'), 'mine');
    await openLandingWriter(root).removeBodies([places[0] ?? '', join('acc_one', 'load-000000099')]);
    expect(filesBelow(root)).toEqual([
      'acc_one/load-000000001/load.json',
      'acc_one/load-000000001/notes.txt',
      'acc_one/load-000000002/control-0001.json.gz',
      'acc_one/load-000000002/detail-0001.json',
      'acc_one/load-000000002/load.json',
    ]);
  });

  test('are removed with their folder if the load fails to commit', async () => {
    const folder = await begin();
    await folder.page(detail, 1, plain('{}'));
    await folder.file(record(1), true);
    await folder.discard();
    expect(filesBelow(root)).toEqual([]);
  });
});

describe('a query that restarts', () => {
  test('discards its own pages, and those of no other query', async () => {
    const folder = await begin();
    const volume = residualQuery(window, 'volume');
    for (const query of [volume, residualQuery(window, 'volume-0001'), residualQuery(window, 'volumes'), detail]) {
      await folder.page(query, 1, plain('{}'));
    }
    await folder.page(volume, 2, { bytes: gzipSync('{}'), gzipped: true });
    await folder.restart(volume);
    const kept = ['detail-0001.json', 'residual-volume-0001-0001.json', 'residual-volumes-0001.json'];
    expect(filesBelow(folder.path)).toEqual(kept);
    const { pages } = loadJson(await folder.file(record(1), true));
    expect(pages.map(({ file }) => file)).toEqual(kept);
  });

  test('discards its ten thousandth page as well', async () => {
    const folder = await begin();
    await folder.page(detail, 9999, plain('{}'));
    await folder.page(detail, 10_000, plain('{}'));
    await folder.restart(detail);
    expect(filesBelow(folder.path)).toEqual([]);
  });
});

describe('names from outside', () => {
  const odd: [string, string][] = [
    ['dots and a slash', '../x'],
    ['many of them', '../../../../etc/passwd'],
    ['a slash', 'a/b'],
    ['a backslash', 'a\\..\\b'],
    ['a dot', '.'],
    ['two dots', '..'],
    ['an absolute path', '/etc/passwd'],
    ['a zero byte', 'a\0b'],
    ['a newline', 'a\nb'],
    ['spaces', '  '],
    ['a star', '*'],
    ['letters of many scripts', 'компания 会社 🏢'],
    ['what is already encoded', '%2e%2e%2fx'],
    ['the name of load.json', 'load.json'],
  ];

  test.each(odd)('an account with %s in its name is one folder below the root', async (_, account) => {
    const folder = await begin(account);
    await folder.page(detail, 1, plain('{}'));
    const place = await folder.file(record(1), true);
    expect(resolve(root, place).startsWith(root + sep)).toBe(true);
    expect(place.split(sep)).toHaveLength(2);
    const [name] = place.split(sep);
    expect(filesBelow(parent)).toEqual([
      `data/landing/${name}/load-000000001/detail-0001.json`,
      `data/landing/${name}/load-000000001/load.json`,
    ]);
    expect(JSON.parse(readFileSync(join(root, place, 'load.json'), 'utf8'))).toMatchObject({ account });
  });

  test('different accounts never share a folder', async () => {
    const accounts = [...odd.map(([, account]) => account), 'a', 'A%2Fb', 'a%2Fb', '%2E'];
    const places = new Set<string>();
    for (const account of accounts) places.add(await (await begin(account)).file(record(1), true));
    expect(places.size).toBe(accounts.length);
  });

  test.each([
    ['an account with a name longer than a file may have', 'x'.repeat(400)],
    ['an account with such a name in three bytes a letter', '会'.repeat(90)],
  ])('%s can be stored', async (_, account) => {
    const folder = await begin(account);
    const place = await folder.file(record(1), true);
    expect(resolve(root, place).startsWith(root + sep)).toBe(true);
    expect(filesBelow(root)).toHaveLength(1);
  });

  test.each([...odd, ['very many letters', 'x'.repeat(5000)], ['very many wide letters', '会'.repeat(5000)]])(
    'a resource type with %s in its name is a file of the landing folder',
    async (_, type) => {
      const folder = await begin();
      await folder.page(residualQuery(window, type), 1, plain('{}'));
      const files = filesBelow(parent);
      expect(files).toHaveLength(1);
      expect(files[0]).toMatch(/^data\/landing\/[^/]+\/[^/]+\/residual-[^/]+-0001\.json$/);
    },
  );

  test.each([
    ['that differ after their first 150 letters', `${'x'.repeat(200)}-one`, `${'x'.repeat(200)}-two`],
    ['that differ in a space and a hyphen', 'web server', 'web-server'],
    ['that differ in a dot and its code', 'a.b', 'a%2Eb'],
  ])('resource types %s do not overwrite each other', async (_, one, other) => {
    const folder = await begin();
    await folder.page(residualQuery(window, one), 1, plain('"one"'));
    await folder.page(residualQuery(window, other), 1, plain('"other"'));
    expect(filesBelow(folder.path)).toHaveLength(2);
  });

  test('restarting a query with a long name leaves another with the same prefix alone', async () => {
    const folder = await begin();
    const [one, other]: Query[] = [`${'x'.repeat(200)}-one`, `${'x'.repeat(200)}-two`].map((type) =>
      residualQuery(window, type),
    );
    if (one === undefined || other === undefined) throw new Error('two queries');
    await folder.page(one, 1, plain('"one"'));
    await folder.page(other, 2, plain('"other"'));
    await folder.restart(one);
    expect(filesBelow(folder.path)).toHaveLength(1);
  });
});

describe('removeUnfinished', () => {
  async function fileLoad(account: string, loadNumber: number): Promise<void> {
    const folder = await begin(account);
    await folder.page(detail, 1, plain('{}'));
    await folder.file(record(loadNumber), true);
  }

  test('removes incoming pages and the one load that never committed, and keeps everything else', async () => {
    await fileLoad('acc_one', 1);
    await fileLoad('acc_two', 2);
    await fileLoad('acc_one', 3);
    await fileLoad('acc_one', 30);
    const onItsWay = await begin();
    await onItsWay.page(detail, 1, plain('{}'));
    await openLandingWriter(root).removeUnfinished(2);
    expect(existsSync(onItsWay.path)).toBe(false);
    expect(filesBelow(root)).toEqual([
      'acc_one/load-000000001/detail-0001.json',
      'acc_one/load-000000001/load.json',
      'acc_one/load-000000030/detail-0001.json',
      'acc_one/load-000000030/load.json',
      'acc_two/load-000000002/detail-0001.json',
      'acc_two/load-000000002/load.json',
    ]);
  });

  test('does nothing in an empty landing folder', async () => {
    await openLandingWriter(root).removeUnfinished(0);
    expect(existsSync(root)).toBe(false);
  });

  test('a stray file in the landing folder does not stop it', async () => {
    await fileLoad('acc_one', 1);
    writeFileSync(join(root, '.DS_Store'), 'x');
    await openLandingWriter(root).removeUnfinished(0);
    expect(filesBelow(root)).toEqual(['.DS_Store']);
  });

  test('keeps folders of other programs', async () => {
    mkdirSync(join(root, 'acc_one', 'notes'), { recursive: true });
    writeFileSync(join(root, 'acc_one', 'notes', 'read.me'), 'x');
    await openLandingWriter(root).removeUnfinished(0);
    expect(filesBelow(root)).toEqual(['acc_one/notes/read.me']);
  });

  test('keeps the loads of an account that is called incoming', async () => {
    await fileLoad('incoming', 1);
    await openLandingWriter(root).removeUnfinished(1);
    expect(filesBelow(root)).toHaveLength(2);
  });
});
