import type { FastClock } from '../effects.ts';
import { formatInstant, type Instant } from '../time.ts';
import {
  type DeliveryEnd,
  type Evaluation,
  type KnownAlert,
  knownAlerts,
  lastMessagesAbout,
  type PendingMessage,
  pendingMessages,
  recordAcknowledgement,
  recordDeliveryBegan,
  recordDeliveryEnd,
  recordEvaluation,
  type StoredMessage,
  sinksOfSummary,
} from './alerts.ts';
import { type AnomalyEvaluation, recordAnomalies } from './anomalies.ts';
import {
  type ClockReading,
  correctClaims,
  correctInstants,
  type FalseClaim,
  falseClaims,
  fastClock,
  lastClocks,
  monthsClosedTooSoon,
  recordClock,
} from './clocks.ts';
import { type ClosedMonth, closedMonths, closeMonth, type MonthClose, reopenMonth } from './closes.ts';
import type { Connection } from './connection.ts';
import { type ForecastsMade, recordForecasts } from './forecasts.ts';
import type { Recorder } from './journal.ts';
import { readSql } from './sql-files.ts';
import type { WriteClock } from './write-clock.ts';

/** Closed months, and allocation rules. */
export interface MonthRecords {
  /** The closed months, oldest first. */
  closedMonths(): Promise<ClosedMonth[]>;
  /** Stores what a month bills as of now; returns the instant of the close. */
  closeMonth(close: MonthClose, now: Instant): Promise<Instant>;
  /** Opens a closed month again. */
  reopenMonth(month: Instant, reason: string, now: Instant): Promise<Instant>;
  /** Activates allocation rules (their definition as JSON), or removes them; false if they are unchanged. */
  saveAllocation(definition: string | undefined, runNumber: number, now: Instant): Promise<boolean>;
}

/** The writer's access to closed months. */
export function monthRecords(connection: Connection, recorder: Recorder, clock: WriteClock): MonthRecords {
  return {
    closedMonths: () => closedMonths(connection),
    async closeMonth(close, now) {
      const closedAt = clock.closedAt(now);
      await closeMonth(connection, recorder, close, closedAt);
      return closedAt;
    },
    async reopenMonth(month, reason, now) {
      const reopenedAt = clock.seenAt(now);
      await reopenMonth(recorder, month, reason, reopenedAt);
      return reopenedAt;
    },
    async saveAllocation(definition, runNumber, now) {
      if ((await allocationInForce(connection)) === definition) return false;
      await recorder.record({
        event: 'allocation_changed',
        values: {
          definition: definition ?? null,
          run_number: runNumber,
          recorded_at: formatInstant(clock.seenAt(now)),
        },
      });
      return true;
    },
  };
}

/** The definition of the current allocation rules; undefined if there are none. */
export async function allocationInForce(connection: Connection): Promise<string | undefined> {
  const [row] = await connection.rows(await readSql('ledger', 'allocation'));
  return row === undefined ? undefined : String(row['definition']);
}

/** Alerts, their messages, and the results that they come from. */
export interface AlertRecords {
  /** The last time that every alert was raised. */
  knownAlerts(): Promise<KnownAlert[]>;
  /** Writes what an evaluation changes, in one transaction; does nothing if that is nothing. */
  recordEvaluation(evaluation: Evaluation): Promise<void>;
  /** Writes forecasts, except those that exist for the same complete-through instant; returns how many. */
  recordForecasts(made: ForecastsMade): Promise<number>;
  /** Writes the result of an evaluation of anomalies, in one transaction. */
  recordAnomalies(evaluation: AnomalyEvaluation): Promise<void>;
  /** The sinks that received a summary of this name, or are to receive it. */
  sinksOfSummary(digest: string): Promise<string[]>;
  /** The last message to each sink about a key. */
  lastMessagesAbout(key: string): Promise<StoredMessage[]>;
  /** Mutes an alert's key from now to an instant. */
  acknowledge(key: string, until: Instant, runNumber: number, now: Instant): Promise<void>;
  /** Messages that are not delivered yet, in order. */
  pendingMessages(): Promise<PendingMessage[]>;
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
    recordForecasts: (made) => recordForecasts(connection, recorder, made),
    recordAnomalies: (evaluation) => recordAnomalies(recorder, evaluation),
    sinksOfSummary: (digest) => sinksOfSummary(connection, digest),
    lastMessagesAbout: (key) => lastMessagesAbout(connection, key),
    acknowledge: async (key, until, runNumber, now) =>
      recordAcknowledgement(recorder, { key, until, runNumber, at: clock.seenAt(now) }),
    pendingMessages: () => pendingMessages(connection),
    deliveryBegan: async (number, runNumber, now) =>
      recordDeliveryBegan(recorder, { number, runNumber, at: clock.seenAt(now) }),
    deliveryEnded: async (delivery, now) => recordDeliveryEnd(recorder, delivery, clock.seenAt(now)),
  };
}

/** This machine's clock and the platform's, and what a wrong clock left in the books. */
export interface ClockRecords {
  /**
   * The instant to record now: the given one, but after everything that earlier runs recorded, and never going back.
   */
  seenAt(now: Instant): Promise<Instant>;
  /** Loads that were fetched under a clock more than an hour ahead of the platform's present one. */
  falseClaims(account: string, platformAt: Instant): Promise<readonly FalseClaim[]>;
  correctClaims(facts: Parameters<typeof correctClaims>[1]): Promise<void>;
  /** The closed months (`2026-10`) that depend on hours fetched under a fast clock. */
  monthsClosedTooSoon(account: string): Promise<string[]>;
  lastClocks(): Promise<ClockReading[]>;
  recordClock(reading: ClockReading, runNumber: number): Promise<void>;
  /** The last ingest's clock, if it was ahead of the platform's. */
  fastClock(): Promise<FastClock | undefined>;
  /**
   * Corrects instants that a fast clock put more than an hour after now. Returns the last of them as it was; undefined
   * if there was none.
   */
  correctInstants(at: { readonly runNumber: number; readonly now: Instant }): Promise<Instant | undefined>;
}

/** The writer's access to clocks. */
export function clockRecords(connection: Connection, recorder: Recorder, clock: WriteClock): ClockRecords {
  return {
    seenAt: async (now) => clock.seenAt(now),
    falseClaims: (account, platformAt) => falseClaims(connection, account, platformAt),
    correctClaims: (facts) => correctClaims(recorder, facts),
    monthsClosedTooSoon: (account) => monthsClosedTooSoon(connection, account),
    lastClocks: () => lastClocks(connection),
    recordClock: (reading, runNumber) => recordClock(recorder, reading, runNumber),
    fastClock: () => fastClock(connection),
    async correctInstants(at) {
      const { correctedFrom, last } = await correctInstants(connection, recorder, at);
      clock.correct({ now: at.now, isCorrected: correctedFrom !== undefined, last });
      return correctedFrom;
    },
  };
}
