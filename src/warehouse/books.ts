import { rmSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DamagedFileError, LockedError, UnprovenError, UsageError } from '../errors.ts';
import type { Instant } from '../time.ts';
import { createPast, presentCatalog, setMoment } from './as-of.ts';
import { type Connection, type Database, expectFile, type OpenOptions, openDatabase } from './connection.ts';
import { findTraces, readAllTables } from './intactness.ts';
import { checkSchema } from './migrate.ts';
import { makeReadersPath, refuseLogsBeside } from './private-path.ts';
import type { RebuildingBase } from './rebuilding.ts';
import { readSeal, type Seal } from './seal.ts';
import { repairsSnapshot, snapshotFile } from './snapshot.ts';
import { readersSpillName } from './spill.ts';

/** After everything that is ever seen: as of then the books are what they are now. */
const endOfTime = Date.UTC(9999, 11, 31);

/** The published snapshot, as readers see it. */
export interface Books {
  readonly connection: Connection;
  /** What Costbook wrote of the snapshot when it published it. */
  readonly seal: Seal;
  close(): void;
}

/**
 * Opens the snapshot below the project folder for reading; it never waits for the writer. With `asOf` everything asked
 * is answered as it would have been at that instant, and with `draft` as if these allocation rules were in force. With `lockedDown` the connection can reach no file, no network
 * and no setting, but for the `writable` file: for SQL that somebody typed. `reader` names this
 * reader's folder for what does not fit into memory. The signal ends what is asked. Throws UsageError where nothing has been published yet, or by a
 * program of another schema, UnprovenError where another program changed the snapshot, DamagedFileError where it cannot
 * be read, LockedError where another program has it open for writing.
 */
export async function openBooks(
  dir: string,
  {
    lockedDown,
    writable,
    asOf,
    draft,
    reader,
    signal,
  }: {
    lockedDown: boolean;
    writable?: string | undefined;
    asOf?: Instant | undefined;
    draft?: string | undefined;
    reader?: string | undefined;
    signal?: AbortSignal;
  },
): Promise<Books> {
  const moment = asOf ?? (draft === undefined ? undefined : endOfTime);
  const catalog = moment === undefined ? 'wh' : presentCatalog;
  const { database, seal } = await openSealed(snapshotFile(dir), reader, catalog, {
    lockedDown,
    writable,
    async prepare(connection: Connection) {
      if (moment !== undefined) await createPast(connection, draft);
    },
  });
  try {
    const connection = await database.connect(signal);
    if (moment !== undefined) await setMoment(connection, moment);
    return { connection, seal, close: () => database.close() };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** How often a snapshot that is replaced while it is opened is opened again. */
const maxTries = 5;

/** Opens the snapshot exactly as it was published: its seal is intact, and no log of another program is applied. */
async function openSealed(
  file: string,
  reader: string | undefined,
  catalog: string,
  options: Omit<OpenOptions, 'readOnly'> & { prepare: (connection: Connection) => Promise<void> },
): Promise<{ database: Database; seal: Seal }> {
  for (let tries = 1; ; tries += 1) {
    await expectPublished(file);
    const { path, spill, isPrivate } = await makeReadersPath(file, readersSpillName(reader));
    try {
      if (!isPrivate) await refuseLogsBeside(file);
      const before = await stat(path);
      // Before DuckDB opens the file: closing the descriptor would drop DuckDB's lock.
      const sealed = await readSeal(path);
      if (sealed.state === 'damaged') throw new DamagedFileError(file, sealed.found, repairsSnapshot);
      const database = await openDatabase(file, {
        ...options,
        readOnly: true,
        catalog,
        path,
        spill,
        whenDamaged: repairsSnapshot,
        async prepare(connection) {
          await checkSchema(connection, catalog, file);
          if (sealed.state === 'changed') throw changed(file);
          await options.prepare(connection);
        },
      });
      const after = await stat(path);
      if (!isPrivate) await refuseLogsBeside(file);
      const isSame = after.ino === before.ino && after.mtimeMs === before.mtimeMs && after.size === before.size;
      if (isSame && sealed.state === 'intact') return { database, seal: sealed.seal };
      database.close();
      if (tries >= maxTries) throw changed(file);
    } catch (error) {
      if (error instanceof LockedError)
        throw new LockedError(file, error.holder, { advice: openForWriting, cause: error });
      throw error;
    } finally {
      // The database is open by now; DuckDB makes the folder again where it spills.
      rmSync(spill, { recursive: true, force: true });
    }
  }
}

const openForWriting =
  'that program opened the snapshot for writing; end it, or run "costbook repair", which publishes a new file. ' +
  'DuckDB reads it beside Costbook with: duckdb -readonly';

function changed(file: string): UnprovenError {
  return new UnprovenError(
    `another program has changed ${file} since Costbook published it, so its numbers are not used: ${repairsSnapshot}. ` +
      'DuckDB reads it without changing it with: duckdb -readonly',
  );
}

/** The snapshot as a base for a new warehouse: as it was published, every row of it readable. Throws as `openBooks`. */
export async function wholeSnapshot(dir: string, signal?: AbortSignal): Promise<RebuildingBase> {
  const books = await openBooks(dir, { lockedDown: true, ...(signal === undefined ? {} : { signal }) });
  try {
    await readAllTables(books.connection, 'wh');
    return { file: snapshotFile(dir), bytes: books.seal.bytes };
  } finally {
    books.close();
  }
}

/** Throws UsageError where nothing was published yet: a command that writes would make books with nothing in them. */
export async function expectBooks(dir: string): Promise<void> {
  await expectPublished(snapshotFile(dir));
}

/** Throws UsageError where there is no snapshot, with what to do: to begin, or to publish it again. */
async function expectPublished(file: string): Promise<void> {
  const dir = dirname(dirname(file));
  const isThere = await stat(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  );
  if (isThere) return;
  const { hasJournal } = await findTraces(dir, 0);
  // A first ingest that is under way has published nothing yet.
  if (hasJournal) throw new UsageError(`${file} is missing: run "costbook repair", which publishes it anew`);
  await expectFile(file);
}

/** Removes what a reader that was killed has left in its spill folder. */
export function clearAfterReader(dir: string, reader: string): void {
  rmSync(join(dirname(snapshotFile(dir)), readersSpillName(reader)), { recursive: true, force: true });
}
