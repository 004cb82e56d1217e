import { join } from 'node:path';
import { allOpenAlerts, unstoredStill } from '../alerts/index.ts';
import { failuresIn, textOf } from '../base/failure.ts';
import { asClause, nextWords } from '../base/next-step.ts';
import type { LocalConfig } from '../config/index.ts';
import {
  alertRows,
  diskKey,
  endedRunOf,
  isRefusedClose,
  listedCosts,
  stepAfterRun,
  unprovenWords,
  withUsualCosts,
} from '../findings/index.ts';
import { earlierBooks, type RevokedClose, type RevokedExport, revokedCloses } from '../reports/exports/index.ts';
import { textOrNull } from '../tables/optional-text.ts';
import { dayMs, formatInstant, formatMonth, hourMs, type Instant } from '../time/time.ts';
import { type Books, spaceOf, unendedRun } from '../warehouse/integrity/index.ts';
import {
  closeAgainStep,
  closedMonths,
  contradictions,
  differingCloses,
  differingCloseWords,
  lastFetch,
  unprovenText,
  unprovenWindows,
} from '../warehouse/ledger/index.ts';
import { readSql } from '../warehouse/sql/index.ts';
import { type Connection, lastAnswers, type SqlRow } from '../warehouse/store/index.ts';
import { futureInstants } from './books-clock.ts';
import { faultsOfFiles } from './files-of-books.ts';
import { lateWords } from './late-words.ts';
import type { Problem } from './problem.ts';
import { problemsOf } from './problems.ts';
import type { AccountStatus, BooksStatus, JobFileFaults, ListedCosts, MovedMonth, Status } from './status-types.ts';
import { undelivered } from './undelivered.ts';

/** What the status depends on besides the books. */
export interface StatusAsked {
  readonly dir: string;
  readonly now: Instant;
  readonly signal: AbortSignal;
  readonly freshnessHours: number;
  /** The accounts that the configuration names; empty means all. */
  readonly configured: readonly string[];
  readonly jobFiles: readonly JobFileFaults[];
  /** Whether the whole journal and the warehouse are read. */
  readonly isThorough?: boolean;
  /** How long a check of an open alert may take. */
  readonly timeoutMs?: number | undefined;
  /** The exports that show one of these revoked closes; left out: they are not looked for. */
  exportsOfRevoked?(closes: readonly RevokedClose[]): Promise<RevokedExport[]>;
}

/** What a project's configuration says that the status needs. */
export function statusSettings({ freshnessHours, accounts }: Pick<LocalConfig, 'freshnessHours' | 'accounts'>) {
  return { freshnessHours, configured: accounts.flatMap(({ id }) => id ?? []) };
}

/** Reads the status of a project from its published books and the files beside them. */
export async function readStatus(books: Books, asked: StatusAsked): Promise<Status> {
  const { dir, now, signal, isThorough = false } = asked;
  const files = await faultsOfFiles(dir, books, signal, { isThorough });
  const unended = (await unendedRun(dir, books)) ?? null;
  const unstored = await unstoredStill(dir);
  const ofBooks = await readBooks(books.connection, asked);
  const read: BooksStatus = { ...ofBooks, files, unstored, unended, jobFiles: asked.jobFiles };
  const fetch = await lastFetch(books.connection);
  const problems = problemsOf({ ...read, now, lastFetch: fetch, space: await spaceOf(dir) });
  const reasons = reasonsOf(read, problems, now);
  const disk = unstored.find(({ key }) => key === diskKey);
  const { files: _, differing: __, futureDates, ...status } = read;
  return {
    ...{ isTrustworthy: reasons.length === 0, reasons, problems },
    ...status,
    fullDisk: disk === undefined ? null : { title: disk.title, next: disk.next ?? null, at: disk.at },
    futureDates: futureDates && { found: futureDates.found, remedy: asClause(futureDates.next.words) },
  };
}

/** The reasons not to trust the numbers, one sentence each. */
function reasonsOf(
  { accounts, freshnessHours, files, differing }: BooksStatus,
  problems: readonly Problem[],
  now: Instant,
) {
  const ofFiles = problems.find(({ key }) => key === 'books');
  return [
    ...files.map(({ found, next }) => `${found}: ${asClause((ofFiles?.next ?? next).words)}`),
    ...(accounts.length === 0 ? ['the books have no account yet: run "costbook ingest"'] : []),
    ...accounts.flatMap((account) => reasonsOfAccount(account, now, freshnessHours)),
    ...differing.map(({ found, next }) => `${found}: ${asClause(next.words)}`),
  ];
}

function reasonsOfAccount(
  { account, completeThrough, isConfigured, isTooOld, unproven }: AccountStatus,
  now: Instant,
  freshnessHours: number,
) {
  return [
    ...(unproven.length === 0 ? [] : [unprovenWords(`account ${account}`, unproven)]),
    ...(isConfigured && isTooOld ? [lateWords(account, completeThrough, now, freshnessHours)] : []),
  ];
}

/** What the books say. */
async function readBooks(
  connection: Connection,
  { dir, now, signal, timeoutMs, freshnessHours, configured, ...asked }: StatusAsked,
): Promise<Omit<BooksStatus, 'files' | 'unstored' | 'unended' | 'jobFiles'>> {
  const rows = await connection.rows(await readSql('status', 'accounts'));
  const tooOldBefore = now - freshnessHours * hourMs;
  const listed = await listedCosts(connection, lastAnswers(connection));
  const found = await Promise.all(
    rows.map((row) => accountStatus(row, connection, { tooOldBefore, configured, listed })),
  );
  const accounts = await withUsualCosts(connection, found, now);
  const last = (await closedMonths(connection)).at(-1);
  const [lastRun] = await connection.rows(await readSql('status', 'last_run'));
  const differing = (last === undefined ? [] : await differingCloses(connection)).map((each) => ({
    ...{ account: each.account, month: each.month },
    ...{ found: differingCloseWords(each), next: closeAgainStep(each) },
  }));
  const open = await allOpenAlerts(connection, now, {
    dir,
    signal,
    accounts,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  const waiting = await undelivered(connection);
  // On its own or as a step of a job.
  const failures = (await alertRows(connection, 'last_runs')).filter((row) => row['outcome'] !== 'done');
  const failedIngest = failures.find((row) => row['command'] === 'ingest');
  const [restated = {}] = await connection.rows(await readSql('status', 'restated_hours'), {
    since: formatInstant(now - restatedDays * dayMs),
    now: formatInstant(now),
  });
  const [firstRun] = await connection.rows(await readSql('status', 'first_run'));
  const begun = textOrNull(firstRun?.['started_at']);
  const earlier = await earlierBooks(join(dir, 'exports'), begun);
  return {
    differing,
    freshnessHours,
    begun,
    earlierBooks:
      earlier === undefined ? null : { found: earlier.found, next: nextWords(earlier.next), step: earlier.next },
    accounts,
    closed: last === undefined ? null : { month: formatMonth(last.month), closedAt: formatInstant(last.closedAt) },
    moved: last === undefined ? [] : await movedMonths(connection),
    revokedExports: (await asked.exportsOfRevoked?.(await revokedCloses(connection))) ?? [],
    restated: {
      ...{ hours: Number(restated['hours']), cost: String(restated['cost']) },
      ...{ firstDay: textOrNull(restated['first_day']), lastDay: textOrNull(restated['last_day']) },
      months: JSON.parse(String(restated['months'] ?? '[]')) as BooksStatus['restated']['months'],
    },
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

/** The state of one account. */
async function accountStatus(
  row: SqlRow,
  connection: Connection,
  {
    tooOldBefore,
    configured,
    listed,
  }: {
    readonly tooOldBefore: Instant;
    readonly configured: readonly string[];
    readonly listed: ReadonlyMap<string, ListedCosts>;
  },
): Promise<AccountStatus> {
  const account = String(row['account']);
  const unproven = [...(await unprovenWindows(connection, account)), ...(await contradictions(connection, account))];
  const completeThrough = row['complete_through'];
  const failures = failuresIn(row['failures']);
  const resources = listed.get(account);
  return {
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
    resources: resources === undefined ? null : { ...resources, listedAt: instantOrNull(resources.listedAt) },
    lastRun:
      row['run_number'] === null
        ? null
        : {
            runNumber: Number(row['run_number']),
            exitCode: Number(row['exit_code']),
            error: textOf(failures),
            failures,
          },
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
  const { exitCode, error, errorCode, failures, endedAt, outcome } = ended;
  const step = stepAfterRun(ended);
  return { exitCode, error, errorCode, failures, next: nextWords(step), step, at: endedAt, outcome };
}

/** How many days of restatements are shown. */
export const restatedDays = 7;

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
