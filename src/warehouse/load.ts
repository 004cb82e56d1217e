import { formatInstant, type Instant, type Window } from '../time.ts';
import type { Connection } from './connection.ts';
import type { Recorder } from './journal.ts';
import {
  allRowsMatch,
  type DifferingHours,
  type Reconciliation,
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
  type LoadRole,
  lastHourWithCosts,
  newStageState,
  type StageState,
  windowParameters,
} from './stage-state.ts';
import { openPageSink, type PageSink } from './staged-pages.ts';
import { type LoadFacts, type LoadResult, type LoadWritten, repeatLoad, writeLoad } from './write-load.ts';

/** What is recorded of a window that did not prove. */
export interface UnprovenFacts {
  readonly reason: string;
  /** Whether only hours are concerned whose numbers may still be changing. */
  readonly isYoung: boolean;
  readonly runNumber: number;
  readonly seenAt: Instant;
}

/** Where one window's answers are collected, proven and written; it owns its connection. */
export interface Stage {
  /** Empties the stage for a window. */
  begin(account: string, window: Window): Promise<void>;
  /** As whom the window is read; said before anything is taken, compared or loaded. */
  readAs(role: LoadRole): void;
  /**
   * A sink for the pages of one query of the given purpose and name; `query` numbers them within the window. `of` is the
   * window that the query is about, where that is another one.
   */
  addQuery(query: number, purpose: string, name: string, of?: Window): PageSink;
  /** Makes the detail's entries the window's rows. */
  takeDetail(): Promise<void>;
  /** Resource types whose rows carry no uuid. */
  typesWithoutUuid(): Promise<string[]>;
  /** Puts rows by workspace (of the query numbered, filtered so) in the place of rows without uuid. */
  takeResidual(query: number, filter: QueryFilter): Promise<void>;
  /** Billing dimensions in which rows and control differ. */
  shortDimensions(known: TotalsKnown): Promise<string[]>;
  /** Billing dimensions that are known to belong to one resource type. */
  dimensionsOfOneType(): Promise<string[]>;
  /** The billing dimensions of the window's rows so far. */
  dimensions(): Promise<string[]>;
  /** The resource types among the groups of a query; undefined where the platform names none. */
  typesAsked(query: number): Promise<(string | undefined)[]>;
  /** Billing dimensions whose rows without uuid may be several resources of several types. */
  ambiguousDimensions(): Promise<string[]>;
  /** Adds what a query of one billing dimension shows beyond the rows. */
  takeRepair(query: number, billingDimension: string | undefined): Promise<void>;
  /**
   * Compares everything with the platform's own totals. Where the platform is known to leave rows out of the detail,
   * all rows together may meet the detail's total in its pages' place; `leftOut` tells whether they had to. `differing`
   * are the hours whose rows and control differ, by billing dimension.
   */
  reconcile(
    known: TotalsKnown,
    leavesOut: boolean,
  ): Promise<{ reconciliations: Reconciliation[]; leftOut: boolean; differing: readonly DifferingHours[] }>;
  /** The most decimals that this window's totals carry. */
  decimals(): TotalDecimals;
  /** The start of the last hour of the window with any cost or usage; undefined where there is none. */
  lastHour(): Promise<Instant | undefined>;
  /**
   * Replaces the window and writes the ledger, in one transaction. `file` gives the answers their place, which it
   * returns, and is called last before the commit: no load is in the books whose answers are not where it says.
   */
  load(facts: LoadFacts, file: (written: LoadWritten) => Promise<string | undefined>): Promise<LoadResult>;
  /** Writes a load that changed nothing into the ledger once more, from what was kept of it. */
  repeat(facts: LoadFacts, written: LoadWritten, place: string | undefined): Promise<void>;
  /** Records the comparisons that were made last, of a reading that did not prove. */
  recordFailedReconciliations(runNumber: number, attempt: number, seenAt: Instant): Promise<void>;
  /** Records a window that did not prove. */
  recordUnproven(unproven: Window, facts: UnprovenFacts): Promise<void>;
  /** Takes a window that was proven off the record of those that were not. */
  forgetUnproven(proven: Window): Promise<void>;
  close(): void;
}

/** Opens a stage on a connection of its own; what is no part of a load goes through the recorder. */
export async function openStage(connection: Connection, recorder: Recorder): Promise<Stage> {
  const state = await newStageState(connection);
  await connection.run(state.sql('macros'));
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

/** Compares everything with the platform's own totals. */
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

/** Records a window that did not prove. */
function recordUnproven(state: StageState, recorder: Recorder, window: Window, facts: UnprovenFacts): Promise<void> {
  return recorder.record({
    event: 'window_read',
    values: {
      ...windowParameters(state, window),
      reason: facts.reason,
      is_young: facts.isYoung,
      run_number: facts.runNumber,
      seen_at: formatInstant(facts.seenAt),
    },
  });
}

/** Takes a window that was proven off the record of those that were not; records nothing where it is not on it. */
async function forgetUnproven(state: StageState, recorder: Recorder, window: Window): Promise<void> {
  const parameters = windowParameters(state, window);
  const onRecord = await state.connection.rows(state.sql('unproven'), parameters);
  if (onRecord.length === 0) return;
  await recorder.record({
    event: 'window_read',
    values: { ...parameters, reason: null, is_young: null, run_number: null, seen_at: null },
  });
}
