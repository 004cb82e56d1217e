import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastClock, Log } from '../effects.ts';
import { DamagedFileError } from '../errors.ts';
import { formatInstant, type Instant, type Window } from '../time.ts';
import {
  type DeliveryEnd,
  type Evaluation,
  type KeptMessage,
  type KnownAlert,
  knownAlerts,
  lastMessagesAbout,
  type PendingMessage,
  pendingMessages,
  recordAcknowledgement,
  recordDeliveryBegan,
  recordDeliveryEnd,
  recordEvaluation,
  sinksOfDigest,
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
  lastInstants,
  monthsClosedTooSoon,
  recordClock,
} from './clocks.ts';
import { type ClosedMonth, closedMonths, closeMonth, type MonthClose, reopenMonth } from './closes.ts';
import type { Connection, SqlRow } from './connection.ts';
import { openDatabase } from './database.ts';
import { type ForecastsMade, recordForecasts } from './forecasts.ts';
import {
  damagedWarehouse,
  findTraces,
  readAllTables,
  refuseMissing,
  refuseOlder,
  repairs,
  setAside,
  type Traces,
} from './intactness.ts';
import {
  type InventoryStage,
  type ListingFacts,
  type ListingKey,
  type ListingOutcome,
  lastListingOutcome,
  openInventoryStage,
  recordListing,
} from './inventory.ts';
import {
  type JobHistory,
  jobHistories,
  recordMissed,
  recordStepBegan,
  recordStepEnd,
  type StepBegun,
  type StepEnd,
} from './jobs.ts';
import { journalFolder, openRecorder, type Recorder } from './journal.ts';
import { allRowsMeet, type LoadedQuery, openStage, type Stage, type TotalDecimals, type TotalsKnown } from './load.ts';
import { migrate, rememberPublished } from './migrate.ts';
import { snapshotFile } from './published.ts';
import { damageOfWarehouse, readSeal } from './seal.ts';
import { copyBeforeMigrating, publishSnapshot, removeOldCopies } from './snapshot.ts';
import { readSql } from './sql-files.ts';
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
  /** Begins the run of a job: for a slot of its schedule, or for none. */
  beginJob(job: string, slot: Instant | undefined, startedAt: Instant): Promise<Run>;
  jobHistories(): Promise<ReadonlyMap<string, JobHistory>>;
  /** Writes down slots that nobody ran. */
  missed(job: string, slots: readonly Instant[], because: string, foundAt: Instant): Promise<void>;
  stepBegan(begun: StepBegun): Promise<void>;
  stepEnded(end: StepEnd): Promise<void>;
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
  contradictions(account: string): Promise<UnprovenWindow[]>;
  lastLoadNumber(): Promise<number>;
  /** Where in the landing folder the loads lie whose numbers were seen before an instant. */
  landingsSeenBefore(instant: Instant): Promise<string[]>;
  /** The instant at which numbers are seen now: the given one, but after all that an earlier run saw, and never back. */
  seenAt(now: Instant): Promise<Instant>;
  /** The months that are closed, oldest first. */
  closedMonths(): Promise<ClosedMonth[]>;
  /** Freezes what is billed in a month as of now; returns the instant of the close. */
  closeMonth(close: MonthClose, now: Instant): Promise<Instant>;
  /** Opens a closed month again. */
  reopenMonth(month: Instant, because: string, now: Instant): Promise<Instant>;
  /** Puts allocation rules in force (their definition as JSON), or takes them away; false where they are as before. */
  saveAllocation(definition: string | undefined, runNumber: number, now: Instant): Promise<boolean>;
  /** The last time that every alert was raised. */
  knownAlerts(): Promise<KnownAlert[]>;
  /** Writes what an evaluation changes, all of it or nothing; does nothing where that is nothing. */
  recordEvaluation(evaluation: Evaluation): Promise<void>;
  /** Writes forecasts of which there is none yet through the same instant; returns how many. */
  recordForecasts(made: ForecastsMade): Promise<number>;
  /** Writes what an evaluation of anomalies found, all of it or nothing. */
  recordAnomalies(evaluation: AnomalyEvaluation): Promise<void>;
  /** Who was told a digest of this name, or is to be told. */
  sinksOfDigest(digest: string): Promise<string[]>;
  /** The last message to each sink that told of a key. */
  lastMessagesAbout(key: string): Promise<KeptMessage[]>;
  /** From now to an instant nothing is told of an alert's key. */
  acknowledge(key: string, until: Instant, runNumber: number, now: Instant): Promise<void>;
  /** The messages that no sink took yet, in their order. */
  pendingMessages(): Promise<PendingMessage[]>;
  /** Says that a run is about to tell a message, before it does. */
  deliveryBegan(number: number, runNumber: number, now: Instant): Promise<void>;
  /** Writes a sink's receipt, or why there is none. */
  deliveryEnded(delivery: DeliveryEnd, now: Instant): Promise<void>;
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
   * Puts right what a clock that was fast dated more than an hour after now. Returns the last of those instants as it was;
   * undefined where there was none.
   */
  correctInstants(at: { readonly runNumber: number; readonly now: Instant }): Promise<Instant | undefined>;
  openStage(): Promise<Stage>;
  openInventory(): Promise<InventoryStage>;
  /** What came of a listing when it was read last; undefined where it never was. */
  lastListingOutcome(key: ListingKey): Promise<ListingOutcome | undefined>;
  recordListing(facts: ListingFacts): Promise<void>;
  openVerification(account: string, known: TotalsKnown): Promise<Verification>;
  /** Publishes the snapshot; returns the logs of other programs that were removed beside it. */
  publish(): Promise<readonly string[]>;
  /** Reads every row of every table. Throws DamagedFileError where the disk does not give one back. */
  readAll(): Promise<void>;
  close(): void;
}

/** The writer's file, below the project folder. */
export function warehouseFile(dir: string): string {
  return join(dir, 'data', 'warehouse.duckdb');
}

/**
 * What is seen from outside to be wrong with the writer's file: `is missing`, `is damaged (it is empty)`; undefined where
 * nothing is. Not for the process that holds it, whose lock would be dropped.
 */
export async function warehouseFault(dir: string): Promise<string | undefined> {
  const file = warehouseFile(dir);
  try {
    const published = await readSeal(snapshotFile(dir)).catch(() => undefined);
    const found = await damageOfWarehouse(file, published?.state === 'intact' ? published.seal : undefined);
    return found === undefined ? undefined : `is damaged (${found})`;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return 'is missing';
    if (code === 'EISDIR') return 'is a folder';
    if (code === 'EACCES') return undefined; // whoever reads need not be allowed to
    throw error;
  }
}

/** Throws DamagedFileError where the writer's file is seen to be damaged before DuckDB opens it. */
async function refuseDamaged(file: string, traces: Traces): Promise<void> {
  const found = await damageOfWarehouse(file, traces.seal).catch(() => undefined); // DuckDB says why it cannot be read
  if (found !== undefined) throw damagedWarehouse(new DamagedFileError(file, found, repairs), traces);
}

/** Whether a path is the writer's file. */
export function isWarehouse(dir: string, path: string): boolean {
  return path === warehouseFile(dir);
}

/** Moves the writer's file aside, with its log; returns its new path, or undefined where there was none. */
export function setWarehouseAside(dir: string, at: Instant): Promise<string | undefined> {
  return setAside(warehouseFile(dir), at);
}

/** How large the writer's file is; undefined where there is none. */
export async function warehouseBytes(dir: string): Promise<number | undefined> {
  return stat(warehouseFile(dir)).then(
    ({ size }) => size,
    () => undefined,
  );
}

/**
 * Opens the writer's file below the project folder and brings it to this program's schema; where that changes a file in
 * use, it is copied aside before. `newestLanded` says which load in the landing folder is the last. The signal ends what
 * a stage is doing and a copy under way; the ledger can still be written and published afterwards. Throws LockedError,
 * UsageError where a newer program wrote the file, DamagedFileError where it cannot be read, and ChangedFileError where it
 * is missing or knows less than snapshot, landing folder and journal.
 */
export async function openWarehouse(
  dir: string,
  signal?: AbortSignal,
  log?: Log,
  newestLanded: () => Promise<number> = async () => 0,
): Promise<Warehouse> {
  const file = warehouseFile(dir);
  const traces = await findTraces(dir, await newestLanded());
  await refuseMissing(file, traces);
  if (traces.isSnapshotIntact) await refuseDamaged(file, traces);
  const database = await openDatabase(file, { readOnly: false, whenDamaged: repairs }).catch(async (error: unknown) => {
    if (!(error instanceof DamagedFileError)) throw error;
    throw damagedWarehouse(error, await findTraces(dir, await newestLanded()));
  });
  try {
    const connection = await database.connect();
    await refuseOlder(connection, file, await findTraces(dir, await newestLanded()));
    const { schema, isPublished } = await migrate(connection, async (migrations) => {
      log?.info('the warehouse is of an older Costbook and is copied before it is changed', { migrations });
      const copy = await copyBeforeMigrating(connection, file, migrations[0] ?? '', signal);
      log?.info('the warehouse was copied', { copy });
    });
    await removeOldCopies(file);
    const recorder = await openRecorder(connection, journalFolder(dir));
    // A clock that was moved back must not let two runs see at one instant: as of it, either would be an answer.
    const firstSeen = ((await lastInstants(connection)).last ?? -1) + 1;
    let lastSeen = firstSeen;
    async function seenAt(now: Instant): Promise<Instant> {
      lastSeen = Math.max(now, lastSeen);
      return lastSeen;
    }
    if (!isPublished) {
      // What this command reads of the snapshot, and whoever else reads it, is of this schema from here on.
      await publishSnapshot(connection, file, snapshotFile(dir), { signal, log });
      await rememberPublished(connection, schema);
    }
    return {
      beginRun: (command, startedAt) => beginRun(connection, recorder, { event: 'run_began', command }, startedAt),
      beginJob: (job, slot, startedAt) => beginRun(connection, recorder, { event: 'job_began', job, slot }, startedAt),
      jobHistories: () => jobHistories(connection),
      missed: (job, slots, because, foundAt) => recordMissed(connection, recorder, { job, slots, because, foundAt }),
      stepBegan: (begun) => recordStepBegan(recorder, begun),
      stepEnded: (end) => recordStepEnd(recorder, end),
      accountLedger: (account) => accountLedger(connection, account),
      saveAccount: async (facts, now) => saveAccount(connection, recorder, facts, await seenAt(now)),
      forgetAccountsNeverLoaded: (except) => forgetAccountsNeverLoaded(connection, recorder, except),
      recordAccountRun: (run) =>
        recorder.record({
          event: 'account_run',
          values: {
            run_number: run.runNumber,
            account: run.account,
            exit_code: run.exitCode,
            error: run.error ?? null,
            windows: run.windows,
            pages: run.pages,
            amounts: run.rows,
            restated: run.restated,
            requests: run.requests,
            retries: run.retries,
          },
        }),
      dimensionsLeftOut: (account) => dimensionsLeftOut(connection, account),
      coveredPieces: (account) => coveredPieces(connection, account),
      completeness: async (account) => (await completeness(connection)).find((row) => row.account === account),
      unproven: (account) => unprovenWindows(connection, account),
      contradictions: (account) => contradictions(connection, account),
      async lastLoadNumber() {
        const [row] = await connection.rows(await readSql('ledger', 'last_load'));
        return Number(row?.['load_number']);
      },
      async landingsSeenBefore(instant) {
        const rows = await connection.rows(await readSql('ledger', 'landings_seen_before'), {
          instant: formatInstant(instant),
        });
        return rows.map((row) => String(row['landing']));
      },
      seenAt,
      closedMonths: () => closedMonths(connection),
      async closeMonth(close, now) {
        const closedAt = await seenAt(now);
        lastSeen = closedAt + 1; // as of the close nothing is told that was seen after it
        await closeMonth(connection, recorder, close, closedAt);
        return closedAt;
      },
      async reopenMonth(month, because, now) {
        const reopenedAt = await seenAt(now);
        await reopenMonth(recorder, month, because, reopenedAt);
        return reopenedAt;
      },
      async saveAllocation(definition, runNumber, now) {
        if ((await allocationInForce(connection)) === definition) return false;
        await recorder.record({
          event: 'allocation_is',
          values: {
            definition: definition ?? null,
            run_number: runNumber,
            recorded_at: formatInstant(await seenAt(now)),
          },
        });
        return true;
      },
      knownAlerts: () => knownAlerts(connection),
      recordEvaluation: (evaluation) => recordEvaluation(connection, recorder, evaluation),
      recordForecasts: (made) => recordForecasts(connection, recorder, made),
      recordAnomalies: (evaluation) => recordAnomalies(recorder, evaluation),
      sinksOfDigest: (digest) => sinksOfDigest(connection, digest),
      lastMessagesAbout: (key) => lastMessagesAbout(connection, key),
      acknowledge: async (key, until, runNumber, now) =>
        recordAcknowledgement(recorder, { key, until, runNumber, at: await seenAt(now) }),
      pendingMessages: () => pendingMessages(connection),
      deliveryBegan: async (number, runNumber, now) =>
        recordDeliveryBegan(recorder, { number, runNumber, at: await seenAt(now) }),
      deliveryEnded: async (delivery, now) => recordDeliveryEnd(recorder, delivery, await seenAt(now)),
      falseClaims: (account, platformAt) => falseClaims(connection, account, platformAt),
      correctClaims: (facts) => correctClaims(recorder, facts),
      monthsClosedTooSoon: (account) => monthsClosedTooSoon(connection, account),
      lastClocks: () => lastClocks(connection),
      recordClock: (reading, runNumber) => recordClock(recorder, reading, runNumber),
      fastClock: () => fastClock(connection),
      async correctInstants(at) {
        const { correctedFrom, last } = await correctInstants(connection, recorder, at);
        // Where nothing was put right, what this run saw before stays at its instant.
        const isRight = correctedFrom === undefined;
        lastSeen = isRight ? Math.max(firstSeen, Math.min(lastSeen, at.now)) : (last ?? -1) + 1;
        return correctedFrom;
      },
      openStage: async () => openStage(await database.connect(signal), recorder),
      openInventory: async () => openInventoryStage(await database.connect(signal), recorder),
      lastListingOutcome: (key) => lastListingOutcome(connection, key),
      recordListing: (facts) => recordListing(recorder, facts),
      openVerification: async (account, known) =>
        openVerification(await database.connect(signal), recorder, account, known),
      readAll: () => readAllTables(connection, 'wh'),
      publish: () => publishSnapshot(connection, file, snapshotFile(dir), { signal, log }),
      close: () => database.close(),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

async function beginRun(
  connection: Connection,
  recorder: Recorder,
  what:
    | { readonly event: 'run_began'; readonly command: string }
    | { readonly event: 'job_began'; readonly job: string; readonly slot: Instant | undefined },
  startedAt: Instant,
): Promise<Run> {
  const [row] = await connection.rows(await readSql('ledger', 'last_run'));
  const number = Number(row?.['run_number']) + 1;
  const own =
    what.event === 'run_began'
      ? { command: what.command }
      : { job: what.job, slot: what.slot === undefined ? null : formatInstant(what.slot) };
  await recorder.record({
    event: what.event,
    values: { run_number: number, ...own, started_at: formatInstant(startedAt) },
  });
  return {
    number,
    end: (exitCode, error, endedAt) =>
      recorder.record({
        event: 'run_ended',
        values: {
          run_number: number,
          exit_code: exitCode,
          error: error ?? null,
          ended_at: formatInstant(endedAt),
        },
      }),
  };
}

/** What the ledger knows of an account. */
export async function accountLedger(connection: Connection, account: string): Promise<AccountLedger | undefined> {
  const [row] = await connection.rows(await readSql('ledger', 'account'), { account });
  if (row === undefined) return undefined;
  const role = row['role'];
  return {
    historyStart: row['history_start'] === null ? undefined : Number(row['history_start']),
    role: role === 'admin' || role === 'member' ? role : undefined,
    decimals: { cost: Number(row['cost_decimals']), usage: Number(row['usage_decimals']) },
    hasAmounts: row['has_amounts'] === true,
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
  await recorder.record({ event: 'account_is', values: { ...values, recorded_at: formatInstant(recordedAt) } });
}

async function forgetAccountsNeverLoaded(
  connection: Connection,
  recorder: Recorder,
  except: readonly string[],
): Promise<void> {
  const rows = await connection.rows(await readSql('ledger', 'accounts_never_loaded'), {
    except: JSON.stringify(except),
  });
  const accounts = rows.map((row) => String(row['account']));
  if (accounts.length > 0) await recorder.record({ event: 'accounts_forgotten', values: { accounts } });
}

async function dimensionsLeftOut(connection: Connection, account: string): Promise<string[]> {
  const rows = await connection.rows(await readSql('ledger', 'queries_left_out'), { account, compared: allRowsMeet });
  const queries = rows.flatMap((row) => JSON.parse(String(row['queries'])) as LoadedQuery[]);
  const dimensions = queries.flatMap(({ purpose, billingDimension }) =>
    purpose !== 'detail' && billingDimension !== null ? [billingDimension] : [],
  );
  return [...new Set(dimensions)];
}

/** The definition of the allocation rules in force; undefined where there are none. */
export async function allocationInForce(connection: Connection): Promise<string | undefined> {
  const [row] = await connection.rows(await readSql('ledger', 'allocation'));
  return row === undefined ? undefined : String(row['definition']);
}

/** The hours of an account that are in the books, in order. */
export async function coveredPieces(connection: Connection, account: string): Promise<CoveredPiece[]> {
  const rows = await connection.rows(await readSql('ledger', 'covered_windows'), { account });
  return rows.map((row) => ({
    start: Number(row['window_start']),
    end: Number(row['window_end']),
    claimedEnd: Number(row['claimed_end']),
    seenAt: Number(row['seen_at']),
  }));
}

/** Through when the books of each account are complete and settled. */
export async function completeness(connection: Connection): Promise<Completeness[]> {
  const rows = await connection.rows(await readSql('ledger', 'completeness'));
  return rows.map((row) => ({
    account: String(row['account']),
    historyStart: row['history_start'] === null ? undefined : Number(row['history_start']),
    completeThrough: row['complete_through'] === null ? undefined : Number(row['complete_through']),
    settledThrough: row['settled_through'] === null ? undefined : Number(row['settled_through']),
  }));
}

/** The windows of an account that did not prove when they were last asked for, newest first. */
export async function unprovenWindows(connection: Connection, account: string): Promise<UnprovenWindow[]> {
  const rows = await connection.rows(await readSql('ledger', 'unproven'), { account });
  return rows.map(toUnproven);
}

/** Where the platform's totals of an account's past contradict its hours, or themselves, newest first. */
export async function contradictions(connection: Connection, account: string): Promise<UnprovenWindow[]> {
  const rows = await connection.rows(await readSql('ledger', 'contradictions'), { account });
  return rows.map(toUnproven);
}

function toUnproven(row: SqlRow): UnprovenWindow {
  return {
    window: { start: Number(row['window_start']), end: Number(row['window_end']) },
    because: String(row['because']),
    isYoung: row['is_young'] === true,
  };
}

/** What was asked for the newest load that speaks for hours of a window; undefined where none does. */
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
