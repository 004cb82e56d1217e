import type { Log } from '../base/effects.ts';
import { exitCodeOf, exitCodes, foundIn, MachineError, messageOf, worstExitCode } from '../base/errors.ts';
import { type Failure, failuresOf, textOf } from '../base/failure.ts';
import type { Instant } from '../time/time.ts';
import type { Warehouse } from '../warehouse/index.ts';
import { commandLineOf, type Step, type StepName, stepRules } from './definition.ts';

/** The result of a step. */
export interface StepResult {
  readonly step: StepName;
  readonly commandLine: string;
  readonly outcome: Parameters<Warehouse['stepEnded']>[0]['outcome'];
  readonly seconds: number;
  /** Undefined if the step was left out. */
  readonly exitCode: number | undefined;
  /** Why it failed or was left out; empty if it succeeded. */
  readonly failures: readonly Failure[];
  readonly figures: Readonly<Record<string, unknown>> | undefined;
}

/** A running step; the counts and reasons that it reports stay, even if it fails later. */
export interface StepUnderWay {
  readonly signal: AbortSignal;
  count(figures: Readonly<Record<string, unknown>>): void;
  explain(failures: readonly Failure[]): void;
}

export interface StepsAsked {
  readonly steps: readonly Step[];
  readonly runNumber: number;
  readonly ledger: Pick<Warehouse, 'stepBegan' | 'stepEnded'>;
  /** Runs a step; returns the exit code of its command, or throws its error. */
  perform(step: Step, underWay: StepUnderWay): Promise<number>;
  /** Aborted when the run must end: no step starts after that. */
  readonly signal: AbortSignal;
  /** Aborted when the run exceeds its timeout: the running step ends, and only alert steps start. */
  readonly timeout: AbortSignal;
  now(): Instant;
  /** Real time in milliseconds, also with `--now`. */
  elapsed(): number;
  readonly log: Log;
}

/** Alerts are sent even after a run's timeout; this is their time limit then. */
const lastWordsMs = 5 * 60_000;

/**
 * Runs the steps in order. A step is left out if a step that it needs failed; alerts need none. Each step is in the
 * ledger from its start. Throws only bugs, after all steps, and errors of the ledger.
 */
export async function runSteps(asked: StepsAsked): Promise<readonly StepResult[]> {
  const { steps, runNumber, ledger, signal, timeout, now, elapsed, log } = asked;
  const tooLate = lastWordsAfter(timeout);
  const results: StepResult[] = [];
  let bug: unknown;
  for (const [index, step] of steps.entries()) {
    const place = { runNumber, position: index + 1 };
    const commandLine = commandLineOf(step);
    const reason = leftOutReason(step, results, asked);
    await ledger.stepBegan({ ...place, step: step.name, commandLine, startedAt: now() });
    const begunAt = elapsed();
    let figures: StepResult['figures'];
    let failures: readonly Failure[] = reason === undefined ? [] : [withoutStep('left_out', reason)];
    let exitCode: number | undefined;
    if (reason === undefined) {
      log.info('step.started', 'Step started', { step: commandLine });
      const limits = [signal, step.name === 'alert' ? tooLate : timeout];
      try {
        exitCode = await asked.perform(step, {
          signal: AbortSignal.any(limits),
          count: (counted) => {
            figures = { ...figures, ...counted };
          },
          explain: (found) => {
            failures = found;
          },
        });
        if (exitCode === exitCodes.done) failures = [];
        else if (failures.length === 0)
          failures = [withoutStep('failed', `${step.name} ended with exit code ${exitCode}`)];
      } catch (thrown) {
        exitCode = exitCodeOf(thrown);
        failures = failuresOf(thrown);
        if (exitCode === exitCodes.bug) bug = thrown;
      }
    }
    const failed = exitCode === exitCodes.done ? 'done' : 'failed';
    const outcome = reason === undefined ? failed : 'left_out';
    const result: StepResult = {
      ...{ step: step.name, commandLine, outcome, exitCode, failures, figures },
      seconds: (elapsed() - begunAt) / 1000,
    };
    results.push(result);
    await ledger.stepEnded({ ...place, ...result, endedAt: now() });
    const fields = { step: commandLine, outcome, seconds: Number(result.seconds.toFixed(1)), ...figures };
    if (outcome === 'done') log.info('step.finished', 'Step finished', fields);
    else log.warn('step.failed', 'Step failed', { ...fields, exitCode: exitCode ?? null, reason: textOf(failures) });
  }
  if (bug !== undefined) throw bug;
  return results;
}

/** Why a step is left out; undefined if it runs. */
function leftOutReason(
  step: Step,
  results: readonly StepResult[],
  { signal, timeout }: StepsAsked,
): string | undefined {
  if (signal.aborted) return messageOf(signal.reason);
  if (step.name === 'alert') return undefined;
  if (timeout.aborted) return foundIn(timeout.reason);
  const { needs } = stepRules[step.name];
  // A step that was left out blocks later steps just like a failed one.
  const missing = results.find((result) => needs.includes(result.step) && result.outcome !== 'done');
  return missing === undefined
    ? undefined
    : `${missing.step} ${missing.outcome === 'failed' ? 'failed' : 'was left out'}`;
}

/** A signal that aborts some minutes after the run's timeout. */
function lastWordsAfter(timeout: AbortSignal): AbortSignal {
  const late = new AbortController();
  const reason = new MachineError('alerts took longer than 5 minutes after the timeout of the run');
  timeout.addEventListener('abort', () => setTimeout(() => late.abort(reason), lastWordsMs).unref(), { once: true });
  return late.signal;
}

function withoutStep(code: string, found: string): Failure {
  return { code, subject: null, found, next: null };
}

/** The exit code of a run, and the failures of its steps: first of the step that decides it. */
export function outcomeOf(
  results: readonly StepResult[],
  ended: AbortSignal,
): { exitCode: number; failures: readonly Failure[] } {
  const failed = results.filter(({ outcome }) => outcome !== 'done');
  const codes = results.flatMap(({ exitCode }) => exitCode ?? []);
  if (ended.aborted) codes.push(exitCodeOf(ended.reason));
  const exitCode = worstExitCode(codes);
  const worst = failed.filter((result) => result.exitCode === exitCode);
  const inOrder = [...worst, ...failed.filter((result) => !worst.includes(result))];
  return {
    exitCode,
    failures: inOrder.flatMap(({ step, failures }) => failures.map((failure) => ({ ...failure, step }))),
  };
}
