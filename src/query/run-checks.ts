import { dirname } from 'node:path';
import { DamagedFileError, MachineError } from '../errors.ts';
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
}

/** A child's report of one check: its result without the check, and its error as text. */
export interface CheckReported extends Omit<CheckResult, 'check' | 'error'> {
  readonly failure: Failure | undefined;
}

/** Runs checks in order, in the child, and reports each when it is done. */
export async function runInBooks(
  { dir, checks, isDry }: ChecksAsked,
  { reader, signal, report }: Parent,
): Promise<null> {
  const shared = await openBooks(dir, { lockedDown: true, reader, signal });
  try {
    for (const check of checks) {
      // Settings that a project's SQL changes in DuckDB must not affect the next check.
      const isOurs = dirname(dirname(check.file.path)) === builtInSql;
      report(isOurs ? await runOne(shared, check, isDry) : await runAlone(dir, check, isDry, reader, signal));
    }
  } finally {
    shared.close();
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
