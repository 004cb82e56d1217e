import type { Log } from '../effects.ts';
import { exitCodeOf, exitCodes, MachineError, messageOf, worstExitCode } from '../errors.ts';
import type { Instant } from '../time.ts';
import type { StepEnd, Warehouse } from '../warehouse/index.ts';
import { commandLineOf, type Step, type StepName, stepRules } from './definition.ts';

/** What came of a step. */
export interface StepResult {
  readonly step: StepName;
  readonly commandLine: string;
  readonly outcome: StepEnd['outcome'];
  readonly seconds: number;
  /** Undefined where it was left out. */
  readonly exitCode: number | undefined;
  /** What failed, or why it was left out. */
  readonly error: string | undefined;
  readonly figures: Readonly<Record<string, unknown>> | undefined;
}

/** A step that is being done; what it says of itself is kept also where it fails afterwards. */
export interface StepUnderWay {
  readonly signal: AbortSignal;
  count(figures: Readonly<Record<string, unknown>>): void;
  explain(error: string): void;
}

export interface StepsAsked {
  readonly steps: readonly Step[];
  readonly runNumber: number;
  readonly ledger: Pick<Warehouse, 'stepBegan' | 'stepEnded'>;
  /** Does a step; returns the exit code of its command, or throws what that throws. */
  perform(step: Step, underWay: StepUnderWay): Promise<number>;
  /** Aborted when the run is to end: nothing is begun any more. */
  readonly signal: AbortSignal;
  /** Aborted when the run has taken too long: what is under way ends, and only alerts are begun. */
  readonly timeout: AbortSignal;
  now(): Instant;
  /** Real time in milliseconds, which goes on where `now` is fixed. */
  elapsed(): number;
  readonly log: Log;
}

/** Alerts go out also when the time of a run is over; then they have this long for it. */
const lastWordsMs = 5 * 60_000;

/**
 * Does the steps of a run in their order. A step is left out where one before it failed that it needs; alerts need none.
 * Each is in the ledger from its beginning. Throws only a bug of ours, after all steps, and what the ledger throws.
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
    let error: string | undefined = reason;
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
          explain: (words) => {
            error = words;
          },
        });
        if (exitCode !== exitCodes.done) error ??= `${step.name} ended with ${exitCode}`;
      } catch (thrown) {
        exitCode = exitCodeOf(thrown);
        error = messageOf(thrown);
        if (exitCode === exitCodes.bug) bug = thrown;
      }
    }
    const failed = exitCode === exitCodes.done ? 'done' : 'failed';
    const outcome = reason === undefined ? failed : 'left_out';
    const result: StepResult = {
      ...{ step: step.name, commandLine, outcome, exitCode, figures },
      seconds: (elapsed() - begunAt) / 1000,
      error: outcome === 'done' ? undefined : error,
    };
    results.push(result);
    await ledger.stepEnded({ ...place, ...result, endedAt: now() });
    const fields = { step: commandLine, outcome, seconds: Number(result.seconds.toFixed(1)), ...figures };
    if (outcome === 'done') log.info('step.finished', 'Step finished', fields);
    else log.warn('step.failed', 'Step failed', { ...fields, exitCode: exitCode ?? null, reason: result.error });
  }
  if (bug !== undefined) throw bug;
  return results;
}

/** Why a step is not begun; undefined where it is. */
function leftOutReason(
  step: Step,
  results: readonly StepResult[],
  { signal, timeout }: StepsAsked,
): string | undefined {
  if (signal.aborted) return messageOf(signal.reason);
  if (step.name === 'alert') return undefined;
  if (timeout.aborted) return messageOf(timeout.reason);
  const { needs } = stepRules[step.name];
  // What was left out for a failure is in the way as the failure itself.
  const missing = results.find((result) => needs.includes(result.step) && result.outcome !== 'done');
  return missing === undefined
    ? undefined
    : `${missing.step} ${missing.outcome === 'failed' ? 'failed' : 'was left out'}`;
}

/** Aborted some minutes after the time of the run is over. */
function lastWordsAfter(timeout: AbortSignal): AbortSignal {
  const late = new AbortController();
  const reason = new MachineError('alerts took longer than 5 minutes after the time of the run was over');
  timeout.addEventListener('abort', () => setTimeout(() => late.abort(reason), lastWordsMs).unref(), { once: true });
  return late.signal;
}

/** The one exit code of a run, and what failed in the words of its steps; undefined where nothing did. */
export function outcomeOf(
  results: readonly StepResult[],
  ended: AbortSignal,
): { exitCode: number; error: string | undefined } {
  const failed = results.filter(({ outcome }) => outcome !== 'done');
  const codes = results.flatMap(({ exitCode }) => exitCode ?? []);
  if (ended.aborted) codes.push(exitCodeOf(ended.reason));
  const error = failed.map(({ step, error: reason }) => `${step}: ${reason}`).join('\n');
  return { exitCode: worstExitCode(codes), error: error === '' ? undefined : error };
}
