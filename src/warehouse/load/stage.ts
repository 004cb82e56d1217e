import { formatInstant, type Instant, type Window } from '../../time/time.ts';
import type { Recorder } from '../journal/journal.ts';
import type { PageSink, Reconciliation, Role } from '../page.ts';
import { readSql } from '../sql/sql-files.ts';
import type { Connection } from '../store/connection.ts';
import {
  allRowsMatch,
  type DifferingHours,
  readReconciliations,
  reconciliationEvent,
  type TotalDecimals,
  type TotalsKnown,
  toleranceParameters,
} from './reconciliation.ts';

import { names, type QueryFilter, takeDetail, takeRepair, takeResidual, typesAsked } from './stage-rows.ts';
import {
  beginWindow,
  compareHours,
  decimalsSeen,
  lastHourWithCosts,
  newStageState,
  type StageState,
  windowParameters,
} from './stage-state.ts';
import { openPageSink } from './staged-pages.ts';
import { type LoadFacts, type LoadResult, type LoadWritten, repeatLoad, writeLoad } from './write-load.ts';

/** What is recorded about an unproven window. */
export interface UnprovenFacts {
  readonly reason: string;
  /** The largest difference in cost: USD, decimal text without sign; undefined if no cost differs. */
  readonly costDifference: string | undefined;
  /** Whether only young hours fail, whose numbers may still change. */
  readonly isYoung: boolean;
  readonly runNumber: number;
  readonly seenAt: Instant;
}

/** Collects, compares and writes the answers of one window, on its own connection. */
export interface Stage {
  /** Empties the stage for a window. */
  begin(account: string, window: Window): Promise<void>;
  /** The role that fetches the window; set it before anything else. */
  readAs(role: Role): void;
  /**
   * A sink for the pages of one query with the given purpose and name; `query` numbers them within the window. `of` is
   * the window of the query, if it differs.
   */
  addQuery(query: number, purpose: string, name: string, of?: Window): PageSink;
  /** Makes the detail's entries the rows of the window. */
  takeDetail(): Promise<void>;
  /** Resource types whose rows have no UUID. */
  typesWithoutUuid(): Promise<string[]>;
  /** Replaces rows without UUID by rows by workspace, from the query with this number and filter. */
  takeResidual(query: number, filter: QueryFilter): Promise<void>;
  /** Billing dimensions in which rows and control differ. */
  shortDimensions(known: TotalsKnown): Promise<string[]>;
  /** Billing dimensions that belong to one resource type only. */
  dimensionsOfOneType(): Promise<string[]>;
  /** The billing dimensions of the window's rows so far. */
  dimensions(): Promise<string[]>;
  /** The resource types among the groups of a query; undefined if the platform names none. */
  typesAsked(query: number): Promise<(string | undefined)[]>;
  /** Billing dimensions whose rows without UUID may merge resources of several types. */
  ambiguousDimensions(): Promise<string[]>;
  /** Adds what a query of one billing dimension shows beyond the rows. */
  takeRepair(query: number, billingDimension: string | undefined): Promise<void>;
  /**
   * Compares everything with the platform's totals. If the platform is known to omit rows from the detail, all rows
   * together may match the detail's total instead of its pages; `leftOut` reports whether they had to. `differing` are
   * the hours whose rows and control differ, by billing dimension.
   */
  reconcile(
    known: TotalsKnown,
    leavesOut: boolean,
  ): Promise<{ reconciliations: Reconciliation[]; leftOut: boolean; differing: readonly DifferingHours[] }>;
  /** The most decimals in this window's totals. */
  decimals(): TotalDecimals;
  /** The start of the window's last hour with any cost or usage; undefined if there is none. */
  lastHour(): Promise<Instant | undefined>;
  /**
   * Replaces the window and writes the ledger, in one transaction. `file` stores the answers and returns their place;
   * it is called last before the commit, so that no load in the books has missing answers.
   */
  load(facts: LoadFacts, file: (written: LoadWritten) => Promise<string | undefined>): Promise<LoadResult>;
  /** Writes a load that changed nothing into the ledger again, from its stored description. */
  repeat(facts: LoadFacts, written: LoadWritten, place: string | undefined): Promise<void>;
  /** Records the last comparisons, of an attempt that failed. */
  recordFailedReconciliations(runNumber: number, attempt: number, seenAt: Instant): Promise<void>;
  /** Records an unproven window. */
  recordUnproven(unproven: Window, facts: UnprovenFacts): Promise<void>;
  /** Removes a proven window from the record of unproven ones. */
  forgetUnproven(proven: Window): Promise<void>;
  close(): void;
}

/** Opens a stage on a connection of its own; records that are not part of a load go through the recorder. */
export async function openStage(connection: Connection, recorder: Recorder): Promise<Stage> {
  const state = await newStageState(connection);
  await connection.run(state.sql('macros'));
  await connection.run(await readSql('ledger', 'rows_in'));
  return {
    begin: (account, window) => beginWindow(state, account, window),
    readAs(role) {
      state.differing = undefined;
      state.role = role;
    },
    addQuery: (query, purpose, name, of = state.window) => openPageSink(state, query, purpose, name, of),
    takeDetail: () => takeDetail(state),
    typesWithoutUuid: () => names(state, 'types_without_uuid', 'resource_type'),
    takeResidual: (query, filter) => takeResidual(state, query, filter),
    shortDimensions: async (known) =>
      (await compareHours(state, known)).flatMap(({ billingDimension }) => billingDimension ?? []),
    dimensionsOfOneType: () => names(state, 'dimensions_of_one_type', 'billing_dimension'),
    dimensions: () => names(state, 'dimensions', 'billing_dimension'),
    typesAsked: (query) => typesAsked(state, query),
    ambiguousDimensions: () => names(state, 'ambiguous_dimensions', 'billing_dimension'),
    takeRepair: (query, billingDimension) => takeRepair(state, query, billingDimension),
    reconcile: (known, leavesOut) => reconcile(state, known, leavesOut),
    decimals: () => decimalsSeen(state),
    lastHour: () => lastHourWithCosts(state),
    load: (facts, file) => writeLoad(state, facts, file),
    repeat: (facts, written, place) => repeatLoad(state, facts, written, place),
    recordFailedReconciliations: (runNumber, attempt, seenAt) => {
      const { account, window, reconciliations } = state;
      return recorder.record(reconciliationEvent({ account, window, runNumber, attempt, seenAt }, reconciliations));
    },
    recordUnproven: (unproven, facts) => recordUnproven(state, recorder, unproven, facts),
    forgetUnproven: (proven) => forgetUnproven(state, recorder, proven),
    close: () => connection.close(),
  };
}

/** Compares everything with the platform's totals. */
async function reconcile(
  state: StageState,
  known: TotalsKnown,
  leavesOut: boolean,
): Promise<{ reconciliations: Reconciliation[]; leftOut: boolean; differing: readonly DifferingHours[] }> {
  const differing = await compareHours(state, known);
  const tolerance = toleranceParameters(known, decimalsSeen(state));
  await state.connection.run(state.sql('reconcile'), { ...tolerance, leaves_out: leavesOut });
  const reconciliations = await readReconciliations(state.connection);
  state.reconciliations = reconciliations;
  return {
    reconciliations: [...reconciliations],
    leftOut: reconciliations.some(({ checkCode }) => checkCode === allRowsMatch),
    differing,
  };
}

/** Records an unproven window. */
function recordUnproven(state: StageState, recorder: Recorder, window: Window, facts: UnprovenFacts): Promise<void> {
  return recorder.record({
    event: 'window_read',
    values: {
      ...windowParameters(state, window),
      reason: facts.reason,
      cost_difference: facts.costDifference ?? null,
      is_young: facts.isYoung,
      run_number: facts.runNumber,
      seen_at: formatInstant(facts.seenAt),
    },
  });
}

/** Removes a proven window from the record of unproven ones; writes nothing if it is not there. */
async function forgetUnproven(state: StageState, recorder: Recorder, window: Window): Promise<void> {
  const parameters = windowParameters(state, window);
  const onRecord = await state.connection.rows(state.sql('unproven'), parameters);
  if (onRecord.length === 0) return;
  await recorder.record({
    event: 'window_read',
    values: { ...parameters, reason: null, cost_difference: null, is_young: null, run_number: null, seen_at: null },
  });
}
