export { type Books, clearAfterReader, expectBooks, openBooks, wholeSnapshot, withBooks } from './books.ts';
export {
  type LoadInBooks,
  loadsOfSnapshot,
  openPresentWarehouse,
  type PresentWarehouse,
  type TableComparison,
} from './compare.ts';
export { extentOf, factsOf } from './contents.ts';
export { findTraces, readAllTables, setAside } from './damage.ts';
export { type Knowledge, openRebuildingWarehouse, type RebuildingBase } from './rebuilding.ts';
export { readSeal, type SnapshotFacts } from './seal.ts';
export { describeFacts, knowledgeOf } from './snapshot.ts';
export { snapshotFile } from './snapshot-file.ts';
export { type Space, spaceOf } from './space.ts';
export { lastUnendedRun, type UnendedRun, unendedRun } from './unended-run.ts';
export {
  isWarehouse,
  isWrittenSincePublished,
  setWarehouseAside,
  warehouseBytes,
  warehouseFault,
  warehouseFile,
} from './warehouse-file.ts';
