export { type Books, openBooks } from './books.ts';
export {
  type Connection,
  type SqlColumn,
  SqlError,
  type SqlParameters,
  type SqlResult,
  type SqlRow,
  type SqlValue,
} from './connection.ts';
export type {
  DifferingHours,
  LoadedQuery,
  LoadResult,
  LoadRole,
  Proof,
  Stage,
  StagedPage,
  TotalDecimals,
  TotalsKnown,
} from './load.ts';
export { snapshotFile } from './snapshot.ts';
export { readSqlFolder, type SqlFile } from './sql-files.ts';
export { isTextType, type JsonValue, toCellText, toJsonValue } from './values.ts';
export {
  groupsByWorkspace,
  type PastComparison,
  type PastDifference,
  type PastQuestion,
  seriesLives,
  seriesVerified,
  type Verification,
} from './verify.ts';
export * from './warehouse.ts';
