import type { Instant, Window } from '../time.ts';
import { type Connection, readSql, type SqlRow } from '../warehouse/index.ts';

/** What the books know, and knew before, of how far they are. */
export interface KnownCoverage {
  readonly windows: readonly Known[];
  readonly states: readonly Known[];
}

/** The coverage of some accounts with its past. */
export async function readKnown(connection: Connection, isAsked: (account: string) => boolean): Promise<KnownCoverage> {
  const rowsOf = async (name: string) => {
    const rows = await connection.rows(await readSql('budgets', name));
    return rows.map(toKnown).filter(({ account }) => isAsked(account));
  };
  const windows = await rowsOf('coverage_known');
  const states = await rowsOf('accounts_known');
  return { windows, states };
}

/** A piece of coverage or the state of an account, and from when to when the books knew it so. */
export interface Known {
  readonly account: string;
  readonly knownFrom: Instant;
  readonly knownUntil: Instant | undefined;
  readonly start: Instant | undefined;
  /** Through when its hours may be claimed; undefined of an account. */
  readonly end: Instant | undefined;
  /** Through when there are hours of it, those that are too young to be claimed included; undefined of an account. */
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

/** Through when the books of an account were complete as they were at an instant; undefined where they were not. */
export function reachedAt({ windows, states }: KnownCoverage, instant: Instant): Instant | undefined {
  const begin = states.find((state) => isKnownAt(state, instant))?.start;
  return begin === undefined ? undefined : reachedFrom(begin, windows, instant);
}

/** Whether any hour of a stretch was in the books as they were at an instant. */
export function hasHoursAt(
  { windows }: Pick<KnownCoverage, 'windows'>,
  { start, end }: Window,
  instant: Instant,
): boolean {
  return windows.some(
    (window) => isKnownAt(window, instant) && (window.start ?? end) < end && (window.readEnd ?? start) > start,
  );
}

/** The end of the hours that are there without a hole from an instant on; undefined where not even the first one is. */
function reachedFrom(begin: Instant, windows: readonly Known[], instant: Instant): Instant | undefined {
  let reached = begin;
  for (const { start = reached, end = reached, ...known } of windows) {
    if (!isKnownAt(known, instant) || end <= reached) continue;
    if (start > reached) break;
    reached = end;
  }
  return reached > begin ? reached : undefined;
}
