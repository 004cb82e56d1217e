export type { Delivery } from './deliver.ts';
export {
  dueSubscriptions,
  mailsOfSubscriptions,
  parametersOfReport,
  periodsOfSubscriptions,
  type WrittenFiles,
} from './due-subscriptions.ts';
export { type Evaluated, evaluateAlerts } from './evaluate.ts';
export { maxAlertsOfAgent, messageEntry, newMessage } from './message.ts';
export {
  type AlertingContext,
  alertFactsOptions,
  clientOf,
  deliverAll,
  exitCodeOfDeliveries,
  loadAlertingConfig,
  originOf,
  readableAlertingConfig,
  sinkEffects,
  undeliveredIn,
} from './notify.ts';
export { readPictures, readSummaryPicture } from './pictures.ts';
export { readCostSummary, type SummaryPeriod, summaryWindows } from './summary.ts';
export {
  aboveWords,
  allOpenAlerts,
  asRaised,
  countWords,
  forgetUnstored,
  type UnstoredAlert,
  unstoredAlerts,
  unstoredStill,
  type WaitingAlert,
} from './unstored-alerts.ts';
export { alertWithoutBooks, markMended } from './without-books.ts';
