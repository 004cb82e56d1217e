import { join } from 'node:path';
import { styleText } from 'node:util';
import { allOpenAlerts, countWords, unstoredStill, type WaitingAlert } from '../alerts/index.ts';
import { exitCodes } from '../base/errors.ts';
import { type Failure, failuresIn, firstOf, hasCode, shortly, textOf, unprovenWindowCode } from '../base/failure.ts';
import {
  act,
  asClause,
  isRepair,
  isUnprovenStep,
  type NextStep,
  nextWords,
  repair,
  unprovenStepAfter,
} from '../base/next-step.ts';
import { exportsOfRevoked } from '../closing/index.ts';
import { loadConfig } from '../config/index.ts';
import {
  alertRows,
  diskKey,
  endedRunOf,
  isRefusedClose,
  type OpenAlert,
  staleStep,
  stepAfterRun,
  unprovenWords,
} from '../findings/index.ts';
import {
  type ClockFault,
  type FileFault,
  faultsOfFiles,
  futureInstants,
  type Undelivered,
  undelivered,
  unendedWords,
} from '../health/index.ts';
import { usd } from '../money/money.ts';
import { read } from '../options/read.ts';
import { options } from '../options/table.ts';
import { earlierBooks, type RevokedExport, revokedCloses, revokedWords } from '../reports/exports/index.ts';
import { textOrNull } from '../tables/optional-text.ts';
import { folded } from '../terminal/index.ts';
import { counted } from '../text/counted.ts';
import { forTerminal, maxSentenceLength } from '../text/safe-text.ts';
import { dayMs, formatInstant, formatMonth, hourMs, type Instant } from '../time/time.ts';
import { openBooks, type UnendedRun, unendedRun } from '../warehouse/integrity/index.ts';
import {
  closeAgainStep,
  closedMonths,
  contradictions,
  differingCloses,
  differingCloseWords,
  type UnprovenText,
  unprovenText,
  unprovenWindows,
} from '../warehouse/ledger/index.ts';
import { readSql } from '../warehouse/sql/index.ts';
import type { Connection, SqlRow } from '../warehouse/store/index.ts';
import type { Command, CommandContext } from './command.ts';
import { faultsOfJobFiles, type JobFileFaults } from './job-mistakes.ts';
import { unprovenLines } from './unproven-lines.ts';

export const statusCommand: Command = {
  name: 'status',
  summary: 'Show whether the numbers can be trusted: completeness, freshness, unproven windows, the last run.',
  examples: ['costbook status', 'costbook status --json', 'costbook status --exit-code'],
  async run(input, context) {
    const { effects } = context;
    const asked = read(options.status, input, context);
    const config = loadConfig({ dir: context.dir, env: context.env, now: effects.now(), requireAccounts: false });
    const books = await openBooks(context.dir, { lockedDown: true, threads: 1, signal: context.signal });
    try {
      const configured = config.accounts.flatMap(({ id }) => id ?? []);
      const faults = await faultsOfFiles(context.dir, books, context.signal);
      const now = effects.now();
      const waiting = await unstoredStill(context.dir);
      const status = withFaults(await readStatus(books.connection, context, config.freshnessHours, configured), {
        files: faults,
        jobFiles: await faultsOfJobFiles(config, context),
        unstored: waiting,
        unended: (await unendedRun(context.dir, books)) ?? null,
      });
      await context.answer({ ...status, found: undefined, isForRepair: undefined }, () =>
        folded(describe(status, now, painter(asked.noColor, context)), context.layout),
      );
      return asked.exitCode && !status.isTrustworthy ? exitCodes.unproven : exitCodes.done;
    } finally {
      books.close();
    }
  },
};

interface AccountStatus {
  readonly account: string;
  readonly name: string | null;
  /** The role of the token at the last ingest. */
  readonly role: string | null;
  readonly firstCovered: string | null;
  readonly completeThrough: string | null;
  readonly settledThrough: string | null;
  /** False for an account that the configuration no longer names: no new data is expected. */
  readonly isConfigured: boolean;
  /** Whether complete-through is older than freshness allows; true for an account that was never loaded. */
  readonly isTooOld: boolean;
  /** Decimals of the platform's own totals; half a unit of the last one is part of each tolerance. */
  readonly totalDecimals: { readonly cost: number; readonly usage: number };
  /** USD, decimal text: rows without uuid that were fetched as member, so that their workspace is unknown. */
  readonly unknownWorkspaceCost: string;
  readonly unproven: readonly UnprovenText[];
  /** Recent windows that are not proven yet: the next run fetches them again. */
  readonly postponed: readonly UnprovenText[];
  /** The last ingest of this account; null if there was none. */
  readonly lastRun: {
    readonly runNumber: number;
    readonly exitCode: number;
    readonly error: string | null;
    readonly failures: readonly Failure[];
  } | null;
}

/** A reason not to trust the numbers. */
interface Reason {
  readonly words: string;
  /** What to do; undefined if the words say it. */
  readonly next: NextStep | undefined;
  /** The key of the alert about the same fact; undefined if there is none. */
  readonly key: string | undefined;
}

/** What is read from the books. */
type BooksStatus = Omit<Status, 'isTrustworthy' | 'reasons' | 'jobFiles' | 'fullDisk' | 'unstored' | 'unended'> & {
  readonly found: readonly Reason[];
};

/** The status and its reasons, for people. */
interface Shown extends Status {
  readonly found: readonly Reason[];
  /** Whether files of the books have faults. */
  readonly isForRepair: boolean;
}

interface Status {
  /** Whether everything is proven and fresh; decides the exit code of `--exit-code`. */
  readonly isTrustworthy: boolean;
  /** The reasons why not, one sentence each. */
  readonly reasons: readonly string[];
  /** The files in jobs/ that have mistakes: what they schedule does not run. */
  readonly jobFiles: readonly JobFileFaults[];
  readonly freshnessHours: number;
  readonly accounts: readonly AccountStatus[];
  /** The last closed month; null if there is none. */
  readonly closed: { readonly month: string; readonly closedAt: string } | null;
  /** Closed months that the platform has changed since. */
  readonly moved: readonly MovedMonth[];
  /** Exports that show a revoked close. */
  readonly revokedExports: readonly RevokedExport[];
  /** What an export shows of books before these, and the step; null if there is no trace of any. */
  readonly earlierBooks: { readonly found: string; readonly next: string } | null;
  /** Past costs that changed in the last seven days. */
  readonly restated: { readonly hours: number; readonly cost: string };
  readonly alerts: {
    readonly open: number;
    readonly critical: number;
    readonly messagesWaiting: number;
    /** By sink. */
    readonly waiting: readonly Undelivered[];
    /** The most severe first. */
    readonly list: readonly OpenAlert[];
  };
  /** The last ingest, if it failed: the books may then be older than the headline suggests. */
  readonly failedIngest: {
    readonly exitCode: number | null;
    readonly error: string | null;
    readonly errorCode: string | null;
    readonly failures: readonly Failure[];
    /** What to do, as the alert says it. */
    readonly next: string;
    readonly step: NextStep;
    readonly at: string | null;
  } | null;
  readonly lastRun: (Readonly<Record<string, unknown>> & { readonly failures: readonly Failure[] }) | null;
  /** The step of the last run that failed, and what to do; null if it succeeded, or if it only refused a close. */
  readonly lastRunStep: { readonly command: string; readonly next: string; readonly step: NextStep } | null;
  /** The full disk that a later run found: the books could not store that run. Null if there is none. */
  readonly fullDisk: { readonly title: string; readonly next: string | null; readonly at: string } | null;
  /** What a later run found and the books could not store: a full disk, or books that cannot be written. */
  readonly unstored: readonly WaitingAlert[];
  /** A run that started and did not end: it is active, or was killed. Null if there is none. */
  readonly unended: UnendedRun | null;
  /** Dates in the future that a fast clock wrote, and the remedy; null if there are none. */
  readonly futureDates: ClockFault | null;
}

/** The change of a closed month since its close. */
interface MovedMonth {
  readonly month: string;
  /** USD, decimal text: positive if the month now costs more than at its close. */
  readonly cost: string;
  /** Number of corrections: rows of hourly costs, counted once per month that bills them. */
  readonly corrections: number;
  /** The months that bill them. */
  readonly deliveredIn: readonly string[];
  /** The part of the change that each of these months bills, USD as decimal text. */
  readonly billed: readonly { readonly month: string; readonly cost: string }[];
}

async function readStatus(
  connection: Connection,
  context: CommandContext,
  freshnessHours: number,
  configured: readonly string[],
): Promise<BooksStatus> {
  const now = context.effects.now();
  const rows = await connection.rows(await readSql('status', 'accounts'));
  const tooOldBefore = now - freshnessHours * hourMs;
  const accounts: AccountStatus[] = [];
  for (const row of rows) {
    const account = String(row['account']);
    const unproven = [...(await unprovenWindows(connection, account)), ...(await contradictions(connection, account))];
    const completeThrough = row['complete_through'];
    const failures = failuresIn(row['failures']);
    accounts.push({
      account,
      name: textOrNull(row['name']),
      role: textOrNull(row['role']),
      firstCovered: instantOrNull(row['first_covered']),
      completeThrough: instantOrNull(completeThrough),
      settledThrough: instantOrNull(row['settled_through']),
      isConfigured: configured.length === 0 || configured.includes(account),
      isTooOld: completeThrough === null || Number(completeThrough) < tooOldBefore,
      totalDecimals: { cost: Number(row['cost_decimals']), usage: Number(row['usage_decimals']) },
      unknownWorkspaceCost: String(row['unknown_workspace_cost']),
      unproven: unproven.filter(({ isYoung }) => !isYoung).map(unprovenText),
      postponed: unproven.filter(({ isYoung }) => isYoung).map(unprovenText),
      lastRun:
        row['run_number'] === null
          ? null
          : {
              runNumber: Number(row['run_number']),
              exitCode: Number(row['exit_code']),
              error: textOf(failures),
              failures,
            },
    });
  }
  const last = (await closedMonths(connection)).at(-1);
  const [lastRun] = await connection.rows(await readSql('status', 'last_run'));
  const found: Reason[] =
    accounts.length === 0
      ? [{ words: 'the books have no account yet: run "costbook ingest"', next: undefined, key: undefined }]
      : accounts.flatMap((each) => reasonsOf(each, now, freshnessHours));
  for (const each of await differingCloses(connection)) {
    found.push({ words: differingCloseWords(each), next: closeAgainStep(each), key: undefined });
  }
  const open = await allOpenAlerts(connection, now, context);
  const waiting = await undelivered(connection);
  // On its own or as a step of a job.
  const failures = (await alertRows(connection, 'last_runs')).filter((row) => row['outcome'] !== 'done');
  const failedIngest = failures.find((row) => row['command'] === 'ingest');
  const [restated = {}] = await connection.rows(await readSql('status', 'restated_hours'), {
    since: formatInstant(now - restatedDays * dayMs),
    now: formatInstant(now),
  });
  const earlier = await earlierBooks(join(context.dir, 'exports'), connection);
  return {
    found,
    freshnessHours,
    earlierBooks: earlier === undefined ? null : { found: earlier.found, next: nextWords(earlier.next) },
    accounts,
    closed: last === undefined ? null : { month: formatMonth(last.month), closedAt: formatInstant(last.closedAt) },
    moved: last === undefined ? [] : await movedMonths(connection),
    revokedExports: await exportsOfRevoked(context.dir, await revokedCloses(connection)),
    restated: { hours: Number(restated['hours']), cost: String(restated['cost']) },
    alerts: {
      open: open.length,
      critical: open.filter(({ severity }) => severity === 'critical').length,
      messagesWaiting: waiting.reduce((sum, { messages }) => sum + messages, 0),
      waiting,
      list: open,
    },
    failedIngest: failedIngest === undefined ? null : failureIn(failedIngest),
    lastRun:
      lastRun === undefined
        ? null
        : { ...lastRun, runNumber: Number(lastRun['runNumber']), failures: failuresIn(lastRun['failures']) },
    lastRunStep: failedStepOf(lastRun, failures),
    futureDates: (await futureInstants(connection, now)) ?? null,
  };
}

/** The failed step of the last run, or else the run itself, with what to do. */
function failedStepOf(lastRun: SqlRow | undefined, failures: readonly SqlRow[]): Status['lastRunStep'] {
  if (lastRun === undefined || ['done', 'running'].includes(String(lastRun['outcome']))) return null;
  const [command, outcome] = [String(lastRun['command']), String(lastRun['outcome'])];
  if (isRefusedClose({ command, outcome, exitCode: Number(lastRun['exitCode']) })) return null;
  const step = failures.find((each) => Number(each['run_number']) === Number(lastRun['runNumber']));
  const row = step ?? {
    ...{ command, outcome, error: lastRun['error'], exit_code: lastRun['exitCode'] },
    ...{ error_code: lastRun['errorCode'], next_step: lastRun['nextStep'], ended_at: lastRun['endedAt'] },
    failures: lastRun['failures'],
  };
  const { next, step: ofRow } = failureIn(row);
  return { command: String(row['command']), next, step: ofRow };
}

/** A run that failed or was interrupted, from its row. */
function failureIn(row: SqlRow): NonNullable<Status['failedIngest']> {
  const ended = endedRunOf(row);
  const { exitCode, error, errorCode, failures, endedAt } = ended;
  const step = stepAfterRun(ended);
  return { exitCode, error, errorCode, failures, next: nextWords(step), step, at: endedAt };
}

/** The status with what is read from files: faults of the books, mistakes in jobs/, and what a run could not store. */
function withFaults(
  { found: ofBooks, ...status }: BooksStatus,
  faults: {
    readonly files: readonly FileFault[];
    readonly jobFiles: readonly JobFileFaults[];
    readonly unstored: readonly WaitingAlert[];
    readonly unended: UnendedRun | null;
  },
): Shown {
  const { files, jobFiles, unended } = faults;
  // The fault itself says what the run found.
  const unstored = faults.unstored.filter(({ step }) => files.length === 0 || !isRepair(step));
  const disk = unstored.find(({ key }) => key === diskKey);
  const fullDisk = disk === undefined ? null : { title: disk.title, next: disk.next ?? null, at: disk.at };
  const hidden = faults.unstored.find((alert) => !unstored.includes(alert));
  // A failure with a step of its own names the command to run after the repair.
  const isKilled = unended !== null && !unended.isActive;
  const isLate = isKilled || ofBooks.some(({ next }) => next === staleStep) || status.failedIngest !== null;
  const needsIngest = isLate && (isRepair(status.failedIngest?.step) || status.failedIngest === null);
  const step = needsIngest ? act('run "costbook repair". Then run "costbook ingest".', 'repair', 'ingest') : repair();
  const ofFiles = files.map((each) => ({ words: each.found, next: step, key: hidden?.key }));
  const found = [...ofFiles, ...ofBooks];
  return {
    isTrustworthy: found.length === 0,
    reasons: found.map(sentenceOf),
    jobFiles,
    ...status,
    fullDisk,
    unstored,
    unended,
    found,
    isForRepair: files.length > 0,
  };
}

/** A reason as one sentence; steps that only name the cure of old or unproven numbers have fields of their own. */
function sentenceOf({ words, next }: Reason): string {
  return next === undefined || next === staleStep || isUnprovenStep(next) ? words : `${words}: ${asClause(next.words)}`;
}

/** How many days of restatements are shown. */
const restatedDays = 7;

/** The reasons not to trust an account's numbers; empty if they can be trusted. */
function reasonsOf(account: AccountStatus, now: Instant, freshnessHours: number): Reason[] {
  const { completeThrough, isConfigured, isTooOld, unproven } = account;
  const name = encodeURIComponent(account.account);
  const reasons: Reason[] = [];
  if (unproven.length > 0) {
    reasons.push({
      words: unprovenWords(`account ${account.account}`, unproven),
      next: unprovenStepAfter(unproven),
      key: `unproven/${name}`,
    });
  }
  if (isConfigured && isTooOld) {
    reasons.push(
      completeThrough === null
        ? { words: `account ${account.account} has no complete hour yet`, next: staleStep, key: `stale/${name}` }
        : {
            words: `account ${account.account} is complete only through ${completeThrough}, ${ageBeyond(completeThrough, now, freshnessHours)} ago; the limit is ${freshnessHours} h`,
            next: staleStep,
            key: `stale/${name}`,
          },
    );
  }
  return reasons;
}

/** The time since an instant, for people. */
function age(instant: string, now: Instant): string {
  const hours = Math.max(0, Math.floor((now - Date.parse(instant)) / hourMs));
  return hours < 72 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
}

/** The time since an instant that is beyond a limit, with minutes if the hours alone would look equal to it. */
export function ageBeyond(instant: string, now: Instant, limitHours: number): string {
  const passed = now - Date.parse(instant);
  if (Math.floor(passed / hourMs) !== limitHours) return age(instant, now);
  const minutes = Math.floor((passed % hourMs) / 60_000);
  return `${limitHours} h ${minutes === 0 ? `${Math.ceil((passed % hourMs) / 1000)} s` : `${minutes} min`}`;
}

async function movedMonths(connection: Connection): Promise<MovedMonth[]> {
  const rows = await connection.rows(await readSql('status', 'moved_months'));
  return rows.map((row) => {
    const billed = JSON.parse(String(row['billed'])) as MovedMonth['billed'];
    return {
      month: String(row['month']),
      cost: String(row['cost']),
      corrections: Number(row['corrections']),
      deliveredIn: billed.map(({ month }) => month),
      billed,
    };
  });
}

function instantOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : formatInstant(Number(value));
}

/** Colors a text, or returns it unchanged. */
type Paint = (colour: 'green' | 'red' | 'yellow' | 'bold' | 'dim', text: string) => string;

/** Colors on a terminal that supports them, unless switched off (no-color.org). */
function painter(noColor: boolean, { env, isTerminal }: CommandContext): Paint {
  const isForced = !['', '0', undefined].includes(env['FORCE_COLOR']);
  const isRefused = Boolean(env['NO_COLOR']) || noColor;
  const hasColours = !isRefused && (isForced || (isTerminal && env['TERM'] !== 'dumb'));
  return (colour, text) => (hasColours ? styleText(colour, text, { validateStream: false }) : text);
}

/** Whether the last ingest failed for another reason than windows that are reported as unproven. */
function hasOwnFailure({ failedIngest, found }: Shown): boolean {
  const isReported = found.some(({ next }) => isUnprovenStep(next));
  return failedIngest !== null && !(hasCode(failedIngest.failures, unprovenWindowCode) && isReported);
}

/** The reasons, each with its next step. A failed ingest below says what to do about numbers that are too old. */
function reasonLines(status: Shown, paint: Paint): string[] {
  // So does a run that was killed, or that is active.
  const isSaidBelow =
    hasOwnFailure(status) || status.unstored.length > 0 || status.isForRepair || status.unended !== null;
  const isUnproven = status.found.some(({ next }) => isUnprovenStep(next));
  return status.found.flatMap(({ words, next }, index) => {
    const isRepeated = status.found.slice(index + 1).some((later) => later.next === next);
    const isNeeded = next !== undefined && !isRepeated && !(next === staleStep && (isSaidBelow || isUnproven));
    return [paint('red', forTerminal(`  - ${words}`)), ...(isNeeded ? [`    ${forTerminal(nextWords(next))}`] : [])];
  });
}

/** The failure of the last ingest and the next step, unless a reason above reports it. */
function failureLines(status: Shown, paint: Paint): string[] {
  const { failedIngest } = status;
  if (failedIngest === null || !hasOwnFailure(status)) return [];
  const { exitCode, failures, next, at } = failedIngest;
  const when = at === null ? '' : ` at ${at}`;
  return [
    paint(
      'red',
      `  - the last ingest failed${when}${exitCode === null ? '' : ` (exit ${exitCode})`}: ${reasonOf(failures)}`,
    ),
    ...(status.isForRepair && isRepair(failedIngest.step) ? [] : [`    ${forTerminal(next)}`]),
  ];
}

/** A run that was killed, or is active. */
function unendedLines({ unended, unstored, isForRepair }: Shown, paint: Paint): string[] {
  // What a run found and could not store explains why it has no end.
  if (unended === null || (unstored.length > 0 && !unended.isActive)) return [];
  const { found, next: own } = unendedWords(unended);
  const next = isForRepair ? undefined : own;
  const line = forTerminal(`  - ${found}`);
  return unended.isActive || next === undefined
    ? [paint(unended.isActive ? 'dim' : 'yellow', line)]
    : [paint('yellow', line), forTerminal(`    ${nextWords(next)}`)];
}

/** The mistakes in jobs/, with what they stop and the next step. */
function jobFileLines({ jobFiles }: Status, paint: Paint): string[] {
  return jobFiles.flatMap(({ mistakes, effect, next }) => [
    ...mistakes.map((mistake) => paint('red', `  - ${forTerminal(mistake)}`)),
    `    ${forTerminal(`Until then, ${effect}. ${next}`)}`,
  ]);
}

/** What a later run found and the books could not store. */
function unstoredLines({ unstored }: Status, paint: Paint): string[] {
  return unstored.flatMap(({ title, detail, next, at }) => [
    paint('red', forTerminal(`  - ${title}${detail === undefined ? '' : `. ${detail}`} (a run found it at ${at})`)),
    ...(next === undefined ? [] : [forTerminal(`    ${next}`)]),
  ]);
}

const alertsShown = 5;
/** The alert key of a failed ingest. */
const ingestKey = 'run/ingest';

/** What failed, after a colon, without the failures of the ingest that are shown above; empty if there are no others. */
function reasonOnce(failures: readonly Failure[], { failedIngest }: Shown): string {
  const above = failedIngest?.failures ?? [];
  const others = failures.filter(({ found }) => !above.some((each) => each.found === found));
  return others.length === 0 && failures.length > 0 ? '' : `: ${reasonOf(others)}`;
}

/** The open alerts, most severe first, without those whose facts are shown above. */
function alertLines(status: Shown, paint: Paint): string[] {
  const { critical, messagesWaiting, waiting: bySink, list } = status.alerts;
  const steps = bySink.map(
    ({ found, remedy }) => `  ${forTerminal(found)}\n    ${forTerminal(nextWords(act(`${remedy}.`)))}`,
  );
  const waiting = messagesWaiting === 0 ? '' : `; ${counted(messagesWaiting, 'undelivered message')}`;
  if (list.length === 0) return waiting === '' ? [] : ['', paint('yellow', `no open alerts${waiting}`), ...steps];
  const above = new Set<string | undefined>([
    ...status.found.map(({ key }) => key),
    ...status.jobFiles.map(({ alert }) => alert ?? undefined),
    ...status.unstored.map(({ key }) => key),
    ...(status.failedIngest === null ? [] : [ingestKey]),
  ]);
  const others = list.filter(({ key }) => !above.has(key));
  const countAbove = list.length - others.length;
  const shownAbove = countAbove === 0 ? '' : `, ${others.length === 0 ? '' : `${countAbove} of them `}shown above`;
  const where = others.length === 0 ? '' : '. What to do: "costbook alerts --open"';
  const head = `${countWords(list)}${shownAbove}${waiting}${where}`;
  return [
    '',
    paint(critical > 0 || messagesWaiting > 0 ? 'yellow' : 'dim', head),
    ...others
      .slice(0, alertsShown)
      .map(({ icon, title, asOf }) => forTerminal(`  ${icon} ${title}${datedWords(asOf, status)}`)),
    ...(others.length > alertsShown ? [`  and ${others.length - alertsShown} more`] : []),
    ...steps,
  ];
}

/** The date of amounts that are older than the books. */
function datedWords(asOf: string | undefined, { accounts }: Status): string {
  const isOld = asOf !== undefined && accounts.every(({ completeThrough }) => completeThrough !== asOf);
  return isOld ? ` (as of ${asOf})` : '';
}

function reasonOf(failures: readonly Failure[]): string {
  return forTerminal(failures.length === 0 ? 'no reason is stored' : shortly(failures), maxSentenceLength);
}

function describe(status: Shown, now: Instant, paint: Paint): string {
  const {
    accounts,
    closed,
    moved,
    revokedExports: revoked,
    lastRun,
    freshnessHours,
    isTrustworthy,
    restated,
    futureDates,
  } = status;
  const failures = failureLines(status, paint);
  const yes = 'YES: everything in the books is proven and fresh.';
  const lines = [
    isTrustworthy
      ? failures.length === 0
        ? paint('green', paint('bold', yes))
        : paint('yellow', paint('bold', `${yes} But the last ingest failed.`))
      : paint('red', paint('bold', 'NO: not everything in the books is proven and fresh.')),
    ...reasonLines(status, paint),
    ...unstoredLines(status, paint),
    ...failures,
    ...unendedLines(status, paint),
    ...jobFileLines(status, paint),
    ...(status.earlierBooks === null
      ? []
      : [
          paint('yellow', forTerminal(`  - ${status.earlierBooks.found}`)),
          forTerminal(`    ${status.earlierBooks.next}`),
        ]),
    ...(futureDates === null ? [] : [paint('yellow', `  - ${futureDates.found}`), `    ${futureDates.remedy}`]),
    ...alertLines(status, paint),
  ];
  for (const account of accounts) {
    const { completeThrough, settledThrough } = account;
    const tooOld = account.isTooOld && account.isConfigured;
    lines.push(
      '',
      paint('bold', forTerminal(`${account.account}${account.name === null ? '' : ` (${account.name})`}`)),
      `  complete through   ${completeThrough ?? 'nothing yet'}` +
        `${completeThrough === null ? '' : paint('dim', `  ${tooOld ? ageBeyond(completeThrough, now, freshnessHours) : age(completeThrough, now)} ago`)}` +
        `${tooOld ? paint('red', '  TOO OLD') : ''}` +
        `${account.isConfigured ? '' : '  (no longer configured)'}`,
      `  settled through    ${settledThrough ?? 'nothing yet'}`,
      `  first hour         ${account.firstCovered ?? 'nothing yet'}`,
      `  role               ${account.role ?? 'not known yet'}`,
    );
    if (Number(account.unknownWorkspaceCost) !== 0) {
      lines.push(`  workspace unknown  ${account.unknownWorkspaceCost} USD (rows without uuid, fetched as member)`);
    }
    if (account.unproven.length === 0) lines.push(`  unproven           ${paint('green', 'nothing')}`);
    lines.push(...unprovenLines(account.unproven, 'UNPROVEN').map((line) => paint('red', line)));
    lines.push(...unprovenLines(account.postponed, 'not yet proven').map((line) => paint('yellow', line)));
    if (account.lastRun !== null && account.lastRun.exitCode !== 0) {
      const { exitCode, failures } = account.lastRun;
      const reason = reasonOnce(failures, status);
      if (reason !== '' || accounts.length > 1)
        lines.push(`  last run           ${paint('red', 'FAILED')}, exit ${exitCode}${reason}`);
    }
  }
  lines.push('');
  if (closed !== null) lines.push(`closed through ${closed.month}, last close at ${closed.closedAt}`);
  for (const { month, cost, corrections, billed } of moved) {
    if (status.alerts.list.some(({ key }) => key.startsWith('closed_month/') && key.endsWith(`/${month}`))) continue;
    const parts =
      billed.length > 1 ? billed.map((one) => `${one.month} (${usd(one.cost, true)})`) : billed.map((one) => one.month);
    const rows = `${counted(corrections, 'correction')}, billed in ${parts.join(', ')}`;
    lines.push(`  ${month} changed by ${usd(cost, true)} since its close: ${rows}`);
  }
  const revoke = revokedWords(revoked);
  if (revoke !== undefined) lines.push(revoke);
  if (restated.hours > 0) {
    const hours = counted(restated.hours, 'hourly cost');
    lines.push(
      `restated in the last ${restatedDays} days: ${hours}, ${usd(restated.cost, true)} ("costbook restatements")`,
    );
  }
  if (lastRun !== null && (lastRun['outcome'] !== 'running' || status.unended === null))
    lines.push(lastRunLine(lastRun, status, paint), ...stepOfLastRun(status));
  return `${lines.join('\n')}\n`;
}

/** What to do about the last run if it failed, unless an alert or a reason above says it. */
function stepOfLastRun(status: Shown): string[] {
  const { lastRunStep, alerts, failedIngest } = status;
  if (lastRunStep === null || isUndelivered(status) || (status.isForRepair && isRepair(lastRunStep.step))) return [];
  const isAbove = lastRunStep.command === 'ingest' && failedIngest !== null;
  const isAlert = alerts.list.some(({ key }) => key === `run/${encodeURIComponent(lastRunStep.command)}`);
  return isAbove || isAlert ? [] : [`  ${forTerminal(lastRunStep.next)}`];
}

/** Whether the last run could not deliver messages that are named above. */
function isUndelivered({ lastRun, alerts }: Status): boolean {
  return lastRun?.['exitCode'] === exitCodes.undelivered && alerts.waiting.length > 0;
}

/** How the last run ended; a refused close changed nothing and is not shown as a failure. */
function lastRunLine(run: NonNullable<Status['lastRun']>, status: Shown, paint: Paint): string {
  const [command, outcome] = [String(run['command']), String(run['outcome'])];
  const exitCode = run['exitCode'] === null ? null : Number(run['exitCode']);
  const isRefused = isRefusedClose({ command, outcome, exitCode });
  const failed =
    run.failures.length === 0 || isUndelivered(status)
      ? ''
      : isRefused
        ? `: ${forTerminal(firstOf(run.failures))}`
        : reasonOnce(run.failures, status);
  const words =
    `last run ${run['runNumber']} (${command}) ${isRefused ? 'refused' : outcome} at ${run['endedAt'] ?? run['startedAt']}` +
    `, exit ${exitCode ?? 'not yet'}${failed}`;
  return outcome === 'done' || isRefused ? words : paint('red', words);
}
