import type { AccountConfig } from '../config/index.ts';
import {
  type CostbookError,
  exitCodes,
  PlatformError,
  RefusedAnswerError,
  UnprovenError,
  UsageError,
  worstExitCode,
} from '../errors.ts';
import { coverWindows, planWindows, type Role } from '../fetch/index.ts';
import { type Client, discoverAccounts, discoverHistoryStart, metricsLimits } from '../platform/index.ts';
import { floorHour, floorMonth, formatInstant, formatWindow, hourMs, type Instant, type Window } from '../time.ts';
import type { TotalsKnown, UnprovenWindow } from '../warehouse/index.ts';
import { correctFalseClaims, openRunClock, type RunClock, reportClock } from './clocks.ts';
import { type ListingSummary, readInventory } from './inventory.ts';
import { countingClient, type IngestRequest, type IngestTools, type RequestCounts } from './tools.ts';
import { openPast, type PastVerification } from './verify.ts';
import { ingestWindows, isHopeless } from './windows.ts';

export type { ListingSummary } from './inventory.ts';
export { rebuildLoads, withLandingLosses } from './rebuild.ts';
export type { IngestProgress, IngestRequest, IngestTools, RequestCounts } from './tools.ts';
export { tonightsSeries } from './verify.ts';

/** What an ingest did for one account. */
export interface AccountSummary {
  readonly account: string;
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
  /** Why the account's ingest ended early or some of its windows could not be read; the message of an error of ours. */
  readonly errors: readonly string[];
  /** The exit codes that this account gives rise to. */
  readonly exitCodes: readonly number[];
  /** What came of the listings of its resources; none where they were not asked for. */
  readonly listings: readonly ListingSummary[];
}

/**
 * Brings the books of every account up to date: what is missing up to the last complete hour, and the young hours
 * again. One account's failure does not stop the others; it is in its summary. Failures of this machine, bugs and
 * signals end the ingest and are thrown.
 */
export async function ingest(request: IngestRequest, tools: IngestTools): Promise<AccountSummary[]> {
  const summaries: AccountSummary[] = [];
  const clock = openRunClock(request, tools);
  await registerAccounts(request, tools);
  for (const account of request.config.accounts) {
    tools.signal.throwIfAborted();
    const client = tools.openClient(account);
    const costs = await ingestAccount(account, client, request, tools, clock);
    // A platform that fails the costs is not asked for more; the resources are as they were until the next run.
    const mayAsk = costs.account !== '' && !costs.exitCodes.includes(exitCodes.platform);
    const listings = mayAsk ? await readInventory(account, costs.account, client, request, tools) : [];
    const summary = { ...costs, listings };
    summaries.push(summary);
    if (summary.account === '') continue;
    const { account: id, windows, pages, rows, restated, retries } = summary;
    await tools.warehouse.recordAccountRun({
      runNumber: request.runNumber,
      account: id,
      exitCode: worstExitCode(summary.exitCodes),
      error: whatFailed(summary, tools),
      windows,
      pages,
      rows,
      restated,
      requests: Object.values(summary.requests).reduce((sum, count) => sum + count, 0),
      retries,
    });
  }
  return summaries;
}

/**
 * Every configured account is in the books before anything is asked of it: one that never answers must be missed, not
 * overlooked. An account that was never loaded and is configured no longer is nothing to wait for.
 */
async function registerAccounts({ config }: IngestRequest, { warehouse, effects }: IngestTools): Promise<void> {
  const ids = config.accounts.flatMap(({ id }) => id ?? []);
  if (ids.length > 0) await warehouse.forgetAccountsNeverLoaded(ids);
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

async function ingestAccount(
  config: AccountConfig,
  platform: Client,
  request: IngestRequest,
  tools: IngestTools,
  clock: RunClock,
): Promise<Omit<AccountSummary, 'listings'>> {
  let hasAnswered = false;
  const client: Client = {
    ...platform,
    async call(...asked) {
      const answer = await platform.call(...asked);
      hasAnswered = true;
      return answer;
    },
  };
  const { warehouse, effects } = tools;
  const requests: RequestCounts = { new: 0, settle: 0, verify: 0, repair: 0 };
  const errors: string[] = [];
  const codes: number[] = [];
  const totals = { windows: 0, pages: 0, rows: 0, restated: 0 };
  const unproven: UnprovenWindow[] = [];
  let role: Role | undefined;
  let id = config.id ?? '';
  let past: PastVerification | undefined;
  let isPlatformClockWrong = false;

  function note(error: CostbookError): void {
    errors.push(error.message);
    codes.push(error.exitCode);
    effects.log.warn('account is not up to date', { account: id, because: error.message });
  }
  const failing = { note, signal: tools.signal, hasAnswered: () => hasAnswered };

  try {
    const counted = countingClient(client, () => (requests.new += 1));
    id = config.id ?? (await onlyAccount(counted, config.url, tools.signal));
    const now = effects.now();
    const lastHour = floorHour(now);
    const before = await warehouse.accountLedger(id);
    // An account without any cost so far is asked again where its history begins: the answer may be another by now.
    const knownStart = before?.hasAmounts ? before.historyStart : undefined;
    const historyStart = config.since ?? knownStart ?? (await findHistoryStart(counted, id, lastHour, tools));
    const facts = {
      account: id,
      name: config.name,
      historyStart,
      settleDays: request.config.settleDays,
      lagHours: request.config.lagHours,
    };
    const known: TotalsKnown = {
      decimals: before?.decimals ?? { cost: 0, usage: 0 },
      agreedTolerance: request.config.proofTolerance,
    };
    await warehouse.saveAccount({ ...facts, role: before?.role, decimals: known.decimals }, now);

    let covered = await warehouse.coveredPieces(id);
    if (await correctFalseClaims(id, covered, counted, request, tools)) covered = await warehouse.coveredPieces(id);
    // A run that is to look at a part of the hours only, or at everything again, has no question about the past.
    const isWhole = request.from === undefined && request.to === undefined && !request.refetch;
    past = isWhole
      ? await openPast({
          account: id,
          covered,
          client: countingClient(client, () => (requests.verify += 1)),
          known,
          role: before?.role,
          now,
          request,
          tools,
        })
      : undefined;
    const changed = await unlessPlatformFails(() => past?.days(), failing);
    const planned = planWindows({
      now,
      historyStart,
      from: request.from,
      to: request.to,
      refetch: request.refetch,
      settleDays: request.config.settleDays,
      covered,
      again: [...(await warehouse.unproven(id)).map(({ window }) => window), ...(changed ?? [])],
    });
    const reading = {
      account: id,
      client,
      requests,
      known,
      roleBefore: before?.role,
      now,
      request,
      tools,
      clock,
      totals,
    };
    const result = await ingestWindows({ ...reading, planned, role: undefined });
    role = result.role;
    unproven.push(...result.unproven);
    isPlatformClockWrong = result.isPlatformClockWrong;
    for (const failure of result.failures) note(failure);
    if (role !== undefined) await warehouse.saveAccount({ ...facts, role, decimals: result.decimals }, effects.now());

    const readAgain = async (days: readonly Window[] | undefined): Promise<void> => {
      if (days === undefined || days.length === 0) return;
      const again = coverWindows(days, metricsLimits.maxHourlyWindowMs);
      const planned = again.map((window) => ({ window, reason: 'repair' as const }));
      const repaired = await ingestWindows({ ...reading, planned, role });
      unproven.push(...repaired.unproven);
      for (const failure of repaired.failures) note(failure);
    };
    await readAgain(await unlessPlatformFails(() => past?.series(), failing));
    const end = (await warehouse.completeness(id))?.completeThrough ?? historyStart;
    await readAgain(await unlessPlatformFails(() => past?.months({ start: historyStart, end }), failing));
    await unlessPlatformFails(() => past?.confirm(), failing);
    if (isWhole) unproven.push(...(await warehouse.contradictions(id)));
  } catch (error) {
    if (!isAccountsOwn(error)) throw error;
    note(error);
  } finally {
    past?.close();
  }

  if (id !== '' && !isPlatformClockWrong) {
    await clock.settle(id, client.clocks());
    await reportClock(id, client.clocks(), request, tools);
  }
  const complete = await warehouse.completeness(id);
  const tooOldBefore = effects.now() - request.config.freshnessHours * hourMs;
  const isTooOld = (complete?.completeThrough ?? 0) < tooOldBefore;
  if (unproven.some(({ isYoung }) => !isYoung || isTooOld)) codes.push(exitCodes.unproven);
  return {
    account: id,
    completeThrough: complete?.completeThrough,
    settledThrough: complete?.settledThrough,
    role,
    ...totals,
    requests,
    retries: client.counters.retries,
    unproven,
    errors,
    exitCodes: codes,
  };
}

/**
 * Verifying the past is worth an error, not the night: where the platform fails it, what is missing is fetched all the
 * same. What every other request would meet as well is thrown.
 */
async function unlessPlatformFails<T>(
  verify: () => Promise<T> | undefined,
  { note, signal, hasAnswered }: Failing,
): Promise<T | undefined> {
  try {
    return await verify();
  } catch (error) {
    signal.throwIfAborted(); // the time is over, or a person has ended it
    // Who has not answered anything so far will keep the next request waiting just as long.
    const isMute = error instanceof PlatformError && error.code === 'timeout' && !hasAnswered();
    const mayGoOn = error instanceof RefusedAnswerError || (error instanceof PlatformError && !isHopeless(error));
    if (isMute || !mayGoOn) throw error;
    note(error);
    return undefined;
  }
}

/** What there is to know where the platform fails a request. */
interface Failing {
  note(error: CostbookError): void;
  readonly signal: AbortSignal;
  /** Whether the platform has answered any request of this account so far. */
  hasAnswered(): boolean;
}

/** True for a failure that concerns one account; anything else ends the run. */
function isAccountsOwn(error: unknown): error is CostbookError {
  return (
    error instanceof PlatformError ||
    error instanceof RefusedAnswerError ||
    error instanceof UnprovenError ||
    error instanceof UsageError
  );
}

/** The one account that the token can see, for a configuration that names none. */
async function onlyAccount(client: Client, url: string, signal: AbortSignal): Promise<string> {
  const ids = await discoverAccounts(client, signal);
  const [id] = ids;
  if (id !== undefined && ids.length === 1) return id;
  throw new UsageError(
    ids.length === 0
      ? `${url} names no account that this token can see: set COSTBOOK_ACCOUNT (or account in costbook.yaml)`
      : `the token can see ${ids.length} accounts (${ids.slice(0, 5).join(', ')}): set COSTBOOK_ACCOUNT (or accounts in costbook.yaml)`,
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
    found === undefined
      ? 'the account has had no cost in ten years; its books begin with this month'
      : 'the books begin with the first month with any cost; set since to begin elsewhere',
    { account, historyStart: formatInstant(start) },
  );
  return start;
}

/** What failed first for an account, in a sentence; undefined where nothing did. */
function whatFailed(summary: AccountSummary, tools: IngestTools): string | undefined {
  const because = firstError([summary]);
  return because && tools.redact(because);
}

/** The message of the first error of any account, for the run's row. */
export function firstError(summaries: readonly AccountSummary[]): string | undefined {
  const failed = summaries.find((summary) => summary.exitCodes.length > 0);
  if (failed === undefined) return undefined;
  const [first] = failed.unproven;
  return (
    failed.errors[0] ?? (first && `account ${failed.account}, window ${formatWindow(first.window)}: ${first.because}`)
  );
}
