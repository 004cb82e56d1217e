export { type Facts, type FactsAsked, readFacts } from './alert-facts.ts';
export {
  cardOf,
  type Message,
  messagesOf,
  newMessage,
  nextWords,
  type Origin,
  type OutgoingMessage,
  plainText,
  subjectOf,
} from './alert-message.ts';
export { alertRows } from './alert-rows.ts';
export {
  type AlertEntry,
  type AlertFact,
  type AlertKind,
  type BooksFact,
  type BudgetAlertFact,
  type DataFact,
  type DataState,
  dataFacts,
  parseFact,
  type Transitions,
  transitionsOf,
  withWithdrawn,
} from './alerts.ts';
export * from './allocation.ts';
export * from './anomalies/index.ts';
export { openWitness } from './ask-again.ts';
export {
  amountIn,
  type Budget,
  type BudgetScope,
  budgetFileKeys,
  budgetsFile,
  loadBudgets,
  parseBudgets,
  type Severity,
  severities,
  type Threshold,
  thresholdSubjects,
  usdDecimals,
} from './budget-file.ts';
export { type KnownSpend, type Replay, type ReplayEvent, replayBudget, replayFacts } from './budget-replay.ts';
export {
  type BurnRate,
  budgetFacts,
  namesNotFound,
  readSpends,
  type SpendNow,
  type SpendsAsked,
  watchedSpends,
} from './budget-spends.ts';
export {
  type BudgetFact,
  type BudgetState,
  budgetCalendar,
  type Driver,
  evaluateBudgets,
  isForecastAsked,
  isReached,
  limitOf,
  rounded,
  type Spend,
  shareOf,
  stateOf,
  thresholdKey,
  watchedPeriods,
} from './budgets.ts';
export * from './check.ts';
export * from './close.ts';
export { quoted } from './columns.ts';
export * from './completeness.ts';
export { type Delivering, type Delivery, deliver, type Outbox, retryDelayMs } from './deliver.ts';
export { type Digest, type DigestPeriod, digestWindows, readDigest } from './digest.ts';
export { exportFormats, factsOf, loadArrow, writeAnswer } from './export.ts';
export { costColumnOf } from './figures.ts';
export * from './focus.ts';
export * from './forecast/index.ts';
export { forecastSentence } from './forecast-words.ts';
export { csvPieces } from './formats/csv.ts';
export { excelPieces } from './formats/excel.ts';
export type { AnswerPieces, FormatOptions, Question } from './formats/format.ts';
export { jsonLines, jsonPieces } from './formats/json.ts';
export { writeParquet } from './formats/parquet.ts';
export {
  formatTable,
  openTable,
  type Table,
  type TableLayout,
  wrapped,
  wrapWords,
} from './formats/table.ts';
export { type Kept, readKept } from './kept.ts';
export { lackingTogether } from './lacking-words.ts';
export { partitionsFolder } from './lake.ts';
export { realFolder } from './layout.ts';
export { type Manifest, type ManifestFile, manifestName } from './manifest.ts';
export {
  answersMetric,
  type EndedRun,
  type MetricsAsked,
  metricNames,
  readMetrics,
  type UnpublishedRun,
  unpublishedRunMetrics,
} from './metrics.ts';
export * from './moment.ts';
export { cents } from './money.ts';
export { type NextStep, nextStepOf, stepAfterRun, unprovenStep } from './next-step.ts';
export { ownerBudgets } from './owner-budgets.ts';
export * from './parameters.ts';
export {
  type Forecaster,
  forecastLevel,
  forecastPeriod,
  type NoPeriodForecast,
  type PeriodForecast,
  reachedOn,
} from './period-forecast.ts';
export { filesOf, type Published } from './publish.ts';
export { filesNamed, isPartitioned, placeOf, publishReport, totalsOf } from './publish-report.ts';
export * from './report.ts';
export {
  exceedsOnOf,
  type ForecastScope,
  type ForecastsAsked,
  forecastRow,
  readForecasts,
  type ScopeForecast,
  withForecasts,
} from './scope-forecasts.ts';
export { shape } from './shape.ts';
export { openSink } from './sinks/index.ts';
export { sendPing } from './sinks/ping.ts';
export { sinkFault } from './sinks/reach.ts';
export type { Attempt, SinkEffects, Tell } from './sinks/sink.ts';
export { readInSlack, type SlackBlock, type SlackMessage, slackLimits, slackMessage } from './sinks/slack.ts';
export { newestThatFit, sparkline } from './sparkline.ts';
export { isOfOwners, refusalWords, unanswerable } from './unanswerable.ts';
export { findExports, type VerifiedExport, verifyExport } from './verify-exports.ts';
