import { dirname } from 'node:path';
import type { Instant } from '../time.ts';
import { createPast, presentCatalog, setMoment } from './as-of.ts';
import { type Connection, expectFile, openDatabase, type Reachable } from './connection.ts';
import { checkSchema } from './migrate.ts';
import { snapshotFile } from './snapshot.ts';
import { removeReadersSpill } from './spill.ts';

/** After everything that is ever seen: as of then the books are what they are now. */
const endOfTime = Date.UTC(9999, 11, 31);

/** The published snapshot, as readers see it. */
export interface Books {
  readonly connection: Connection;
  /** From here on refuses every file but these, the network and every setting: before SQL of the project is asked. */
  lockDown(reachable?: Reachable): Promise<void>;
  close(): void;
}

/**
 * Opens the snapshot below the project folder for reading; it never waits for the writer. With `asOf` everything asked
 * is answered as it would have been at that instant, and with `draft` as if these allocation rules were in force. With `lockedDown` the connection can reach no file, no network
 * and no setting, but for the `writable` file: for SQL that somebody typed. The signal ends what is asked. Throws
 * UsageError where nothing has been published yet, or by a program of another schema.
 */
export async function openBooks(
  dir: string,
  {
    lockedDown,
    writable,
    asOf,
    draft,
    signal,
  }: {
    lockedDown: boolean;
    writable?: string | undefined;
    asOf?: Instant | undefined;
    draft?: string | undefined;
    signal?: AbortSignal;
  },
): Promise<Books> {
  const moment = asOf ?? (draft === undefined ? undefined : endOfTime);
  const file = snapshotFile(dir);
  const catalog = moment === undefined ? 'wh' : presentCatalog;
  const database = await openDatabase(file, {
    readOnly: true,
    lockedDown,
    writable,
    catalog,
    async prepare(connection: Connection) {
      await checkSchema(connection, catalog, file);
      if (moment !== undefined) await createPast(connection, draft);
    },
  });
  try {
    const connection = await database.connect(signal);
    if (moment !== undefined) await setMoment(connection, moment);
    return { connection, lockDown: (reachable) => database.lockDown(reachable), close: () => database.close() };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Throws UsageError where nothing was published yet: a command that writes would make books with nothing in them. */
export async function expectBooks(dir: string): Promise<void> {
  await expectFile(snapshotFile(dir));
}

/** Removes what a process that has ended left behind when it was killed while it read the books. */
export async function clearAfterReader(dir: string, pid: number): Promise<void> {
  await removeReadersSpill(dirname(snapshotFile(dir)), pid);
}
