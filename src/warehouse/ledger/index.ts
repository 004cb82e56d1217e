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
export { type AnswerCache, answerCache, answerOf, cachedRows, type MadeBy, ownAnswers } from './answer-cache.ts';
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
  type ForecastRow,
  type ForecastScopeRow,
  type ForecastsMade,
  forecastKey,
  knownForecasts,
} from './forecasts.ts';
export { type JobHistory, jobHistories, type StepEnd } from './jobs.ts';
export { allocationInForce } from './month-records.ts';
export {
  closeAgainStep,
  type Invoice,
  invoiceOption,
  type MonthToClose,
  type Reopening,
  reopenAndClose,
} from './reopening.ts';
export type { Run } from './runs.ts';
