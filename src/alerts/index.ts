export { type Delivery, deliver } from './deliver.ts';
export { type Evaluated, evaluateAlerts } from './evaluate.ts';
export {
  type Message,
  maxAlertsOfAgent,
  messagesOf,
  newMessage,
  type Origin,
  type OutgoingMessage,
} from './message.ts';
export {
  type AlertingContext,
  alertFactsOptions,
  clientOf,
  deliverAll,
  exitCodeOf,
  loadAlertingConfig,
  originOf,
  readableAlertingConfig,
  sinkEffects,
} from './notify.ts';
export { readPictures, readSummaryPicture, showsPictures } from './pictures.ts';
export { openSink } from './sinks/index.ts';
export { sendPing } from './sinks/ping.ts';
export { type PreviewFormat, previewFormats, previewOf } from './sinks/preview.ts';
export { sinkFault } from './sinks/reach.ts';
export type { SendMessage } from './sinks/sink.ts';
export { readInSlack, slackMessage } from './sinks/slack-message.ts';
export { readCostSummary, type SummaryPeriod, summaryWindows } from './summary.ts';
export {
  allOpenAlerts,
  asKnown,
  asRaised,
  countWords,
  forgetUnstored,
  type UnstoredAlert,
  unstoredAlerts,
  unstoredStill,
  type WaitingAlert,
} from './unstored-alerts.ts';
export { alertWithoutBooks, markMended } from './without-books.ts';
