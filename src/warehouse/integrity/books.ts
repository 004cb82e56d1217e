import { readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ChangedFileError, DamagedFileError, LockedError } from '../../base/errors.ts';
import type { Instant } from '../../time/time.ts';
import {
  createPast,
  foundOnce,
  type HoursBetween,
  presentCatalog,
  setAsOf,
  setHours,
  viewsOfPast,
} from '../store/as-of.ts';
import type { Connection, Database, LazyViews, OpenOptions, Reachable } from '../store/connection.ts';
import { expectFile, openDatabase } from '../store/database.ts';
import { lazyViews } from '../store/lazy-views.ts';
import { refuseLogsBeside } from '../store/logs.ts';
import { checkSchema } from '../store/migrate.ts';
import { readersSpillPrefix, spillRoom } from '../store/spill.ts';
import { throughPassingName } from '../store/temporary-link.ts';
import { findTraces, readAllTables } from './damage.ts';
import type { RebuildingBase } from './rebuilding.ts';
import { readSeal, type Seal, type SealState } from './seal.ts';
import { repairsSnapshot } from './snapshot.ts';
import { snapshotFile } from './snapshot-file.ts';

/** After everything that is ever recorded: as of this instant the books equal the present. */
const endOfTime = Date.UTC(9999, 11, 31);

/** The published snapshot, as readers see it. */
export interface Books {
  readonly connection: Connection;
  /** The seal that Costbook wrote when it published the snapshot. */
  readonly published: Seal;
  /**
   * From here on, refuses every file but these, the network and every setting: call it before running a project's SQL.
   */
  lockDown(reachable?: Reachable): Promise<void>;
  /** Opens one more connection to the present snapshot: its queries run next to those of the others. Not for a past. */
  connect(signal?: AbortSignal): Promise<Connection>;
  /** Opens one more connection that sees only some hours; only if the books were opened with `isOfHours`. */
  connectToHours(hours: HoursBetween, signal?: AbortSignal): Promise<Connection>;
  close(): void;
}

/** How the books are opened. */
export interface BooksOptions {
  readonly lockedDown: boolean;
  readonly writable?: string | undefined;
  readonly asOf?: Instant | undefined;
  readonly isClose?: boolean;
  readonly draft?: string | undefined;
  readonly isOfHours?: boolean;
  readonly reader?: string | undefined;
  readonly memoryMb?: number;
  readonly threads?: number;
  readonly signal?: AbortSignal;
}

/**
 * Opens the snapshot below the project folder for reading; it never waits for the writer. With `asOf`, every query is
 * answered as of that instant; if `isClose`, every closed month has the hours of its own close, not those of a later one.
 * With `draft`, queries answer as if these allocation rules were active. With `isOfHours`, each connection may see other
 * hours. With `lockedDown`, the connection has no access to files (except the `writable` file), network or settings: for SQL
 * that a person typed. `reader` names this reader's spill folder; `threads` limits DuckDB's, for short answers. The signal
 * stops running queries. Throws UsageError if nothing has been published yet, or only by a program of another schema;
 * ChangedFileError if another program changed or removed the snapshot; DamagedFileError if it cannot be read; LockedError if
 * another program has it open for writing.
 */
export async function openBooks(
  dir: string,
  {
    lockedDown,
    writable,
    asOf,
    isClose = false,
    draft,
    isOfHours = false,
    reader,
    memoryMb,
    threads,
    signal,
  }: BooksOptions,
): Promise<Books> {
  const moment = asOf ?? (draft === undefined && !isOfHours ? undefined : endOfTime);
  const catalog = moment === undefined ? 'wh' : presentCatalog;
  const { database, published } = await openSealed(snapshotFile(dir), {
    lockedDown,
    reader,
    memoryMb,
    threads,
    catalog,
    writable,
    async prepare(connection: Connection) {
      if (moment !== undefined) await createPast(connection, { draft, isClose, isOfHours });
    },
  });
  let views: LazyViews | undefined;
  async function connectToHours(hours: HoursBetween, other?: AbortSignal): Promise<Connection> {
    const connection = await database.connect(other, views);
    if (isOfHours) await setHours(connection, hours);
    if (moment !== undefined) await setAsOf(connection, moment);
    return connection;
  }
  try {
    if (moment !== undefined) {
      const maker = await database.connect();
      views = lazyViews(await viewsOfPast({ isClose }), maker);
      if (isClose) await foundOnce(maker, views, { view: 'renamed_series', by: 'closed_hours', asOf: moment });
      if (isOfHours) await foundOnce(maker, views, { view: 'allocation_owners', by: 'owners_once', asOf: moment });
    }
    return {
      connection: await connectToHours({ from: undefined, to: undefined }, signal),
      connectToHours,
      published,
      lockDown: (reachable) => database.lockDown(reachable),
      connect: (other) => database.connect(other),
      close: () => database.close(),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Work with the books, which are open until it has ended. Throws as `openBooks`. */
export async function withBooks<T>(dir: string, options: BooksOptions, work: (books: Books) => Promise<T>): Promise<T> {
  const books = await openBooks(dir, options);
  try {
    return await work(books);
  } finally {
    books.close();
  }
}

/** How often to reopen a snapshot that is replaced while it is opened. */
const maxTries = 5;

/** Opens the snapshot exactly as published: its seal is intact, and no log of another program is applied. */
async function openSealed(
  file: string,
  options: Omit<OpenOptions, 'readOnly'> & { catalog: string; prepare: (connection: Connection) => Promise<void> },
): Promise<{ database: Database; published: Seal }> {
  for (let tries = 1; ; tries += 1) {
    await expectPublished(file);
    if ((await stat(file)).isDirectory()) throw new DamagedFileError(file, 'it is a folder', { next: repairsSnapshot });
    let sealed: SealState | undefined;
    let isSame = false;
    try {
      const database = await openDatabase(file, {
        ...options,
        readOnly: true,
        whenDamaged: repairsSnapshot,
        // DuckDB applies a log that it finds next to the given path; next to a new name there is none.
        attachThrough: (attach) =>
          throughPassingName(file, async (path) => {
            if (path === file) await refuseLogsBeside(file);
            const before = await stat(path);
            // Before DuckDB opens the file: closing the descriptor later would drop DuckDB's lock.
            sealed = await readSeal(path);
            if (sealed.state === 'damaged') throw new DamagedFileError(file, sealed.found, { next: repairsSnapshot });
            await attach(path);
            if (path === file) await refuseLogsBeside(file);
            const after = await stat(path);
            isSame = after.ino === before.ino && after.mtimeMs === before.mtimeMs && after.size === before.size;
          }),
        async prepare(connection) {
          await checkSchema(connection, options.catalog, file);
          if (sealed?.state === 'changed') throw changed(file);
          await options.prepare(connection);
        },
      });
      if (isSame && sealed?.state === 'intact') return { database, published: sealed.seal };
      database.close();
    } catch (error) {
      if (error instanceof LockedError)
        throw new LockedError(file, error.holder, { advice: openForWriting, cause: error });
      throw error;
    }
    if (tries >= maxTries) throw changed(file);
  }
}

const openForWriting =
  'that program opened the snapshot for writing. Stop it, or run "costbook repair", which publishes a new file. ' +
  'To read it with DuckDB without blocking Costbook, use: duckdb -readonly';

function changed(file: string): ChangedFileError {
  return new ChangedFileError(
    `another program has changed ${file} since Costbook published it, so Costbook does not use its numbers. To ` +
      'read it with DuckDB without changing it, use: duckdb -readonly',
    { subject: file, next: repairsSnapshot },
  );
}

/** The snapshot as a base for a new warehouse: as published, with every row readable. Throws as `openBooks`. */
export async function wholeSnapshot(dir: string, signal?: AbortSignal): Promise<RebuildingBase> {
  const books = await openBooks(dir, { lockedDown: true, ...(signal === undefined ? {} : { signal }) });
  try {
    await readAllTables(books.connection, 'wh');
    return { file: snapshotFile(dir), bytes: books.published.bytes };
  } finally {
    books.close();
  }
}

/**
 * Throws NoBooksError if there are no books yet: a command that writes would create empty ones. A missing snapshot
 * alone does not matter to a writer, which publishes it again.
 */
export async function expectBooks(dir: string): Promise<void> {
  await expectPublished(snapshotFile(dir)).catch((error: unknown) => {
    if (!(error instanceof ChangedFileError)) throw error;
  });
}

/** Throws if there is no snapshot: NoBooksError before the first ingest, ChangedFileError if there was one. */
async function expectPublished(file: string): Promise<void> {
  const dir = dirname(dirname(file));
  const isThere = await stat(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  );
  if (isThere) return;
  const { hasJournal } = await findTraces(dir, 0);
  const landed = await readdir(join(dirname(file), 'landing')).catch(() => []);
  // A running first ingest has published nothing yet.
  if (hasJournal || landed.length > 0)
    throw new ChangedFileError(`${file} is missing`, { subject: file, next: repairsSnapshot });
  await expectFile(file);
}

/** Removes the spill folders that a killed reader left. */
export async function clearAfterReader(dir: string, reader: string): Promise<void> {
  const folder = await spillRoom(dirname(snapshotFile(dir)));
  for (const name of await readdir(folder)) {
    if (name.startsWith(readersSpillPrefix(reader))) await rm(join(folder, name), { recursive: true, force: true });
  }
}
