export { type AlertFact, type BooksFact, parseFact, type RunFact } from './alert-fact.ts';
export { withNews } from './causes.ts';
export { type AlertFactsOptions, type CurrentCauses, currentCauses, readAlertFacts } from './collect-facts.ts';
export { type Delivery, deliver } from './deliver.ts';
export { isSameCause } from './failure-codes.ts';
export { type HoursToCheck, hoursToCheck } from './hours-to-check.ts';
export {
  cardOf,
  type Message,
  maxAlertsOfAgent,
  messagesOf,
  newMessage,
  type Origin,
  type OutgoingMessage,
} from './message.ts';
export { alertKey, diskKey, isRefusedClose, staleStep, stepAfterMistakes, stepAfterRun } from './next-step.ts';
export {
  alertFactsOptions,
  clientOf,
  deliverAll,
  exitCodeOf,
  loadAlertingConfig,
  originOf,
  readableAlertingConfig,
  sinkEffects,
} from './notify.ts';
export { alertWords, type OpenAlert, wordsOf } from './open-alerts.ts';
export { readPictures, readSummaryPicture, showsPictures } from './pictures.ts';
export { alertRows } from './rows.ts';
export { openSink } from './sinks/index.ts';
export { sendPing } from './sinks/ping.ts';
export { type PreviewFormat, previewFormats, previewOf } from './sinks/preview.ts';
export { sinkFault } from './sinks/reach.ts';
export type { SendMessage } from './sinks/sink.ts';
export { readInSlack, slackMessage } from './sinks/slack-message.ts';
export { readCostSummary, type SummaryPeriod, summaryWindows } from './summary.ts';
export { type AlertEntry, type Transitions, transitionsOf } from './transitions.ts';
export { firstComparison, largestDifference, monthsTouched, unprovenWords } from './unproven-words.ts';
export {
  alertWithoutBooks,
  allOpenAlerts,
  asKnown,
  asRaised,
  countWords,
  forgetUnstored,
  markMended,
  type UnstoredAlert,
  unstoredAlerts,
  unstoredStill,
  type WaitingAlert,
} from './unstored-alerts.ts';
export { withUnusualCosts } from './unusual-costs.ts';
