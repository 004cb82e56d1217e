import { createHash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { bytesOf } from '../base/regular-file.ts';
import type { RawBody } from '../platform/index.ts';
import { formatInstant, formatWindow, type Instant, type Window } from '../time/time.ts';
import type { Reconciliation, Role } from '../warehouse/page.ts';
import { describeQuery, type Query, queryParameters } from './plan/queries.ts';

/** The folder in which one window's pages arrive. */
export interface LandingFolder {
  readonly path: string;
  /** Writes one page's body as it came; fetching the same page again replaces it. */
  page(query: Query, number: number, body: RawBody): Promise<void>;
  /** Discards the pages of a query that restarts from its first page. */
  restart(query: Query): Promise<void>;
  /** Brings the pages to the disk, so that `file`, which holds up other loads, need not wait for that. */
  sync(): Promise<void>;
  /**
   * Turns the folder into a numbered load, with a `load.json` that contains everything needed to recreate the load.
   * Without `keepBodies`, only that file stays. Returns the place, relative to the landing root. Called right before
   * the load's transaction commits.
   */
  file(record: LoadRecord, keepBodies: boolean): Promise<string>;
  /** Removes the folder from its current place: its window is unproven, or its load did not commit. */
  discard(): Promise<void>;
}

/** A page in `load.json`: the query that it answers, and its file. */
export interface StoredPage {
  readonly file: string;
  /** SHA-256 of the file's bytes, hexadecimal. */
  readonly sha256: string;
  readonly purpose: string;
  /** The query's name in messages, distinct within a load. */
  readonly query: string;
  /** Number of the page within its query, from 1. */
  readonly number: number;
  /** The parameters of the query's first page: window, groupBy, filters. */
  readonly request: Readonly<Record<string, string>>;
}

/** The content of `load.json` except its pages; instants are texts, costs are decimal text. */
export interface LoadRecord {
  readonly loadNumber: number;
  readonly runNumber: number;
  /** Number of the attempt at the window within the run. */
  readonly attempt: number;
  readonly reason: string;
  readonly role: Role;
  readonly claimedEnd: Instant;
  readonly seenAt: Instant;
  /** The platform's clock when it made the oldest of its answers; undefined if they did not have one. */
  readonly platformAt?: Instant | undefined;
  readonly requests: number;
  readonly pagesRead: number;
  /** In the order in which they were answered. */
  readonly queries: readonly {
    readonly purpose: string;
    readonly resourceType: string | null;
    readonly billingDimension: string | null;
    readonly pages: number;
  }[];
  /** Known before the comparison: the most decimals in the account's totals, and an agreed tolerance. */
  readonly known: {
    readonly decimals: { readonly cost: number; readonly usage: number };
    readonly agreedTolerance: string | null;
  };
  /** Whether the platform was known to omit rows from the detail. */
  readonly leavesOut: boolean;
  readonly outcome: 'loaded' | 'unchanged';
  readonly rowCount: number;
  readonly restated: number;
  readonly cost: string;
  /** The parts of the window, each with the role that fetched it. */
  readonly covered: readonly { readonly window: string; readonly role: Role }[];
  /**
   * The comparisons of a load that changed nothing: with its covered windows they recreate it, even without its
   * answers.
   */
  readonly reconciliations: readonly Reconciliation[] | null;
}

/**
 * The folder that stores the platform's answers as they came, so that the warehouse can be rebuilt from them:
 * `<root>/<account>/load-000000042/{load.json, detail-0001.json.gz, control-0001.json.gz, …}`.
 */
export function openLandingWriter(root: string): {
  begin(account: string, window: Window, askedAt: Instant): Promise<LandingFolder>;
  removeUnfinished(lastLoadNumber: number): Promise<void>;
  removeBodies(places: readonly string[]): Promise<void>;
  newestLoad(): Promise<number>;
} {
  let begun = 0;

  return {
    async begin(account, window, askedAt) {
      begun += 1;
      const incoming = join(root, incomingFolder, `${process.pid}-${begun}`);
      await rm(incoming, { recursive: true, force: true });
      await mkdir(incoming, { recursive: true });
      return new IncomingFolder(root, incoming, { account, window, askedAt });
    },

    /**
     * Removes what a killed run left: pages that were still arriving, and the folder of a load whose transaction never
     * committed. Loads are numbered one at a time, so only the number after the last can be one.
     */
    async removeUnfinished(lastLoadNumber) {
      await rm(join(root, incomingFolder), { recursive: true, force: true });
      const unfinished = loadFolder(lastLoadNumber + 1);
      for (const account of await foldersIn(root)) {
        await rm(join(root, account, unfinished), { recursive: true, force: true });
      }
    },

    /** The largest stored load number; 0 if there is none. A copy of another load's folder does not count. */
    async newestLoad() {
      const found: { number: number; path: string }[] = [];
      for (const account of await foldersIn(root)) {
        for (const name of await foldersIn(join(root, account))) {
          const number = loadFolderPattern.exec(name)?.[1];
          if (number !== undefined) found.push({ number: Number(number), path: join(root, account, name) });
        }
      }
      for (const { number, path } of found.sort((a, b) => b.number - a.number)) {
        if (!(await isCopyOfOther(path, number))) return number;
      }
      return 0;
    },

    /** Removes the answers of loads that are in the books, given their places; `load.json` stays. */
    async removeBodies(places) {
      for (const place of places) {
        const folder = join(root, place);
        const names = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
          if (error.code === 'ENOENT') return [];
          throw error;
        });
        await removeAll(
          folder,
          names.filter((name) => /\.json(\.gz)?$/.test(name) && name !== loadFile),
        );
      }
    },
  };
}

export type LandingWriter = ReturnType<typeof openLandingWriter>;

/** A folder in which the pages of one window arrive, until it becomes a load. */
class IncomingFolder implements LandingFolder {
  readonly path: string;
  readonly #root: string;
  readonly #of: { readonly account: string; readonly window: Window; readonly askedAt: Instant };
  /** By file name. */
  readonly #pages = new Map<string, StoredPage>();
  /** Names of the pages that a power cut could still lose. */
  readonly #unsynced = new Set<string>();
  /** Its place as a load; undefined until then. */
  #filed: string | undefined;

  constructor(root: string, path: string, of: { account: string; window: Window; askedAt: Instant }) {
    this.#root = root;
    this.path = path;
    this.#of = of;
  }

  async page(query: Query, number: number, body: RawBody): Promise<void> {
    const plain = pageFile(query, number);
    const [file, other] = body.gzipped ? [`${plain}.gz`, plain] : [plain, `${plain}.gz`];
    this.#unsynced.add(file);
    await writeFile(join(this.path, file), body.bytes);
    // Fetched again, a page may arrive with another compression; it is still one page.
    if (this.#pages.delete(other)) await rm(join(this.path, other), { force: true });
    this.#pages.set(file, {
      file,
      sha256: createHash('sha256').update(body.bytes).digest('hex'),
      purpose: query.purpose,
      query: describeQuery(query),
      number,
      request: queryParameters(this.#of.account, query),
    });
  }

  async restart(query: Query): Promise<void> {
    const name = describeQuery(query);
    for (const page of [...this.#pages.values()]) {
      if (page.query !== name) continue;
      this.#pages.delete(page.file);
      await rm(join(this.path, page.file), { force: true });
    }
  }

  async sync(): Promise<void> {
    // Here and not as pages arrive: a window that is fetched again or fails reconciliation costs nothing, and disks
    // prefer batches.
    await Promise.all(
      [...this.#pages.keys()].filter((name) => this.#unsynced.delete(name)).map((name) => this.#sync(name)),
    );
  }

  #sync(name: string): Promise<void> {
    return sync(join(this.path, name));
  }

  async file(record: LoadRecord, keepBodies: boolean): Promise<string> {
    const place = placeOf(this.#of.account, record.loadNumber);
    const target = join(this.#root, place);
    const names = [...this.#pages.keys()];
    if (!keepBodies) await removeAll(this.path, names);
    await writeFile(join(this.path, loadFile), `${this.#describe(record)}\n`);
    // The load that commits next refers to these bytes, so they must survive a power cut.
    await Promise.all([this.#sync(loadFile), keepBodies ? this.sync() : undefined]);
    await sync(this.path);
    const made = await mkdir(dirname(target), { recursive: true });
    await rm(target, { recursive: true, force: true });
    await rename(this.path, target);
    this.#filed = target;
    await sync(dirname(target));
    if (made !== undefined) await sync(this.#root);
    return place;
  }

  async discard(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
    if (this.#filed !== undefined) await rm(this.#filed, { recursive: true, force: true });
  }

  /** The text of `load.json`. */
  #describe(record: LoadRecord): string {
    const pages = [...this.#pages.values()].sort((a, b) =>
      a.query === b.query ? a.number - b.number : a.query < b.query ? -1 : 1,
    );
    return describeRecord(this.#of, record, pages);
  }
}

/** Whether a folder has the description of a load of another number. */
async function isCopyOfOther(path: string, number: number): Promise<boolean> {
  try {
    const { loadNumber } = JSON.parse((await bytesOf(join(path, loadFile), mostDescriptionBytes)).toString()) as {
      loadNumber?: unknown;
    };
    return Number.isSafeInteger(loadNumber) && loadNumber !== number;
  } catch {
    return false; // damage of this load
  }
}

/**
 * Stores a load that was lost as one that covers nothing, so that load numbers stay without a gap. Its hours are then
 * missing from the books, and the next ingest fetches them.
 */
export async function storeLostLoad(
  root: string,
  { account, window, record }: { readonly account: string; readonly window: Window; readonly record: LoadRecord },
): Promise<void> {
  const folder = join(root, placeOf(account, record.loadNumber));
  await mkdir(folder, { recursive: true });
  const lost: LoadRecord = {
    ...record,
    ...{ attempt: 1, requests: 0, pagesRead: 0, queries: [], outcome: 'unchanged', rowCount: 0, restated: 0 },
    ...{ cost: '0.000000000000', covered: [], reconciliations: [] },
  };
  const text = describeRecord({ account, window, askedAt: record.seenAt }, lost, []);
  await writeFile(join(folder, loadFile), `${text}\n`);
  await sync(join(folder, loadFile));
  await sync(folder);
  await sync(dirname(folder));
}

/** The text of `load.json`. */
function describeRecord(
  { account, window, askedAt }: { readonly account: string; readonly window: Window; readonly askedAt: Instant },
  record: LoadRecord,
  pages: readonly StoredPage[],
): string {
  const text = {
    account,
    window: formatWindow(window),
    askedAt: formatInstant(askedAt),
    ...record,
    claimedEnd: formatInstant(record.claimedEnd),
    seenAt: formatInstant(record.seenAt),
    platformAt: record.platformAt === undefined ? null : formatInstant(record.platformAt),
    pages,
  };
  return JSON.stringify(text, undefined, 1);
}

/** A load's description; no page file has this name. */
export const loadFile = 'load.json';

/** Far more than a description has: a load of a million pages has 300 MB. */
export const mostDescriptionBytes = 512 * 1024 * 1024;

/** Where pages arrive; no account's folder can have this name. */
const incomingFolder = '.incoming';

/** Longest file name that leaves room for a suffix; longer names end in a hash. */
const maxNameLength = 120;

/** Turns any text into one file name: it never leaves the folder, and no two texts share a name. */
function safeName(text: string): string {
  const name = encodeURIComponent(text.toWellFormed()).replaceAll('.', '%2E').replaceAll('*', '%2A');
  if (name.length <= maxNameLength) return name;
  return `${name.slice(0, maxNameLength)}~${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
}

function pageFile(query: Query, number: number): string {
  const filters = [query.resourceType, query.billingDimension].filter((filter) => filter !== undefined);
  const stem = [query.purpose, ...filters.map(safeName)].join('-');
  return `${stem}-${String(number).padStart(4, '0')}.json`;
}

/** A load's folder, with its number. */
export const loadFolderPattern = /^load-(\d{9,})$/;

function loadFolder(loadNumber: number): string {
  return `load-${String(loadNumber).padStart(9, '0')}`;
}

/** Where a load's folder is, relative to the landing root. */
export function placeOf(account: string, loadNumber: number): string {
  return join(safeName(account), loadFolder(loadNumber));
}

async function removeAll(folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) await rm(join(folder, name), { force: true });
}

/** Names of the folders in a folder; empty if it does not exist. */
export async function foldersIn(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch((error: NodeJS.ErrnoException): Dirent[] => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

/** Flushes a file, or the names in a folder, to disk. */
async function sync(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
