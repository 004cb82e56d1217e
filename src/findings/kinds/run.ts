import { exitCodes, firstSentence, firstSentences, fullDiskWords, mistakenSettings } from '../../base/errors.ts';
import { type Failure, unprovenWindowCode } from '../../base/failure.ts';
import { act, type NextStep, parseNextStep, thenAgain, wait, waitForPlatform } from '../../base/next-step.ts';
import type { Card } from '../../sinks/index.ts';
import { textOrNull } from '../../tables/optional-text.ts';
import { maxSentenceLength, oneLine } from '../../text/safe-text.ts';
import { hourMs } from '../../time/time.ts';
import type { SqlRow } from '../../warehouse/store/index.ts';
import { causesOfRun, outOfDateCause } from '../causes.ts';
import { codesOf, failuresIn, isForPerson } from '../failure-codes.ts';
import { type Finding, findingOf, type OutOfDate } from '../finding.ts';
import { type DataKind, outOfDateIn } from '../kind.ts';
import { alertRows } from '../rows.ts';
import { asSentence, changeWords, missingWords } from './sentences.ts';

/** The last finished run of a watched command. */
export interface LastRun {
  readonly command: string;
  readonly runNumber: number;
  readonly outcome: string;
  readonly exitCode: number | null;
  readonly error: string | null;
  /** Code of the error: `answered_401`. Null or missing if it has none. */
  readonly errorCode?: string | null;
  /** What the error says to do, as it was printed: `Act: …`. Null or missing if it follows from the exit code. */
  readonly nextStep?: string | null;
  readonly endedAt: string | null;
  /** End of the first failure since the last success, UTC. */
  readonly failingSince?: string | null;
  /** The command that its user started: `run nightly` if the command was a step of it. */
  readonly startedAs?: string | null | undefined;
}

/** The last run of a command failed. */
export interface RunFact extends Finding<'run'>, LastRun {
  /** Only for `ingest`. */
  readonly outOfDate: OutOfDate;
}

/** Whether a finding is that the last fetch failed: what is missing after it follows from it. */
export function isIngestFailed({ key }: Finding): boolean {
  return key === 'run/ingest';
}

/** The key of the alert about a full disk. It names no command because it affects every run. */
export const diskKey = 'run/disk';

/** The key of the alert about files that "costbook alert" cannot read, such as budgets.yaml. */
export const alertKey = 'run/alert';

export const run: DataKind<RunFact, LastRun> = {
  name: 'run',
  read: async (connection) =>
    (await alertRows(connection, 'last_runs')).map((row) => ({
      ...endedRunOf(row),
      runNumber: Number(row['run_number']),
    })),
  findings: (rows, world) =>
    rows
      .filter(({ outcome }) => outcome !== 'done')
      .map((last) => ({
        ...findingOf('run', [last.command], {
          ...{ account: null, severity: 'critical', completeThrough: world.completeThrough },
        }),
        outOfDate:
          last.command === 'ingest'
            ? outOfDateIn(world).map(({ account, completeThrough }) => ({ account, completeThrough }))
            : [],
        ...last,
      })),
  follows: isOnlyConsequence,
  causes: (fact) => [...causesOfRun(fact), ...(fact.outOfDate.length > 0 ? [outOfDateCause] : [])],
  causeWords: ({ error, outcome }) => (error === null ? `it ${outcome}` : firstSentence(error)),
  words: (fact) => ({
    title: runTitle(fact),
    sentences: [
      // Of a full disk, all but the first sentence is what the database says of it.
      ...(fact.error === null ? [] : [asSentence(fact.key === diskKey ? firstSentence(fact.error) : fact.error)]),
      ...changeWords(fact),
      ...missingWords(fact),
    ],
    fields: runFields(fact),
  }),
  over: ({ key, command, error, completeThrough }) => ({
    title: key === diskKey ? fullDiskWords(error ?? '').over : `${command} succeeds again`,
    sentences:
      command === 'ingest' && completeThrough !== null
        ? [`All costs before ${completeThrough} are in the books again.`]
        : [],
  }),
  step: (fact) => (fact.key === diskKey ? stepAfterFullDisk(fact) : stepAfterRun(fact)),
  /** The first sentence of each of its errors. */
  detail: ({ error }) => (error === null ? undefined : oneLine(firstSentences(error), maxSentenceLength)),
};

function runFields({ runNumber, endedAt, exitCode }: RunFact): Card['fields'] {
  const parts = [runNumber || undefined, endedAt && `ended at ${endedAt}`, exitCode && `exit code ${exitCode}`];
  const value = parts.filter(Boolean).join(', ');
  return value === '' ? [] : [{ label: 'Run', value }];
}

/** How a run or a step ended, from its row. */
export function endedRunOf(row: SqlRow) {
  return {
    command: String(row['command']),
    outcome: String(row['outcome']),
    exitCode: row['exit_code'] === null ? null : Number(row['exit_code']),
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
  if (fact.exitCode !== exitCodes.unproven) return false;
  if (['damaged_file', 'changed_file'].includes(fact.errorCode ?? '')) return false;
  const hours = others.some(({ kind }) => kind === 'unproven');
  if (fact.command !== 'ingest') return hours || others.some(isIngestFailed);
  return hours && fact.errorCode === unprovenWindowCode;
}

/** `ingest failed`; if it was reported before, what is new. */
function runTitle({ key, command, outcome, error, errorCode, changedFrom, outOfDate, revision }: RunFact): string {
  if (key === diskKey) return `${sentenceCase(fullDiskWords(error ?? '').found)}: no new costs can be loaded`;
  if (key === alertKey && errorCode === mistakenSettings)
    return 'The configuration has mistakes: some alerts are missing';
  if (key === alertKey) return 'jobs/budgets.yaml has mistakes: its budgets are not evaluated';
  const accounts = outOfDate.map(({ account }) => account).join(', ');
  const behind = accounts === '' ? '' : `: the books of ${accounts} are out of date`;
  if (changedFrom !== undefined) return `${command} still fails, now for another reason${behind}`;
  if (outcome === 'interrupted') return `${command} was interrupted${behind}`;
  return `${command} ${revision === undefined ? 'failed' : 'still fails'}${behind}`;
}

function sentenceCase(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
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
