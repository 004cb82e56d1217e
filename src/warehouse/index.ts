export {
  type AccountFacts,
  type AccountLedger,
  type AccountRun,
  accountLedger,
  type Completeness,
  type CoveredWindow,
  completeness,
  contradictions,
  coveredWindows,
  lastQueries,
  startOfBooks,
  type UnprovenText,
  type UnprovenWindow,
  unprovenText,
  unprovenWindows,
} from './accounts.ts';
export type { AnomalyCalled, FeedbackGiven } from './alert-feedback.ts';
export {
  answerPrefix,
  type DeliveryEnd,
  type EndedAlert,
  type Evaluation,
  type KnownAlert,
  knownAlerts,
  type NewMessage,
  type PendingMessage,
  type RaisedAlert,
  type StoredAnswer,
  storedAnswers,
} from './alerts.ts';
export type { AnomalyEvaluation, AnomalyRow } from './anomalies.ts';
export {
  type AnswerCache,
  answerCache,
  answerOf,
  cachedRows,
  type MadeBy,
  ownAnswers,
} from './answer-cache.ts';
export { type HoursBetween, lastSeen } from './as-of.ts';
export { type Books, clearAfterReader, expectBooks, openBooks, wholeSnapshot } from './books.ts';
export { checkWords } from './check-codes.ts';
export {
  bindCheck,
  type Check,
  type CheckResult,
  hashOfChecks,
  maxOffendersShown,
  readChecks,
  runCheck,
} from './checks.ts';
export { type ClockReading, lastClocks, lastInstants } from './clocks.ts';
export {
  type AccountClose,
  type ClosedMonth,
  type ClosedRate,
  closedMonths,
  differingCloses,
  differingCloseWords,
  type KnownUnit,
  knownUnits,
  type MonthClose,
  type MonthsToClose,
  readMonthsToClose,
} from './closes.ts';
export {
  type LoadInBooks,
  loadsOfSnapshot,
  openPresentWarehouse,
  type PresentWarehouse,
  type TableComparison,
} from './compare.ts';
export {
  type Connection,
  type Database,
  type SqlColumn,
  SqlError,
  type SqlParameters,
  type SqlResult,
  type SqlRow,
  type SqlValue,
} from './connection.ts';
export { extentOf, factsOf } from './contents.ts';
export { findTraces, readAllTables, setAside } from './damage.ts';
export { openScratch } from './database.ts';
export { asTyped } from './duckdb-errors.ts';
export { holdFolder } from './folder-lock.ts';
export {
  type ForecastRow,
  type ForecastScopeRow,
  type ForecastsMade,
  forecastKey,
  knownForecasts,
} from './forecasts.ts';
export type {
  InventoryStage,
  ListedResource,
  ListingFacts,
  ListingKey,
  ListingOutcome,
  ListingReading,
  ListingWritten,
} from './inventory.ts';
export { type JobHistory, jobHistories, type StepEnd } from './jobs.ts';
export { JournalLossError, journalFault, journalFolder } from './journal.ts';
export { type ClosedGaps, closeGaps, type LostEvents } from './journal-gaps.ts';
export { logsBeside } from './logs.ts';
export { allocationInForce } from './month-records.ts';
export { parsedOf, type Tree, walk } from './parse-tree.ts';
export {
  type CostPartition,
  costPartitions,
  lastLoadOf,
  partitionsChangedSince,
  viewsSha256,
} from './partitions.ts';
export { openRebuildingWarehouse, type RebuildingBase, type RebuildingWarehouse } from './rebuilding.ts';
export type { DifferingHours, Reconciliation, TotalDecimals, TotalsKnown } from './reconciliation.ts';
export {
  closeAgainStep,
  type Invoice,
  invoiceOption,
  type MonthToClose,
  type Reopening,
  reopenAndClose,
} from './reopening.ts';
export type { DeploymentsStage, ListedDeployments } from './resource-events.ts';
export type { Run } from './runs.ts';
export { readSeal, type Seal, type SealState, type SnapshotFacts } from './seal.ts';
export { describeFacts, knowledgeOf } from './snapshot.ts';
export { snapshotFile } from './snapshot-file.ts';
export { builtInSql, isBuiltIn, readSql, readSqlFolder, type SqlFile } from './sql-files.ts';
export { sqlProblem } from './sql-problem.ts';
export type { Stage } from './stage.ts';
export type { LoadRole } from './stage-state.ts';
export type { PageSink, StagedPage } from './staged-pages.ts';
export {
  amountOfOthers,
  amountOfValue,
  aroundConverted,
  aroundLabels,
  aroundSpread,
  cellOf,
  columnsNamed,
  copyOfLake,
  copyToParquet,
  countValue,
  engineAnswerTable,
  figuresOf,
  figuresOfJsonFile,
  figuresOfParquet,
  firstOf,
  fromSource,
  inOrder,
  instantCell,
  makeEngineAnswer,
  monthsOf,
  noRowsOf,
  pivotedTable,
  rowsOfParquet,
  selectCells,
  sparklineOf,
  sumOfCosts,
  sumsOf,
  valuesByAmount,
  valuesOf,
} from './statements.ts';
export { type UnendedRun, unendedRun } from './unended-run.ts';
export {
  decimalCell,
  epochDays,
  epochMicros,
  type JsonValue,
  type SqlCell,
  toCellText,
  toJsonValue,
  unscaledDecimal,
} from './values.ts';
export {
  type ComparedTotals,
  type ContradictedQuestion,
  type Contradiction,
  contradictedQuestions,
  coveredAsMember,
  dueMonths,
  groupsByWorkspace,
  keepSeriesHours,
  openPastReader,
  type PastComparison,
  type PastDifference,
  type PastQuery,
  seriesLives,
  seriesVerified,
  type Verification,
} from './verified-past.ts';
export { openWarehouse, type Warehouse } from './warehouse.ts';
export {
  isWarehouse,
  isWrittenSincePublished,
  setWarehouseAside,
  warehouseBytes,
  warehouseFault,
  warehouseFile,
} from './warehouse-file.ts';
export type { LoadedQuery, LoadFacts, LoadResult, LoadWritten } from './write-load.ts';
