import { clockToleranceMs, type FastClock } from '../../time/clock.ts';
import type { Instant } from '../../time/time.ts';
import type { Recorder } from '../journal/journal.ts';
import type { Connection } from '../store/connection.ts';
import {
  type ClockReading,
  correctClaims,
  correctInstants,
  type FalseClaim,
  falseClaims,
  fastClock,
  lastClocks,
  lastLoadUpTo,
  monthsClosedTooSoon,
  recordClock,
} from './clocks.ts';
import type { WriteClock } from './write-clock.ts';

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
      const lastLoad = await lastLoadUpTo(connection, at.now + clockToleranceMs);
      clock.correct({ now: at.now, isCorrected: correctedFrom !== undefined, last, lastLoad });
      return correctedFrom;
    },
  };
}
