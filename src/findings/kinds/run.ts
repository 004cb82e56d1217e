import { exitCodes, fullDiskWords, mistakenSettings } from '../../base/errors.ts';
import { type Failure, failuresIn, hasCode, shortly, unprovenWindowCode } from '../../base/failure.ts';
import { act, asSentence, type NextStep, thenAgain, wait, waitForPlatform } from '../../base/next-step.ts';
import type { Card } from '../../sinks/index.ts';
import { textOrNull } from '../../tables/optional-text.ts';
import { maxSentenceLength, oneLine } from '../../text/safe-text.ts';
import { hourMs } from '../../time/time.ts';
import type { SqlRow } from '../../warehouse/store/index.ts';
import { causesOfRun, outOfDateCause } from '../causes.ts';
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
        outOfDate: last.command === 'ingest' ? outOfDateIn(world) : [],
        ...last,
      })),
  follows: isOnlyConsequence,
  causes: (fact) => [...causesOfRun(fact), ...(fact.outOfDate.length > 0 ? [outOfDateCause] : [])],
  causeWords: ({ failures: [first], outcome }) => first?.found ?? `it ${outcome}`,
  words: (fact) => ({
    title: runTitle(fact),
    sentences: [
      // Of a full disk, all but the first is what the database says of it.
      ...(fact.failures.length === 0 ? [] : [asSentence(reasonOf(fact))]),
      ...changeWords(fact),
      ...missingWords(fact),
    ],
    fields: runFields(fact),
  }),
  over: ({ key, command, failures: [first], completeThrough }) => ({
    title: key === diskKey ? fullDiskWords(first?.code).over : `${command} succeeds again`,
    sentences:
      command === 'ingest' && completeThrough !== null
        ? [`All costs before ${completeThrough} are in the books again.`]
        : [],
  }),
  step: (fact) => (fact.key === diskKey ? stepAfterFullDisk(fact) : stepAfterRun(fact)),
  detail: (fact) => {
    if (fact.failures.length === 0) return undefined;
    return [asSentence(oneLine(reasonOf(fact), maxSentenceLength)), ...missingWords(fact)].join(' ');
  },
};

function reasonOf({ key, failures }: RunFact): string {
  return shortly(key === diskKey ? failures.slice(0, 1) : failures);
}

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
  if (fact.exitCode !== exitCodes.unproven) return false;
  if (hasCode(fact.failures, 'damaged_file', 'changed_file')) return false;
  const hours = others.some(({ kind }) => kind === 'unproven');
  if (fact.command !== 'ingest') return hours || others.some(isIngestFailed);
  return hours && hasCode(fact.failures, unprovenWindowCode);
}

/** `ingest failed`; if it was reported before, what is new. */
function runTitle({ key, command, outcome, failures, changedFrom, outOfDate, revision }: RunFact): string {
  if (key === diskKey) return `${sentenceCase(fullDiskWords(failures[0]?.code).found)}: no new costs can be loaded`;
  if (key === alertKey && hasCode(failures, mistakenSettings))
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
  const { remedy } = fullDiskWords(fact.failures[0]?.code);
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
export function stepAfterRun({ command, outcome, exitCode, failures, ...run }: FailedRun): NextStep {
  if (outcome === 'interrupted') return wait('the next run catches up.');
  const named = startedAs({ command, startedAs: run.startedAs });
  const [first] = failures;
  const step = first?.next == null ? stepOfExitCode(named, exitCode) : thenAgain(first.next, named);
  const failingMs = Date.parse(run.endedAt ?? '') - Date.parse(run.failingSince ?? '');
  const isLong = exitCode === exitCodes.platform && step.who === 'Wait' && failingMs >= waitAtMostMs;
  return isLong ? stepAfterLongWait(named, first?.subject ?? "the platform's URL") : step;
}

/** What decides the next step after a run. */
type FailedRun = Pick<LastRun, 'command' | 'startedAs' | 'outcome' | 'exitCode' | 'failures' | 'failingSince'> &
  Partial<Pick<LastRun, 'endedAt'>>;

/** If the platform fails for longer than this, somebody must act. */
const waitAtMostMs = 6 * hourMs;

/** The step if the platform failed again, hours after its first failure. */
function stepAfterLongWait(command: string, host: string): NextStep {
  return act(
    `check that ${host} is reachable from this machine: run "costbook doctor". If it is, ask the platform's support. ` +
      `Then run "costbook ${command}" again.`,
    command,
  );
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
