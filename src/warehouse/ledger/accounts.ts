import { type Failure, storedFailures } from '../../base/failure.ts';
import { textOrUndefined } from '../../tables/optional-text.ts';
import { formatInstant, type Instant, type Window } from '../../time/time.ts';
import type { Recorder } from '../journal/journal.ts';
import type { JournalEvent } from '../journal/journal-events.ts';
import { allRowsMatch, type TotalDecimals } from '../load/reconciliation.ts';
import type { LoadedQuery } from '../load/write-load.ts';
import type { CoveredWindow } from '../page.ts';
import { readSql } from '../sql/sql-files.ts';
import { type AnswerCache, cachedRows } from '../store/answer-cache.ts';
import type { Connection, SqlRow } from '../store/connection.ts';
import type { WriteClock } from './write-clock.ts';

/** What the ledger records about an account before a run. */
export interface AccountLedger {
  /** The start of its history; undefined if not yet known. */
  readonly historyStart: Instant | undefined;
  readonly role: 'admin' | 'member' | undefined;
  readonly decimals: TotalDecimals;
  /** Whether any load had a row. */
  readonly hasHourlyCosts: boolean;
}

/**
 * The first hour of an account's books: the setting `since`, or the hour that they start with if that is earlier. A relative
 * `since` moves every night, but hours that are in the books stay there. Undefined if nobody knows. Pure.
 */
export function startOfBooks(since: Instant | undefined, ledger: AccountLedger | undefined): Instant | undefined {
  const known = ledger?.hasHourlyCosts ? ledger.historyStart : undefined;
  return since === undefined || known === undefined ? (since ?? known) : Math.min(since, known);
}

/** What each ingest stores about an account. */
export interface AccountFacts {
  readonly account: string;
  readonly name: string | undefined;
  /** Undefined if the platform has not reported it yet. */
  readonly historyStart: Instant | undefined;
  readonly settleDays: number;
  readonly lagHours: number;
  readonly role: 'admin' | 'member' | undefined;
  readonly decimals: TotalDecimals;
}

/**
 * The instants through which an account's books are complete and settled; undefined if not even the first hour is
 * there.
 */
export interface Completeness {
  readonly account: string;
  /** The start of its history; undefined if not yet known. */
  readonly historyStart: Instant | undefined;
  readonly completeThrough: Instant | undefined;
  readonly settledThrough: Instant | undefined;
  /** Whether no run reads the account any more, because costbook.yaml no longer names it. */
  readonly hasEnded: boolean;
}

/** A window that failed reconciliation when it was last fetched. */
export interface UnprovenWindow {
  readonly window: Window;
  readonly reason: string;
  /** The largest difference in cost: USD, decimal text without sign; undefined if no cost differs. */
  readonly costDifference: string | undefined;
  /** Whether only young hours fail, whose numbers may still change: the next run fetches them again. */
  readonly isYoung: boolean;
  /** On how many days they have failed since they were last proven; undefined for a window of this run. */
  readonly nights?: number;
  /** The first of these days: `2026-10-14`. */
  readonly failingSince?: string;
}

/** An unproven window as JSON and alerts have it. */
export interface UnprovenText {
  readonly start: string;
  readonly end: string;
  /** The comparison that failed and its difference: hours, billing dimensions, USD. */
  readonly reason: string;
  /** The largest difference in cost: USD, decimal text without sign; null if no cost differs. */
  readonly costDifference: string | null;
  /** On how many days it has failed since its hours were last proven; left out if that is not known. */
  readonly nights?: number;
  /** The first of these days: `2026-10-14`. */
  readonly failingSince?: string;
}

/** An unproven window as JSON and alerts have it. Pure. */
export function unprovenText({ window, reason, costDifference, nights, failingSince }: UnprovenWindow): UnprovenText {
  return {
    start: formatInstant(window.start),
    end: formatInstant(window.end),
    reason,
    costDifference: costDifference ?? null,
    ...(nights === undefined ? {} : { nights }),
    ...(failingSince === undefined ? {} : { failingSince }),
  };
}

/** What a run did for one account. */
export interface AccountRun {
  readonly runNumber: number;
  readonly account: string;
  readonly exitCode: number;
  readonly failures: readonly Failure[];
  readonly windows: number;
  readonly pages: number;
  readonly rows: number;
  readonly restated: number;
  readonly requests: number;
  readonly retries: number;
}

/** What the books record about each account. */
export interface AccountRecords {
  accountLedger(account: string): Promise<AccountLedger | undefined>;
  /** Stores an account's facts, valid from `now`; does nothing if they are unchanged. */
  saveAccount(facts: AccountFacts, now: Instant): Promise<void>;
  /** Runs read these accounts alone from `now` on. Others end; those without any load are removed. */
  setConfigured(accounts: readonly string[], now: Instant): Promise<void>;
  recordAccountRun(run: AccountRun): Promise<void>;
  /** Billing dimensions whose rows the account's platform was last seen to omit from the detail. */
  dimensionsLeftOut(account: string): Promise<string[]>;
  coveredWindows(account: string): Promise<CoveredWindow[]>;
  /** Undefined if the account is not in the books yet. */
  completeness(account: string): Promise<Completeness | undefined>;
  unproven(account: string): Promise<UnprovenWindow[]>;
  contradictions(account: string): Promise<UnprovenWindow[]>;
}

/** The writer's access to the accounts. */
export function accountRecords(connection: Connection, recorder: Recorder, clock: WriteClock): AccountRecords {
  return {
    accountLedger: (account) => accountLedger(connection, account),
    saveAccount: async (facts, now) => saveAccount(connection, recorder, facts, clock.seenAt(now)),
    setConfigured: async (accounts, now) => setConfigured(connection, recorder, accounts, clock.seenAt(now)),
    recordAccountRun: (run) => recordAccountRun(recorder, run),
    dimensionsLeftOut: (account) => dimensionsLeftOut(connection, account),
    coveredWindows: (account) => coveredWindows(connection, account),
    completeness: async (account) => (await completeness(connection)).find((row) => row.account === account),
    unproven: (account) => unprovenWindows(connection, account),
    contradictions: (account) => contradictions(connection, account),
  };
}

async function recordAccountRun(recorder: Recorder, run: AccountRun): Promise<void> {
  await recorder.record({
    event: 'account_run',
    values: {
      run_number: run.runNumber,
      account: run.account,
      exit_code: run.exitCode,
      failures: storedFailures(run.failures),
      windows: run.windows,
      pages: run.pages,
      row_count: run.rows,
      restated: run.restated,
      requests: run.requests,
      retries: run.retries,
    },
  });
}

/** What the ledger records about an account. */
export async function accountLedger(connection: Connection, account: string): Promise<AccountLedger | undefined> {
  const [row] = await connection.rows(await readSql('ledger', 'account'), { account });
  if (row === undefined) return undefined;
  const role = row['role'];
  return {
    historyStart: row['history_start'] === null ? undefined : Number(row['history_start']),
    role: role === 'admin' || role === 'member' ? role : undefined,
    decimals: { cost: Number(row['cost_decimals']), usage: Number(row['usage_decimals']) },
    hasHourlyCosts: row['has_hourly_costs'] === true,
  };
}

async function saveAccount(
  connection: Connection,
  recorder: Recorder,
  facts: AccountFacts,
  recordedAt: Instant,
): Promise<void> {
  const values = {
    account: facts.account,
    name: facts.name ?? null,
    history_start: facts.historyStart === undefined ? null : formatInstant(facts.historyStart),
    settle_days: facts.settleDays,
    lag_hours: facts.lagHours,
    role: facts.role ?? null,
    cost_decimals: facts.decimals.cost,
    usage_decimals: facts.decimals.usage,
  };
  const same = await connection.rows(await readSql('ledger', 'same_account'), values);
  if (same.length > 0) return;
  await recorder.record({
    event: 'account_changed',
    values: { ...values, has_ended: false, recorded_at: formatInstant(recordedAt) },
  });
}

async function setConfigured(
  connection: Connection,
  recorder: Recorder,
  configured: readonly string[],
  recordedAt: Instant,
): Promise<void> {
  const rows = await connection.rows(await readSql('ledger', 'accounts_that_change'), {
    configured: JSON.stringify(configured),
  });
  const accounts = rows.flatMap((row) =>
    row['is_loaded'] === true || row['has_ended'] !== true ? [] : [String(row['account'])],
  );
  if (accounts.length > 0) await recorder.record({ event: 'accounts_forgotten', values: { accounts } });
  for (const { is_loaded: _, ...facts } of rows) {
    if (accounts.includes(String(facts['account']))) continue;
    const values = { ...(facts as JournalEvent['values']), recorded_at: formatInstant(recordedAt) };
    await recorder.record({ event: 'account_changed', values });
  }
}

async function dimensionsLeftOut(connection: Connection, account: string): Promise<string[]> {
  const rows = await connection.rows(await readSql('ledger', 'queries_left_out'), {
    account,
    check_code: allRowsMatch,
  });
  const queries = rows.flatMap((row) => JSON.parse(String(row['queries'])) as LoadedQuery[]);
  const dimensions = queries.flatMap(({ purpose, billingDimension }) =>
    purpose !== 'detail' && billingDimension !== null ? [billingDimension] : [],
  );
  return [...new Set(dimensions)];
}

/** The covered windows of an account, in order. */
export async function coveredWindows(connection: Connection, account: string): Promise<CoveredWindow[]> {
  const rows = await connection.rows(await readSql('ledger', 'covered_windows'), { account });
  return rows.map((row) => ({
    start: Number(row['window_start']),
    end: Number(row['window_end']),
    claimedEnd: Number(row['claimed_end']),
    seenAt: Number(row['seen_at']),
  }));
}

/** The instants through which the books of each account are complete and settled. */
export async function completeness(connection: Connection, cache?: AnswerCache): Promise<Completeness[]> {
  const rows = await cachedRows(connection, cache, ['ledger', 'completeness']);
  return rows.map((row) => ({
    account: String(row['account']),
    historyStart: row['history_start'] === null ? undefined : Number(row['history_start']),
    completeThrough: row['complete_through'] === null ? undefined : Number(row['complete_through']),
    settledThrough: row['settled_through'] === null ? undefined : Number(row['settled_through']),
    hasEnded: row['has_ended'] === true,
  }));
}

/** Windows of an account that failed reconciliation when they were last fetched, newest first. */
export async function unprovenWindows(connection: Connection, account: string): Promise<UnprovenWindow[]> {
  // To count the nights of each takes DuckDB longer to plan than most answers take in all.
  const [any] = await connection.rows(await readSql('ledger', 'has_unproven'), { account });
  if (any?.['has_unproven'] !== true) return [];
  const rows = await connection.rows(await readSql('ledger', 'unproven'), { account });
  return rows.map(toUnproven);
}

/** Contradictions between the platform's totals of an account's past and its hours, or between totals, newest first. */
export async function contradictions(connection: Connection, account: string): Promise<UnprovenWindow[]> {
  const rows = await connection.rows(await readSql('ledger', 'contradictions'), { account });
  return rows.map(toUnproven);
}

function toUnproven(row: SqlRow): UnprovenWindow {
  return {
    window: { start: Number(row['window_start']), end: Number(row['window_end']) },
    reason: String(row['reason']),
    costDifference: textOrUndefined(row['cost_difference']),
    isYoung: row['is_young'] === true,
    ...(Number(row['nights'] ?? 0) > 0
      ? { nights: Number(row['nights']), failingSince: String(row['failing_since']) }
      : {}),
  };
}

/** The queries of the newest load that covers hours of a window; undefined if there is none. */
export async function lastQueries(
  connection: Connection,
  account: string,
  window: Window,
): Promise<LoadedQuery[] | undefined> {
  const [row] = await connection.rows(await readSql('ledger', 'last_queries'), {
    account,
    window_start: formatInstant(window.start),
    window_end: formatInstant(window.end),
  });
  return row === undefined ? undefined : (JSON.parse(String(row['queries'])) as LoadedQuery[]);
}
