import { exitCodes, fullDiskWords, mistakenSettings } from '../../base/errors.ts';
import { type Failure, failuresIn, hasCode, shortly, unprovenWindowCode } from '../../base/failure.ts';
import {
  act,
  asSentence,
  isRepeated,
  type NextStep,
  nextRun,
  startAgain,
  thenAgain,
  wait,
  waitForPlatform,
} from '../../base/next-step.ts';
import type { Card } from '../../sinks/index.ts';
import { textOrNull } from '../../tables/optional-text.ts';
import { fullDiskRemedy } from '../../text/full-disk.ts';
import { maxSentenceLength, oneLine } from '../../text/safe-text.ts';
import { isReader, ofReader } from '../../text/through.ts';
import { formatSecond } from '../../time/time.ts';
import type { SqlRow } from '../../warehouse/store/index.ts';
import { causesOfRun, nightsCause, outOfDateCause, waitAtMostMs } from '../causes.ts';
import { type Finding, findingOf, type OutOfDate } from '../finding.ts';
import { type DataKind, outOfDateIn } from '../kind.ts';
import { alertRows } from '../rows.ts';
import { changeWords, missingWords } from './sentences.ts';

/** The last finished run of a watched command. */
export interface LastRun {
  readonly command: string;
  readonly runNumber: number;
  readonly outcome: string;
  readonly exitCode: number | null;
  /** What failed, first what decides the exit code; empty for a run that was killed. */
  readonly failures: readonly Failure[];
  /** The same as text, for receivers of messages: the code and the next step are those of the first. */
  readonly error: string | null;
  readonly errorCode: string | null;
  readonly nextStep: string | null;
  readonly endedAt: string | null;
  /** End of the first failure since the last success, UTC. */
  readonly failingSince?: string | null;
  /** The command that its user started: `run nightly` if the command was a step of it. */
  readonly startedAs?: string | null | undefined;
  /** How many runs were killed since the last evaluation, and the step in which the last one was; only of `killedKey`. */
  readonly kills?: number;
  readonly step?: string;
}

/** The last run of a command failed. */
export interface RunFact extends Finding<'run'>, LastRun {
  /** Only for `ingest`. */
  readonly outOfDate: OutOfDate;
  /** The room on the disk in bytes; only if it was full. */
  readonly space?: { readonly free: number; readonly needed: number } | undefined;
}

/** Whether a finding is that the last fetch failed: what is missing after it follows from it. */
export function isIngestFailed({ key }: Finding): boolean {
  return key === 'run/ingest';
}

/** The key of the alert about a full disk. It names no command because it affects every run. */
export const diskKey = 'run/disk';

/** The key of the alert about runs that were killed. It ends by itself: each kill is news once. */
const killedKey = 'run/killed';

/** The key of the alert about files that "costbook alert" cannot read, such as budgets.yaml. */
export const alertKey = 'run/alert';

export const run: DataKind<RunFact, LastRun> = {
  name: 'run',
  read: async (connection) => [
    ...(await alertRows(connection, 'last_runs')).map((row) => ({
      ...endedRunOf(row),
      runNumber: Number(row['run_number']),
    })),
    ...killedRun(await alertRows(connection, 'killed_runs')),
  ],
  findings: (rows, world) =>
    rows
      .filter(({ outcome }) => outcome !== 'done')
      .map((last) => ({
        ...findingOf('run', last.kills === undefined ? [last.command] : ['killed'], {
          account: null,
          severity: last.kills === undefined ? 'critical' : 'warning',
          completeThrough: world.completeThrough,
        }),
        outOfDate: last.command === 'ingest' ? outOfDateIn(world, 'failed') : [],
        ...last,
      })),
  follows: isOnlyConsequence,
  isLookedFor: ({ key }) => key !== killedKey,
  causes: (fact) => [
    ...causesOfRun(fact),
    // On the second night, its reader has to act.
    ...(isWaitOver(fact) ? [nightsCause] : []),
    ...(fact.outOfDate.length > 0 ? [outOfDateCause] : []),
  ],
  causeWords: ({ failures: [first], outcome }) =>
    first?.found ?? (outcome === 'interrupted' ? 'it was killed' : `it ${outcome}`),
  words: (fact) => ({
    title: runTitle(fact),
    sentences: [
      // Of a full disk, all but the first is what the database says of it.
      ...(fact.failures.length === 0 ? [] : [asSentence(reasonOf(fact))]),
      ...(fact.key === killedKey && isRepeated(startedAs(fact)) ? ['The books are intact, and no cost is lost.'] : []),
      ...changeWords(fact),
      ...missingWords(fact),
      ...harmlessWords(fact),
    ],
    fields: runFields(fact),
  }),
  over: ({ key, command, failures: [first], completeThrough }) => ({
    title: key === diskKey ? fullDiskWords(first?.code).over : `${command} no longer fails`,
    sentences:
      command === 'ingest' && completeThrough !== null
        ? [`All costs before ${completeThrough} are in the books again.`]
        : [],
  }),
  step: (fact) => (fact.key === diskKey ? stepAfterFullDisk(fact) : stepAfterRun(fact)),
  detail: (fact) => {
    if (fact.failures.length === 0) return undefined;
    const reason = asSentence(oneLine(reasonOf(fact), maxSentenceLength));
    return [reason, ...missingWords(fact), ...harmlessWords(fact)].join(' ');
  },
  isRefreshed: true,
};

/** That the costs are not concerned: of a command that only reads them, and of a file that only alerts or a second currency need. */
function harmlessWords({ key, command, failures }: RunFact): string[] {
  if (isReader(command)) return [asSentence(`N${ofReader.slice(1)}`)];
  if (key !== alertKey) return [];
  const isOfRates = hasCode(failures, 'mistaken_rates');
  return [
    isOfRates
      ? 'There are no amounts in it; amounts in USD are right.'
      : 'No cost is missing: only alerts are affected.',
  ];
}

function reasonOf({ key, failures }: RunFact): string {
  return shortly(key === diskKey ? failures.slice(0, 1) : failures);
}

/** The runs that were killed, as one: the newest names the others. */
function killedRun(rows: readonly SqlRow[]): readonly LastRun[] {
  const [last] = rows;
  if (last === undefined) return [];
  const step = textOrNull(last['step']);
  return [
    {
      ...{
        command: String(last['command']),
        ...(step === null ? {} : { step }),
        startedAs: String(last['started_as']),
      },
      ...{ runNumber: Number(last['run_number']), outcome: 'interrupted', exitCode: null, kills: rows.length },
      ...{ failures: [], error: null, errorCode: null, nextStep: null, endedAt: textOrNull(last['started_at']) },
    },
  ];
}

function runFields({ runNumber, endedAt, exitCode, kills }: RunFact): Card['fields'] {
  const when = kills === undefined ? 'ended' : 'started';
  const parts = [runNumber || undefined, endedAt && `${when} at ${endedAt}`, exitCode && `exit code ${exitCode}`];
  const value = parts.filter(Boolean).join(', ');
  return value === '' ? [] : [{ label: 'Run', value }];
}

/** How a run or a step ended, from its row. */
export function endedRunOf(row: SqlRow) {
  return {
    command: String(row['command']),
    outcome: String(row['outcome']),
    exitCode: row['exit_code'] === null ? null : Number(row['exit_code']),
    failures: failuresIn(row['failures']),
    error: textOrNull(row['error']),
    errorCode: textOrNull(row['error_code']),
    nextStep: textOrNull(row['next_step']),
    endedAt: textOrNull(row['ended_at']),
    failingSince: textOrNull(row['failing_since']),
    startedAs: textOrNull(row['started_as']),
  };
}

/** Whether a run failed only because hours are unproven, which has an alert, or refused because the fetch before it failed. */
function isOnlyConsequence(fact: RunFact, others: readonly Finding[]): boolean {
  if (fact.key === killedKey) return others.some((other) => isIngestFailed(other) && isInterrupted(other));
  if (fact.exitCode !== exitCodes.unproven) return false;
  if (hasCode(fact.failures, 'damaged_file', 'changed_file')) return false;
  const hours = others.some(({ kind }) => kind === 'unproven');
  if (fact.command !== 'ingest') return hours || others.some(isIngestFailed);
  return hours && hasCode(fact.failures, unprovenWindowCode);
}

function isInterrupted(finding: Finding): boolean {
  return 'outcome' in finding && finding.outcome === 'interrupted';
}

/** `ingest failed`; if it was reported before, what is new. */
function runTitle(fact: RunFact): string {
  const { key, command, outcome, failures, changedFrom, outOfDate, revision, kills = 0, endedAt, step } = fact;
  if (key === diskKey) return `${sentenceCase(fullDiskWords(failures[0]?.code).found)}: no new costs can be loaded`;
  if (key === alertKey && hasCode(failures, mistakenSettings))
    return 'The configuration has mistakes: some alerts are missing';
  if (key === alertKey && hasCode(failures, 'mistaken_rates'))
    return 'The rates of the second currency cannot be read: amounts are in USD only';
  if (key === alertKey) return 'jobs/budgets.yaml has mistakes: its budgets are not evaluated';
  if (key === killedKey) {
    const where = step === undefined ? '' : ` in its step ${step}`;
    const others = kills > 1 ? `, one of ${kills} killed runs since the last alerts` : '';
    return `${command}${endedAt === null ? '' : ` of ${endedAt}`} was killed${where}${others}`;
  }
  const accounts = outOfDate.map(({ account }) => account).join(', ');
  const behind = accounts === '' ? '' : `: the books of ${accounts} are out of date`;
  if (changedFrom !== undefined) return `${command} still fails, now for another reason${behind}`;
  if (outcome === 'interrupted') return `${command} was killed${behind}`;
  return `${command} ${revision === undefined ? 'failed' : 'still fails'}${behind}`;
}

function sentenceCase(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

/** Whatever failed, the next run does it; only an empty file may know that the disk was full. */
function stepAfterFullDisk(fact: RunFact): NextStep {
  const remedy = fullDiskRemedy(fact.space, fact.failures[0]?.code);
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
 * exit code. Whoever should wait has to act once it has failed for hours, so on a second night. Pure.
 */
export function stepAfterRun(run: FailedRun): NextStep {
  if (run.kills === 1) {
    const commandLine = startedAs(run);
    if (!isRepeated(commandLine)) return startAgain(commandLine);
    const isLoaded = Date.parse(run.completeThrough ?? '') >= Date.parse(run.endedAt ?? '');
    const words = isLoaded
      ? 'a later run has loaded what this one missed.'
      : 'the next run loads what this one missed.';
    return { who: 'No action needed', words };
  }
  return isWaitOver(run) ? stepAfterWaiting(run) : firstStepAfterRun(run);
}

function firstStepAfterRun({ command, outcome, exitCode, failures, startedAs: started }: FailedRun): NextStep {
  if (outcome === 'interrupted')
    return wait(nextRun('loads what is missing', 'find what ends it, such as too little memory or a restart'));
  const named = startedAs({ command, startedAs: started });
  const [first] = failures;
  return first?.next == null ? stepOfExitCode(named, exitCode) : thenAgain(first.next, named);
}

/** What decides the next step after a run. */
type FailedRun = Pick<
  LastRun,
  'command' | 'startedAs' | 'outcome' | 'exitCode' | 'failures' | 'failingSince' | 'kills'
> &
  Partial<Pick<RunFact, 'endedAt' | 'completeThrough'>>;

/** Whether nobody had to act, and the command still fails. Hours that differ have their own limit. Pure. */
function isWaitOver(run: FailedRun): boolean {
  if ((run.kills ?? 0) > 1) return true;
  const failingMs = Date.parse(run.endedAt ?? '') - Date.parse(run.failingSince ?? '');
  if (!(failingMs >= waitAtMostMs) || hasCode(run.failures, unprovenWindowCode)) return false;
  return firstStepAfterRun(run).who === 'Wait';
}

/** The step if a command failed again, hours after its first failure. */
function stepAfterWaiting(run: FailedRun): NextStep {
  const { command, startedAs: started, outcome, exitCode, failures } = run;
  const [first] = failures;
  const named = startedAs({ command, startedAs: started });
  const again = `run "costbook ${named}" again`;
  if (outcome === 'interrupted')
    return act(`find what ends the run, such as too little memory or a restart of the machine. Then ${again}.`, named);
  if (exitCode === exitCodes.platform) {
    const host = first?.subject ?? 'the platform';
    const asked = Math.max(...failures.map(({ retryAfterMs = 0 }) => retryAfterMs));
    const until = Date.parse(run.endedAt ?? '') + asked;
    const then = "If it fails again, ask the platform's support for the reason.";
    return asked > 0 && !Number.isNaN(until)
      ? act(`${again} after ${formatSecond(until)}: until then ${host} asks to wait. ${then}`, named)
      : act(`${again}: ${host} may answer by now. ${then}`, named);
  }
  if (exitCode === exitCodes.locked)
    return act(`"costbook status" names the run that holds the books: end it if it hangs. Then ${again}.`, named);
  return act(`${again} and read what it prints.`, named);
}

/**
 * The step that a failed command (`ingest`, `run nightly`) prints after its error: that of its alert, if the error has
 * several lines and no step of its own. Undefined if it has one, and for a refused close, whose lines have one each. Pure.
 */
export function stepAfterMistakes(
  failed: Pick<LastRun, 'command' | 'failures'> & { readonly exitCode: number },
): NextStep | undefined {
  const { exitCode, failures } = failed;
  if (exitCode === exitCodes.done || failures.length < 2 || failures.some(({ next }) => next !== null))
    return undefined;
  const run = { ...failed, outcome: 'failed' };
  return isRefusedClose(run) ? undefined : stepAfterRun(run);
}

/** The step of an exit code. */
function stepOfExitCode(command: string, exitCode: number | null): NextStep {
  const again = (words: string) => thenAgain(act(words), command);
  switch (exitCode) {
    case exitCodes.bug:
      return again('report this bug in Costbook.');
    case exitCodes.usage:
      return again('fix this.');
    case exitCodes.platform:
      return waitForPlatform;
    case exitCodes.unproven:
      return wait(nextRun('tries again', 'read what it prints'));
    case exitCodes.locked:
      return wait(nextRun('tries again, as another run was active', 'read "costbook status"'));
    case exitCodes.machine:
      return again('read the error, and make this machine do what failed.');
    case exitCodes.undelivered:
      return act(
        'make the sink work that did not take its messages. Then run "costbook alert", which sends them.',
        'alert',
      );
    default:
      return again('read the error.');
  }
}
