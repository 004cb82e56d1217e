import { exitCodes } from '../base/errors.ts';
import { act, isRepeated, type NextStep, startAgain, wait } from '../base/next-step.ts';
import { describeSpan, hourMs, type Instant } from '../time/time.ts';
import type { UnendedRun } from '../warehouse/integrity/index.ts';
import { type Problem, problemOf } from './problem.ts';

/** A run that works for longer than this may hang: the jobs that come with Costbook end after 6 hours. */
const hangsAfterMs = 12 * hourMs;

/** A run without an end, as a problem: it was killed, or is active. Pure. */
export function unendedProblem(unended: UnendedRun | null, now: Instant): readonly Problem[] {
  if (unended === null) return [];
  const found = foundWords(unended);
  const next = unended.isActive ? stepWhileActive(unended, now) : stepAfterKill(unended.commandLine ?? unended.command);
  return [
    problemOf({ key: `unended/${unended.runNumber}`, subject: 'runs', found, next, exitCode: exitCodes.unproven }),
  ];
}

function foundWords({ runNumber, command, startedAt, step, isActive }: UnendedRun): string {
  const where = step === undefined ? '' : ` in its step ${step}`;
  return isActive
    ? `run ${runNumber} (${command}) is active since ${startedAt}${where}`
    : `run ${runNumber} (${command}) of ${startedAt} was killed${where}. The books are intact`;
}

function stepWhileActive({ command, startedAt }: UnendedRun, now: Instant): NextStep {
  const activeMs = now - Date.parse(startedAt);
  if (activeMs < hangsAfterMs) return wait('until it ends.');
  return act(
    `it takes ${describeSpan(activeMs)} so far: if it hangs, end its process. Then run "costbook ${command}".`,
  );
}

function stepAfterKill(commandLine: string): NextStep {
  return isRepeated(commandLine)
    ? wait(`the next run, within a day, loads what is missing. To load it now, run "costbook ${commandLine}".`)
    : startAgain(commandLine);
}
