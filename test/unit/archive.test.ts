import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landingPlaces } from '../../src/fetch/index.ts';
import { archiveLoads, landingHere, proveLoad, verifyArchive } from '../../src/storage/index.ts';
import { shaLabel } from '../../src/storage/s3-store.ts';
import { memoryStore } from '../support/memory-store.ts';
import { newProject } from '../support/project.ts';

const silent = () => undefined;
const shaOf = (text: string) => createHash('sha256').update(text).digest('hex');

/** A landing folder with loads, by their place. */
async function landingOf(loads: Readonly<Record<string, string>>) {
  const root = await mkdtemp(join(await newProject(), 'landing-'));
  for (const [place, page] of Object.entries(loads)) {
    await mkdir(join(root, place), { recursive: true });
    await writeFile(join(root, place, 'detail-0001.json'), page);
    const pages = [{ file: 'detail-0001.json', sha256: shaOf(page) }];
    await writeFile(join(root, place, 'load.json'), JSON.stringify({ pages }));
  }
  return { root, loads: await landingPlaces(root) };
}

const own = { 'acc/load-000000001': 'one', 'acc/load-000000002': 'two' };

test.each([9007199254740991, 3])(
  'an index that says through load %d, after the last one here, stops everything',
  async (through) => {
    const store = memoryStore();
    await store.putText('_archive.json', JSON.stringify({ costbook: 'archive', through }), {}, undefined);
    const { root, loads } = await landingOf(own);
    await expect(archiveLoads(store, root, loads, silent)).rejects.toThrow(
      `says that the archive has all loads through ${through}, and the last load here is 2. Nothing was sent or removed`,
    );
    expect([...store.objects.keys()]).toEqual(['_archive.json']);
  },
);

test.each([-1, 1.5, '2', null])('an index that says through %j is no index', async (through) => {
  const store = memoryStore();
  await store.putText('_archive.json', JSON.stringify({ costbook: 'archive', through }), {}, undefined);
  const { root, loads } = await landingOf(own);
  await expect(archiveLoads(store, root, loads, silent)).rejects.toThrow('is not of an archive');
});

test('an archive of other books is refused, whoever sends first', async () => {
  const store = memoryStore();
  const one = await landingOf(own);
  expect(await archiveLoads(store, one.root, one.loads, silent)).toEqual({ through: 2, sent: 2 });
  for (const others of [
    { ...own, 'acc/load-000000002': 'other' },
    { 'b/load-000000001': 'one', 'b/load-000000002': 'two' },
  ]) {
    const other = await landingOf(others);
    await expect(archiveLoads(store, other.root, other.loads, silent)).rejects.toThrow('the loads of other books');
  }
  // An archive of an earlier version does not say whose it is; it does after the next load.
  await store.putText('_archive.json', JSON.stringify({ costbook: 'archive', through: 1 }), {}, undefined);
  expect(await archiveLoads(store, one.root, one.loads, silent)).toEqual({ through: 2, sent: 1 });
  expect(JSON.parse(store.objects.get('_archive.json')?.text ?? '')).toMatchObject({ books: { number: 2 } });
});

test('books that were restored from a backup do not mix their loads with those of before, however many they have', async () => {
  const store = memoryStore();
  const three = { ...own, 'acc/load-000000003': 'three' };
  const before = await landingOf(three);
  await archiveLoads(store, before.root, before.loads, silent);
  const archived = [...store.objects.keys()];
  // The backup had loads 1 and 2; since then there are another load 3 and a load 4.
  const restored = await landingOf({ ...three, 'acc/load-000000003': 'drei', 'acc/load-000000004': 'four' });
  await expect(archiveLoads(store, restored.root, restored.loads, silent)).rejects.toMatchObject({
    message: expect.stringContaining('of these before they were restored from a backup'),
    next: { who: 'Act', words: expect.stringContaining('After a restore it must be a new one') },
  });
  expect([...store.objects.keys()]).toEqual(archived);
});

test('a page is removed here only if its object was there a moment ago; what is missing is sent', async () => {
  const store = memoryStore();
  const { root } = await landingOf(own);
  // The index may say what it likes.
  await store.putText('_archive.json', JSON.stringify({ costbook: 'archive', through: 2 }), {}, undefined);
  await proveLoad(store, root, 'acc/load-000000001');
  expect(store.objects.get('acc/load-000000001/detail-0001.json')?.text).toBe('one');
  expect(store.objects.has('acc/load-000000001/load.json')).toBe(true);
  const asked = store.asked.length;
  await proveLoad(store, root, 'acc/load-000000001');
  expect(store.asked.slice(asked)).toEqual([]); // read, not sent
  // Another file under the name, a label that lies about the size, and a store that keeps nothing.
  const key = 'acc/load-000000002/detail-0001.json';
  await store.putText(key, 'of others', {}, undefined);
  await expect(proveLoad(store, root, 'acc/load-000000002')).rejects.toThrow('the archive is of other books');
  store.objects.set(key, { text: 'longer than two', labels: { [shaLabel]: shaOf('two') } });
  await expect(proveLoad(store, root, 'acc/load-000000002')).rejects.toThrow('so that it stays here');
  const forgetful = { ...store, describe: async () => undefined };
  await expect(proveLoad(forgetful, root, 'acc/load-000000002')).rejects.toThrow('so that it stays here');
});

test('an archive is verified by what it lists, whatever number its index says', async () => {
  const store = memoryStore();
  const { root, loads } = await landingOf(own);
  await archiveLoads(store, root, loads, silent);
  store.objects.delete('acc/load-000000001/load.json');
  await store.putText('acc/load-000000007/load.json', 'no description', {}, undefined);
  const through = Number.MAX_SAFE_INTEGER;
  await store.putText('_archive.json', JSON.stringify({ costbook: 'archive', through }), {}, undefined);
  const found = await verifyArchive(store, silent);
  expect(found?.differences.map(({ file, what }) => [file, what])).toEqual([
    ['load 1', 'file'],
    ['loads 3 to 6', 'file'],
    ['load 7', 'content'],
    [`loads 8 to ${through}`, 'file'],
  ]);
});

test('a page that is gone from the archive is a difference', async () => {
  const store = memoryStore();
  const { root, loads } = await landingOf(own);
  await archiveLoads(store, root, loads, silent);
  store.objects.delete('acc/load-000000002/detail-0001.json');
  expect((await verifyArchive(store, silent))?.differences).toEqual([
    { file: 'load 2, detail-0001.json', what: 'file', found: 'nothing', expected: shaOf('two') },
  ]);
});

test('a load that somebody wrote into the archive anew, with its description, is a difference', async () => {
  const store = memoryStore();
  const { root, loads } = await landingOf(own);
  await archiveLoads(store, root, loads, silent);
  const place = 'acc/load-000000002';
  await store.putText(`${place}/detail-0001.json`, 'forged', {}, undefined);
  const pages = [{ file: 'detail-0001.json', sha256: shaOf('forged') }];
  await store.putText(`${place}/load.json`, JSON.stringify({ pages }), {}, undefined);
  const found = await verifyArchive(store, silent, await landingHere(root, loads));
  expect(found?.differences).toMatchObject([{ file: 'load 2', found: 'another text' }]);
});

test('a load of the archive that this project does not have is unknown', async () => {
  const store = memoryStore();
  const { root, loads } = await landingOf(own);
  await archiveLoads(store, root, loads, silent);
  const place = 'acc/load-000000003';
  await store.putText(`${place}/detail-0001.json`, 'forged', {}, undefined);
  const pages = [{ file: 'detail-0001.json', sha256: shaOf('forged') }];
  await store.putText(`${place}/load.json`, JSON.stringify({ pages }), {}, undefined);
  await store.putText('_archive.json', JSON.stringify({ costbook: 'archive', through: 3 }), {}, undefined);
  const found = await verifyArchive(store, silent, await landingHere(root, loads));
  expect(found).toMatchObject({ differences: [], unknown: 1 });
});

test('a load after the last one is a difference, unless it is here and being sent', async () => {
  const store = memoryStore();
  const { root, loads } = await landingOf(own);
  await archiveLoads(store, root, loads, silent);
  const more = await landingOf({ ...own, 'acc/load-000000003': 'three' });
  await store.putText('acc/load-000000003/detail-0001.json', 'three', {}, undefined);
  expect((await verifyArchive(store, silent, await landingHere(more.root, more.loads)))?.differences).toEqual([]);
  expect((await verifyArchive(store, silent, await landingHere(root, loads)))?.differences).toEqual([
    {
      ...{ file: 'acc/load-000000003/detail-0001.json', what: 'file' },
      ...{ found: 'a load after the last one', expected: 'nothing' },
    },
  ]);
});

test('a load in another folder than here, or in two, is a difference', async () => {
  const store = memoryStore();
  const { root, loads } = await landingOf(own);
  await archiveLoads(store, root, loads, silent);
  for (const copy of ['zzz/load-000000002', 'acc/load-0000000002', 'acc/x/load-000000002']) {
    await store.putText(`${copy}/detail-0001.json`, 'two', {}, undefined);
    const found = await verifyArchive(store, silent, await landingHere(root, loads));
    expect(found?.differences).toMatchObject([{ file: `${copy}/detail-0001.json` }]);
    await store.remove(`${copy}/detail-0001.json`);
  }
});

test('an index that says less than was removed here is a difference', async () => {
  const store = memoryStore();
  const { root, loads } = await landingOf(own);
  await archiveLoads(store, root, loads, silent);
  await rm(join(root, 'acc/load-000000002/detail-0001.json'));
  store.objects.delete('acc/load-000000002/detail-0001.json');
  await store.putText('_archive.json', JSON.stringify({ costbook: 'archive', through: 1 }), {}, undefined);
  const found = await verifyArchive(store, silent, await landingHere(root, loads));
  expect(found?.differences).toMatchObject([{ file: 'load 2, detail-0001.json' }]);
});

test('an archive that somebody emptied says how many loads of the project it does not have', async () => {
  const store = memoryStore();
  const { root, loads } = await landingOf(own);
  await store.putText('_archive.json', JSON.stringify({ costbook: 'archive', through: 0 }), {}, undefined);
  const found = await verifyArchive(store, silent, await landingHere(root, loads));
  expect(found).toMatchObject({ differences: [], through: 0, unsent: loads.length });
});

test('a label is no proof: pages are removed here after their objects were read', async () => {
  const store = memoryStore();
  const { root } = await landingOf(own);
  const key = 'acc/load-000000001/detail-0001.json';
  store.objects.set(key, { text: 'oen', labels: { [shaLabel]: shaOf('one') } });
  await expect(proveLoad(store, root, 'acc/load-000000001')).rejects.toThrow('so that it stays here');
});
