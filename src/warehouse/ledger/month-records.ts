import { formatInstant, type Instant } from '../../time/time.ts';
import type { Recorder } from '../journal/journal.ts';
import { readSql } from '../sql/sql-files.ts';
import type { Connection } from '../store/connection.ts';
import { type ClosedMonth, closedMonths, type MonthClose, recordClose, reopenMonth } from './closes.ts';
import type { WriteClock } from './write-clock.ts';

/** Closed months, and allocation rules. */
export interface MonthRecords {
  /** The closed months, oldest first. */
  closedMonths(): Promise<ClosedMonth[]>;
  /** Stores what a month bills as of now; returns the instant of the close. */
  recordClose(close: MonthClose, now: Instant): Promise<Instant>;
  /** Opens a closed month again. */
  reopenMonth(month: Instant, reason: string, now: Instant): Promise<Instant>;
  /** Activates allocation rules (their definition as JSON), or removes them; false if they are unchanged. */
  saveAllocation(definition: string | undefined, runNumber: number, now: Instant): Promise<boolean>;
}

/** The writer's access to closed months. */
export function monthRecords(connection: Connection, recorder: Recorder, clock: WriteClock): MonthRecords {
  return {
    closedMonths: () => closedMonths(connection),
    async recordClose(close, now) {
      const closedAt = clock.closedAt(now);
      await recordClose(connection, recorder, close, closedAt);
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
