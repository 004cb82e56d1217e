import { stat } from 'node:fs/promises';
import type { Log } from '../base/effects.ts';
import { DamagedFileError } from '../base/errors.ts';
import { refuseMisplaced } from '../base/misplaced.ts';
import { changesSincePublished } from './integrity/compare.ts';
import {
  damagedWarehouse,
  findTraces,
  otherTables,
  readAllTables,
  refuseChanged,
  refuseMissing,
  refuseOlder,
  repairs,
  type Traces,
} from './integrity/damage.ts';
import { publishSnapshot } from './integrity/snapshot.ts';
import { snapshotFile } from './integrity/snapshot-file.ts';
import { asPublished, isWrittenSincePublished, refuseDamaged, warehouseFile } from './integrity/warehouse-file.ts';
import { journalFolder, lastApplied, openRecorder, type Recorder, readJournal } from './journal/journal.ts';
import { firstUnrestored, restoringEvents } from './journal/restored-rows.ts';
import { type AccountRecords, accountRecords } from './ledger/accounts.ts';
import { type ClockRecords, clockRecords } from './ledger/clock-records.ts';
import { lastInstants } from './ledger/clocks.ts';
import { type MonthRecords, monthRecords } from './ledger/month-records.ts';
import { type RunRecords, runRecords } from './ledger/runs.ts';
import { openWriteClock } from './ledger/write-clock.ts';
import { type LoadRecords, loadRecords } from './load/load-records.ts';
import { readSql } from './sql/sql-files.ts';
import type { Connection, Database } from './store/connection.ts';
import { openDatabase } from './store/database.ts';
import { type Exclusively, openExclusively } from './store/exclusive.ts';
import { migrateTables, pendingMigrations, rememberPublished } from './store/migrate.ts';
import { type AlertRecords, alertRecords } from './watch/alert-records.ts';

/** The writer's warehouse. One process holds it at a time; closing it without `publish` changes nothing for readers. */
export interface Warehouse extends RunRecords, AccountRecords, LoadRecords, MonthRecords, AlertRecords, ClockRecords {
  /**
   * Runs work while no other such work runs, and nothing is recorded or published: DuckDB has one writer, and several
   * busy queries would starve DNS and files. Work may contain more of it.
   */
  readonly exclusively: Exclusively;
  /** Publishes the snapshot; returns the removed logs of other programs. */
  publish(): Promise<readonly string[]>;
  /** Gives back the memory of blocks that were read, before the snapshot is read beside it. Nothing else may run meanwhile. */
  dropBlocks(): Promise<void>;
  /** Resolves when all views are there: of a new warehouse, some may be created while it is in use. */
  readonly views: Promise<void>;
  /** Reads every row of every table. Throws DamagedFileError if the disk fails to return one. */
  readAll(): Promise<void>;
  /**
   * Reads the whole journal, and writes the rows of the books into it if events of it are lost, so that the books can
   * be rebuilt from it. Returns the number of written events. Throws JournalLossError if it is damaged.
   */
  restoreJournal(): Promise<number>;
  close(): void;
}

/**
 * Opens the writer's file below the project folder and brings it to this program's schema. `newestStored` returns the last
 * load number in the landing folder. The signal stops stages and a running copy; the ledger can still be written and
 * published afterwards. Throws LockedError, UsageError if a newer program wrote the file, OlderBooksError,
 * DamagedFileError if it cannot be read, and ChangedFileError if it is missing, has less than snapshot, landing folder and
 * journal, or has other rows than were published, or if a folder is in place of a file next to it.
 *
 * With `areViewsLater`, a new warehouse is usable for an ingest before all views are there. Then await `views` before
 * closing it.
 */
export async function openWarehouse(
  dir: string,
  signal?: AbortSignal,
  log?: Log,
  newestStored: () => Promise<number> = async () => 0,
  { areViewsLater = false }: { readonly areViewsLater?: boolean } = {},
): Promise<Warehouse> {
  const file = warehouseFile(dir);
  refuseMisplaced(dir);
  // DuckDB may empty the log when it opens the file.
  const isWritten = await isWrittenSincePublished(dir);
  const published = isWritten ? undefined : await asPublished(dir);
  const database = await openWarehouseFile(dir, newestStored);
  let views = Promise.resolve();
  try {
    const connection = await database.connect();
    const traces = await findTraces(dir, await newestStored());
    await refuseOlder(connection, file, traces);
    // A file of a killed start has no tables yet.
    await connection.run(await readSql('schema', 'applied_files'));
    const migrations = await pendingMigrations(connection, 'wh', file);
    if (migrations.length > 0)
      log?.info('warehouse.migrating', 'Applying new migrations to the warehouse', { migrations });
    else if (published === undefined) await refuseChanged(connection, file, traces);
    if (isWritten) await refuseOtherTables(connection, dir, traces);
    const { schema, isPublished, makeViews, makeViewsOfIngest } = await migrateTables(connection);
    if (areViewsLater && isPublished) {
      await makeViewsOfIngest(connection);
      views = makeViews(await database.connect());
      views.catch(() => undefined); // awaited before publishing
    } else await makeViews(connection);
    const exclusively = openExclusively();
    const recorder = await openRecorder(connection, journalFolder(dir), {
      exclusively,
      published: traces.seal?.journal,
    });
    const clock = openWriteClock((await lastInstants(connection)).last);
    const contents = { facts: isPublished ? published : undefined };
    const publish = () =>
      exclusively(async () => {
        await views;
        // The snapshot before may be the only readable copy.
        const damage = database.damage();
        if (damage !== undefined) throw damage;
        return publishSnapshot(connection, file, snapshotFile(dir), { signal, log, contents });
      });
    if (!isPublished) {
      // From here on the snapshot has this schema, for this command and all readers.
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
      exclusively,
      publish,
      dropBlocks: () => database.dropBlocks(),
      views,
      readAll: () => readAllTables(connection, 'wh'),
      restoreJournal: () => restoreJournal(connection, recorder, journalFolder(dir)),
      close: () => database.close(),
    };
  } catch (error) {
    await views.catch(() => undefined);
    database.close();
    throw error;
  }
}

/** Writes the rows of the books into the journal if events of it are lost. Returns the number of written events. */
async function restoreJournal(connection: Connection, recorder: Recorder, folder: string): Promise<number> {
  const applied = await lastApplied(connection);
  if (firstUnrestored(await readJournal(folder, 0, applied)) === undefined) return 0;
  let count = 0;
  for await (const event of restoringEvents(connection, applied + 1)) {
    await recorder.record(event);
    count += 1;
  }
  return count;
}

/** Throws ChangedFileError if another program wrote to the warehouse, so that its tables differ from the snapshot's. */
async function refuseOtherTables(connection: Connection, dir: string, traces: Traces): Promise<void> {
  const changes = await changesSincePublished(connection, dir);
  if (changes.length > 0) throw otherTables(warehouseFile(dir), changes, traces);
}

/** Opens the writer's file unless it is missing or damaged. */
async function openWarehouseFile(dir: string, newestStored: () => Promise<number>): Promise<Database> {
  const file = warehouseFile(dir);
  const traces = await findTraces(dir, await newestStored());
  await refuseMissing(file, traces);
  if (traces.isSnapshotIntact) await refuseDamaged(file, traces);
  if (!(await isThere(file))) await createTables(file);
  return openDatabase(file, { readOnly: false, whenDamaged: repairs }).catch(async (error: unknown) => {
    if (!(error instanceof DamagedFileError)) throw error;
    throw damagedWarehouse(error, await findTraces(dir, await newestStored()));
  });
}

/**
 * Creates a new warehouse file with its tables, without a log: with one, each migration would need a checkpoint. If
 * killed, it leaves a file without tables.
 */
async function createTables(file: string): Promise<void> {
  const database = await openDatabase(file, { readOnly: false, unlogged: true });
  try {
    const connection = await database.connect();
    await migrateTables(connection, true);
    await connection.checkpoint();
  } finally {
    database.close();
  }
}

async function isThere(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false, // opening it says why it cannot be read
  );
}
