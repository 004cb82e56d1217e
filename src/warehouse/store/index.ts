export { type HoursBetween, lastSeen } from './as-of.ts';
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
export { openScratch } from './database.ts';
export { asTyped } from './duckdb-errors.ts';
export { holdFolder } from './folder-lock.ts';
export { logsBeside } from './logs.ts';
export { parsedOf, type Tree, walk } from './parse-tree.ts';
export { builtInSql, isBuiltIn, readSql, readSqlFolder, type SqlFile } from './sql-files.ts';
export { sqlProblem } from './sql-problem.ts';
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
