export { type ActingSettings, answersToOf, isActing } from './acting-settings.ts';
export type { Card, SinkAnswer, SpentShare } from './card.ts';
export { type CommandEffects, openCommand } from './command.ts';
export type { CostSummary } from './cost-summary.ts';
export { mailAddresses } from './kinds/email.ts';
export {
  openSink,
  previewOf,
  type SinkSettings,
  type SinkTypeName,
  secretKeys,
  secretsOf,
  showsPictures,
  sinkFault,
  sinkTypeNames,
  sinkTypes,
} from './kinds/index.ts';
export { isStandardSecret } from './kinds/webhook.ts';
export type {
  LeftOut,
  MailedFiles,
  Message,
  MessageEntry,
  MessagePicture,
  Origin,
  OutgoingMessage,
} from './message.ts';
export { sendPing } from './ping.ts';
export { parseTargetUrl, plainAddress, urlSecrets } from './settings.ts';
export type { Attempt, PreviewFormat, SendMessage, SinkEffects } from './sink.ts';
export { readInSlack, slackMessage } from './slack-message.ts';
