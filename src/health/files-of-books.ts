import { basename } from 'node:path';
import { CostbookError, DamagedFileError, LockedError } from '../base/errors.ts';
import { describeMisplaced, misplacedFiles } from '../base/misplaced.ts';
import { type NextStep, repair } from '../base/next-step.ts';
import {
  type Books,
  describeFacts,
  factsOf,
  isWrittenSincePublished,
  openPresentWarehouse,
  type PresentWarehouse,
  type SnapshotFacts,
  snapshotFile,
  warehouseFault,
} from '../warehouse/integrity/index.ts';
import { journalFault, journalFolder } from '../warehouse/journal/index.ts';
import { logsBeside } from '../warehouse/store/index.ts';

/** A fault in the files of the books, and the next step. */
export interface FileFault {
  readonly file: 'snapshot' | 'warehouse' | 'journal' | 'other';
  readonly found: string;
  readonly next: NextStep;
}

const next = repair();

/**
 * Compares the open snapshot with its seal (rows, cost, load, journal event at publication), and checks the files next
 * to it: of the journal, what the next run reads; and the warehouse if anything was written to it since. `isThorough`
 * reads the whole journal and always opens the warehouse. Not for a process that holds the warehouse.
 */
export async function faultsOfFiles(
  dir: string,
  books: Books,
  signal: AbortSignal,
  { isThorough = false } = {},
): Promise<FileFault[]> {
  const faults: FileFault[] = misplacedFiles(dir)
    .filter(({ stopsRuns }) => stopsRuns)
    .map((each) => ({ file: 'other', found: `${describeMisplaced(each)}, so no ingest can load`, next }));
  const journal =
    faults.length > 0
      ? undefined
      : await journalFault(journalFolder(dir), books.published.lastEvent, {
          isWhole: isThorough,
          published: books.published.journal,
        });
  if (journal !== undefined) faults.push({ file: 'journal', found: journal.found, next });
  for (const log of await logsBeside(snapshotFile(dir))) {
    faults.push({
      file: 'snapshot',
      found: `another program opened the snapshot for writing and left data/${basename(log)}: other DuckDB clients read that file and see different numbers; Costbook does not`,
      next,
    });
  }
  const found = await factsOf(books.connection, 'wh');
  const { loadNumber, lastEvent, rowCount, cost } = books.published;
  const published: SnapshotFacts = { loadNumber, lastEvent, rowCount, cost };
  if (describeFacts(found) !== describeFacts(published)) {
    faults.push({
      file: 'snapshot',
      found: `the snapshot has ${describeFacts(found)}, but was published with ${describeFacts(published)}`,
      next,
    });
  }
  faults.push(...(await faultsOfWarehouse(dir, books, signal, isThorough)));
  return faults;
}

/** The first fault of the warehouse: what its headers and length show, or else what it has. */
async function faultsOfWarehouse(
  dir: string,
  books: Books,
  signal: AbortSignal,
  isThorough: boolean,
): Promise<FileFault[]> {
  const fault = await warehouseFault(dir);
  if (fault !== undefined)
    return [{ file: 'warehouse', found: `data/warehouse.duckdb ${fault}, so no ingest can load`, next }];
  const isWritten = await isWrittenSincePublished(dir);
  if (!isWritten && !isThorough) return [];
  return compareWarehouse(dir, books, signal, isWritten).catch((error: unknown) => {
    // A reader of another version, or without access to the warehouse, sees only the snapshot.
    if (!isThorough && error instanceof CostbookError) return [];
    throw error;
  });
}

/**
 * Opens the warehouse for a moment, if no writer holds it, and compares it with the snapshot; its tables only if it was
 * written to. A writer that starts in that moment waits.
 */
async function compareWarehouse(
  dir: string,
  { published: seal }: Books,
  signal: AbortSignal,
  isWritten: boolean,
): Promise<FileFault[]> {
  let present: PresentWarehouse | undefined;
  try {
    present = await openPresentWarehouse(dir, signal);
    if (present === undefined) return []; // a missing file is reported elsewhere
    const { loadNumber, lastEvent, rowCount, cost } = await present.facts();
    const isLess = loadNumber < seal.loadNumber || lastEvent < seal.lastEvent;
    const isSame = loadNumber === seal.loadNumber && lastEvent === seal.lastEvent;
    const differs = rowCount !== seal.rowCount || cost !== seal.cost;
    if (isLess || (isSame && differs)) {
      const has = describeFacts({ loadNumber, lastEvent, rowCount, cost });
      const found = `data/warehouse.duckdb has ${has}; the snapshot has ${describeFacts(seal)}, so no ingest can load`;
      return [{ file: 'warehouse', found, next }];
    }
    const changes = isWritten ? await present.changes() : [];
    if (changes.length === 0) return [];
    const found = `another program has changed data/warehouse.duckdb: ${changes.join(', ')}, so no ingest can load`;
    return [{ file: 'warehouse', found, next }];
  } catch (error) {
    if (error instanceof LockedError) return []; // a run is active
    if (error instanceof DamagedFileError) return [{ file: 'warehouse', found: error.found, next }];
    throw error;
  } finally {
    present?.close();
  }
}
