export {
  type AnswerCache,
  answerCache,
  answerOf,
  cachedRows,
  lastAnswers,
  type MadeBy,
  ownAnswers,
  rowsWithOwners,
} from './answer-cache.ts';
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
export { sqlProblem } from './sql-problem.ts';
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
