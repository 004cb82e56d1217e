import { type Connection, openDatabase } from './connection.ts';
import { snapshotFile } from './snapshot.ts';

/** The published snapshot, as readers see it. */
export interface Books {
  readonly connection: Connection;
  close(): void;
}

/**
 * Opens the snapshot below the project folder for reading; it never waits for the writer. With `lockedDown` the
 * connection can reach no file, no network and no setting: for SQL that somebody typed. The signal ends what is asked.
 * Throws UsageError where nothing has been published yet.
 */
export async function openBooks(dir: string, options: { lockedDown: boolean; signal?: AbortSignal }): Promise<Books> {
  const database = await openDatabase(snapshotFile(dir), { readOnly: true, lockedDown: options.lockedDown });
  return { connection: await database.connect(options.signal), close: () => database.close() };
}
