import { join } from 'node:path';
import { alertWithoutBooks, markMended } from '../alerts/index.ts';
import type { SpendNow } from '../budgets/index.ts';
import { correctClock } from '../effects.ts';
import { exitCodeOf, exitCodes, LockedError, messageOf, worstExitCode } from '../errors.ts';
import { openLandingWriter } from '../fetch/index.ts';
import { type EndedRun, type UnpublishedRun, writeMetrics, writeUnpublished } from '../metrics/index.ts';
import { expectProject } from '../project-folder.ts';
import { openWarehouse, type Run, type Warehouse } from '../warehouse/index.ts';
import type { CommandContext, RunUnderWay } from './command.ts';
import { openWhenFree } from './wait.ts';

/** What a command that writes says of its end. */
export interface Outcome {
  readonly exitCode: number;
  /** What failed, for the run's row; undefined where nothing did. */
  readonly error?: string | undefined;
  /** What is spent on every budget, where that was just found out. */
  readonly spends?: readonly SpendNow[] | undefined;
}

/**
 * Runs a command that writes: holds the warehouse (waiting for it as long as told), keeps a row in `runs`, and publishes
 * the snapshot at the end, also when the work failed: only proven loads are in it, and the failure's own row. As a step
 * of a job it works in the job's run.
 */
export async function writingRun(
  command: string,
  waitMs: number,
  context: CommandContext,
  work: (warehouse: Warehouse, runNumber: number) => Promise<Outcome>,
): Promise<number> {
  const { effects, run: underWay } = context;
  if (underWay !== undefined) return stepOf(underWay, context, work);
  const warehouse = await openForRun({ command }, waitMs, context, { notifies: command === 'alert' });
  try {
    const run = await warehouse.beginRun(command, effects.now());
    const finish = openEnd(run, { command }, warehouse, context);
    try {
      const outcome = await work(warehouse, run.number);
      await finish(outcome);
      return outcome.exitCode;
    } catch (error) {
      // This is what the person must hear, and the exit code; what fails after it follows from it.
      await finish({ exitCode: exitCodeOf(error), error: messageOf(error) }).catch((further: unknown) =>
        effects.log.warn('snapshot.failed', 'Could not publish the failed run', { reason: messageOf(further) }),
      );
      throw error;
    }
  } finally {
    warehouse.close();
  }
}

/**
 * Opens the project's warehouse for a run. Where that fails the run has no row in the books: its failure is in the
 * metrics, and the sinks are notified where the run alerts. What another run holds is that run's. Throws as `openWarehouse`.
 */
export async function openForRun(
  what: Pick<EndedRun, 'command' | 'job'>,
  waitMs: number,
  context: CommandContext,
  { notifies }: { readonly notifies: boolean },
): Promise<Warehouse> {
  const begun = performance.now();
  try {
    return await openProjectWarehouse(waitMs, context);
  } catch (error) {
    if (error instanceof LockedError || context.signal.aborted) throw error;
    await writeUnpublished({ ...unpublished(what, begun, exitCodeOf(error), context), isUnrecorded: true }, context);
    const name = what.job === undefined ? what.command : `${what.command} ${what.job}`;
    if (notifies) await alertWithoutBooks(name, error, context, { isOfBooks: true });
    throw error;
  }
}

function unpublished(
  what: Pick<EndedRun, 'command' | 'job'>,
  begun: number,
  exitCode: number,
  { effects }: CommandContext,
): UnpublishedRun {
  const seconds = (performance.now() - begun) / 1000;
  return { ...what, exitCode, endedAt: effects.now(), seconds, isUnrecorded: false };
}

/**
 * Opens the project's warehouse when nobody else holds it. A run that was killed may have found a fast clock and not
 * published it, so the clock is corrected once more. Throws what `openWarehouse` throws, and UsageError where there is no project.
 */
export async function openProjectWarehouse(waitMs: number, context: CommandContext): Promise<Warehouse> {
  expectProject(context);
  const { dir, signal, effects } = context;
  const landing = openLandingWriter(join(dir, 'data', 'landing'));
  async function newestStored(): Promise<number> {
    return landing.newestLoad().catch((error: NodeJS.ErrnoException) => {
      // What is wrong with the folder is said where pages are written.
      if (error.code === 'EACCES' || error.code === 'ENOTDIR') return 0;
      throw error;
    });
  }
  const warehouse = await openWhenFree(() => openWarehouse(dir, signal, effects.log, newestStored), waitMs, context);
  try {
    correctClock(effects, await warehouse.fastClock());
    return warehouse;
  } catch (error) {
    warehouse.close();
    throw error;
  }
}

/** Codes with which a run may have ended for the books or the disk. */
const mayBeOfBooks: readonly number[] = [exitCodes.bug, exitCodes.unproven, exitCodes.machine];

/**
 * From here on every line of the log names the run. Returns what ends it: with its row, the snapshot, and what machines
 * are told.
 */
export function openEnd(
  run: Run,
  what: Pick<EndedRun, 'command' | 'job'>,
  warehouse: Warehouse,
  context: CommandContext,
): (outcome: Outcome) => Promise<void> {
  const begun = performance.now(); // real time: the books' own may be fixed
  context.nameRun(run.number);
  return async ({ exitCode, error, spends }) => {
    try {
      await run.end(exitCode, error && context.redact(error), context.effects.now());
      context.progress('publishing the snapshot');
      await warehouse.publish();
    } catch (failure) {
      const worst = worstExitCode([exitCode, exitCodeOf(failure)]);
      await writeUnpublished(unpublished(what, begun, worst, context), context);
      throw failure;
    }
    if (!mayBeOfBooks.includes(exitCode)) await markMended(context);
    await writeMetrics({ ...what, seconds: (performance.now() - begun) / 1000 }, spends, context);
  };
}

async function stepOf(
  { warehouse, runNumber, explain, keepSpends }: RunUnderWay,
  { effects }: CommandContext,
  work: (warehouse: Warehouse, runNumber: number) => Promise<Outcome>,
): Promise<number> {
  let outcome: Outcome;
  try {
    outcome = await work(warehouse, runNumber);
  } catch (error) {
    await warehouse.publish().catch((further: unknown) =>
      effects.log.warn('snapshot.failed', 'Could not publish what the failed step loaded', {
        reason: messageOf(further),
      }),
    );
    throw error;
  }
  if (outcome.error !== undefined) explain(outcome.error);
  if (outcome.spends !== undefined) keepSpends(outcome.spends);
  await warehouse.publish();
  return outcome.exitCode;
}
