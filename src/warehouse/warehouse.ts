import { join } from 'node:path';
import { formatInstant, type Instant, type Window } from '../time.ts';
import { type Connection, openDatabase } from './connection.ts';
import { allRowsMeet, type LoadedQuery, openStage, type Stage, type TotalDecimals, type TotalsKnown } from './load.ts';
import { migrate } from './migrate.ts';
import { publishSnapshot, snapshotFile } from './snapshot.ts';
import { openVerification, type Verification } from './verify.ts';

/** What the ledger knows of an account before a run. */
export interface AccountLedger {
  /** Where its books begin; undefined while that is not known. */
  readonly historyStart: Instant | undefined;
  readonly role: 'admin' | 'member' | undefined;
  readonly decimals: TotalDecimals;
  /** Whether any load held a row. */
  readonly hasAmounts: boolean;
}

/** A stretch of hours in the books. */
export interface CoveredPiece extends Window {
  /** Hours from here on were too young to be claimed when they were read. */
  readonly claimedEnd: Instant;
  /** When they were read. */
  readonly seenAt: Instant;
}

/** What is kept of an account with each ingest. */
export interface AccountFacts {
  readonly account: string;
  readonly name: string | undefined;
  /** Undefined where the platform has not told yet. */
  readonly historyStart: Instant | undefined;
  readonly settleDays: number;
  readonly lagHours: number;
  readonly role: 'admin' | 'member' | undefined;
  readonly decimals: TotalDecimals;
}

/** Through when an account's books are complete and settled; undefined where not even their first hour is there. */
export interface Completeness {
  readonly account: string;
  /** Where its books begin; undefined while that is not known. */
  readonly historyStart: Instant | undefined;
  readonly completeThrough: Instant | undefined;
  readonly settledThrough: Instant | undefined;
}

/** A window that did not prove when it was last asked for. */
export interface UnprovenWindow {
  readonly window: Window;
  readonly because: string;
  /** Whether only hours are concerned whose numbers may still be changing: the next run asks for them. */
  readonly isYoung: boolean;
}

/** What a run did for one account. */
export interface AccountRun {
  readonly runNumber: number;
  readonly account: string;
  readonly exitCode: number;
  readonly error: string | undefined;
  readonly windows: number;
  readonly pages: number;
  readonly rows: number;
  readonly restated: number;
  readonly requests: number;
  readonly retries: number;
}

/** A run that is under way, to be ended. */
export interface Run {
  readonly number: number;
  end(exitCode: number, error: string | undefined, endedAt: Instant): Promise<void>;
}

/** The writer's warehouse. One process holds it at a time; closing it without `publish` leaves readers as they were. */
export interface Warehouse {
  beginRun(command: string, startedAt: Instant): Promise<Run>;
  accountLedger(account: string): Promise<AccountLedger | undefined>;
  /** Keeps an account's facts with the instant since which they are true; does nothing where they are as before. */
  saveAccount(facts: AccountFacts, now: Instant): Promise<void>;
  /** Takes accounts off the books of which nothing was ever loaded and that are none of these. */
  forgetAccountsNeverLoaded(except: readonly string[]): Promise<void>;
  recordAccountRun(run: AccountRun): Promise<void>;
  /** Billing dimensions of which the account's platform was last seen to leave rows out of the detail. */
  dimensionsLeftOut(account: string): Promise<string[]>;
  coveredPieces(account: string): Promise<CoveredPiece[]>;
  /** Undefined where the account is not in the books yet. */
  completeness(account: string): Promise<Completeness | undefined>;
  unproven(account: string): Promise<UnprovenWindow[]>;
  lastLoadNumber(): Promise<number>;
  /** The instant at which numbers are seen now: the given one, but never before the last. */
  seenAt(now: Instant): Promise<Instant>;
  openStage(): Promise<Stage>;
  openVerification(account: string, known: TotalsKnown): Promise<Verification>;
  publish(): Promise<void>;
  close(): void;
}

/**
 * Opens the writer's file below the project folder and brings it to this program's schema. The signal ends what a stage
 * is doing and a copy under way; the ledger can still be written and published afterwards. Throws LockedError.
 */
export async function openWarehouse(dir: string, signal?: AbortSignal): Promise<Warehouse> {
  const file = join(dir, 'data', 'warehouse.duckdb');
  const database = await openDatabase(file, { readOnly: false });
  try {
    const connection = await database.connect();
    await migrate(connection);
    async function seenAt(now: Instant): Promise<Instant> {
      const [row] = await connection.rows(`
        select epoch_ms(greatest(
          (select max(seen_at) from ledger.loads), (select max(recorded_at) from ledger.accounts)
        )) as last
      `);
      return Math.max(now, Number(row?.['last'] ?? 0));
    }
    return {
      beginRun: (command, startedAt) => beginRun(connection, command, startedAt),
      accountLedger: (account) => accountLedger(connection, account),
      saveAccount: async (facts, now) => saveAccount(connection, facts, await seenAt(now)),
      forgetAccountsNeverLoaded: (except) =>
        connection.run(
          `delete from ledger.accounts
          where not list_contains(cast(from_json($except, '["VARCHAR"]') as varchar[]), account)
            and account not in (select account from ledger.loads)`,
          { except: JSON.stringify(except) },
        ),
      recordAccountRun: (run) =>
        connection.run(
          `insert into ledger.account_runs values (
            cast($runNumber as bigint), $account, cast($exitCode as integer), $error, cast($windows as integer),
            cast($pages as integer), cast($rows as bigint), cast($restated as bigint), cast($requests as integer),
            cast($retries as integer)
          )`,
          { ...run, error: run.error ?? null },
        ),
      dimensionsLeftOut: (account) => dimensionsLeftOut(connection, account),
      coveredPieces: (account) => coveredPieces(connection, account),
      completeness: async (account) => (await completeness(connection)).find((row) => row.account === account),
      unproven: (account) => unprovenWindows(connection, account),
      async lastLoadNumber() {
        const [row] = await connection.rows('select coalesce(max(load_number), 0) as number from ledger.loads');
        return Number(row?.['number']);
      },
      seenAt,
      openStage: async () => openStage(await database.connect(signal)),
      openVerification: async (account, known) => openVerification(await database.connect(signal), account, known),
      publish: () => publishSnapshot(connection, file, snapshotFile(dir), signal),
      close: () => database.close(),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

async function beginRun(connection: Connection, command: string, startedAt: Instant): Promise<Run> {
  // Only one process writes, so a run that is still called running was ended from outside.
  await connection.run(`update ledger.runs set outcome = 'interrupted' where outcome = 'running'`);
  const [row] = await connection.rows('select coalesce(max(run_number), 0) + 1 as number from ledger.runs');
  const number = Number(row?.['number']);
  await connection.run(
    `insert into ledger.runs (run_number, command, started_at, outcome)
    values ($number, $command, cast($started_at as timestamp), 'running')`,
    { number, command, started_at: formatInstant(startedAt) },
  );
  return {
    number,
    async end(exitCode, error, endedAt) {
      await connection.run(
        `update ledger.runs
        set ended_at = cast($ended_at as timestamp), outcome = $outcome, exit_code = $exit_code, error = $error
        where run_number = $number`,
        {
          number,
          ended_at: formatInstant(endedAt),
          outcome: exitCode === 0 ? 'done' : 'failed',
          exit_code: exitCode,
          error: error ?? null,
        },
      );
    },
  };
}

/** What the ledger knows of an account. */
export async function accountLedger(connection: Connection, account: string): Promise<AccountLedger | undefined> {
  const [row] = await connection.rows(
    `select
      epoch_ms(history_start) as history_start, role, cost_decimals, usage_decimals,
      exists (select 1 from ledger.loads where account = $account and amounts > 0) as has_amounts
    from ledger.accounts where account = $account and replaced_at is null`,
    { account },
  );
  if (row === undefined) return undefined;
  const role = row['role'];
  return {
    historyStart: row['history_start'] === null ? undefined : Number(row['history_start']),
    role: role === 'admin' || role === 'member' ? role : undefined,
    decimals: { cost: Number(row['cost_decimals']), usage: Number(row['usage_decimals']) },
    hasAmounts: row['has_amounts'] === true,
  };
}

async function saveAccount(connection: Connection, facts: AccountFacts, recordedAt: Instant): Promise<void> {
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
  const same = await connection.rows(
    `select 1 from ledger.accounts
    where account = $account and replaced_at is null and name is not distinct from $name
      and history_start is not distinct from cast($history_start as timestamp)
      and settle_days = $settle_days and lag_hours = $lag_hours and role is not distinct from $role
      and cost_decimals = $cost_decimals and usage_decimals = $usage_decimals`,
    values,
  );
  if (same.length > 0) return;
  await connection.transaction(async () => {
    const recorded_at = formatInstant(recordedAt);
    await connection.run(
      `update ledger.accounts set replaced_at = cast($recorded_at as timestamp)
      where account = $account and replaced_at is null`,
      { account: facts.account, recorded_at },
    );
    await connection.run(
      `insert into ledger.accounts values (
        $account, $name, cast($history_start as timestamp), $settle_days, $lag_hours, $role,
        $cost_decimals, $usage_decimals, cast($recorded_at as timestamp), null
      )`,
      { ...values, recorded_at },
    );
  });
}

async function dimensionsLeftOut(connection: Connection, account: string): Promise<string[]> {
  const [row] = await connection.rows(
    `select loads.queries
    from ledger.loads as loads
    join ledger.proofs as proofs using (load_number)
    where loads.account = $account and proofs.compared = $compared
    order by loads.load_number desc
    limit 1`,
    { account, compared: allRowsMeet },
  );
  if (row === undefined) return [];
  const queries = JSON.parse(String(row['queries'])) as LoadedQuery[];
  return queries.flatMap(({ purpose, billingDimension }) =>
    purpose !== 'detail' && billingDimension !== null ? [billingDimension] : [],
  );
}

/** The hours of an account that are in the books, in order. */
export async function coveredPieces(connection: Connection, account: string): Promise<CoveredPiece[]> {
  const rows = await connection.rows(
    `select
      epoch_ms(window_start) as window_start,
      epoch_ms(window_end) as window_end,
      epoch_ms(claimed_end) as claimed_end,
      epoch_ms(seen_at) as seen_at
    from coverage where account = $account order by window_start`,
    { account },
  );
  return rows.map((row) => ({
    start: Number(row['window_start']),
    end: Number(row['window_end']),
    claimedEnd: Number(row['claimed_end']),
    seenAt: Number(row['seen_at']),
  }));
}

/** Through when the books of each account are complete and settled. */
export async function completeness(connection: Connection): Promise<Completeness[]> {
  const rows = await connection.rows(
    `select
      account,
      epoch_ms(history_start) as history_start,
      epoch_ms(complete_through) as complete_through,
      epoch_ms(settled_through) as settled_through
    from accounts order by account`,
  );
  return rows.map((row) => ({
    account: String(row['account']),
    historyStart: row['history_start'] === null ? undefined : Number(row['history_start']),
    completeThrough: row['complete_through'] === null ? undefined : Number(row['complete_through']),
    settledThrough: row['settled_through'] === null ? undefined : Number(row['settled_through']),
  }));
}

/** The windows of an account that did not prove when they were last asked for, newest first. */
export async function unprovenWindows(connection: Connection, account: string): Promise<UnprovenWindow[]> {
  const rows = await connection.rows(
    `select epoch_ms(window_start) as window_start, epoch_ms(window_end) as window_end, because, is_young
    from ledger.unproven where account = $account order by window_start desc`,
    { account },
  );
  return rows.map((row) => ({
    window: { start: Number(row['window_start']), end: Number(row['window_end']) },
    because: String(row['because']),
    isYoung: row['is_young'] === true,
  }));
}

/** What was asked for the newest load that speaks for hours of a window; undefined where none does. */
export async function lastQueries(
  connection: Connection,
  account: string,
  window: Window,
): Promise<LoadedQuery[] | undefined> {
  const [row] = await connection.rows(
    `select loads.queries
    from coverage
    join ledger.loads as loads using (load_number)
    where coverage.account = $account
      and coverage.window_start < cast($window_end as timestamp)
      and coverage.window_end > cast($window_start as timestamp)
    order by load_number desc
    limit 1`,
    { account, window_start: formatInstant(window.start), window_end: formatInstant(window.end) },
  );
  return row === undefined ? undefined : (JSON.parse(String(row['queries'])) as LoadedQuery[]);
}
