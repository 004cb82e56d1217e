import { exitCodes } from '../errors.ts';
import type { CheckFact, DataFact, RunFact } from './alert-fact.ts';

/** What to do about an alert, and whether anybody has to. */
export interface NextStep {
  readonly who: 'Act' | 'Wait' | 'No action needed';
  readonly words: string;
}

/** The key of the alert about a full disk. It names no command because it affects every run. */
export const diskKey = 'run/disk';

/** The next step for windows that differ from the platform's totals. */
export const unprovenStep: NextStep = {
  who: 'Wait',
  words:
    'the next "costbook ingest" fetches these hours again. Until then, their last proven numbers remain. ' +
    'Act if they still differ after three nights: send the platform the comparisons in the view "reconciliation".',
};

/** What to do about numbers that are too old. */
export const staleStep: NextStep = {
  who: 'Act',
  words: 'check that the nightly run still starts, then run "costbook ingest". "costbook doctor" checks the setup.',
};

/** The next step for an alert about the data. Pure. */
export function nextStepOf(fact: DataFact): NextStep {
  switch (fact.kind) {
    case 'stale':
      return staleStep;
    case 'clock':
      return {
        who: 'Act',
        words: 'correct this machine\'s clock (NTP), or omit --now, then run "costbook ingest" again.',
      };
    case 'unproven':
      return unprovenStep;
    case 'check':
      return { who: 'Act', words: stepAfterCheck(fact) };
    case 'run':
      return fact.key === diskKey
        ? { who: 'Act', words: `free space on the disk, then run "costbook ${fact.command}" again.` }
        : stepAfterRun(fact);
    case 'books':
      return fact.isForRepair
        ? { who: 'Act', words: `run "costbook repair", then "costbook ${fact.command}".` }
        : { who: 'Act', words: `fix this, then run "costbook ${fact.command}" again.` };
    case 'closed_month':
      return {
        who: 'No action needed',
        words: `the next delivery includes the difference. To deliver ${fact.month} again, run "costbook reopen ${fact.month} --reason …", then close it.`,
      };
    case 'dimension':
      return { who: 'No action needed', words: 'all totals include it. A newer Costbook may know its unit.' };
  }
}

function stepAfterCheck({ check, error }: CheckFact): string {
  if (error === null) return 'run "costbook check" to see the rows.';
  // An error of the check itself names the check; an error in its SQL names the file.
  return error.startsWith(`check ${check} `)
    ? 'read the error, then run "costbook check" again.'
    : `fix or remove sql/checks/${check}.sql, then run "costbook check".`;
}

/** Whether Costbook refused to close a month. The user saw the answer and nothing changed, so no alert is needed. */
export function isRefusedClose({
  command,
  outcome,
  exitCode,
}: Pick<RunFact, 'command' | 'outcome' | 'exitCode'>): boolean {
  return (
    command === 'close' && outcome === 'failed' && (exitCode === exitCodes.unproven || exitCode === exitCodes.usage)
  );
}

/** The next step after a failed run, by its exit code. Pure. */
export function stepAfterRun({
  command,
  outcome,
  exitCode,
  error,
}: Pick<RunFact, 'command' | 'outcome' | 'exitCode' | 'error'>): NextStep {
  const again = `run "costbook ${command}" again`;
  if (outcome === 'interrupted') return { who: 'Wait', words: 'the next run catches up.' };
  switch (exitCode) {
    case exitCodes.bug:
      return { who: 'Act', words: `report this bug in Costbook, then ${again}.` };
    case exitCodes.usage:
      return { who: 'Act', words: `fix this, then ${again}.` };
    case exitCodes.platform:
      // If the platform refuses, the error says what to fix; otherwise the platform could not be reached.
      return /\b(check|ask|set)\b/i.test(error ?? '')
        ? { who: 'Act', words: `fix this, then ${again}. "costbook doctor" checks the token and the address.` }
        : { who: 'Wait', words: 'the next run fetches what is missing. Act if it fails a second night.' };
    case exitCodes.unproven:
      return { who: 'Wait', words: 'the next run tries again. "costbook status" shows what is missing.' };
    case exitCodes.locked:
      return { who: 'Wait', words: 'another run was active. The next run catches up.' };
    case exitCodes.machine:
      return { who: 'Act', words: `check this machine with "costbook doctor", then ${again}.` };
    case exitCodes.undelivered:
      return { who: 'Act', words: 'fix the sink. "costbook doctor" shows which one fails.' };
    default:
      return { who: 'Act', words: `read the error, then ${again}.` };
  }
}
