import { basename, join } from 'node:path';
import { DamagedFileError, firstSentence, LockedError } from '../errors.ts';
import { openLandingWriter } from '../fetch/index.ts';
import {
  type Books,
  describeFacts,
  factsOf,
  logsBeside,
  openPresentWarehouse,
  type PresentWarehouse,
  type SnapshotFacts,
  snapshotFile,
  warehouseFault,
} from '../warehouse/index.ts';

/** Something wrong with the files of the books, in words, with what to do. */
export interface FileFault {
  readonly file: 'snapshot' | 'warehouse';
  readonly found: string;
  readonly remedy: string;
}

const remedy = 'run "costbook repair"';

/**
 * Compares the open snapshot with what the warehouse held when it was published (rows, cost, load, journal event), and
 * looks at the files beside it. Not for a process that holds the warehouse.
 */
export async function faultsOfFiles(dir: string, books: Books): Promise<FileFault[]> {
  const faults: FileFault[] = [];
  for (const log of await logsBeside(snapshotFile(dir))) {
    faults.push({
      file: 'snapshot',
      found: `another program opened the snapshot for writing and left data/${basename(log)}: Costbook does not read it, other DuckDB clients do, and see other numbers`,
      remedy,
    });
  }
  const found = await factsOf(books.connection, 'wh');
  const { loadNumber, lastEvent, rowCount, cost } = books.published;
  const published: SnapshotFacts = { loadNumber, lastEvent, rowCount, cost };
  if (describeFacts(found) !== describeFacts(published)) {
    faults.push({
      file: 'snapshot',
      found: `the snapshot has ${describeFacts(found)}; the warehouse had ${describeFacts(published)} when it was published`,
      remedy,
    });
  }
  const fault = await warehouseFault(dir);
  if (fault !== undefined) {
    faults.push({ file: 'warehouse', found: `data/warehouse.duckdb ${fault}: nothing can be loaded`, remedy });
  }
  return faults;
}

/**
 * Opens the warehouse for a moment, where no writer holds it, and compares it with the snapshot. A writer that begins in
 * that moment waits for it.
 */
export async function compareWarehouse(
  dir: string,
  { published: seal }: Books,
  signal: AbortSignal,
): Promise<FileFault[]> {
  let present: PresentWarehouse | undefined;
  try {
    present = await openPresentWarehouse(dir, signal);
    if (present === undefined) return []; // that it is missing is a fault of its own
    const { loadNumber, lastEvent, rowCount, cost } = await present.facts();
    const isLess = loadNumber < seal.loadNumber || lastEvent < seal.lastEvent;
    const isSame = loadNumber === seal.loadNumber && lastEvent === seal.lastEvent;
    const differs = rowCount !== seal.rowCount || cost !== seal.cost;
    if (!isLess && !(isSame && differs)) return [];
    const has = describeFacts({ loadNumber, lastEvent, rowCount, cost });
    return [
      { file: 'warehouse', found: `data/warehouse.duckdb has ${has}; the snapshot has ${describeFacts(seal)}`, remedy },
    ];
  } catch (error) {
    if (error instanceof LockedError) return []; // a run is under way
    if (error instanceof DamagedFileError) return [{ file: 'warehouse', found: firstSentence(error.message), remedy }];
    throw error;
  } finally {
    present?.close();
  }
}

/** Loads that were landed and are not in the snapshot; undefined where there are none. */
export async function unpublishedLoads(dir: string, { published: seal }: Books): Promise<string | undefined> {
  const newest = await openLandingWriter(join(dir, 'data', 'landing')).newestLoad();
  if (newest <= seal.loadNumber + 1) return undefined;
  return `loads up to ${newest} are landed, the snapshot has them up to ${seal.loadNumber}: a run is under way or was killed`;
}
