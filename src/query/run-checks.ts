import { dirname } from 'node:path';
import { DamagedFileError, MachineError } from '../errors.ts';
import type { Instant } from '../time.ts';
import {
  type Books,
  bindCheck,
  builtInSql,
  type Check,
  type CheckResult,
  openBooks,
  runCheck,
} from '../warehouse/index.ts';
import type { Failure } from './question.ts';
import { asFailure, type Parent } from './serve-parent.ts';

/** Checks to run over the snapshot of a project folder. */
export interface ChecksAsked {
  readonly dir: string;
  readonly checks: readonly Check[];
  /** Only test whether DuckDB accepts their SQL: it is bound and not run, and may have parameters. */
  readonly isDry: boolean;
  /** Checks of hours by month see the hours from here on; null for all. */
  readonly hoursFrom: Instant | null;
  /** The names of the checks that see all hours nevertheless. */
  readonly whole: readonly string[];
}

/** A child's report of one check: its result without the check, and its error as text. */
export interface CheckReported extends Omit<CheckResult, 'check' | 'error'> {
  readonly failure: Failure | undefined;
}

/** Runs checks in order, in the child, and reports each when it is done. */
export async function runInBooks(
  { dir, checks, isDry, hoursFrom, whole }: ChecksAsked,
  { reader, signal, report }: Parent,
): Promise<null> {
  const isOurs = ({ file }: Check) => dirname(dirname(file.path)) === builtInSql;
  const fromOf = (check: Check) =>
    hoursFrom !== null && check.isByMonth === true && isOurs(check) && !whole.includes(check.name)
      ? hoursFrom
      : undefined;
  let shared: { readonly books: Books; readonly from: Instant | undefined } | undefined;
  try {
    for (const check of checks) {
      // Settings that a project's SQL changes in DuckDB must not affect the next check.
      if (!isOurs(check)) {
        report(await runAlone(dir, check, isDry, reader, signal));
        continue;
      }
      const from = fromOf(check);
      if (shared === undefined || shared.from !== from) {
        shared?.books.close(); // two at once would use twice the memory
        shared = undefined;
        shared = { books: await openBooks(dir, { lockedDown: true, hoursFrom: from, reader, signal }), from };
      }
      report(await runOne(shared.books, check, isDry));
    }
  } finally {
    shared?.books.close();
  }
  return null;
}

async function runAlone(
  dir: string,
  check: Check,
  isDry: boolean,
  reader: string,
  signal: AbortSignal,
): Promise<CheckReported> {
  const books = await openBooks(dir, { lockedDown: true, reader, signal });
  try {
    return await runOne(books, check, isDry);
  } finally {
    books.close();
  }
}

async function runOne({ connection }: Books, check: Check, isDry: boolean): Promise<CheckReported> {
  try {
    const { check: _, error, ...found } = await (isDry ? bindCheck : runCheck)(connection, check);
    return { ...found, failure: error && asFailure(error) };
  } catch (error) {
    if (!(error instanceof MachineError || error instanceof DamagedFileError)) throw error;
    return { offenders: undefined, columns: [], cells: [], rows: [], failure: asFailure(error) };
  }
}
