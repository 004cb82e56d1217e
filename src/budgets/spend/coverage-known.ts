import type { Instant, Window } from '../../time/time.ts';
import { readSql } from '../../warehouse/sql/index.ts';
import type { Connection, SqlRow } from '../../warehouse/store/index.ts';

/** How far the books were complete at each instant, as they knew it then. */
export interface KnownCoverage {
  readonly windows: readonly Known[];
  readonly states: readonly Known[];
}

/** The coverage of some accounts, with its history. */
export async function readKnown(connection: Connection, isAsked: (account: string) => boolean): Promise<KnownCoverage> {
  const rowsOf = async (name: string) => {
    const rows = await connection.rows(await readSql('budgets', name));
    return rows.map(toKnown).filter(({ account }) => isAsked(account));
  };
  const windows = await rowsOf('coverage_known');
  const states = await rowsOf('accounts_known');
  return { windows, states };
}

/** A window of coverage or the state of an account, and from when to when the books recorded it. */
export interface Known {
  readonly account: string;
  readonly knownFrom: Instant;
  readonly knownUntil: Instant | undefined;
  readonly start: Instant | undefined;
  /** The end of its complete hours; undefined for an account. */
  readonly end: Instant | undefined;
  /** The end of its loaded hours, including those that are too recent to be complete; undefined for an account. */
  readonly readEnd: Instant | undefined;
}

function toKnown(row: SqlRow): Known {
  const instant = (name: string) => (row[name] === null || row[name] === undefined ? undefined : Number(row[name]));
  return {
    account: String(row['account']),
    knownFrom: Number(row['known_from']),
    knownUntil: instant('known_until'),
    start: instant('window_start') ?? instant('history_start'),
    end: instant('claimed_end'),
    readEnd: instant('window_end'),
  };
}

function isKnownAt({ knownFrom, knownUntil }: Pick<Known, 'knownFrom' | 'knownUntil'>, instant: Instant): boolean {
  return knownFrom <= instant && (knownUntil === undefined || knownUntil > instant);
}

/** Complete through of an account, as the books knew it at an instant; undefined if no hour was complete. */
export function reachedAt({ windows, states }: KnownCoverage, instant: Instant): Instant | undefined {
  const begin = states.find((state) => isKnownAt(state, instant))?.start;
  return begin === undefined ? undefined : reachedFrom(begin, windows, instant);
}

/** Whether the books had any hour of a window at an instant. */
export function hasHoursAt(
  { windows }: Pick<KnownCoverage, 'windows'>,
  { start, end }: Window,
  instant: Instant,
): boolean {
  return windows.some(
    (window) => isKnownAt(window, instant) && (window.start ?? end) < end && (window.readEnd ?? start) > start,
  );
}

/** The end of the hours without a gap from an instant on; undefined if the first hour is missing. */
function reachedFrom(begin: Instant, windows: readonly Known[], instant: Instant): Instant | undefined {
  let reached = begin;
  for (const { start = reached, end = reached, ...known } of windows) {
    if (!isKnownAt(known, instant) || end <= reached) continue;
    if (start > reached) break;
    reached = end;
  }
  return reached > begin ? reached : undefined;
}
