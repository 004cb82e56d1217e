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

/** The months that finance closed, and the rules that allocate costs. */
export interface MonthRecords {
  /** The months that are closed, oldest first. */
  closedMonths(): Promise<ClosedMonth[]>;
  /** Freezes what is billed in a month as of now; returns the instant of the close. */
  closeMonth(close: MonthClose, now: Instant): Promise<Instant>;
  /** Opens a closed month again. */
  reopenMonth(month: Instant, reason: string, now: Instant): Promise<Instant>;
  /** Puts allocation rules in force (their definition as JSON), or removes them; false where they are as before. */
  saveAllocation(definition: string | undefined, runNumber: number, now: Instant): Promise<boolean>;
}

/** The closed months as the writer records them. */
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

/** The definition of the allocation rules in force; undefined where there are none. */
export async function allocationInForce(connection: Connection): Promise<string | undefined> {
  const [row] = await connection.rows(await readSql('ledger', 'allocation'));
  return row === undefined ? undefined : String(row['definition']);
}

/** Alerts, their messages, and what they are evaluated from. */
export interface AlertRecords {
  /** The last time that every alert was raised. */
  knownAlerts(): Promise<KnownAlert[]>;
  /** Writes what an evaluation changes, all of it or nothing; does nothing where that is nothing. */
  recordEvaluation(evaluation: Evaluation): Promise<void>;
  /** Writes forecasts that are not in the books yet through the same instant; returns how many. */
  recordForecasts(made: ForecastsMade): Promise<number>;
  /** Writes what an evaluation of anomalies found, all of it or nothing. */
  recordAnomalies(evaluation: AnomalyEvaluation): Promise<void>;
  /** The sinks that received a digest of this name, or are to receive it. */
  sinksOfSummary(digest: string): Promise<string[]>;
  /** The last message to each sink about a key. */
  lastMessagesAbout(key: string): Promise<StoredMessage[]>;
  /** Mutes an alert's key from now to an instant. */
  acknowledge(key: string, until: Instant, runNumber: number, now: Instant): Promise<void>;
  /** The messages that no sink took yet, in their order. */
  pendingMessages(): Promise<PendingMessage[]>;
  /** Records that a run is about to send a message, before it does. */
  deliveryBegan(number: number, runNumber: number, now: Instant): Promise<void>;
  /** Writes a sink's receipt, or why there is none. */
  deliveryEnded(delivery: DeliveryEnd, now: Instant): Promise<void>;
}

/** The alerts as the writer records them. */
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

/** Clocks, this machine's and the platform's, and what a wrong one left in the books. */
export interface ClockRecords {
  /** The instant at which numbers are seen now: the given one, but after all that an earlier run saw, and never back. */
  seenAt(now: Instant): Promise<Instant>;
  /** Loads that were read under a clock more than an hour ahead of the platform's present one. */
  falseClaims(account: string, platformAt: Instant): Promise<readonly FalseClaim[]>;
  correctClaims(facts: Parameters<typeof correctClaims>[1]): Promise<void>;
  /** The months (`2026-10`) that are closed on hours which a fast clock claimed. */
  monthsClosedTooSoon(account: string): Promise<string[]>;
  lastClocks(): Promise<ClockReading[]>;
  recordClock(reading: ClockReading, runNumber: number): Promise<void>;
  /** What the last ingest found of a clock that was ahead of the platform's. */
  fastClock(): Promise<FastClock | undefined>;
  /**
   * Corrects what a fast clock dated more than an hour after now. Returns the last of those instants as it was;
   * undefined where there was none.
   */
  correctInstants(at: { readonly runNumber: number; readonly now: Instant }): Promise<Instant | undefined>;
}

/** The clocks as the writer reads and records them. */
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
