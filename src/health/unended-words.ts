import { act, type NextStep, wait } from '../base/next-step.ts';
import type { UnendedRun } from '../warehouse/integrity/index.ts';

/** A run without an end in words, and the next step; an active run needs none. Pure. */
export function unendedWords({ runNumber, command, startedAt, step, isActive }: UnendedRun): {
  readonly found: string;
  readonly next: NextStep | undefined;
} {
  const where = step === undefined ? '' : ` in the step ${step}`;
  if (isActive) return { found: `run ${runNumber} (${command}) is active since ${startedAt}${where}`, next: undefined };
  return {
    found: `run ${runNumber} (${command}) of ${startedAt} was interrupted${where}. Nothing is lost`,
    next: isRepeated(command)
      ? wait(`the next run fetches what is missing. To run it now: "costbook ${command}".`)
      : act(`start it again with the words that it had: "costbook help ${command}" shows them.`),
  };
}

/** Whether a later run does the same; a close is started by a person, with arguments. */
function isRepeated(command: string): boolean {
  return command.startsWith('run ') || ['ingest', 'alert'].includes(command);
}
