import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LockedError, UnprovenError, UsageError } from '../base/errors.ts';
import { act } from '../base/next-step.ts';
import { bytesOf } from '../base/regular-file.ts';
import { atOnce } from './at-once.ts';
import { shaLabel } from './s3-store.ts';
import { ConditionError, keyIn, type ObjectStore } from './store.ts';
import { hashOf } from './verify-copy.ts';

/** A stored load in the landing folder. */
export interface StoredLoadFolder {
  readonly number: number;
  /** Relative to the landing folder; it is also the folder in the archive. */
  readonly place: string;
}

/** The object that says through which load an archive is complete. */
export const indexName = '_archive.json';
export const descriptionName = 'load.json';
export const filesAtOnce = 6;
/** After this many loads, the archive says how far it is. */
const batch = 50;

interface ArchiveIndex {
  readonly costbook: 'archive';
  /** All loads through this number are in the archive: nothing is removed because of it, but for a look at the objects. */
  readonly through: number;
  /** The last load that was sent, or an earlier one, by which the books are known; an archive of an older version has none. */
  readonly books?: BooksMark;
}

/** A load of the books, and the SHA-256 of its description. */
interface BooksMark {
  readonly number: number;
  readonly place: string;
  readonly sha256: string;
}

/**
 * Sends loads that an archive does not have yet: their pages as they came, then their description. Returns through which
 * load the archive is complete, and how many were sent. If this process dies, the next run continues. `last` is the number
 * of the last load in the books. Throws UnprovenError if a page is damaged here, or the archive is of other books.
 */
export async function archiveLoads(
  store: ObjectStore,
  landing: string,
  loads: readonly StoredLoadFolder[],
  progress: (words: string) => void,
  last = Math.max(0, ...loads.map(({ number }) => number)),
): Promise<{ through: number; sent: number }> {
  const stored = await store.readText(indexName);
  let etag = stored?.etag;
  const index = stored === undefined ? undefined : parseIndex(store, stored.text);
  if (index !== undefined) await expectOwn(store, index, { landing, loads, last });
  let through = index?.through ?? 0;
  const missing = loads.filter(({ number }) => number > through).sort((a, b) => a.number - b.number);
  for (let begin = 0; begin < missing.length; begin += batch) {
    const some = missing.slice(begin, begin + batch);
    progress(`load ${begin + 1} of ${missing.length} to ${store.url}`);
    await atOnce(filesAtOnce, some, (load) => sendLoad(store, landing, load));
    through = some.at(-1)?.number ?? through;
    const books = await markOf(landing, some.at(-1));
    const next: ArchiveIndex = { costbook: 'archive', through, ...(books && { books }) };
    try {
      const condition = etag === undefined ? { ifAbsent: true as const } : { ifEtag: etag };
      etag = await store.putText(indexName, `${JSON.stringify(next)}\n`, {}, condition);
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

/** Throws UnprovenError for an index that other books, these before a restore, or somebody else, has written. */
async function expectOwn(
  store: ObjectStore,
  { through, books }: ArchiveIndex,
  own: { readonly landing: string; readonly loads: readonly StoredLoadFolder[]; readonly last: number },
): Promise<void> {
  const same = books && own.loads.find(({ number }) => number === books.number);
  const mark = await markOf(own.landing, same);
  const isOther = mark !== undefined && (mark.place !== books?.place || mark.sha256 !== books.sha256);
  if (!isOther && through <= own.last) return;
  const found = isOther
    ? 'the loads of other books, or of these before they were restored from a backup'
    : `all loads through ${through}, and the last load here is ${own.last}`;
  throw new UnprovenError(`${store.url}/${indexName} says that the archive has ${found}. Nothing was sent or removed`, {
    next: act('name a prefix that no other project uses in landing.archive. After a restore it must be a new one.'),
  });
}

/** A load, by which the books are known. */
async function markOf(landing: string, load: StoredLoadFolder | undefined): Promise<BooksMark | undefined> {
  const text = load && (await bytesOf(join(landing, load.place, descriptionName)).catch(() => undefined));
  if (load === undefined || text === undefined) return undefined;
  const sha256 = createHash('sha256').update(text).digest('hex');
  return { number: load.number, place: load.place.split('\\').join('/'), sha256 };
}

/**
 * Reads every page of a load in the archive, now, and sends what is missing: only then may its pages be removed here. Throws
 * UnprovenError if an object is another file: its label may say what it likes.
 */
export async function proveLoad(store: ObjectStore, landing: string, place: string): Promise<void> {
  const folder = join(landing, place);
  const pages = (await readdir(folder).catch(() => [])).filter(isPage);
  if (pages.every((name) => name === descriptionName)) return; // removed before
  await atOnce(filesAtOnce, pages, async (name) => {
    const bytes = await bytesOf(join(folder, name));
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const key = keyIn(place.split('\\').join('/'), name);
    const isThere = async () => (await hashOf(store, key, bytes.length)) === sha256;
    if (await isThere()) return;
    await sendOnce(store, key, { path: join(folder, name), bytes: bytes.length, sha256 });
    if (await isThere()) return;
    throw new UnprovenError(`${store.url}/${key}: the archive does not keep this page, so that it stays here`);
  });
}

/** Whether a file of a load is one of its pages, or its description. */
export function isPage(name: string): boolean {
  return /\.json(\.gz)?$/.test(name) && !name.startsWith('.');
}

async function sendLoad(store: ObjectStore, landing: string, { place }: StoredLoadFolder): Promise<void> {
  const folder = join(landing, place);
  const names = (await readdir(folder)).filter(isPage);
  const hashes = pagesOf((await bytesOf(join(folder, descriptionName))).toString());
  // The description last: a load that has one is whole.
  const pages = names.filter((name) => name !== descriptionName).sort();
  for (const name of [...pages, descriptionName]) {
    const bytes = await bytesOf(join(folder, name));
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
        'books',
      { cause: error, next: act('name another prefix in landing.archive.') },
    );
  }
}

export function parseIndex(store: ObjectStore, text: string): ArchiveIndex {
  try {
    const index = JSON.parse(text) as Partial<ArchiveIndex> | null;
    const isWhole = index?.costbook === 'archive' && Number.isSafeInteger(index.through) && Number(index.through) >= 0;
    const { books } = index ?? {};
    const isMarked = books === undefined || (typeof books?.place === 'string' && Number.isSafeInteger(books.number));
    if (isWhole && isMarked) return index as ArchiveIndex;
  } catch {
    // not JSON
  }
  throw new UsageError(`${store.url}/${indexName} is not of an archive`, {
    next: act('move it away, or name another prefix in landing.archive.'),
  });
}

/** The SHA-256 of each page that a description names. */
export function pagesOf(description: string): Map<string, string> {
  const { pages = [] } = JSON.parse(description) as { pages?: readonly { file: string; sha256: string }[] };
  return new Map(pages.map(({ file, sha256 }) => [file, sha256]));
}
