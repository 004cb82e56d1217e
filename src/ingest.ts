import pLimit from 'p-limit';
import type { AccountConfig, Config } from './config.ts';
import type { Effects } from './effects.ts';
import { type CostbookError, exitCodes, messageOf, PlatformError, RefusedAnswerError, UsageError } from './errors.ts';
import { type DecodedPage, type Landing, type PlannedWindow, planWindows, type Role } from './fetch/index.ts';
import { describeFailures, readWindow } from './ingest-window.ts';
import {
  billingDimensions,
  type Client,
  discoverAccounts,
  discoverHistoryStart,
  resourceTypes,
} from './platform/index.ts';
import { floorHour, floorMonth, formatInstant, formatWindow, hourMs, type Instant } from './time.ts';
import type { LoadResult, Stage, TotalDecimals, UnprovenWindow, Warehouse } from './warehouse/index.ts';

/** What an ingest is asked to do. */
export interface IngestRequest {
  readonly config: Config;
  /** Restricts the hours that are looked at; both ends optional, whole hours. */
  readonly from: Instant | undefined;
  readonly to: Instant | undefined;
  /** Fetch everything in the range again, also what is there and settled. */
  readonly refetch: boolean;
  readonly runNumber: number;
}

/** Where an ingest works and what it may touch. */
export interface IngestTools {
  readonly warehouse: Warehouse;
  readonly landing: Landing;
  openClient(account: AccountConfig): Client;
  readonly effects: Effects;
  readonly signal: AbortSignal;
  /** Called as work proceeds; cheap to ignore. */
  onProgress(progress: IngestProgress): void;
}

export interface IngestProgress {
  readonly account: string;
  readonly windowsDone: number;
  readonly windows: number;
  readonly pages: number;
  readonly rows: number;
}

/** How many requests were made, by why; every page asked for counts once, retries apart. */
export interface RequestCounts {
  /** Hours never loaded, and finding out where history begins. */
  new: number;
  /** Young hours asked again. */
  settle: number;
  /** Checking the past against the platform. */
  verify: number;
  /** Windows asked again, because they did not prove or because they were to be fetched again. */
  repair: number;
}

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
}

/** Windows failing at the transport one after another before the platform is taken to be down. */
const maxFailuresInARow = 3;
/** Readers get what a long backfill has so far at this pace, or slower where publishing itself takes long. */
const publishEveryMs = 30_000;

/**
 * Brings the books of every account up to date: what is missing up to the last complete hour, and the young hours
 * again. One account's failure does not stop the others; it is in its summary. Failures of this machine, bugs and
 * signals end the ingest and are thrown.
 */
export async function ingest(request: IngestRequest, tools: IngestTools): Promise<AccountSummary[]> {
  const summaries: AccountSummary[] = [];
  for (const account of request.config.accounts) {
    tools.signal.throwIfAborted();
    summaries.push(await ingestAccount(account, request, tools));
  }
  return summaries;
}

async function ingestAccount(
  config: AccountConfig,
  request: IngestRequest,
  tools: IngestTools,
): Promise<AccountSummary> {
  const { warehouse, effects } = tools;
  const client = tools.openClient(config);
  const requests: RequestCounts = { new: 0, settle: 0, verify: 0, repair: 0 };
  const errors: string[] = [];
  const codes: number[] = [];
  const totals = { windows: 0, pages: 0, rows: 0, restated: 0 };
  const unproven: UnprovenWindow[] = [];
  let role: Role | undefined;
  let id = config.id ?? '';

  function note(error: CostbookError): void {
    errors.push(error.message);
    codes.push(error.exitCode);
    effects.log.warn('account is not up to date', { account: id, because: error.message });
  }

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
    const known = before?.decimals ?? { cost: 0, usage: 0 };
    await warehouse.saveAccount({ ...facts, role: before?.role, decimals: known });

    const planned = planWindows({
      now,
      historyStart,
      from: request.from,
      to: request.to,
      refetch: request.refetch,
      settleDays: request.config.settleDays,
      covered: await warehouse.coveredPieces(id),
      unproven: (await warehouse.unproven(id)).map(({ window }) => window),
    });
    const result = await ingestWindows({ account: id, planned, client, requests, known, now, request, tools, totals });
    role = result.role;
    unproven.push(...result.unproven);
    if (unproven.length > 0) codes.push(exitCodes.unproven);
    for (const failure of result.failures) note(failure);
    if (role !== undefined) await warehouse.saveAccount({ ...facts, role, decimals: result.decimals });
  } catch (error) {
    if (!(error instanceof PlatformError || error instanceof RefusedAnswerError || error instanceof UsageError))
      throw error;
    note(error);
  }

  const complete = await warehouse.completeness(id);
  return {
    account: id,
    completeThrough: complete.completeThrough,
    settledThrough: complete.settledThrough,
    role,
    ...totals,
    requests,
    retries: client.counters.retries,
    unproven,
    errors,
    exitCodes: codes,
  };
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

/** The same client with each call counted. */
function countingClient(client: Client, count: () => void): Client {
  return {
    counters: client.counters,
    call(...asked) {
      count();
      return client.call(...asked);
    },
  };
}

interface WindowsResult {
  readonly role: Role | undefined;
  readonly decimals: TotalDecimals;
  readonly unproven: UnprovenWindow[];
  readonly failures: CostbookError[];
}

/**
 * Reads, proves and loads the planned windows, several on their way at once and one in the warehouse at a time.
 * A window holds its place until it is loaded, so that at most `concurrency` windows are staged.
 */
async function ingestWindows(options: {
  account: string;
  planned: readonly PlannedWindow[];
  client: Client;
  requests: RequestCounts;
  known: TotalDecimals;
  now: Instant;
  request: IngestRequest;
  tools: IngestTools;
  /** Grows as windows are loaded. */
  totals: { windows: number; pages: number; rows: number; restated: number };
}): Promise<WindowsResult> {
  const { account, planned, request, tools, totals } = options;
  const { warehouse, landing, effects } = tools;
  const { config } = request;
  const windowsInFlight = pLimit(config.concurrency);
  const warehouseQueue = pLimit(1); // DuckDB has one writer, and four busy queries would starve DNS and files
  const abort = new AbortController();
  const signal = AbortSignal.any([tools.signal, abort.signal]);
  const claimedEnd = floorHour(options.now) - config.lagHours * hourMs;
  const unproven: UnprovenWindow[] = [];
  const failures: CostbookError[] = [];
  const unknown = unknownsReporter(effects, account);
  const idleStages: Stage[] = [];
  let role: Role | undefined;
  let decimals = options.known;
  let failuresInARow = 0;
  let windowsDone = 0;
  let lastPublished = Date.now();
  let publishPauseMs = publishEveryMs;
  const roleLearnt = deferred();

  function exclusively<T>(work: () => Promise<T>): Promise<T> {
    return warehouseQueue(work);
  }
  function progress(): void {
    tools.onProgress({ account, windowsDone, windows: planned.length, pages: totals.pages, rows: totals.rows });
  }

  /** One reading of a window: its load, or why it did not prove. */
  async function attempt(
    { window, reason }: PlannedWindow,
    stage: Stage,
    countedAs: keyof RequestCounts,
    isLast: boolean,
  ): Promise<LoadResult | string> {
    const askedAt = effects.now();
    const folder = await landing.begin(account, window, askedAt);
    let asked = 0;
    let pages = 0;
    try {
      const reading = await readWindow({
        account,
        window,
        client: countingClient(options.client, () => {
          asked += 1;
          options.requests[countedAs] += 1;
        }),
        stage,
        landing: folder,
        role,
        knownDecimals: options.known,
        exclusively,
        onRole(learnt) {
          role = learnt;
          roleLearnt.resolve();
        },
        onPage(page) {
          pages += 1;
          totals.pages += 1;
          unknown.see(page);
          progress();
        },
        log: effects.log,
        signal,
      });
      const because = describeFailures(reading.proofs);
      if (because !== undefined) {
        await folder.discard();
        if (isLast) {
          await exclusively(async () =>
            stage.recordUnproven(request.runNumber, because, await warehouse.seenAt(effects.now())),
          );
        }
        return because;
      }
      return await exclusively(async () => {
        const loadNumber = (await warehouse.lastLoadNumber()) + 1;
        const seenAt = await warehouse.seenAt(effects.now());
        decimals = {
          cost: Math.max(decimals.cost, stage.decimals().cost),
          usage: Math.max(decimals.usage, stage.decimals().usage),
        };
        const facts = {
          loadNumber,
          runNumber: request.runNumber,
          reason,
          requests: asked,
          pages,
          queries: reading.queries,
          claimedEnd,
          seenAt,
        };
        return stage.load(facts, () => folder.file(loadNumber, reading.role, seenAt));
      });
    } catch (error) {
      await folder.discard();
      if (!(error instanceof RefusedAnswerError)) throw error;
      if (isLast) {
        await exclusively(async () => {
          await stage.begin(account, window);
          await stage.recordUnproven(request.runNumber, error.message, await warehouse.seenAt(effects.now()));
        });
      }
      return error.message;
    }
  }

  async function ingestWindow(plan: PlannedWindow, isFirst: boolean): Promise<void> {
    if (!isFirst) await roleLearnt.promise;
    signal.throwIfAborted();
    const stage = idleStages.pop() ?? (await warehouse.openStage());
    try {
      let result = await attempt(plan, stage, plan.reason, false);
      if (typeof result === 'string') {
        effects.log.warn('window does not prove; it is asked again', {
          account,
          window: formatWindow(plan.window),
          because: result,
        });
        result = await attempt(plan, stage, 'repair', true);
      }
      failuresInARow = 0;
      finishWindow(plan, result);
      await exclusively(() => publishNowAndThen());
    } catch (error) {
      if (signal.aborted || !(error instanceof PlatformError)) throw error;
      failures.push(error);
      failuresInARow += 1;
      // Where not even the first question was answered, the platform is down.
      if (role === undefined || isHopeless(error) || failuresInARow >= maxFailuresInARow) throw error;
    } finally {
      idleStages.push(stage);
      if (isFirst) roleLearnt.resolve();
    }
  }

  function finishWindow({ window, reason }: PlannedWindow, result: LoadResult | string): void {
    windowsDone += 1;
    if (typeof result === 'string') {
      unproven.push({ window, because: result });
      effects.log.warn('window is unproven; its last proven state stands', {
        account,
        window: formatWindow(window),
        because: result,
      });
    } else {
      totals.windows += 1;
      totals.rows += result.amounts;
      totals.restated += result.restated;
      effects.log.info('window is in the books', {
        account,
        window: formatWindow(window),
        reason,
        rows: result.amounts,
        outcome: result.outcome,
        restated: result.restated,
      });
    }
    progress();
  }

  /** Lets readers have what is proven so far while a long backfill goes on. */
  async function publishNowAndThen(): Promise<void> {
    if (windowsDone >= planned.length || Date.now() - lastPublished < publishPauseMs) return;
    const begun = Date.now();
    await warehouse.publish();
    lastPublished = Date.now();
    publishPauseMs = Math.max(publishEveryMs, 20 * (lastPublished - begun));
  }

  progress();
  const settled = await Promise.allSettled(
    planned.map((plan, index) =>
      windowsInFlight(() => ingestWindow(plan, index === 0)).catch((error: unknown) => {
        if (!signal.aborted) abort.abort(error);
        throw error;
      }),
    ),
  );
  for (const stage of idleStages) stage.close();
  unknown.report();
  tools.signal.throwIfAborted();
  for (const result of settled) {
    if (result.status === 'rejected' && !(result.reason instanceof PlatformError)) throw result.reason;
  }
  return { role, decimals, unproven, failures };
}

/** True where every other request of this account would fail the same way. */
function isHopeless(error: PlatformError): boolean {
  return (
    ['unreachable', 'certificate'].includes(error.code ?? '') ||
    (error.status !== undefined && [400, 401, 403, 404].includes(error.status))
  );
}

/** Collects what the interface document does not list and tells it once: it is kept, never dropped. */
function unknownsReporter(effects: Effects, account: string): { see(page: DecodedPage): void; report(): void } {
  const types = new Set<string>();
  const dimensions = new Set<string>();
  const fields = new Set<string>();
  return {
    see(page) {
      for (const entry of page.entries) {
        const { resourceType, billingDimension } = entry;
        if (resourceType !== undefined && !resourceTypes.includes(resourceType)) types.add(resourceType);
        if (billingDimension !== undefined && !billingDimensions.some(({ name }) => name === billingDimension)) {
          dimensions.add(billingDimension);
        }
      }
      for (const field of page.unknownFields) fields.add(field);
    },
    report() {
      for (const [what, found] of [
        ['resource type', types],
        ['billing dimension', dimensions],
        ['field', fields],
      ] as const) {
        if (found.size > 0)
          effects.log.warn(`unknown ${what}, kept as it is`, { account, [what.replace(' ', '_')]: [...found].sort() });
      }
    },
  };
}

function deferred(): { promise: Promise<void>; resolve(): void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** The message of an account's first error, for the run's row. */
export function firstError(summaries: readonly AccountSummary[]): string | undefined {
  const failed = summaries.find((summary) => summary.exitCodes.length > 0);
  if (failed === undefined) return undefined;
  const [first] = failed.unproven;
  return (
    failed.errors[0] ??
    (first && `account ${failed.account}, window ${formatWindow(first.window)}: ${messageOf(first.because)}`)
  );
}
