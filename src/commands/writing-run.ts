import { exitCodeOf, messageOf } from '../errors.ts';
import { openWarehouse, type Warehouse } from '../warehouse/index.ts';
import type { CommandContext, RunUnderWay } from './command.ts';
import { openWhenFree } from './wait.ts';
import { writeMetrics } from './write-metrics.ts';

/** What a command that writes says of its end. */
export interface Outcome {
  readonly exitCode: number;
  /** What failed, for the run's row; undefined where nothing did. */
  readonly error?: string | undefined;
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
  const warehouse = await openWhenFree(() => openWarehouse(context.dir, context.signal, effects.log), waitMs, context);
  try {
    const run = await warehouse.beginRun(command, effects.now());
    context.inRun?.(run.number);
    async function finish({ exitCode, error }: Outcome): Promise<void> {
      await run.end(exitCode, error && context.redact(error), effects.now());
      await warehouse.publish();
    }
    try {
      const outcome = await work(warehouse, run.number);
      await finish(outcome);
      return outcome.exitCode;
    } catch (error) {
      // This is what the person must hear, and the exit code; what fails after it follows from it.
      await finish({ exitCode: exitCodeOf(error), error: messageOf(error) }).catch((further: unknown) =>
        effects.log.warn('the failed run could not be published', { because: messageOf(further) }),
      );
      throw error;
    }
  } finally {
    warehouse.close();
    await writeMetrics(context);
  }
}

async function stepOf(
  { warehouse, runNumber, explain }: RunUnderWay,
  { effects }: CommandContext,
  work: (warehouse: Warehouse, runNumber: number) => Promise<Outcome>,
): Promise<number> {
  let outcome: Outcome;
  try {
    outcome = await work(warehouse, runNumber);
  } catch (error) {
    await warehouse
      .publish()
      .catch((further: unknown) =>
        effects.log.warn('what the failed step loaded could not be published', { because: messageOf(further) }),
      );
    throw error;
  }
  if (outcome.error !== undefined) explain(outcome.error);
  await warehouse.publish();
  return outcome.exitCode;
}
