import { stat } from 'node:fs/promises';
import { CostbookError, DamagedFileError } from '../../base/errors.ts';
import type { Window } from '../../time/time.ts';
import { lastApplied } from '../journal/journal.ts';
import { readSql } from '../sql/sql-files.ts';
import { attach, countDifference, makeDifference } from '../sql/statements.ts';
import { changedTables } from '../store/changed-tables.ts';
import type { Connection, SqlRow } from '../store/connection.ts';
import { openDatabase } from '../store/database.ts';
import { checkSchema } from '../store/migrate.ts';
import { openBooks } from './books.ts';
import { factsOf } from './contents.ts';
import { repairs } from './damage.ts';
import { readSeal, type SnapshotFacts } from './seal.ts';
import { snapshotFile } from './snapshot-file.ts';
import { warehouseFile } from './warehouse-file.ts';

/** How many rows of a difference are shown for each side. */
const rowsShown = 3;

/** A table of the present warehouse compared with the same table of another file. */
export interface TableComparison {
  readonly table: string;
  /** Rows of the present warehouse. */
  readonly rows: number;
  readonly onlyHere: number;
  readonly onlyThere: number;
  /** The first few rows of each side. */
  readonly here: readonly SqlRow[];
  readonly there: readonly SqlRow[];
}

/** A load in the books. */
export interface LoadInBooks {
  readonly loadNumber: number;
  readonly account: string;
  readonly window: Window;
  readonly requests: number;
  /** Its folder, relative to the landing root. */
  readonly landing: string;
}

/** The present warehouse, locked for reading: no writer can start until it is closed. */
export interface PresentWarehouse {
  readonly lastLoadNumber: number;
  /** The number of its last journal event. */
  readonly lastEvent: number;
  facts(): Promise<SnapshotFacts>;
  /** What another program changed in it since it was published, in words; empty if nothing, or if it cannot be known. */
  changes(): Promise<string[]>;
  loads(): Promise<LoadInBooks[]>;
  /**
   * Compares every table with that of another warehouse file, as bags of rows. The file must not be open in this
   * process.
   */
  compareWith(file: string): Promise<TableComparison[]>;
  close(): void;
}

/**
 * Opens the present warehouse for comparison; undefined if there is none. Throws LockedError if a writer has it,
 * OlderBooksError or another UsageError if it has another schema than this program's.
 */
export async function openPresentWarehouse(dir: string, signal?: AbortSignal): Promise<PresentWarehouse | undefined> {
  const file = warehouseFile(dir);
  const isThere = await stat(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
  if (!isThere) return undefined;
  const database = await openDatabase(file, { readOnly: true, whenDamaged: repairs });
  try {
    const connection = await database.connect(signal);
    await checkSchema(connection, 'wh', file);
    const [loads] = await connection.rows(await readSql('ledger', 'last_load'));
    return {
      lastLoadNumber: Number(loads?.['load_number']),
      lastEvent: await lastApplied(connection),
      facts: () => factsOf(connection, 'wh'),
      changes: () => changesSincePublished(connection, dir),
      loads: () => loadsIn(connection),
      async compareWith(other) {
        await connection.run(attach(other, 'rebuilt', 'read'));
        const compared: TableComparison[] = [];
        const tables = await connection.rows(await readSql('compare', 'tables'));
        for (const row of tables) compared.push(await compareTable(connection, String(row['table_name'])));
        return compared;
      },
      close: () => database.close(),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * What another program changed in an open warehouse since it was published. A run that was killed may have written more
 * loads and events: then only added and missing tables show.
 */
export async function changesSincePublished(connection: Connection, dir: string): Promise<string[]> {
  const snapshot = await openBooks(dir, { lockedDown: true }).catch((error: unknown) => {
    if (error instanceof CostbookError) return undefined; // reported elsewhere, or from before a migration
    throw error;
  });
  if (snapshot === undefined) return [];
  try {
    const [own, published] = [await factsOf(connection, 'wh'), snapshot.published];
    const areRowsSame = own.loadNumber === published.loadNumber && own.lastEvent === published.lastEvent;
    return await changedTables(connection, snapshot.connection, { areRowsSame });
  } catch (error) {
    // A damaged snapshot says nothing of the warehouse, which replaces it.
    if (error instanceof DamagedFileError && error.file === snapshotFile(dir)) return [];
    throw error;
  } finally {
    snapshot.close();
  }
}

async function loadsIn(connection: Connection): Promise<LoadInBooks[]> {
  const rows = await connection.rows(await readSql('compare', 'loads'));
  return rows.map((row) => ({
    loadNumber: Number(row['load_number']),
    account: String(row['account']),
    window: { start: Number(row['window_start']), end: Number(row['window_end']) },
    requests: Number(row['requests']),
    landing: String(row['landing'] ?? ''),
  }));
}

/** The loads in a project's snapshot; none if it is missing or damaged. */
export async function loadsOfSnapshot(dir: string, signal?: AbortSignal): Promise<LoadInBooks[]> {
  const file = snapshotFile(dir);
  try {
    if ((await readSeal(file)).state !== 'intact') return [];
    const database = await openDatabase(file, { readOnly: true });
    try {
      return await loadsIn(await database.connect(signal));
    } finally {
      database.close();
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof CostbookError || (error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

async function compareTable(connection: Connection, table: string): Promise<TableComparison> {
  // One pass over both sides; equal rows cancel out, however often they occur.
  await connection.run(makeDifference(table));
  const [counts] = await connection.rows(countDifference(table));
  const first = async (side: 1 | -1): Promise<SqlRow[]> =>
    connection.rows(await readSql('compare', 'rows_of_difference'), { side, max_rows: rowsShown });
  return {
    table,
    rows: Number(counts?.['rows']),
    onlyHere: Number(counts?.['only_here']),
    onlyThere: Number(counts?.['only_there']),
    here: await first(1),
    there: await first(-1),
  };
}
