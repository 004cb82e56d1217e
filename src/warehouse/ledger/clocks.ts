import { clockToleranceMs, type FastClock } from '../../time/clock.ts';
import { formatInstant, type Instant } from '../../time/time.ts';
import type { Recorder } from '../journal/journal.ts';
import { ledgerTables } from '../sql/ledger-tables.ts';
import { readSql } from '../sql/sql-files.ts';
import { lastInstantsOf } from '../sql/statements.ts';
import type { Connection } from '../store/connection.ts';

/** A load that was fetched under a fast clock, with the hour from which on its numbers do not count as complete. */
export interface FalseClaim {
  readonly loadNumber: number;
  /** `2026-10-01T00:00:00Z` */
  readonly claimedEnd: string;
}

/** How far our clock was ahead of the platform's when an account was last fetched. */
export interface ClockReading {
  readonly account: string;
  readonly aheadSeconds: number;
  readonly platformAt: Instant;
  readonly localAt: Instant;
}

/** The loads of an account that were fetched under a clock more than an hour ahead of the platform's present one. */
export async function falseClaims(
  connection: Connection,
  account: string,
  platformAt: Instant,
): Promise<readonly FalseClaim[]> {
  const rows = await connection.rows(await readSql('clocks', 'fast_loads'), {
    account,
    platform_at: formatInstant(platformAt),
  });
  return rows.map((row) => ({ loadNumber: Number(row['load_number']), claimedEnd: String(row['claimed_end']) }));
}

/** Removes false claims from the books. Their loads and hourly costs stay. */
export async function correctClaims(
  recorder: Recorder,
  facts: { account: string; claims: readonly FalseClaim[]; runNumber: number; recordedAt: Instant },
): Promise<void> {
  await recorder.record({
    event: 'claims_corrected',
    values: {
      account: facts.account,
      run_number: facts.runNumber,
      recorded_at: formatInstant(facts.recordedAt),
      claims: facts.claims.map(({ loadNumber, claimedEnd }) => ({ load_number: loadNumber, claimed_end: claimedEnd })),
    },
  });
}

/** The closed months of an account (`2026-10`) that depend on hours fetched under a fast clock. */
export async function monthsClosedTooSoon(connection: Connection, account: string): Promise<string[]> {
  const rows = await connection.rows(await readSql('clocks', 'months_closed_too_soon'), { account });
  return rows.map((row) => String(row['month']));
}

/** Each account's last clock reading. */
export async function lastClocks(connection: Connection): Promise<ClockReading[]> {
  const rows = await connection.rows(await readSql('clocks', 'last'));
  return rows.map((row) => ({
    account: String(row['account']),
    aheadSeconds: Number(row['ahead_seconds']),
    platformAt: Number(row['platform_at']),
    localAt: Number(row['local_at']),
  }));
}

/** Records an account's clocks. */
export async function recordClock(recorder: Recorder, reading: ClockReading, runNumber: number): Promise<void> {
  await recorder.record({
    event: 'clock_read',
    values: {
      account: reading.account,
      run_number: runNumber,
      ahead_seconds: reading.aheadSeconds,
      platform_at: formatInstant(reading.platformAt),
      local_at: formatInstant(reading.localAt),
    },
  });
}

/** The last ingest's clock, if it was more than an hour ahead of the platform's. */
export async function fastClock(connection: Connection): Promise<FastClock | undefined> {
  const [row] = await connection.rows(await readSql('clocks', 'last_ahead'));
  const aheadMs = Number(row?.['ahead_seconds'] ?? 0) * 1000;
  if (aheadMs <= clockToleranceMs) return undefined;
  const { last = 0 } = await lastInstants(connection);
  return { aheadMs, localAt: Number(row?.['local_at']), lastSeen: last };
}

/** When the last load up to an instant was seen; undefined without one. */
export async function lastLoadUpTo(connection: Connection, until: Instant): Promise<Instant | undefined> {
  const [row] = await connection.rows(await readSql('clocks', 'last_load_up_to'), { until: formatInstant(until) });
  return row?.['seen_at'] == null ? undefined : Number(row['seen_at']);
}

/** The last instants in the books. */
interface LastInstants {
  /** The last instant at which anything was recorded. */
  readonly last: Instant | undefined;
  /** The last one that is not after `after`. */
  readonly lastBefore: Instant | undefined;
  /** The last one after `after` that can be corrected; undefined if there is none. */
  readonly lastAfter: Instant | undefined;
}

/** The last instants in the books, up to `after` and after it. */
export async function lastInstants(connection: Connection, after: Instant = 0): Promise<LastInstants> {
  const [row] = await connection.rows(lastInstantsOf(ledgerTables), { after: formatInstant(after) });
  const instant = (name: string) => (typeof row?.[name] === 'string' ? Number(row[name]) : undefined);
  return { last: instant('last'), lastBefore: instant('last_before'), lastAfter: instant('last_after') };
}

/**
 * Corrects instants that are more than an hour after `now` and were there before the run started: the last of them
 * becomes now, and the others keep their distance to it. A run under a correct clock started before now, so it corrects
 * what earlier runs left; a run under a fast clock corrects only its own instants. Returns the last of those instants
 * as it was, and the last instant in the books from now on. Instants of loads stay as they are and do not count.
 */
export async function correctInstants(
  connection: Connection,
  recorder: Recorder,
  { runNumber, now }: { readonly runNumber: number; readonly now: Instant },
): Promise<{ correctedFrom: Instant | undefined; last: Instant | undefined }> {
  const [run] = await connection.rows(await readSql('ledger', 'run_start'), { run_number: runNumber });
  const after = Math.max(now + clockToleranceMs, Number(run?.['started_at'] ?? 0) - 1);
  const { lastBefore, lastAfter } = await lastInstants(connection, after);
  if (lastAfter === undefined) return { correctedFrom: undefined, last: lastBefore };
  await recorder.record({
    event: 'instants_corrected',
    values: {
      after: formatInstant(after),
      shift_ms: lastAfter - now,
      not_before: formatInstant((lastBefore ?? -1) + 1),
    },
  });
  return { correctedFrom: lastAfter, last: (await lastInstants(connection, after)).lastBefore };
}
