import type { Instant } from '../../time/time.ts';
import type { Recorder } from '../journal/journal.ts';
import { rememberChecks } from '../ledger/checks.ts';
import type { WriteClock } from '../ledger/write-clock.ts';
import { type AnswerCache, type MadeBy, storeAnswers } from '../store/answer-cache.ts';
import type { Connection } from '../store/connection.ts';
import { type AlertFeedback, recordFeedback } from './alert-feedback.ts';
import {
  type DeliveryEnd,
  type KnownAlert,
  knownAlerts,
  lastMessagesAbout,
  type PendingMessage,
  pendingMessages,
  type RecordedEvaluation,
  recordAcknowledgement,
  recordDeliveryBegan,
  recordDeliveryEnd,
  recordEvaluation,
  type StoredAnswer,
  type StoredMessage,
  sinksOfSummary,
  storedAnswers,
} from './alerts.ts';
import { type AnomalyEvaluation, recordAnomalies } from './anomalies.ts';
import { type ForecastsMade, recordForecasts } from './forecasts.ts';

/** Alerts, their messages, and the results that they come from. */
export interface AlertRecords {
  /** The last time that every alert was raised. */
  knownAlerts(): Promise<KnownAlert[]>;
  /** Writes what an evaluation changes, in one transaction; does nothing if that is nothing. */
  recordEvaluation(evaluation: RecordedEvaluation): Promise<void>;
  /** Stores in the warehouse's file that the checks of this program have checked it. A rebuilt file does not have that. */
  rememberChecks(): Promise<void>;
  /** Writes forecasts, except those that exist for the same complete-through instant; returns how many. */
  recordForecasts(made: ForecastsMade): Promise<number>;
  /** Stores what an evaluation computed, for readers of the same books, and forgets what is of other books. */
  storeAnswers(cache: AnswerCache, madeBy: MadeBy): Promise<void>;
  /** Writes the result of an evaluation of anomalies, in one transaction. */
  recordAnomalies(evaluation: AnomalyEvaluation): Promise<void>;
  /** The sinks that received a summary of this name, or are to receive it, each with the last run that queued it. */
  sinksOfSummary(digest: string): Promise<ReadonlyMap<string, number>>;
  /** The last message to each sink about a key. */
  lastMessagesAbout(key: string): Promise<StoredMessage[]>;
  /** Mutes an alert's key from now to an instant. */
  acknowledge(key: string, until: Instant, runNumber: number, now: Instant): Promise<void>;
  /** Writes what somebody says that an anomaly was; returns the instant that it has. */
  giveFeedback(given: Omit<AlertFeedback, 'at'>, now: Instant): Promise<Instant>;
  /** Messages that are not delivered yet, in order. A gap of so many days between two attempts at a sink begins anew. */
  pendingMessages(gapDays: number): Promise<PendingMessage[]>;
  /** What agents and models answered to messages that were queued at an instant or later. */
  answersSince(since: Instant): Promise<StoredAnswer[]>;
  /** Records that a run is about to send a message, before it does. */
  deliveryBegan(number: number, runNumber: number, now: Instant): Promise<void>;
  /** Records a sink's receipt, or why there is none. */
  deliveryEnded(delivery: DeliveryEnd, now: Instant): Promise<void>;
}

/** The writer's access to alerts. */
export function alertRecords(connection: Connection, recorder: Recorder, clock: WriteClock): AlertRecords {
  return {
    knownAlerts: () => knownAlerts(connection),
    recordEvaluation: (evaluation) => recordEvaluation(connection, recorder, evaluation),
    rememberChecks: () => rememberChecks(connection),
    recordForecasts: (made) => recordForecasts(connection, recorder, made),
    async storeAnswers(cache, madeBy) {
      const answers = await cache.toStore();
      if (answers !== undefined) await storeAnswers(connection, answers, madeBy);
    },
    recordAnomalies: (evaluation) => recordAnomalies(recorder, evaluation),
    sinksOfSummary: (digest) => sinksOfSummary(connection, digest),
    lastMessagesAbout: (key) => lastMessagesAbout(connection, key),
    acknowledge: async (key, until, runNumber, now) =>
      recordAcknowledgement(recorder, { key, until, runNumber, at: clock.seenAt(now) }),
    giveFeedback: async (given, now) => {
      const at = clock.seenAt(now);
      await recordFeedback(recorder, { ...given, at });
      return at;
    },
    pendingMessages: (gapDays) => pendingMessages(connection, gapDays),
    answersSince: (since) => storedAnswers(connection, since),
    deliveryBegan: async (number, runNumber, now) =>
      recordDeliveryBegan(recorder, { number, runNumber, at: clock.seenAt(now) }),
    deliveryEnded: async (delivery, now) => recordDeliveryEnd(recorder, delivery, clock.seenAt(now)),
  };
}
