import type { AlertingContext } from '../alerts/index.ts';
import type { Failure } from '../base/failure.ts';
import type { SpendNow } from '../budgets/spend/index.ts';
import type { MetricsContext } from '../metrics/index.ts';
import type { Warehouse } from '../warehouse/index.ts';
import type { CheckResult } from '../warehouse/ledger/index.ts';

/** What a run needs: the outside world, what its alerts and metrics need, and the job that it is a step of. */
export interface RunContext extends AlertingContext, MetricsContext {
  /** What the user typed after costbook, as a shell reads it. */
  readonly commandLine: string;
  /** From here on every line of the log names this run. */
  nameRun(number: number): void;
  /** Set if the command is a step of a job. */
  readonly run?: RunUnderWay | undefined;
}

/** The job run that a command is a step of. The run holds the warehouse and has the row in `runs`. */
export interface RunUnderWay {
  readonly warehouse: Warehouse;
  readonly runNumber: number;
  /** The command that its user started, which the next step after a failure names: `run nightly`. */
  readonly startedAs: string;
  /** Whether no step follows, so that the end of the run publishes what this step wrote. */
  readonly isLast: boolean;
  /** Why the step failed, if its command returns an exit code instead of throwing. */
  explain(failures: readonly Failure[]): void;
  /** The spend of every budget, if a step just computed it. */
  keepSpends(spends: readonly SpendNow[]): void;
  /** What the checks of a step found, for the alerts of this run. */
  keepChecks(results: readonly CheckResult[]): void;
  /** What the checks of this run found in the books as they are; undefined if none ran since a step changed them. */
  checksFound(): readonly CheckResult[] | undefined;
}
