import {
  formatInstant,
  hourMs,
  type Instant,
  intersectWindows,
  subtractWindows,
  unionWindows,
  type Window,
} from '../../time/time.ts';
import type { Reconciliation, Role } from '../page.ts';
import { readSql } from '../sql/sql-files.ts';
import type { SqlParameters, SqlRow } from '../store/connection.ts';
import { reconciliationValues, toleranceParameters } from './reconciliation.ts';
import { decimalsSeen, type StageState, windowParameters } from './stage-state.ts';

/** One query of a load: its purpose, its filter (null if none), and its pages. */
export interface LoadedQuery {
  readonly purpose: string;
  readonly resourceType: string | null;
  readonly billingDimension: string | null;
  readonly pages: number;
}

/** The facts of a load for the record. */
export interface LoadFacts {
  readonly loadNumber: number;
  readonly runNumber: number;
  /** Number of the attempt at the window within the run. */
  readonly attempt: number;
  readonly reason: string;
  readonly requests: number;
  readonly pages: number;
  readonly queries: readonly LoadedQuery[];
  /** Hours from this instant on are too young to count as complete. */
  readonly claimedEnd: Instant;
  readonly seenAt: Instant;
  /** The platform's clock when the window was fetched; undefined if it did not say. */
  readonly platformAt?: Instant | undefined;
}

export interface LoadResult {
  readonly outcome: 'loaded' | 'unchanged';
  /** Rows of the window now, and how many hourly costs differ from before. */
  readonly rowCount: number;
  readonly restated: number;
}

/** What a load found and writes: with its facts this is the whole load except the rows. */
export interface LoadWritten extends LoadResult {
  /** USD of the window's rows, decimal text. */
  readonly cost: string;
  /** The parts of the window, each with the role that fetched it. */
  readonly coveredWindows: readonly { readonly window: Window; readonly role: Role }[];
  readonly reconciliations: readonly Reconciliation[];
}

/** A part of a loaded window, with the role that fetched it. */
type LoadedPart = LoadWritten['coveredWindows'][number];

/** Lost hours that a load fetched again: they count since the load that was lost. */
interface LostWindow {
  readonly window: Window;
  readonly loadNumber: number;
}

/** The hours of the window that the books once had and lost. */
async function lostWindows(state: StageState, loadNumber: number): Promise<LostWindow[]> {
  const { connection, sql, window } = state;
  await connection.run(sql('lost_hours'), { ...windowParameters(state, window), load_number: loadNumber });
  const rows = await connection.rows(sql('lost_windows'));
  return rows.map((row) => ({ window: windowOf(row), loadNumber: Number(row['load_number']) }));
}

function windowOf(row: SqlRow): Window {
  return { start: Number(row['window_start']), end: Number(row['window_end']) };
}

/** Replaces the window and writes the ledger, in one transaction; `file` is called last before the commit. */
export async function writeLoad(
  state: StageState,
  facts: LoadFacts,
  file: (written: LoadWritten) => Promise<string | undefined>,
): Promise<LoadResult> {
  const { connection, sql } = state;
  const parameters = windowParameters(state, state.window);
  const [before] = await connection.rows(sql('before_loading'), parameters);
  const coveredHours = Number(before?.['covered_hours']);
  const written = await prepareRows(state, coveredHours, before?.['has_unique_hours'] === true);
  const isWhole = coveredHours * hourMs === state.window.end - state.window.start;
  const mayHaveLost = !isWhole && before?.['may_have_lost'] === true;
  const lost = mayHaveLost ? await lostWindows(state, facts.loadNumber) : [];
  const numbers = {
    load_number: facts.loadNumber,
    run_number: facts.runNumber,
    seen_at: formatInstant(facts.seenAt),
  };
  await connection.transaction(async () => {
    if (written.outcome === 'loaded') {
      await connection.run(sql('new_series'));
      await connection.run(sql(coveredHours === 0 ? 'insert_new_window' : 'replace'), { ...parameters, ...numbers });
    }
    if (lost.length > 0) {
      await connection.run(sql('restore_lost'), { ...parameters, load_number: facts.loadNumber });
    }
    await connection.run(sql('record_reconciliation'), { ...parameters, ...numbers, attempt: facts.attempt });
    await recordLoad(state, facts, written, await file(written), { wasCovered: coveredHours > 0, lost });
  });
  return { outcome: written.outcome, rowCount: written.rowCount, restated: written.restated };
}

/** Prepares the rows to load and finds what they change. Throws if two different series share an ID. */
async function prepareRows(state: StageState, coveredHours: number, hasUniqueHours: boolean): Promise<LoadWritten> {
  const { connection, sql, window, role } = state;
  const isCovered = coveredHours > 0;
  // Rows that an admin token fetched may replace those of a member token.
  const mayBePreserved = role === 'member' && isCovered;
  await connection.run(sql(hasUniqueHours && !mayBePreserved ? 'rows_to_load' : 'rows_to_load_added_up'));
  const coveredWindows = isCovered ? await preserveAdminWindows(state) : [{ window, role }];
  if (isCovered) await connection.run(sql('changes'), windowParameters(state, window));
  const [counts] = await connection.rows(sql('count_rows_to_load'));
  const shared = counts?.['shared_series_id'] ?? null;
  if (shared !== null) throw new Error(`two different series share the ID ${shared}; nothing was written`);
  const [changed] = isCovered ? await connection.rows(sql('count_changes')) : [{ changed: 0, restated: 0 }];
  const isWhollyCovered = coveredHours * hourMs === window.end - window.start;
  return {
    outcome: isWhollyCovered && Number(changed?.['changed']) === 0 ? 'unchanged' : 'loaded',
    rowCount: Number(counts?.['row_count']),
    restated: Number(changed?.['restated']),
    cost: String(counts?.['cost']),
    coveredWindows,
    reconciliations: state.reconciliations,
  };
}

/** Writes a load that changed nothing into the ledger again, from its stored description. */
export async function repeatLoad(
  state: StageState,
  facts: LoadFacts,
  written: LoadWritten,
  place: string | undefined,
): Promise<void> {
  const proofsSql = await readSql('journal', 'window_reconciled');
  const rows = await state.connection.rows(state.sql('covered_parts'), windowParameters(state, state.window));
  const inBooks = unionWindows(rows.map(windowOf));
  // Hours that the books no longer have, because their load was lost, are not proven by a load without rows.
  const coveredWindows = written.coveredWindows.flatMap(({ window, role }) =>
    inBooks.flatMap((part) => {
      const both = intersectWindows(window, part);
      return both === undefined ? [] : [{ window: both, role }];
    }),
  );
  await state.connection.transaction(async () => {
    if (written.coveredWindows.length === 0) return repeatLost(state, facts, written, place);
    await state.connection.run(proofsSql, {
      ...windowParameters(state, state.window),
      load_number: facts.loadNumber,
      run_number: facts.runNumber,
      attempt: facts.attempt,
      seen_at: formatInstant(facts.seenAt),
      reconciliations: JSON.stringify(written.reconciliations.map(reconciliationValues)),
    });
    await recordLoad(state, facts, { ...written, coveredWindows }, place, { wasCovered: true, lost: [] });
  });
}

/** Writes a load whose answers are lost: its hours leave the books, so that no number is proven without its rows. */
async function repeatLost(
  state: StageState,
  facts: LoadFacts,
  written: LoadWritten,
  place: string | undefined,
): Promise<void> {
  const { connection, sql } = state;
  const numbers = { load_number: facts.loadNumber, seen_at: formatInstant(facts.seenAt) };
  const known = await connection.rows(sql('windows_of_lost'), { load_number: facts.loadNumber });
  const others = known.map((row) => windowParameters({ account: String(row['account']) }, windowOf(row)));
  for (const window of [windowParameters(state, state.window), ...others]) {
    await connection.run(sql('remove_rows'), { ...window, ...numbers });
    await connection.run(sql('supersede_coverage'), { ...window, load_number: facts.loadNumber });
  }
  await recordLoad(state, facts, written, place, { wasCovered: true, lost: [] });
}

/** What the books had of a window before its load. */
interface BooksBefore {
  /** Whether hours of it were in the books. */
  readonly wasCovered: boolean;
  readonly lost: readonly LostWindow[];
}

/** The ledger's rows of a load, within its transaction. */
async function recordLoad(
  state: StageState,
  facts: LoadFacts,
  written: LoadWritten,
  place: string | undefined,
  { wasCovered, lost }: BooksBefore,
): Promise<void> {
  const { connection, sql, account, role } = state;
  const parameters = { ...windowParameters(state, state.window), load_number: facts.loadNumber };
  await connection.run(sql('record'), {
    ...parameters,
    run_number: facts.runNumber,
    reason: facts.reason,
    role,
    outcome: written.outcome,
    requests: facts.requests,
    pages: facts.pages,
    queries: JSON.stringify(facts.queries),
    row_count: written.rowCount,
    restated: written.restated,
    cost: written.cost,
    claimed_end: formatInstant(facts.claimedEnd),
    seen_at: formatInstant(facts.seenAt),
    landing: place ?? null,
    platform_at: facts.platformAt === undefined ? null : formatInstant(facts.platformAt),
  });
  if (wasCovered) await connection.run(sql('supersede_coverage'), parameters);
  for (const part of written.coveredWindows) {
    for (const { window, since } of partsSince(part.window, facts.loadNumber, lost)) {
      await connection.run(sql('record_covered'), {
        account,
        part_start: formatInstant(window.start),
        part_end: formatInstant(window.end),
        claimed_end: formatInstant(facts.claimedEnd),
        role: part.role,
        load_number: facts.loadNumber,
        since_load: since,
      });
    }
  }
}

/** A window in parts, each with the load since which the books have its hours. Pure. */
function partsSince(
  window: Window,
  loadNumber: number,
  lost: readonly LostWindow[],
): { readonly window: Window; readonly since: number }[] {
  const restored = lost.flatMap((each) => {
    const part = intersectWindows(window, each.window);
    return part === undefined ? [] : [{ window: part, since: each.loadNumber }];
  });
  const others = subtractWindows(
    [window],
    restored.map((part) => part.window),
  );
  return [...restored, ...others.map((part) => ({ window: part, since: loadNumber }))];
}

/**
 * Rows that an admin token fetched are not replaced by those of a member token unless the totals differ: rows that name
 * their workspace stay. Returns the parts of the window, each with the role that fetched it.
 */
async function preserveAdminWindows(state: StageState): Promise<LoadedPart[]> {
  const { connection, sql, window, role } = state;
  if (role === 'admin') return [{ window, role }];
  const rows = await connection.rows(sql('covered_as_admin'), windowParameters(state, window));
  const preserved: Window[] = [];
  for (const row of rows) {
    const part = intersectWindows(window, { start: Number(row['window_start']), end: Number(row['window_end']) });
    if (part === undefined) continue;
    const differing = await connection.rows(sql('admin_rows_differ'), {
      ...partParameters(state, part),
      ...toleranceParameters({ decimals: { cost: 12, usage: 6 }, agreedTolerance: undefined }, decimalsSeen(state)),
    });
    if (differing.length > 0) return [{ window, role }];
    preserved.push(part);
  }
  for (const part of preserved) await connection.run(sql('preserve_admin_rows'), partParameters(state, part));
  return [
    ...preserved.map((part) => ({ window: part, role: 'admin' as const })),
    ...subtractWindows([window], preserved).map((part) => ({ window: part, role })),
  ];
}

function partParameters({ account, window }: StageState, part: Window): SqlParameters {
  return {
    account,
    window_start: formatInstant(window.start),
    part_start: formatInstant(part.start),
    part_end: formatInstant(part.end),
  };
}
