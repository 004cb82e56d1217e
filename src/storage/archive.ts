import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LockedError, UnprovenError, UsageError } from '../errors.ts';
import { atOnce } from './at-once.ts';
import { shaLabel } from './s3-store.ts';
import { ConditionError, keyIn, type ListedObject, type ObjectStore } from './store.ts';
import { type CopyDifference, hashOf } from './verify-copy.ts';

/** A stored load in the landing folder. */
export interface StoredLoadFolder {
  readonly number: number;
  /** Relative to the landing folder; it is also the folder in the archive. */
  readonly place: string;
}

/** The object that says through which load an archive is complete. */
const indexName = '_archive.json';
const descriptionName = 'load.json';
const filesAtOnce = 6;
/** After this many loads, the archive says how far it is. */
const batch = 50;

interface ArchiveIndex {
  readonly costbook: 'archive';
  /** All loads through this number are in the archive. */
  readonly through: number;
}

/**
 * Sends loads that an archive does not have yet: their pages as they came, then their description. Returns through which
 * load the archive is complete, and how many were sent. If this process dies, the next run continues. Throws
 * UnprovenError if a page is damaged here, or the archive has another load of the same number.
 */
export async function archiveLoads(
  store: ObjectStore,
  landing: string,
  loads: readonly StoredLoadFolder[],
  progress: (words: string) => void,
): Promise<{ through: number; sent: number }> {
  const stored = await store.readText(indexName);
  let etag = stored?.etag;
  let through = stored === undefined ? 0 : parseIndex(store, stored.text).through;
  const missing = loads.filter(({ number }) => number > through).sort((a, b) => a.number - b.number);
  for (let begin = 0; begin < missing.length; begin += batch) {
    const some = missing.slice(begin, begin + batch);
    progress(`load ${begin + 1} of ${missing.length} to ${store.url}`);
    await atOnce(filesAtOnce, some, (load) => sendLoad(store, landing, load));
    through = some.at(-1)?.number ?? through;
    const index: ArchiveIndex = { costbook: 'archive', through };
    try {
      const condition = etag === undefined ? { ifAbsent: true as const } : { ifEtag: etag };
      etag = await store.putText(indexName, `${JSON.stringify(index)}\n`, {}, condition);
    } catch (error) {
      if (!(error instanceof ConditionError)) throw error;
      throw new LockedError(`${store.url}/${indexName}`, 'another ingest', {
        cause: error,
        advice: 'it sends to the same archive now. Give each project a prefix of its own; nothing was mixed',
      });
    }
  }
  return { through, sent: missing.length };
}

async function sendLoad(store: ObjectStore, landing: string, { place }: StoredLoadFolder): Promise<void> {
  const folder = join(landing, place);
  const names = (await readdir(folder)).filter((name) => /\.json(\.gz)?$/.test(name) && !name.startsWith('.'));
  const hashes = pagesOf(await readFile(join(folder, descriptionName), 'utf8'));
  // The description last: a load that has one is whole.
  const pages = names.filter((name) => name !== descriptionName).sort();
  for (const name of [...pages, descriptionName]) {
    const bytes = await readFile(join(folder, name));
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const expected = hashes.get(name) ?? sha256;
    if (expected !== sha256) {
      throw new UnprovenError(
        `${join(folder, name)} was not archived: found the SHA-256 ${sha256}, its load.json says ${expected}. ` +
          'Run "costbook repair"',
      );
    }
    await sendOnce(store, keyIn(place.split('\\').join('/'), name), {
      path: join(folder, name),
      bytes: bytes.length,
      sha256,
    });
  }
}

/** Stores a file that never changes: the same content may be there already, other content may not. */
async function sendOnce(
  store: ObjectStore,
  key: string,
  file: { path: string; bytes: number; sha256: string },
): Promise<void> {
  try {
    await store.putFile(key, file, {}, { ifAbsent: true });
  } catch (error) {
    if (!(error instanceof ConditionError)) throw error;
    const found = (await store.describe(key))?.labels[shaLabel] ?? 'none';
    throw new UnprovenError(
      `${store.url}/${key}: found another file (SHA-256 ${found}), expected ${file.sha256}: the archive is of other ` +
        'books. Name another prefix in landing.archive',
      { cause: error },
    );
  }
}

function parseIndex(store: ObjectStore, text: string): ArchiveIndex {
  try {
    const index = JSON.parse(text) as Partial<ArchiveIndex> | null;
    if (index?.costbook === 'archive' && Number.isSafeInteger(index.through)) return index as ArchiveIndex;
  } catch {
    // not JSON
  }
  throw new UsageError(
    `${store.url}/${indexName} is not of an archive: move it away, or name another prefix in landing.archive`,
  );
}

/** The SHA-256 of each page that a description names. */
function pagesOf(description: string): Map<string, string> {
  const { pages = [] } = JSON.parse(description) as { pages?: readonly { file: string; sha256: string }[] };
  return new Map(pages.map(({ file, sha256 }) => [file, sha256]));
}

/** The result of verifying an archive. */
export interface VerifiedArchive {
  readonly loads: number;
  readonly pages: number;
  readonly through: number;
  readonly differences: readonly CopyDifference[];
}

/** Verifies an archive: that no load is missing, and that each page is the one of its description. Undefined if it is none. */
export async function verifyArchive(
  store: ObjectStore,
  progress: (words: string) => void,
): Promise<VerifiedArchive | undefined> {
  const index = await store.readText(indexName);
  if (index === undefined) return undefined;
  const { through } = parseIndex(store, index.text);
  const loads = new Map<number, ListedObject[]>();
  for await (const object of store.list('')) {
    const number = Number(/\/load-(\d{9,})\/[^/]+$/.exec(object.key)?.[1]);
    if (Number.isSafeInteger(number)) loads.set(number, [...(loads.get(number) ?? []), object]);
  }
  const differences: CopyDifference[] = [];
  let pages = 0;
  for (let number = 1; number <= through; number += 1) {
    const objects = loads.get(number) ?? [];
    progress(`load ${number} of ${through}`);
    const description = objects.find(({ key }) => key.endsWith(`/${descriptionName}`));
    const text = description && (await store.readText(description.key))?.text;
    if (text === undefined) {
      differences.push({ file: `load ${number}`, what: 'file', found: 'nothing', expected: descriptionName });
      continue;
    }
    const hashes = pagesOf(text);
    await atOnce(filesAtOnce, objects, async ({ key }) => {
      if (key === description?.key) return;
      pages += 1;
      const [found, expected] = [await hashOf(store, key), hashes.get(key.slice(key.lastIndexOf('/') + 1))];
      if (found === expected) return;
      differences.push({ file: key, what: 'sha256', found: found ?? 'nothing', expected: expected ?? 'no such page' });
    });
  }
  return { loads: loads.size, pages, through, differences };
}
