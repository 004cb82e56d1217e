import { exitCodes, fullDiskWords } from '../base/errors.ts';
import type { Failure } from '../base/failure.ts';
import {
  act,
  checkMachineStep,
  checkSqlStep,
  clockStep,
  type NextStep,
  parseNextStep,
  thenAgain,
  unprovenStepAfter,
  unreadListingStep,
  wait,
  waitForPlatform,
} from '../base/next-step.ts';
import { hourMs } from '../time/time.ts';
import { closeAgainStep, reopenAndClose } from '../warehouse/index.ts';
import type {
  BooksFact,
  CheckFact,
  ClosedMonthFact,
  DataFact,
  InterfaceFact,
  ListingsFact,
  RunFact,
} from './alert-fact.ts';
import { codesOf, failuresIn, isForPerson } from './failure-codes.ts';

/** The key of the alert about a full disk. It names no command because it affects every run. */
export const diskKey = 'run/disk';

/** The key of the alert about files that "costbook alert" cannot read, such as budgets.yaml. */
export const alertKey = 'run/alert';

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
      return clockStep;
    case 'unproven':
      return unprovenStepAfter(fact.windows);
    case 'check':
      return stepAfterCheck(fact);
    case 'run':
      return fact.key === diskKey ? stepAfterFullDisk(fact) : stepAfterRun(fact);
    case 'books':
      return stepForBooks(fact);
    case 'listings':
      return stepForListings(fact);
    case 'closed_month':
      if (fact.differs !== undefined) return closeAgainStep(fact.differs);
      return stepAfterCorrections(fact);
    case 'interface':
      return interfaceStep(fact);
    case 'dimension':
      return { who: 'No action needed', words: 'all totals include it. A newer Costbook may know its unit.' };
  }
}

/** Whether a month that bills corrections of an older one is closed too. Pure. */
export function isBilled({ reopen = [] }: Pick<ClosedMonthFact, 'reopen'>, month: string): boolean {
  return reopen.includes(month);
}

/** Corrections need no step: an open month bills them when it is closed, and a closed one has billed them. */
function stepAfterCorrections(fact: ClosedMonthFact): NextStep {
  const { month, deliveredIn, reopen = [month], close } = fact;
  const closed = deliveredIn.filter((each) => isBilled(fact, each));
  const open = deliveredIn.filter((each) => !isBilled(fact, each));
  // The title has both amounts.
  const [ofClosed, ofOpen] = closed.length > 0 && open.length > 0 ? [' a part', ' the rest'] : [' it', ' it'];
  const parts = [
    ...(closed.length === 0 ? [] : [`${closed.join(', ')} ${closed.length === 1 ? 'has' : 'have'} billed${ofClosed}`]),
    ...(open.length === 0 ? [] : [`${open.join(', ')} will bill${ofOpen}`]),
  ];
  const hasInvoice = close?.some((each) => each.month === month && each.invoices.length > 0) === true;
  const words =
    `${parts.join(', ')}. To bill it in ${month} instead, run ${reopenAndClose({ reopen, close })}` +
    (hasInvoice
      ? ` with the corrected total of the invoice of ${month}: with the old one, no month would bill it.`
      : '.');
  return { who: 'No action needed', words };
}

function interfaceStep({ list, isMissing }: InterfaceFact): NextStep {
  if (isMissing)
    return act('ask the platform whether it still groups costs by it: Costbook needs all five dimensions.');
  if (list === 'dimensions')
    return { who: 'No action needed', words: 'no cost is missing. Look for a newer Costbook.' };
  return act('check that budgets and allocation rules cover it. Its costs are stored like all others.');
}

function stepAfterCheck(fact: CheckFact): NextStep {
  if (fact.error === null) return act('run "costbook check" to see the rows.');
  return fact.errorCode === 'machine' ? checkMachineStep : checkSqlStep([fact.check]);
}

/** One step for all listings: the first that needs a person. */
function stepForListings({ listings }: ListingsFact): NextStep {
  const steps = listings.flatMap(({ nextStep }) => parseNextStep(nextStep) ?? []);
  return steps.find(({ who }) => who === 'Act') ?? steps[0] ?? unreadListingStep;
}

function stepForBooks({ nextStep, command, isForRepair }: BooksFact): NextStep {
  const own = parseNextStep(nextStep);
  return thenAgain(own ?? act(isForRepair ? 'run "costbook repair".' : 'fix this.'), command);
}

/** Whatever failed, the next run does it; only an empty file may know that the disk was full. */
function stepAfterFullDisk(fact: RunFact): NextStep {
  const { remedy } = fullDiskWords(fact.error ?? '');
  const command = startedAs(fact);
  return command === ''
    ? act(`${remedy}. The next run then loads what is missing.`)
    : thenAgain(act(`${remedy}.`), command);
}

/** The command to name: the one that failed, as its user started it. */
function startedAs({ command, startedAs = null }: Pick<RunFact, 'command' | 'startedAs'>): string {
  return startedAs ?? command;
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

/**
 * The next step after a failed run: the one that its error carries and that the command printed, or else the one of its
 * exit code. Pure.
 */
export function stepAfterRun({
  command,
  outcome,
  exitCode,
  error,
  errorCode,
  nextStep,
  endedAt,
  failingSince,
  startedAs: started,
}: Pick<
  RunFact,
  'command' | 'startedAs' | 'outcome' | 'exitCode' | 'error' | 'errorCode' | 'nextStep' | 'failingSince'
> &
  Partial<Pick<RunFact, 'endedAt'>>): NextStep {
  if (outcome === 'interrupted') return wait('the next run catches up.');
  const named = startedAs({ command, startedAs: started });
  const own = parseNextStep(nextStep);
  const step =
    own === undefined ? stepOfExitCode(named, exitCode, errorCode == null ? (error ?? '') : '') : thenAgain(own, named);
  const failingMs = Date.parse(endedAt ?? '') - Date.parse(failingSince ?? '');
  const isLong = exitCode === exitCodes.platform && step.who === 'Wait' && failingMs >= waitAtMostMs;
  return isLong ? stepAfterLongWait(named, error ?? '') : step;
}

/** If the platform fails for longer than this, somebody must act. */
const waitAtMostMs = 6 * hourMs;

/** The step if the platform failed again, hours after its first failure. */
function stepAfterLongWait(command: string, error: string): NextStep {
  const [, host = "the platform's URL"] = /(?:answer from|API of) ([^\s:]+)/.exec(failuresIn(error)[0] ?? '') ?? [];
  return act(
    `check that ${host} is reachable from this machine: run "costbook doctor". If it is, ask the platform's support. ` +
      `Then run "costbook ${command}" again.`,
  );
}

/** A command's failure with several mistakes, as it was printed. */
export interface FailedCommand {
  /** As in the alert: `ingest`, `run nightly`. */
  readonly command: string;
  readonly exitCode: number;
  readonly error: string;
  readonly failure: Failure | undefined;
}

/**
 * The step that a failed command prints after its error: that of its alert, if the error has several lines and no step of
 * its own. Undefined if it has one, and for a refused close, whose lines have one each. Pure.
 */
export function stepAfterMistakes({ command, exitCode, error, failure }: FailedCommand): NextStep | undefined {
  if (exitCode === exitCodes.done || failure?.next !== undefined) return undefined;
  if (error.split('\n').filter((line) => line.trim() !== '').length < 2) return undefined;
  const run = { command, outcome: 'failed', exitCode };
  if (isRefusedClose(run)) return undefined;
  return stepAfterRun({ ...run, error, errorCode: failure?.code ?? null, nextStep: null });
}

/** The step of an exit code. `earlierError` is the text of an error that was stored without a code. */
function stepOfExitCode(command: string, exitCode: number | null, earlierError: string): NextStep {
  const again = (words: string) => thenAgain(act(words), command);
  switch (exitCode) {
    case exitCodes.bug:
      return again('report this bug in Costbook.');
    case exitCodes.usage:
      return again('fix this.');
    case exitCodes.platform:
      return failuresIn(earlierError).some((failure) => isForPerson(codesOf(failure)))
        ? again('fix this: "costbook doctor" checks the token and the address.')
        : waitForPlatform;
    case exitCodes.unproven:
      return wait(
        `the next run tries again. Act if it fails a second night: run "costbook ${command}" again and read what it prints.`,
      );
    case exitCodes.locked:
      return wait('another run was active. The next run catches up.');
    case exitCodes.machine:
      return again('check this machine with "costbook doctor".');
    case exitCodes.undelivered:
      return act('fix the sink. "costbook doctor" shows which one fails.');
    default:
      return again('read the error.');
  }
}
