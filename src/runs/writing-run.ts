import {
  CostbookError,
  exitCodeOf,
  exitCodes,
  isForRepair,
  LockedError,
  messageOf,
  worstExitCode,
} from '../base/errors.ts';
import { type Failure, failuresOf, redactedFailures } from '../base/failure.ts';
import { stepSentence } from '../base/next-step.ts';
import type { SpendNow } from '../budgets/spend/index.ts';
import { openAfterKill } from '../ingest/index.ts';
import type { EndedRun, UnpublishedRun } from '../metrics/index.ts';
import type { Warehouse } from '../warehouse/index.ts';
import type { Run } from '../warehouse/ledger/index.ts';
import { tellBeforeRun } from './before-run.ts';
import type { RunContext, RunUnderWay } from './context.ts';

/** The outcome of a command that writes. */
export interface Outcome {
  readonly exitCode: number;
  /** What failed, for the run's row, first what decides the exit code; left out on success. */
  readonly failures?: readonly Failure[] | undefined;
  /** The spend of every budget, if it was just computed. */
  readonly spends?: readonly SpendNow[] | undefined;
}

/**
 * Runs a command that writes: holds the warehouse (waiting up to `waitMs`), adds a row to `runs`, and publishes the
 * snapshot at the end, also after a failure: it contains only proven loads, and the failed run's row. As a step of a job
 * it uses the job's run.
 */
export async function writingRun(
  command: string,
  waitMs: number,
  context: RunContext,
  work: (warehouse: Warehouse, runNumber: number) => Promise<Outcome>,
): Promise<number> {
  const { effects, run: underWay } = context;
  if (underWay !== undefined) return stepOf(underWay, context, work);
  const warehouse = await openForRun({ command }, waitMs, context, { notifies: command === 'alert' });
  try {
    const words = context.redact(context.commandLine);
    const run = await warehouse.beginRun(command, effects.now(), words).catch(async (error: unknown) => {
      // A folder that cannot be written is opened all the same, and fails here.
      if (command === 'alert') await alertUnstored(command, error, context);
      throw error;
    });
    const finish = openEnd(run, { command }, warehouse, context);
    try {
      const outcome = await work(warehouse, run.number);
      await finish(outcome);
      await tellStep(command, outcome, context);
      return outcome.exitCode;
    } catch (error) {
      // This error is reported and sets the exit code; later failures follow from it.
      await finish({ exitCode: exitCodeOf(error), failures: failuresOf(error) }).catch((further: unknown) =>
        effects.log.warn('snapshot.failed', 'Could not publish the failed run', { reason: messageOf(further) }),
      );
      throw await withStepOfRun(error, command);
    }
  } finally {
    await warehouse.views.catch(() => undefined); // publishing has reported it
    warehouse.close();
  }
}

/** Notifies the sinks of a failure that the books cannot store. */
async function alertUnstored(name: string, error: unknown, context: RunContext): Promise<void> {
  const { alertWithoutBooks } = await import('../alerts/index.ts');
  await alertWithoutBooks(name, failuresOf(error), context, error);
}

/** Prints the next step after an outcome with several mistakes, which the command has printed. */
async function tellStep(command: string, { exitCode, failures = [] }: Outcome, { tell }: RunContext): Promise<void> {
  if (failures.length === 0) return;
  const { stepAfterMistakes } = await import('../findings/index.ts');
  const step = stepAfterMistakes({ command, exitCode, failures });
  if (step !== undefined) tell(`costbook: ${stepSentence(step)}`);
}

/** The error of a failed command; if it lists several mistakes, with the step to print after them. */
export async function withStepOfRun(error: unknown, command: string): Promise<unknown> {
  if (!(error instanceof CostbookError)) return error;
  const { stepAfterMistakes } = await import('../findings/index.ts');
  error.nextOfRun = stepAfterMistakes({ command, exitCode: error.exitCode, failures: failuresOf(error) });
  return error;
}

/**
 * Opens the project's warehouse for a run. If that fails, the run has no row in the books: its failure is in the metrics,
 * and the sinks are notified if the run alerts, unless another run holds the books. Throws as `openWarehouse`.
 */
export async function openForRun(
  what: Pick<EndedRun, 'command' | 'job'>,
  waitMs: number,
  context: RunContext,
  { notifies }: { readonly notifies: boolean },
): Promise<Warehouse> {
  const begun = performance.now();
  try {
    const warehouse = await openAfterKill(waitMs, context, { areViewsLater: what.command === 'ingest' });
    await tellBeforeRun(what.command, warehouse, context).catch((error: unknown) => {
      warehouse.close();
      throw error;
    });
    return warehouse;
  } catch (error) {
    if (error instanceof LockedError || context.signal.aborted) throw error;
    const { writeUnpublished } = await import('../metrics/index.ts');
    await writeUnpublished({ ...unpublished(what, begun, exitCodeOf(error), context), isUnrecorded: true }, context);
    const name = what.job === undefined ? what.command : `${what.command} ${what.job}`;
    // Nobody else may look for days: each writer says once that the books are damaged.
    if (notifies || isForRepair(error)) await alertUnstored(name, error, context);
    throw error;
  }
}

function unpublished(
  what: Pick<EndedRun, 'command' | 'job'>,
  begun: number,
  exitCode: number,
  { effects }: RunContext,
): UnpublishedRun {
  const seconds = (performance.now() - begun) / 1000;
  return { ...what, exitCode, endedAt: effects.now(), seconds, isUnrecorded: false };
}

/** Exit codes that may have been caused by the books or the disk. */
const mayBeOfBooks: readonly number[] = [exitCodes.bug, exitCodes.unproven, exitCodes.machine];

/**
 * From here on every log line names the run. Returns the function that ends the run: it writes its row, the snapshot
 * and the metrics.
 */
export function openEnd(
  run: Run,
  what: Pick<EndedRun, 'command' | 'job'>,
  warehouse: Warehouse,
  context: RunContext,
): (outcome: Outcome) => Promise<void> {
  const begun = performance.now(); // real time, also with --now
  context.nameRun(run.number);
  return async ({ exitCode, failures = [], spends }) => {
    const metrics = import('../metrics/index.ts');
    try {
      await run.end(exitCode, redactedFailures(failures, context.redact), context.effects.now());
      context.progress('publishing the snapshot');
      await warehouse.publish();
    } catch (failure) {
      const worst = worstExitCode([exitCode, exitCodeOf(failure)]);
      await (await metrics).writeUnpublished(unpublished(what, begun, worst, context), context);
      throw failure;
    }
    if (!mayBeOfBooks.includes(exitCode)) await (await import('../alerts/index.ts')).markMended(context);
    await (await metrics).writeMetrics({ ...what, seconds: (performance.now() - begun) / 1000 }, spends, context);
  };
}

/** A step publishes what it wrote for the steps after it; each publication may copy the whole file. */
async function stepOf(
  { warehouse, runNumber, startedAs, isLast, explain, keepSpends }: RunUnderWay,
  context: RunContext,
  work: (warehouse: Warehouse, runNumber: number) => Promise<Outcome>,
): Promise<number> {
  let outcome: Outcome;
  try {
    outcome = await work(warehouse, runNumber);
  } catch (error) {
    const published = isLast ? undefined : warehouse.publish();
    await published?.catch((further: unknown) =>
      context.effects.log.warn('snapshot.failed', 'Could not publish what the failed step loaded', {
        reason: messageOf(further),
      }),
    );
    throw error;
  }
  if (outcome.failures !== undefined) explain(outcome.failures);
  await tellStep(startedAs, outcome, context);
  if (outcome.spends !== undefined) keepSpends(outcome.spends);
  if (!isLast) await warehouse.publish();
  return outcome.exitCode;
}
