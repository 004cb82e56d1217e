import { exitCodes } from '../errors.ts';
import type { CheckFact, DataFact, RunFact } from './alert-facts.ts';

/** Whether somebody has to do something about an alert, and what. */
export interface NextStep {
  readonly who: 'Act' | 'Wait' | 'No action needed';
  readonly words: string;
}

/** The alert about a full disk: it is of no command, as every run meets it. */
export const diskKey = 'run/disk';

/** What to do about hours that differ from the platform's totals. */
export const unprovenStep: NextStep = {
  who: 'Wait',
  words:
    'the next "costbook ingest" fetches these hours again; until then their last proven numbers stay. ' +
    'Act if they still differ after three nights: ask the platform, with the comparisons of the view proofs.',
};

/** What to do about numbers that are too old. */
export const staleStep: NextStep = {
  who: 'Act',
  words: 'look whether the nightly run still starts, then run "costbook ingest". "costbook doctor" checks the rest.',
};

/** What to do about a fact about the data. Pure. */
export function nextStepOf(fact: DataFact): NextStep {
  switch (fact.kind) {
    case 'stale':
      return staleStep;
    case 'clock':
      return {
        who: 'Act',
        words: 'set this machine\'s clock (NTP), or leave out --now, then run "costbook ingest" again.',
      };
    case 'unproven':
      return unprovenStep;
    case 'check':
      return { who: 'Act', words: stepAfterCheck(fact) };
    case 'run':
      return fact.key === diskKey
        ? { who: 'Act', words: `make room on the disk, then run "costbook ${fact.command}" again.` }
        : stepAfterRun(fact);
    case 'books':
      return fact.isForRepair
        ? { who: 'Act', words: `run "costbook repair", then "costbook ${fact.command}".` }
        : { who: 'Act', words: `correct this, then run "costbook ${fact.command}" again.` };
    case 'closed_month':
      return {
        who: 'No action needed',
        words: `the next delivery carries the difference. To deliver ${fact.month} anew: "costbook reopen ${fact.month}".`,
      };
    case 'dimension':
      return { who: 'No action needed', words: 'its costs are counted. A newer Costbook may know its unit.' };
  }
}

function stepAfterCheck({ check, error }: CheckFact): string {
  if (error === null) return '"costbook check" shows the rows.';
  // An error of the check itself names the check; one of its SQL names the file.
  return error.startsWith(`check ${check} `)
    ? 'look at the error, then run "costbook check" again.'
    : `correct or remove the file of the check ${check}, sql/checks/${check}.sql, then run "costbook check".`;
}

/** Whether somebody asked for a close that was refused: the answer was given to that person, and nothing changed. */
export function isRefusedClose({
  command,
  outcome,
  exitCode,
}: Pick<RunFact, 'command' | 'outcome' | 'exitCode'>): boolean {
  return (
    command === 'close' && outcome === 'failed' && (exitCode === exitCodes.unproven || exitCode === exitCodes.usage)
  );
}

/** What to do after a failed run, by the exit code that says why it failed. Pure. */
export function stepAfterRun({
  command,
  outcome,
  exitCode,
  error,
}: Pick<RunFact, 'command' | 'outcome' | 'exitCode' | 'error'>): NextStep {
  const again = `run "costbook ${command}" again`;
  if (outcome === 'interrupted') return { who: 'Wait', words: 'the next run makes up for it.' };
  switch (exitCode) {
    case exitCodes.bug:
      return { who: 'Act', words: `report this bug in Costbook, then ${again}.` };
    case exitCodes.usage:
      return { who: 'Act', words: `correct this, then ${again}.` };
    case exitCodes.platform:
      // The client says what to correct where the platform refuses; otherwise it could not be reached.
      return /\b(check|ask|set)\b/i.test(error ?? '')
        ? { who: 'Act', words: `correct this, then ${again}. "costbook doctor" checks token and address.` }
        : { who: 'Wait', words: 'the next run fetches what is missing. Act if it fails a second night.' };
    case exitCodes.unproven:
      return { who: 'Wait', words: 'the next run tries again. "costbook status" says what is missing.' };
    case exitCodes.locked:
      return { who: 'Wait', words: 'another run was at work, and the next one makes up for this one.' };
    case exitCodes.machine:
      return { who: 'Act', words: `look at this machine ("costbook doctor"), then ${again}.` };
    case exitCodes.undelivered:
      return { who: 'Act', words: 'correct the sink: "costbook doctor" says which one fails.' };
    default:
      return { who: 'Act', words: `look at the error, then ${again}.` };
  }
}
