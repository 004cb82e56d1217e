import { formatInstant, type Instant } from '../time.ts';
import type { Connection } from './connection.ts';
import type { Recorder } from './journal.ts';
import { readSql } from './sql-files.ts';

/** A load that was read under a fast clock, with the hour from which on it may claim nothing. */
export interface FalseClaim {
  readonly loadNumber: number;
  /** `2026-10-01T00:00:00Z` */
  readonly claimedEnd: string;
}

/** How far our clock was ahead of the platform's when an account was read last. */
export interface ClockReading {
  readonly account: string;
  readonly aheadSeconds: number;
  readonly platformAt: Instant;
  readonly localAt: Instant;
}

/** The loads of an account that were read under a clock more than an hour ahead of the platform's present one. */
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

/** Takes false claims off the books. Their loads stay, and so do the amounts. */
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

/** The months of an account (`2026-10`) that are closed on hours which a fast clock claimed. */
export async function monthsClosedTooSoon(connection: Connection, account: string): Promise<string[]> {
  const rows = await connection.rows(await readSql('clocks', 'months_closed_too_soon'), { account });
  return rows.map((row) => String(row['month']));
}

/** What each account's clocks said when that was last written down. */
export async function lastClocks(connection: Connection): Promise<ClockReading[]> {
  const rows = await connection.rows(await readSql('clocks', 'last'));
  return rows.map((row) => ({
    account: String(row['account']),
    aheadSeconds: Number(row['ahead_seconds']),
    platformAt: Number(row['platform_at']),
    localAt: Number(row['local_at']),
  }));
}

/** Writes down what an account's clocks said. */
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
