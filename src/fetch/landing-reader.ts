import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { UnprovenError } from '../base/errors.ts';
import { loadWithPresentNames } from '../base/former-formats.ts';
import { act } from '../base/next-step.ts';
import { bytesOf } from '../base/regular-file.ts';
import { formatWindow, parseRfc3339, type Window } from '../time/time.ts';
import type { PageSink } from '../warehouse/page.ts';
import type { DecodedPage } from './decode.ts';
import {
  foldersIn,
  type LoadRecord,
  loadFile,
  loadFolderPattern,
  mostDescriptionBytes,
  placeOf,
  type StoredPage,
} from './landing-writer.ts';
import { describeQuery, type Query, queryParameters } from './plan/queries.ts';
import { readPage } from './query-pages.ts';

/** A load as its landing folder describes it. */
export interface StoredLoad {
  /** Its folder, relative to the landing root. */
  readonly place: string;
  readonly account: string;
  readonly window: Window;
  readonly record: LoadRecord;
  readonly pages: readonly StoredPage[];
}

/** A load's stored answers, in place of the platform's. */
export interface LandingReader {
  /**
   * Passes a query's pages to the sink, as fetching from the platform would; returns their number. Throws
   * UnprovenError.
   */
  ask(query: Query, sink: Pick<PageSink, 'page'>): Promise<number>;
  /** The stored queries that nobody ran, by their names in messages. */
  unasked(): string[];
}

/** `load 42 of account acc_one, window 2026-…/2026-…`: a load's name in messages. */
export function describeLoad({ record, account, window }: StoredLoad): string {
  return `load ${record.loadNumber} of account ${account}, window ${formatWindow(window)}`;
}

/** A load's folder that cannot be read, or that is in the wrong place. */
export interface LostLoad {
  readonly loadNumber: number;
  /** The folder, relative to the landing root. */
  readonly place: string;
  /** Undefined if `load.json` does not contain it. */
  readonly account: string | undefined;
  readonly window: Window | undefined;
  /** What is wrong with it. */
  readonly problem: string;
  /** Where the folder belongs, relative to the landing root, if its load is intact but elsewhere; it may be a copy. */
  readonly right?: string | undefined;
  readonly isCopy?: boolean;
  /** What its description says; undefined if it cannot be read. */
  readonly load?: StoredLoad | undefined;
}

/** The contents of a landing folder. */
export interface StoredLoads {
  /** In the order of their numbers. */
  readonly loads: readonly StoredLoad[];
  readonly losses: readonly LostLoad[];
}

/** Every load of the landing folder, and every load folder that cannot be read or is in the wrong place. */
export async function readStoredLoads(root: string): Promise<StoredLoads> {
  const loads: StoredLoad[] = [];
  const losses: LostLoad[] = [];
  for (const account of await foldersIn(root)) {
    // The folder where pages arrive is hidden; no account's folder is.
    if (account.startsWith('.')) continue;
    for (const name of await foldersIn(join(root, account))) {
      const number = loadFolderPattern.exec(name)?.[1];
      if (number === undefined) continue;
      const read = await readLoad(root, join(account, name), Number(number));
      if ('problem' in read) losses.push(read);
      else loads.push(read);
    }
  }
  loads.sort((a, b) => a.record.loadNumber - b.record.loadNumber);
  const placed: StoredLoad[] = [];
  for (const load of loads) {
    const right = placeOf(load.account, load.record.loadNumber);
    const before = placed.at(-1);
    if (load.place !== right) losses.push(misplaced(root, load, right, loads));
    else if (before?.record.loadNumber === load.record.loadNumber) losses.push(doubled(root, load, before));
    else placed.push(load);
  }
  return { loads: placed, losses };
}

/** A second load of the same number: one of the two belongs to other books. */
function doubled(root: string, { place, account, window, record }: StoredLoad, before: StoredLoad): LostLoad {
  const problem = `${join(root, before.place)} and ${join(root, place)} are both load ${record.loadNumber}; one of them belongs to other books`;
  return { loadNumber: record.loadNumber, place, account, window, problem };
}

/** A folder with the load of another place: that load itself, or a copy of it. */
function misplaced(root: string, load: StoredLoad, right: string, loads: readonly StoredLoad[]): LostLoad {
  const { place, account, window, record } = load;
  const isThere = (other: StoredLoad) => placeOf(other.account, other.record.loadNumber) === right;
  const isCopy = loads.some((other) => other.place === right && isThere(other));
  const from = join(root, place);
  return {
    ...{ loadNumber: record.loadNumber, place, account, window, right, isCopy, load },
    problem: isCopy ? `${from} is a copy of ${right}` : `its folder is ${from}, expected ${right}`,
  };
}

/** The page files that are missing from a load's folder. */
export async function missingPages(root: string, { place, pages }: StoredLoad): Promise<string[]> {
  const missing: string[] = [];
  for (const { file } of pages) {
    const isThere = await stat(join(root, place, file)).then(
      (found) => found.isFile(),
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return false;
        throw error;
      },
    );
    if (!isThere) missing.push(file);
  }
  return missing;
}

/** The page files of a load that have changed since they were stored, each with what was found. */
export async function damagedPages(root: string, { place, pages }: StoredLoad): Promise<string[]> {
  const damaged: string[] = [];
  for (const { file, sha256 } of pages) {
    try {
      const bytes = await bytesOf(join(root, place, file));
      if (sha256Of(bytes) !== sha256) damaged.push(`${file} has changed since it was stored (${bytes.length} bytes)`);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT') damaged.push(`${file} ${unreadable(code)}`);
    }
  }
  return damaged;
}

/** Why a file cannot be read, from the code of the system's error. */
function unreadable(code: string | undefined): string {
  return code === 'EISDIR' ? 'is no regular file' : `cannot be read (${code})`;
}

/** A page's file has changed since it was stored, or cannot be read. */
export class DamagedPageError extends UnprovenError {}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The answers of a stored load, read with the same decoder as the platform's answers. */
export function openLandingReader(root: string, load: StoredLoad): LandingReader {
  const unasked = new Set(load.pages.map(({ query }) => query));
  return {
    async ask(query, sink) {
      const name = describeQuery(query);
      const request = JSON.stringify(sorted(queryParameters(load.account, query)));
      const pages = load.pages
        .filter((page) => page.query === name && JSON.stringify(sorted(page.request)) === request)
        .sort((a, b) => a.number - b.number);
      if (pages.length === 0) throw new UnprovenError(`${name}: this query has no stored answer`);
      unasked.delete(name);
      async function read({ file, number, sha256 }: StoredPage): Promise<DecodedPage> {
        const path = join(root, load.place, file);
        const bytes = await bytesOf(path).catch((error: NodeJS.ErrnoException) => {
          throw new DamagedPageError(`${name}: ${path} ${unreadable(error.code)}`, { cause: error });
        });
        if (sha256Of(bytes) !== sha256) {
          throw new DamagedPageError(`${name}: ${path} has changed since it was stored`, {
            next: act('restore it from a backup.'),
          });
        }
        return readPage({ bytes, gzipped: file.endsWith('.gz') }, query, `${name}, page ${number}`);
      }
      // Read and unpack the next page while this one is processed.
      let next = pages[0] && read(pages[0]);
      next?.catch(() => undefined);
      for (const [index, { number }] of pages.entries()) {
        if (number !== index + 1) throw new UnprovenError(`${name}: page ${index + 1} is missing`);
        const page = await next;
        const following = pages[index + 1];
        next = following && read(following);
        next?.catch(() => undefined); // it is reported in order
        if (page === undefined) break;
        if (page.hasMore !== index < pages.length - 1) {
          throw new UnprovenError(
            `${name}: page ${number} says that ${page.hasMore ? 'more pages' : 'no pages'} follow`,
          );
        }
        await sink.page(page);
      }
      return pages.length;
    },
    unasked: () => [...unasked],
  };
}

async function readLoad(root: string, place: string, loadNumber: number): Promise<StoredLoad | LostLoad> {
  const path = join(root, place, loadFile);
  let said: Readonly<Record<string, unknown>>;
  const loss = { loadNumber, place, account: undefined, window: undefined };
  let text: string;
  try {
    text = (await bytesOf(path, mostDescriptionBytes)).toString('utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { ...loss, problem: code === 'ENOENT' ? `${path} is missing` : `${path} ${unreadable(code)}` };
  }
  try {
    said = loadWithPresentNames(JSON.parse(text));
  } catch {
    return { ...loss, problem: `${path} is not JSON` };
  }
  const wrong = Object.entries(loadFields)
    .filter(([name, isRight]) => !isRight(said?.[name]))
    .map(([name]) => name);
  if (wrong.length > 0) return { ...loss, problem: `${path}: ${wrong.join(', ')} cannot be read` };
  const { account, window, pages, claimedEnd, seenAt, platformAt, askedAt: _, ...record } = said;
  return {
    place,
    account: String(account),
    window: parseWindow(window),
    pages: pages as StoredPage[],
    record: {
      ...record,
      claimedEnd: instantOf(claimedEnd),
      seenAt: instantOf(seenAt),
      platformAt: isText(platformAt) ? instantOf(platformAt) : undefined,
    } as unknown as LoadRecord,
  };
}

/** The required fields of `load.json`; their contents are written and read by this program only. */
const loadFields: Readonly<Record<string, (value: unknown) => boolean>> = {
  account: isText,
  window: (value) => isText(value) && !Number.isNaN(parseWindow(value).end),
  loadNumber: Number.isSafeInteger,
  runNumber: Number.isSafeInteger,
  attempt: Number.isSafeInteger,
  reason: isText,
  role: (value) => value === 'admin' || value === 'member',
  claimedEnd: (value) => !Number.isNaN(instantOf(value)),
  seenAt: (value) => !Number.isNaN(instantOf(value)),
  platformAt: (value) => (value ?? null) === null || !Number.isNaN(instantOf(value)),
  requests: Number.isSafeInteger,
  pagesRead: Number.isSafeInteger,
  queries: Array.isArray,
  known: (value) => typeof value === 'object' && value !== null && 'decimals' in value && 'agreedTolerance' in value,
  leavesOut: (value) => typeof value === 'boolean',
  outcome: (value) => value === 'loaded' || value === 'unchanged',
  rowCount: Number.isSafeInteger,
  restated: Number.isSafeInteger,
  cost: isText,
  covered: Array.isArray,
  reconciliations: (value) => value === null || Array.isArray(value),
  // In its own folder: a load may come from an archive that others write.
  pages: (value) =>
    Array.isArray(value) && value.every((page) => isText(page?.file) && basename(page.file) === page.file),
};

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function instantOf(value: unknown): number {
  return parseRfc3339(String(value)) ?? Number.NaN;
}

/** A window as `load.json` writes it; NaN if invalid. */
export function parseWindow(text: unknown): Window {
  const [start, end] = String(text).split('/');
  return { start: instantOf(start), end: instantOf(end) };
}

function sorted(request: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(request).sort(([a], [b]) => (a < b ? -1 : 1));
}
