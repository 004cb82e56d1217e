import { MachineError } from '../base/errors.ts';
import type { Instant } from '../time/time.ts';
import type { Check, CheckResult } from '../warehouse/ledger/index.ts';
import { toError } from './child-words.ts';
import type { CheckReported } from './run-checks.ts';
import { runChild } from './run-child.ts';

/** The default time limit of one check. */
const usualCheckMs = 10 * 60_000;

/** A check of more rows at once may need more memory than a command may use. */
const usualRowsAtOnce = 15_000_000;

/** How checks are run. */
export interface ChecksOptions {
  readonly signal: AbortSignal;
  /** Only test whether DuckDB accepts their SQL; then they may include reports. */
  readonly isDry?: boolean;
  /** Built-in checks whose months can be checked one by one see only these hours, except those that `whole` names. */
  readonly hours?: { readonly from: Instant; readonly whole: readonly string[] } | undefined;
  /** Built-in checks whose months can be checked one by one read some months at a time, of about so many rows. */
  readonly rowsAtOnce?: number | undefined;
  /** Time limit of each check. */
  readonly timeoutMs?: number | undefined;
  /** Receives each result as soon as it is available. */
  readonly onResult?: (result: CheckResult) => Promise<void> | void;
}

/**
 * Runs checks over the snapshot of a project folder in a child process, as `ask` does. A check that takes too long,
 * needs too much memory or crashes DuckDB has a MachineError in its result; the later checks run all the same. Throws
 * what the signal and `onResult` throw, and UsageError without a snapshot. Returns the results in the order of the checks.
 */
export async function runChecks(
  dir: string,
  given: readonly Check[],
  { signal, isDry = false, hours, rowsAtOnce = usualRowsAtOnce, timeoutMs = usualCheckMs, onResult }: ChecksOptions,
): Promise<CheckResult[]> {
  // Those that see other hours come together: the books are opened for each change.
  const checks = hours === undefined ? given : given.toSorted((a, b) => Number(!a.isByMonth) - Number(!b.isByMonth));
  const results: CheckResult[] = [];
  let taken = Promise.resolve();
  function add(result: CheckResult): void {
    results.push(result);
    taken = taken.then(() => onResult?.(result));
    taken.catch(() => undefined); // awaited below
  }
  while (results.length < checks.length) {
    const left = checks.slice(results.length);
    const asked = { dir, checks: left, isDry, hoursFrom: hours?.from ?? null, whole: hours?.whole ?? [], rowsAtOnce };
    function onEvent(event: unknown): void {
      const check = checks[results.length];
      const { failure, ...found } = event as CheckReported;
      if (check !== undefined) add({ check, ...found, offenders: found.offenders, error: failure && toError(failure) });
    }
    try {
      await runChild(
        { service: 'checks', input: asked, dir, subject: 'it', onEvent },
        { timeoutMs, isTimedByEvent: true, signal },
      );
    } catch (error) {
      const check = checks[results.length];
      if (!(error instanceof MachineError) || check === undefined) throw error;
      const words = new MachineError(`check ${check.name} (${check.file.path}): ${error.found}`, {
        cause: error,
        next: error.next,
      });
      add({ check, offenders: undefined, columns: [], cells: [], rows: [], error: words });
    }
    await taken;
  }
  return given.flatMap((check) => results.find((result) => result.check === check) ?? []);
}
