import { DamagedFileError, MachineError } from '../base/errors.ts';
import type { Instant, Window } from '../time/time.ts';
import { type Books, extentOf, openBooks, withBooks } from '../warehouse/integrity/index.ts';
import { type Check, type CheckResult, maxOffendersShown, runCheck } from '../warehouse/ledger/index.ts';
import { isBuiltIn } from '../warehouse/sql/index.ts';
import type { Connection, HoursBetween } from '../warehouse/store/index.ts';
import type { Parent } from './protocol.ts';
import type { ChecksAsked, Failure } from './question.ts';
import { asFailure } from './serve-parent.ts';
import { spansOf } from './spans.ts';

/** A child's report of one check: its result without the check, and its error as text. */
export interface CheckReported extends Omit<CheckResult, 'check' | 'error'> {
  readonly failure: Failure | undefined;
}

/** Runs checks in order, in the child, and reports each when it is done. */
export async function runInBooks(
  { dir, checks, isDry, hoursFrom, whole, rowsAtOnce }: ChecksAsked,
  { reader, signal, report }: Parent,
): Promise<null> {
  const fromOf = ({ name }: Check) => (hoursFrom === null || whole.includes(name) ? undefined : hoursFrom);
  let shared: SharedBooks | undefined;
  async function booksOf(isOfHours: boolean): Promise<SharedBooks> {
    if (shared?.isOfHours === isOfHours) return shared;
    shared?.books.close(); // two at once would use twice the memory
    shared = undefined;
    const books = await openBooks(dir, { lockedDown: true, isOfHours, reader, signal });
    shared = { books, isOfHours, window: await extentOf(books.connection) };
    return shared;
  }
  try {
    for (const check of checks) {
      // Settings that a project's SQL changes in DuckDB must not affect the next check.
      if (!isBuiltIn(check.file)) report(await runAlone(dir, check, isDry, reader, signal));
      else if (isDry || check.isByMonth !== true) {
        report(await runOne((await booksOf(false)).books.connection, check, isDry));
      } else {
        const from = fromOf(check);
        // Opening the books for some hours takes longer; small books are read whole.
        const isLarge = (shared ?? (await booksOf(from !== undefined))).books.published.rowCount > rowsAtOnce;
        const spans = spansIn(await booksOf(from !== undefined || isLarge), from, rowsAtOnce);
        report(await runByMonth(await booksOf(from !== undefined || isLarge), check, spans, signal));
      }
    }
  } finally {
    shared?.books.close();
  }
  return null;
}

/** Books that several checks read. */
interface SharedBooks {
  readonly books: Books;
  /** Whether connections may see only some hours. */
  readonly isOfHours: boolean;
  /** The hours of the books; undefined if there are none. */
  readonly window: Window | undefined;
}

function spansIn({ books, window }: SharedBooks, from: Instant | undefined, rowsAtOnce: number): HoursBetween[] {
  const spans = window === undefined ? [] : spansOf(from, { window, rowCount: books.published.rowCount }, rowsAtOnce);
  return spans.length === 0 ? [{ from, to: undefined }] : spans;
}

/** Runs a check of hours over some months at a time, so that its memory does not grow with the books. */
async function runByMonth(
  { books, isOfHours }: SharedBooks,
  check: Check,
  spans: readonly HoursBetween[],
  signal: AbortSignal,
): Promise<CheckReported> {
  if (!isOfHours) return runOne(books.connection, check, false);
  let found: CheckReported | undefined;
  for (const hours of spans) {
    const connection = await books.connectToHours(hours, signal);
    try {
      const next = await runOne(connection, check, false);
      if (next.offenders === undefined) return next;
      found = found === undefined ? next : addedTo(found, next);
    } finally {
      connection.close();
    }
  }
  if (found === undefined) throw new Error(`the check ${check.name} has no hours`);
  return found;
}

/** What a check found in some months and in the next ones. */
function addedTo(before: CheckReported, next: CheckReported): CheckReported {
  return {
    ...next,
    offenders: (before.offenders ?? 0) + (next.offenders ?? 0),
    cells: [...before.cells, ...next.cells].slice(0, maxOffendersShown),
    rows: [...before.rows, ...next.rows].slice(0, maxOffendersShown),
  };
}

async function runAlone(
  dir: string,
  check: Check,
  isDry: boolean,
  reader: string,
  signal: AbortSignal,
): Promise<CheckReported> {
  return withBooks(dir, { lockedDown: true, reader, signal }, async (books) => {
    return await runOne(books.connection, check, isDry);
  });
}

async function runOne(connection: Connection, check: Check, isDry: boolean): Promise<CheckReported> {
  try {
    const { check: _, error, ...found } = await runCheck(connection, check, { isDry });
    return { ...found, failure: error && asFailure(error) };
  } catch (error) {
    if (!(error instanceof MachineError || error instanceof DamagedFileError)) throw error;
    return { offenders: undefined, columns: [], cells: [], rows: [], failure: asFailure(error) };
  }
}
