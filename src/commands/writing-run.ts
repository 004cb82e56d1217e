import { CostbookError, exitCodes, messageOf } from '../errors.ts';
import { openWarehouse, type Warehouse } from '../warehouse/index.ts';
import type { CommandContext } from './command.ts';

/** What a command that writes says of its end. */
export interface Outcome {
  readonly exitCode: number;
  /** What failed, for the run's row; undefined where nothing did. */
  readonly error?: string | undefined;
}

/**
 * Runs a command that writes: holds the warehouse, keeps a row in `runs`, and publishes the snapshot at the end, also
 * when the work failed: only proven loads are in it, and the failure's own row.
 */
export async function writingRun(
  command: string,
  context: CommandContext,
  work: (warehouse: Warehouse, runNumber: number) => Promise<Outcome>,
): Promise<number> {
  const { effects } = context;
  const warehouse = await openWarehouse(context.dir);
  try {
    const run = await warehouse.beginRun(command, effects.now());
    let outcome: Outcome;
    try {
      outcome = await work(warehouse, run.number);
    } catch (error) {
      const exitCode = error instanceof CostbookError ? error.exitCode : exitCodes.bug;
      // The work's own failure is what the person must hear; what fails after it follows from it.
      await run
        .end(exitCode, context.redact(messageOf(error)), effects.now())
        .then(() => warehouse.publish())
        .catch((further: unknown) =>
          effects.log.warn('the run could not be recorded', { because: messageOf(further) }),
        );
      throw error;
    }
    await run.end(outcome.exitCode, outcome.error && context.redact(outcome.error), effects.now());
    await warehouse.publish();
    return outcome.exitCode;
  } finally {
    warehouse.close();
  }
}
