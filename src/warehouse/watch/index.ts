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
export type { ForecastRow, ForecastScopeRow } from './forecasts.ts';
