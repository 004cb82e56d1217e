import pLimit from 'p-limit';
import {
  type CostbookError,
  exitCodeOf,
  exitCodes,
  PlatformError,
  RefusedAnswerError,
  UnprovenError,
  UsageError,
  worstExitCode,
} from '../base/errors.ts';
import { type Failure, failuresOf, redactedFailures, unprovenWindowCode } from '../base/failure.ts';
import { unprovenStepAfter } from '../base/next-step.ts';
import type { AccountConfig } from '../config/index.ts';
import { coverWindows, planWindows } from '../fetch/plan/index.ts';
import { type Client, discoverAccounts, discoverHistoryStart } from '../platform/index.ts';
import { metricsLimits } from '../platform/interface/index.ts';
import {
  floorHour,
  floorMonth,
  formatInstant,
  formatWindow,
  hourMs,
  type Instant,
  intersectWindows,
  type Window,
} from '../time/time.ts';
import { startOfBooks, type UnprovenWindow, unprovenText } from '../warehouse/ledger/index.ts';
import type { TotalDecimals, TotalsKnown } from '../warehouse/load/index.ts';
import type { CoveredWindow, Role } from '../warehouse/page.ts';
import { correctFalseClaims, openRunClock, type RunClock, reportClock } from './clocks.ts';
import { ingestWindows, isHopeless } from './ingest-windows.ts';
import { type ListingSummary, readInventory } from './inventory.ts';
import { checkPlatformLists } from './platform-lists.ts';
import { accountsAtOnce, openSharedWork, type SharedWork } from './shared-work.ts';
import { countingClient, type IngestRequest, type IngestTools, type RequestCounts } from './tools.ts';
import { openPast, type PastVerification } from './verify-past.ts';

export { tidyLanding } from './archive-landing.ts';
export { openAfterKill } from './heal.ts';
export { type AccountPlan, type PlannedRequest, planIngest } from './plan.ts';
export { checkLanding } from './rebuild.ts';
export { type Rebuilt, rebuildInto } from './rebuild-into.ts';
export { type Repaired, repair } from './repair.ts';
export { reducedAccessOf, refusedListings } from './token-access.ts';
export type { IngestProgress } from './tools.ts';

/** What an ingest did for one account. */
export interface AccountSummary {
  readonly account: string;
  /** What people call it: its ID, or `the account of api.example.com` until the platform has named it. */
  readonly called: string;
  readonly completeThrough: Instant | undefined;
  readonly settledThrough: Instant | undefined;
  readonly role: Role | undefined;
  readonly windows: number;
  readonly pages: number;
  readonly rows: number;
  readonly restated: number;
  readonly requests: Readonly<RequestCounts>;
  readonly retries: number;
  readonly unproven: readonly UnprovenWindow[];
  /** Why the account's ingest ended early, or why windows could not be fetched. */
  readonly failures: readonly Failure[];
  /** The exit codes that this account calls for. */
  readonly exitCodes: readonly number[];
  /** The outcome of its resource listings; empty if they were not fetched. */
  readonly listings: readonly ListingSummary[];
}

/** The codes of an ingest that was refused because the token sees less than before. */
const lostAccessCodes: readonly string[] = ['reduced_access', 'reduced_totals', 'renamed_workspaces'];

/**
 * Brings the books of every account up to date: fetches what is missing up to the last complete hour, and young hours
 * again. Several accounts are in progress at once; requests and windows are shared fairly among them. An account that
 * fails or is slow does not stop the others; its failure is in its summary. Returns the summaries in the order of the
 * configuration. Throws failures of this machine and signals, which end the ingest, and a bug that the answers of one account
 * met, once the others are done.
 */
export async function ingest(request: IngestRequest, tools: IngestTools): Promise<AccountSummary[]> {
  const clock = openRunClock(request, tools);
  const shared = openSharedWork(request.config.concurrency, tools.warehouse);
  await registerAccounts(request, tools);
  const atOnce = pLimit(accountsAtOnce);
  const abort = new AbortController();
  const ours = { ...tools, signal: AbortSignal.any([tools.signal, abort.signal]) };
  const settled = await Promise.allSettled(
    request.config.accounts.map((account) =>
      atOnce(() => bringUpToDate(account, request, ours, { clock, shared })).catch((error: unknown) => {
        if (exitCodeOf(error) !== exitCodes.bug && !ours.signal.aborted) abort.abort(error);
        throw error;
      }),
    ),
  );
  const failed = settled.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') {
    ours.signal.throwIfAborted();
    throw failed.reason;
  }
  return settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}

/** Ingests the costs and the listings of one account, and records the outcome. */
async function bringUpToDate(
  account: AccountConfig,
  request: IngestRequest,
  tools: IngestTools,
  common: { readonly clock: RunClock; readonly shared: SharedWork },
): Promise<AccountSummary> {
  const client = tools.openClient(account);
  const costs = await ingestAccount(account, client, request, tools, common);
  // A platform that fails for costs gets no further requests; the resources stay as they are until the next run.
  // Neither does a token that lost access: its listings would only look shrunken.
  const hasLostAccess = costs.failures.some(({ code }) => lostAccessCodes.includes(code));
  const mayAsk = costs.account !== '' && !costs.exitCodes.includes(exitCodes.platform) && !hasLostAccess;
  const listings = mayAsk ? await readInventory(account, costs, client, request, tools) : [];
  if (mayAsk) await checkPlatformLists(costs.account, client, request, tools);
  const summary = { ...costs, listings };
  if (summary.account === '') return summary;
  const { account: id, windows, pages, rows, restated, retries } = summary;
  await tools.warehouse.recordAccountRun({
    runNumber: request.runNumber,
    account: id,
    exitCode: worstExitCode(summary.exitCodes),
    failures: redactedFailures(failuresOfRun([summary]), tools.redact),
    windows,
    pages,
    rows,
    restated,
    requests: Object.values(summary.requests).reduce((sum, count) => sum + count, 0),
    retries,
  });
  return summary;
}

/**
 * Stores every configured account before the first request, so that an account that never answers is noticed. Accounts that
 * are no longer configured end; those that were never loaded are forgotten.
 */
async function registerAccounts({ config }: IngestRequest, { warehouse, effects }: IngestTools): Promise<void> {
  const ids = config.accounts.flatMap(({ id }) => id ?? []);
  if (ids.length > 0) await warehouse.setConfigured(ids, effects.now());
  for (const { id, name, since } of config.accounts) {
    if (id === undefined || (await warehouse.accountLedger(id)) !== undefined) continue;
    const { settleDays, lagHours } = config;
    const unknown = { role: undefined, decimals: { cost: 0, usage: 0 } };
    await warehouse.saveAccount(
      { account: id, name, historyStart: since, settleDays, lagHours, ...unknown },
      effects.now(),
    );
  }
}

/** What has happened to an account in its ingest; every part adds to it. */
interface AccountProgress {
  /** Empty until the platform has named the account. */
  account: string;
  readonly requests: RequestCounts;
  readonly totals: { windows: number; pages: number; rows: number; restated: number };
  readonly failures: Failure[];
  readonly codes: number[];
  readonly unproven: UnprovenWindow[];
  role: Role | undefined;
  isPlatformClockWrong: boolean;
  /** Whether the platform has answered any request of this account yet. */
  hasAnswered: boolean;
}

/** What the steps of an account's ingest share. */
interface AccountIngest {
  readonly config: AccountConfig;
  readonly client: Client;
  readonly request: IngestRequest;
  readonly tools: IngestTools;
  readonly clock: RunClock;
  readonly shared: SharedWork;
  readonly progress: AccountProgress;
}

async function ingestAccount(
  config: AccountConfig,
  platform: Client,
  request: IngestRequest,
  tools: IngestTools,
  { clock, shared }: { readonly clock: RunClock; readonly shared: SharedWork },
): Promise<Omit<AccountSummary, 'listings'>> {
  const progress: AccountProgress = {
    account: config.id ?? '',
    requests: { new: 0, settle: 0, verify: 0, repair: 0 },
    totals: { windows: 0, pages: 0, rows: 0, restated: 0 },
    failures: [],
    codes: [],
    unproven: [],
    role: undefined,
    isPlatformClockWrong: false,
    hasAnswered: false,
  };
  const client: Client = {
    ...platform,
    async call(...asked) {
      const answer = await platform.call(...asked);
      progress.hasAnswered = true;
      return answer;
    },
  };
  const ingest: AccountIngest = { config, client, request, tools, clock, shared, progress };
  try {
    tools.signal.throwIfAborted(); // an ingest that is out of time says so for each account
    await fetchAccount(ingest);
  } catch (error) {
    if (!isAccountsOwn(error)) throw error;
    note(ingest, error);
  }
  const { account } = progress;
  if (account !== '' && !progress.isPlatformClockWrong) {
    await clock.settle(account, client.clocks());
    await reportClock(account, client.clocks(), request, tools);
  }
  return summarize(ingest);
}

function called(config: AccountConfig, { account }: AccountProgress): string {
  return account === '' ? `the account of ${new URL(config.url).host}` : account;
}

/** Records a failure of the account; the ingest of the others continues. */ function note(
  { config, progress, tools }: AccountIngest,
  error: CostbookError,
): void {
  progress.failures.push(...failuresOf(error));
  progress.codes.push(error.exitCode);
  tools.effects.log.warn('account.outdated', 'The account is not up to date', {
    account: called(config, progress),
    reason: error.message,
  });
}

/** The state of an account in the books before anything is fetched, and where its history starts. */
interface AccountStart {
  readonly historyStart: Instant;
  readonly roleBefore: Role | undefined;
  readonly known: TotalsKnown;
  /** Stores the account's facts as far as they are known. */
  save(role: Role | undefined, decimals: TotalDecimals, now: Instant): Promise<void>;
}

/** Finds the account's ID and the start of its history, and stores both. */
async function startAccount(ingest: AccountIngest, now: Instant): Promise<AccountStart> {
  const { config, client, request, tools, progress } = ingest;
  const { warehouse } = tools;
  const { account } = progress;
  const counted = countingClient(client, () => (progress.requests.new += 1));
  const before = await warehouse.accountLedger(account);
  // Fetch the start of history again for an account without costs: it may have some by now.
  const historyStart =
    startOfBooks(config.since, before) ?? (await findHistoryStart(counted, account, floorHour(now), tools));
  const { settleDays, lagHours, proofTolerance } = request.config;
  const facts = { account, name: config.name, historyStart, settleDays, lagHours };
  const start: AccountStart = {
    historyStart,
    roleBefore: before?.role,
    known: { decimals: before?.decimals ?? { cost: 0, usage: 0 }, agreedTolerance: proofTolerance },
    save: (role, decimals, at) => warehouse.saveAccount({ ...facts, role, decimals }, at),
  };
  await start.save(start.roleBefore, start.known.decimals, now);
  return start;
}

/** Fetches what an account is missing, and verifies its past if the run covers all of it. */
async function fetchAccount(ingest: AccountIngest): Promise<void> {
  const { config, client, request, tools, progress } = ingest;
  const { warehouse, effects } = tools;
  const counted = countingClient(client, () => (progress.requests.new += 1));
  progress.account = config.id ?? (await onlyAccount(counted, config.url, tools.signal));
  const { account } = progress;
  const now = effects.now();
  const start = await startAccount(ingest, now);
  let covered = await warehouse.coveredWindows(account);
  if (await correctFalseClaims(account, covered, counted, request, tools)) {
    covered = await warehouse.coveredWindows(account);
  }
  // A run over a part of the hours, or one that fetches everything again, does not verify the past.
  const isWhole = request.from === undefined && request.to === undefined && !request.refetch;
  const past = isWhole
    ? await openPast({
        account,
        covered,
        client: countingClient(client, () => (progress.requests.verify += 1)),
        known: start.known,
        role: start.roleBefore,
        now,
        request,
        tools,
      })
    : undefined;
  try {
    await fetchAndVerify(ingest, { ...start, now, covered, past });
  } finally {
    past?.close();
  }
  if (isWhole) progress.unproven.push(...(await warehouse.contradictions(account)));
}

/** Fetches missing and changed windows, then verifies the past and fetches again the days that differ. */
async function fetchAndVerify(
  ingest: AccountIngest,
  start: AccountStart & {
    readonly now: Instant;
    readonly covered: readonly CoveredWindow[];
    readonly past: PastVerification | undefined;
  },
): Promise<void> {
  const { request, tools, progress } = ingest;
  const { warehouse, effects } = tools;
  const { account } = progress;
  const { historyStart, past } = start;
  const changed = await unlessPlatformFails(ingest, () => past?.days());
  const planned = planWindows({
    now: start.now,
    historyStart,
    from: request.from,
    to: request.to,
    refetch: request.refetch,
    settleDays: request.config.settleDays,
    covered: start.covered,
    again: [...(await warehouse.unproven(account)).map(({ window }) => window), ...(changed ?? [])],
  });
  progress.role = past?.revealedRole();
  const result = await fetchWindows(ingest, start, planned);
  progress.role = result.role;
  if (result.role !== undefined) past?.useRole(result.role);
  progress.isPlatformClockWrong = result.isPlatformClockWrong;
  if (result.role !== undefined) await start.save(result.role, result.decimals, effects.now());

  await fetchAgain(ingest, start, await unlessPlatformFails(ingest, () => past?.series()));
  const end = (await warehouse.completeness(account))?.completeThrough ?? historyStart;
  await fetchAgain(ingest, start, await unlessPlatformFails(ingest, () => past?.months({ start: historyStart, end })));
  await unlessPlatformFails(ingest, () => past?.confirm());
}

/** Fetches and loads windows, and adds the results to the account's progress. */
async function fetchWindows(
  ingest: AccountIngest,
  { known, roleBefore, now }: AccountStart & { readonly now: Instant },
  planned: Parameters<typeof ingestWindows>[0]['planned'],
): ReturnType<typeof ingestWindows> {
  const { client, request, tools, clock, shared, progress } = ingest;
  const { account, requests, totals, role } = progress;
  const reading = { account, client, requests, known, roleBefore, now, request, tools, clock, shared, totals };
  const result = await ingestWindows({ ...reading, planned, role });
  progress.unproven.push(...result.unproven);
  for (const failure of result.failures) note(ingest, failure);
  return result;
}

/** Fetches past days again in which books and platform differ. */
async function fetchAgain(
  ingest: AccountIngest,
  start: AccountStart & { readonly now: Instant },
  days: readonly Window[] | undefined,
): Promise<void> {
  if (days === undefined || days.length === 0) return;
  const windows = coverWindows(days, metricsLimits.maxHourlyWindowMs);
  await fetchWindows(
    ingest,
    start,
    windows.map((window) => ({ window, reason: 'repair' as const })),
  );
}

/** What the ingest did for an account, and the state of its books now. */
async function summarize({
  config,
  client,
  request,
  tools,
  progress,
}: AccountIngest): Promise<Omit<AccountSummary, 'listings'>> {
  const { account, role, totals, requests, unproven, failures, codes } = progress;
  const complete = await tools.warehouse.completeness(account);
  const tooOldBefore = tools.effects.now() - request.config.freshnessHours * hourMs;
  const isTooOld = (complete?.completeThrough ?? 0) < tooOldBefore;
  const isUnproven = unproven.some(({ isYoung }) => !isYoung || isTooOld);
  const onRecord = unproven.length === 0 ? [] : await tools.warehouse.unproven(account);
  return {
    account,
    called: called(config, progress),
    completeThrough: complete?.completeThrough,
    settledThrough: complete?.settledThrough,
    role,
    ...totals,
    requests,
    retries: client.counters.retries,
    unproven: unproven.map((one) => withNights(one, onRecord)),
    failures,
    exitCodes: isUnproven ? [...codes, exitCodes.unproven] : codes,
  };
}

/** A window that differs, with the nights on which its hours have differed. */
function withNights(one: UnprovenWindow, onRecord: readonly UnprovenWindow[]): UnprovenWindow {
  const same = onRecord.filter(({ window }) => intersectWindows(window, one.window) !== undefined);
  const nights = Math.max(0, ...same.map(({ nights = 0 }) => nights));
  return nights === 0 ? one : { ...one, nights };
}

/**
 * A failed verification of the past is an error, but missing hours are fetched all the same. Throws what every other
 * request would fail with, too.
 */
async function unlessPlatformFails<T>(
  ingest: AccountIngest,
  verify: () => Promise<T> | undefined,
): Promise<T | undefined> {
  try {
    return await verify();
  } catch (error) {
    ingest.tools.signal.throwIfAborted(); // timed out, or stopped by a person
    // If the platform has not answered anything yet, the next request would wait just as long.
    const isMute = error instanceof PlatformError && error.fault === 'timeout' && !ingest.progress.hasAnswered;
    const mayGoOn = error instanceof RefusedAnswerError || (error instanceof PlatformError && !isHopeless(error));
    if (isMute || !mayGoOn) throw error;
    note(ingest, error);
    return undefined;
  }
}

/** True for a failure that concerns one account only; anything else ends the run. */
function isAccountsOwn(error: unknown): error is CostbookError {
  return (
    error instanceof PlatformError ||
    error instanceof RefusedAnswerError ||
    error instanceof UnprovenError ||
    error instanceof UsageError
  );
}

/** The only account that the token can access, for a configuration that names none. */
async function onlyAccount(client: Client, url: string, signal: AbortSignal): Promise<string> {
  const ids = await discoverAccounts(client, signal);
  const [id] = ids;
  if (id !== undefined && ids.length === 1) return id;
  throw new UsageError(
    ids.length === 0
      ? `${url} lists no account for this token. Set COSTBOOK_ACCOUNT (or account in costbook.yaml)`
      : `the token has access to ${ids.length} accounts (${ids.slice(0, 5).join(', ')}). Set COSTBOOK_ACCOUNT (or accounts in costbook.yaml)`,
  );
}

async function findHistoryStart(
  client: Client,
  account: string,
  lastHour: Instant,
  tools: IngestTools,
): Promise<Instant> {
  const found = await discoverHistoryStart(client, account, lastHour, tools.signal);
  const start = found ?? floorMonth(lastHour);
  tools.effects.log.info(
    'account.history_found',
    found === undefined
      ? 'The account had no cost in ten years; its books start with this month'
      : 'The books start with the first month that has costs; set "since" to start elsewhere',
    { account, historyStart: formatInstant(start) },
  );
  return start;
}

/**
 * What failed, for the record of the run: first in the account that decides the exit code. Windows that fail for the
 * same reason are one failure; so are windows that differ from the platform's totals.
 */
export function failuresOfRun(summaries: readonly AccountSummary[]): readonly Failure[] {
  const failing = summaries.filter(({ exitCodes }) => exitCodes.length > 0);
  const worst = worstExitCode(failing.flatMap((summary) => summary.exitCodes));
  const isWorst = (summary: AccountSummary) => summary.exitCodes.includes(worst);
  return [...failing.filter(isWorst), ...failing.filter((summary) => !isWorst(summary))].flatMap(failuresOfAccount);
}

function failuresOfAccount({ account, failures, unproven }: AccountSummary): readonly Failure[] {
  const [first] = unproven;
  if (failures.length === 0 && first !== undefined) {
    const found = `account ${account}, window ${formatWindow(first.window)}: ${first.reason}`;
    return [{ code: unprovenWindowCode, subject: account, found, next: unprovenStepAfter(unproven.map(unprovenText)) }];
  }
  const causes = failures.map(({ code, subject }) => JSON.stringify([code, subject]));
  return failures.filter((_, index) => causes.indexOf(causes[index] ?? '') === index);
}
