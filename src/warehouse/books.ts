import { dirname } from 'node:path';
import type { Instant } from '../time.ts';
import { createPast, presentCatalog, setMoment } from './as-of.ts';
import { type Connection, openDatabase } from './connection.ts';
import { snapshotFile } from './snapshot.ts';
import { removeReadersSpill } from './spill.ts';

/** The published snapshot, as readers see it. */
export interface Books {
  readonly connection: Connection;
  close(): void;
}

/**
 * Opens the snapshot below the project folder for reading; it never waits for the writer. With `asOf` everything asked
 * is answered as it would have been at that instant. With `lockedDown` the connection can reach no file, no network
 * and no setting, but for the `writable` file: for SQL that somebody typed. The signal ends what is asked. Throws UsageError where nothing has been published yet.
 */
export async function openBooks(
  dir: string,
  {
    lockedDown,
    writable,
    asOf,
    signal,
  }: { lockedDown: boolean; writable?: string | undefined; asOf?: Instant | undefined; signal?: AbortSignal },
): Promise<Books> {
  const database = await openDatabase(snapshotFile(dir), {
    readOnly: true,
    lockedDown,
    writable,
    ...(asOf === undefined ? {} : { catalog: presentCatalog, prepare: createPast }),
  });
  try {
    const connection = await database.connect(signal);
    if (asOf !== undefined) await setMoment(connection, asOf);
    return { connection, close: () => database.close() };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Removes what a process that has ended left behind when it was killed while it read the books. */
export async function clearAfterReader(dir: string, pid: number): Promise<void> {
  await removeReadersSpill(dirname(snapshotFile(dir)), pid);
}
