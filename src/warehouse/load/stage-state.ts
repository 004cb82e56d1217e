import { textOrUndefined } from '../../tables/optional-text.ts';
import { formatInstant, hourMs, type Instant, type Window } from '../../time/time.ts';
import type { Reconciliation, Role } from '../page.ts';
import { readSqlFolder } from '../sql/sql-files.ts';
import type { Connection } from '../store/connection.ts';
import { type DifferingHours, type TotalDecimals, type TotalsKnown, toleranceParameters } from './reconciliation.ts';

/** The state of a stage and its current window. */
export interface StageState {
  readonly connection: Connection;
  /** The text of a file of `sql/load`. */
  sql(name: string): string;
  account: string;
  window: Window;
  role: Role;
  /** How many entries the pages have had so far, to number them across all queries. */
  entryCount: number;
  /** The most decimals in each query's totals, by query number. */
  decimals: Map<number, TotalDecimals>;
  /** The results of the last comparison. */
  reconciliations: readonly Reconciliation[];
  /** The differing hours of the last comparison; undefined if rows or pages have changed since. */
  differing: readonly DifferingHours[] | undefined;
}

/** The state of a stage before its first window. */
export async function newStageState(connection: Connection): Promise<StageState> {
  const files = new Map((await readSqlFolder('load')).map((file) => [file.name, file.text]));
  return {
    connection,
    sql(name) {
      const text = files.get(name);
      if (text === undefined) throw new Error(`sql/load/${name}.sql is missing`);
      return text;
    },
    account: '',
    window: { start: 0, end: 0 },
    role: 'member',
    entryCount: 0,
    decimals: new Map(),
    reconciliations: [],
    differing: undefined,
  };
}

/** Empties a stage for a window; the role stays until it is set again. */
export async function beginWindow(state: StageState, account: string, window: Window): Promise<void> {
  Object.assign(state, {
    account,
    window,
    entryCount: 0,
    decimals: new Map(),
    reconciliations: [],
    differing: undefined,
  });
  await state.connection.run(state.sql('staged_answers'));
}

/** Rows with a workspace are compared by workspace. */
export function isByWorkspace(state: StageState): boolean {
  return state.role === 'admin';
}

/** The most decimals in the totals of the window's pages. */
export function decimalsSeen(state: StageState): TotalDecimals {
  const seen = [...state.decimals.values()];
  return {
    cost: Math.max(0, ...seen.map(({ cost }) => cost)),
    usage: Math.max(0, ...seen.map(({ usage }) => usage)),
  };
}

/** A window of the state's account as SQL parameters. */
export function windowParameters(
  { account }: Pick<StageState, 'account'>,
  window: Window,
): { account: string; window_start: string; window_end: string } {
  return { account, window_start: formatInstant(window.start), window_end: formatInstant(window.end) };
}

/** Compares rows and control by hour, once per set of rows; returns the hours that differ. */
export async function compareHours(state: StageState, known: TotalsKnown): Promise<readonly DifferingHours[]> {
  if (state.differing !== undefined) return state.differing;
  const { connection, sql, window } = state;
  const tolerance = toleranceParameters(known, decimalsSeen(state));
  await connection.run(sql('compare_hours'), { by_workspace: isByWorkspace(state), ...tolerance });
  const rows = await connection.rows(sql('differing_hours'));
  state.differing = rows.map((row) => ({
    billingDimension: textOrUndefined(row['billing_dimension']),
    hours: Number(row['hours']),
    span: {
      start: window.start + Number(row['first_bucket']) * hourMs,
      end: window.start + (Number(row['last_bucket']) + 1) * hourMs,
    },
    costDifference: String(row['cost_difference']),
  }));
  return state.differing;
}

/** The start of the window's last hour with any cost or usage; undefined if there is none. */
export async function lastHourWithCosts({ connection, sql, window }: StageState): Promise<Instant | undefined> {
  const [row] = await connection.rows(sql('last_hour'));
  const last = row?.['last_bucket'] ?? null;
  return last === null ? undefined : window.start + Number(last) * hourMs;
}
