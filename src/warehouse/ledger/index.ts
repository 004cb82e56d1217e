export {
  accountLedger,
  type Completeness,
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
export {
  type Check,
  type CheckResult,
  hashOfChecks,
  maxOffendersShown,
  readChecks,
  runCheck,
} from './checks.ts';
export { lastClocks, lastInstants } from './clocks.ts';
export {
  type AccountClose,
  type ClosedMonth,
  type ClosedRate,
  closedMonths,
  differingCloses,
  differingCloseWords,
  knownUnits,
  readMonthsToClose,
} from './closes.ts';
export { type JobHistory, jobHistories } from './jobs.ts';
export { lastFetch } from './last-fetch.ts';
export { allocationInForce } from './month-records.ts';
export {
  closeAgainStep,
  type Invoice,
  invoiceOption,
  type MonthToClose,
  newTotal,
  noInvoice,
  type Reopening,
  reopenAndClose,
} from './reopening.ts';
export type { Run } from './runs.ts';
