import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { bytesOf } from '../base/regular-file.ts';
import {
  descriptionName,
  filesAtOnce,
  indexName,
  isPage,
  pagesOf,
  parseIndex,
  type StoredLoadFolder,
} from './archive.ts';
import { atOnce } from './at-once.ts';
import type { ListedObject, ObjectStore } from './store.ts';
import { type CopyDifference, hashOf, refusedObject } from './verify-copy.ts';

/** The result of verifying an archive. */
export interface VerifiedArchive {
  readonly loads: number;
  readonly pages: number;
  readonly through: number;
  /** Loads of the project that the archive does not have yet. */
  readonly unsent: number;
  /** Loads whose description is not here, or that cannot be read: nobody can say whether they were changed. */
  readonly unknown: number;
  readonly differences: readonly CopyDifference[];
}

/** What a project has of the loads in its archive. */
export interface LandingHere {
  readonly numbers: readonly number[];
  /** The folder of a load in the archive; undefined of a load that is not here. */
  placeOf(number: number): string | undefined;
  /** Its description, which stays when its pages are removed. */
  descriptionOf(number: number): Promise<string | undefined>;
  /** The last load whose pages were removed here: the archive must have them, whatever its index says. */
  readonly lastRemoved: number;
}

/** Looks at the loads of a landing folder. */
export async function landingHere(landing: string, loads: readonly StoredLoadFolder[]): Promise<LandingHere> {
  const places = new Map(loads.map(({ number, place }) => [number, place]));
  let lastRemoved = 0;
  for (const { number, place } of loads) {
    if (number < lastRemoved) continue;
    const names = (await readdir(join(landing, place)).catch(() => [])).filter(isPage);
    if (names.join() === descriptionName) lastRemoved = number;
  }
  return {
    numbers: [...places.keys()],
    lastRemoved,
    placeOf: (number) => places.get(number)?.split('\\').join('/'),
    async descriptionOf(number) {
      const place = places.get(number);
      return place && bytesOf(join(landing, place, descriptionName)).then(String, () => undefined);
    },
  };
}

const nothingHere: LandingHere = {
  numbers: [],
  lastRemoved: 0,
  placeOf: () => undefined,
  descriptionOf: async () => undefined,
};

/**
 * Verifies an archive: that no load is missing, that each page is the one of its description, and that each description is the
 * one here. Undefined if it is none.
 */
export async function verifyArchive(
  store: ObjectStore,
  progress: (words: string) => void,
  here: LandingHere = nothingHere,
): Promise<VerifiedArchive | undefined> {
  const index = await store.readText(indexName);
  if (index === undefined) return undefined;
  const through = Math.max(parseIndex(store, index.text).through, here.lastRemoved);
  const loads = new Map<number, ListedObject[]>();
  for await (const object of store.list('')) {
    const number = Number(/\/load-(\d{9,})\/[^/]+$/.exec(object.key)?.[1]);
    if (!Number.isSafeInteger(number)) continue;
    const own = loads.get(number);
    if (own === undefined) loads.set(number, [object]);
    else own.push(object);
  }
  const differences: CopyDifference[] = [];
  let [pages, unknown, expected] = [0, 0, 1];
  // What is listed, not what the index says: that may be any number.
  const numbers = [...loads.keys()].filter((number) => number <= through).sort((a, b) => a - b);
  for (const number of [...numbers, through + 1]) {
    if (number > expected) {
      const gap = number - 1 === expected ? `load ${expected}` : `loads ${expected} to ${number - 1}`;
      differences.push({ file: gap, what: 'file', found: 'nothing', expected: descriptionName });
    }
    expected = number + 1;
    if (number > through) break;
    progress(`load ${number} of ${through}`);
    const load = await verifyLoad(store, number, loads.get(number) ?? [], here);
    pages += load.pages;
    unknown += load.isUnknown ? 1 : 0;
    differences.push(...load.differences);
  }
  for (const [number, [object]] of loads) {
    // Those that are here are being sent. Somebody who restores the archive would have the others in the books.
    if (number <= through || here.placeOf(number) !== undefined || object === undefined) continue;
    differences.push({ file: object.key, what: 'file', found: 'a load after the last one', expected: 'nothing' });
  }
  const unsent = here.numbers.filter((number) => number > through).length;
  return { loads: loads.size, pages, through, unsent, unknown, differences };
}

async function verifyLoad(store: ObjectStore, number: number, objects: readonly ListedObject[], here: LandingHere) {
  const differences: CopyDifference[] = [];
  const differs = (file: string, what: string, found: string, expected: string) =>
    differences.push({ file, what, found, expected });
  const described = objects.find(({ key }) => nameIn(key) === descriptionName) ?? objects[0];
  const folder = here.placeOf(number) ?? described?.key.slice(0, described.key.lastIndexOf('/'));
  const own: ListedObject[] = [];
  for (const object of objects) {
    if (object.key === `${folder}/${nameIn(object.key)}`) own.push(object);
    else differs(object.key, 'file', 'a file of no load', 'nothing');
  }
  const textHere = await here.descriptionOf(number);
  const answer = { pages: 0, isUnknown: textHere === undefined, differences };
  const description = own.find(({ key }) => nameIn(key) === descriptionName);
  const text = description && (await store.readText(description.key).catch(refusedObject));
  if (typeof text === 'string' || text === undefined) {
    differs(`load ${number}`, 'file', text ?? 'nothing', descriptionName);
    return answer;
  }
  const hashes = pagesIn(text.text);
  if (hashes === undefined || text.text !== (textHere ?? text.text)) {
    differs(`load ${number}`, 'content', 'another text', descriptionName);
    return answer;
  }
  const missing = new Set(hashes.keys());
  for (const { key } of own) missing.delete(nameIn(key));
  for (const name of missing) differs(`load ${number}, ${name}`, 'file', 'nothing', hashes.get(name) ?? '');
  await atOnce(filesAtOnce, own, async ({ key, bytes }) => {
    if (key === description?.key) return;
    answer.pages += 1;
    const [found, expected] = [await hashOf(store, key, bytes).catch(refusedObject), hashes.get(nameIn(key))];
    if (found !== expected) differs(key, 'sha256', found ?? 'nothing', expected ?? 'no such page');
  });
  return answer;
}

/** The SHA-256 of the pages in a text that may be anybody's; undefined if it is no description. */
function pagesIn(text: string): Map<string, string> | undefined {
  try {
    return pagesOf(text);
  } catch {
    return undefined;
  }
}

function nameIn(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1);
}
