import type { Log } from '../effects.ts';
import { DamagedFileError } from '../errors.ts';
import { type AccountRecords, accountRecords } from './accounts.ts';
import { lastInstants } from './clocks.ts';
import type { Database } from './connection.ts';
import { openDatabase } from './database.ts';
import {
  damagedWarehouse,
  findTraces,
  readAllTables,
  refuseChanged,
  refuseMissing,
  refuseOlder,
  repairs,
} from './intactness.ts';
import { journalFolder, openRecorder } from './journal.ts';
import { type LoadRecords, loadRecords } from './load-records.ts';
import { migrate, rememberPublished } from './migrate.ts';
import { snapshotFile } from './published.ts';
import {
  type AlertRecords,
  alertRecords,
  type ClockRecords,
  clockRecords,
  type MonthRecords,
  monthRecords,
} from './records.ts';
import { type RunRecords, runRecords } from './runs.ts';
import { copyBeforeMigrating, publishSnapshot, removeOldCopies } from './snapshot.ts';
import { refuseDamaged, warehouseFile } from './warehouse-file.ts';
import { openWriteClock } from './write-clock.ts';

/** The writer's warehouse. One process holds it at a time; closing it without `publish` leaves readers as they were. */
export interface Warehouse extends RunRecords, AccountRecords, LoadRecords, MonthRecords, AlertRecords, ClockRecords {
  /** Publishes the snapshot; returns the logs of other programs that were removed beside it. */
  publish(): Promise<readonly string[]>;
  /** Reads every row of every table. Throws DamagedFileError where the disk does not give one back. */
  readAll(): Promise<void>;
  close(): void;
}

/**
 * Opens the writer's file below the project folder and brings it to this program's schema; where that changes a file in
 * use, it is copied aside before. `newestLanded` says which load in the landing folder is the last. The signal ends what
 * a stage is doing and a copy under way; the ledger can still be written and published afterwards. Throws LockedError,
 * UsageError where a newer program wrote the file, DamagedFileError where it cannot be read, and ChangedFileError where it
 * is missing, knows less than snapshot, landing folder and journal, or has other rows than were published.
 */
export async function openWarehouse(
  dir: string,
  signal?: AbortSignal,
  log?: Log,
  newestStored: () => Promise<number> = async () => 0,
): Promise<Warehouse> {
  const file = warehouseFile(dir);
  const database = await openWarehouseFile(dir, newestStored);
  try {
    const connection = await database.connect();
    const traces = await findTraces(dir, await newestStored());
    await refuseOlder(connection, file, traces);
    await refuseChanged(connection, file, traces);
    const { schema, isPublished } = await migrate(connection, async (migrations) => {
      log?.info('warehouse.migrating', 'The warehouse is from an older Costbook; copying it before the migration', {
        migrations,
      });
      const copy = await copyBeforeMigrating(connection, file, migrations[0] ?? '', signal);
      log?.info('warehouse.copied', 'The warehouse was copied', { copy });
    });
    await removeOldCopies(file);
    const recorder = await openRecorder(connection, journalFolder(dir));
    const clock = openWriteClock((await lastInstants(connection)).last);
    const publish = () => publishSnapshot(connection, file, snapshotFile(dir), { signal, log });
    if (!isPublished) {
      // What this command reads of the snapshot, and whoever else reads it, is of this schema from here on.
      await publish();
      await rememberPublished(connection, schema);
    }
    return {
      ...runRecords(connection, recorder),
      ...accountRecords(connection, recorder, clock),
      ...loadRecords(connection, recorder, () => database.connect(signal)),
      ...monthRecords(connection, recorder, clock),
      ...alertRecords(connection, recorder, clock),
      ...clockRecords(connection, recorder, clock),
      publish,
      readAll: () => readAllTables(connection, 'wh'),
      close: () => database.close(),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Opens the writer's file unless it is missing or damaged. */
async function openWarehouseFile(dir: string, newestStored: () => Promise<number>): Promise<Database> {
  const file = warehouseFile(dir);
  const traces = await findTraces(dir, await newestStored());
  await refuseMissing(file, traces);
  if (traces.isSnapshotIntact) await refuseDamaged(file, traces);
  return openDatabase(file, { readOnly: false, whenDamaged: repairs }).catch(async (error: unknown) => {
    if (!(error instanceof DamagedFileError)) throw error;
    throw damagedWarehouse(error, await findTraces(dir, await newestStored()));
  });
}
