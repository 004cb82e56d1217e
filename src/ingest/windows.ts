import pLimit from 'p-limit';
import type { Effects } from '../effects.ts';
import { type CostbookError, PlatformError, RefusedAnswerError } from '../errors.ts';
import type { DecodedPage, PlannedWindow, Role } from '../fetch/index.ts';
import { billingDimensions, type Client, resourceTypes } from '../platform/index.ts';
import { dayMs, floorHour, formatWindow, hourMs, type Instant } from '../time.ts';
import type { LoadResult, Stage, TotalDecimals, UnprovenWindow } from '../warehouse/index.ts';
import { countingClient, type IngestRequest, type IngestTools, type RequestCounts } from './tools.ts';
import { readWindow } from './window.ts';

/** Windows failing at the transport one after another before the platform is taken to be down. */
const maxFailuresInARow = 3;
/** Readers get what a long backfill has so far at this pace, or slower where publishing itself takes long. */
const publishEveryMs = 30_000;

interface WindowsResult {
  readonly role: Role | undefined;
  readonly decimals: TotalDecimals;
  readonly unproven: readonly UnprovenWindow[];
  /** Whether a window was loaded only up to young hours that do not prove yet. */
  readonly postponed: boolean;
  readonly failures: readonly CostbookError[];
}

/** A window that was read and did not prove. */
interface Unproved {
  readonly because: string;
  /** Before this hour everything was met, as far as is known. */
  readonly provesBefore: Instant;
}

/**
 * Reads, proves and loads the planned windows, several on their way at once and one in the warehouse at a time.
 * A window holds its place until it is loaded, so that at most `concurrency` windows are staged.
 */
export async function ingestWindows(options: {
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
  const { config, runNumber } = request;
  const windowsInFlight = pLimit(config.concurrency);
  const warehouseQueue = pLimit(1); // DuckDB has one writer, and four busy queries would starve DNS and files
  const abort = new AbortController();
  const signal = AbortSignal.any([tools.signal, abort.signal]);
  const lastHour = floorHour(options.now);
  const claimedEnd = lastHour - config.lagHours * hourMs;
  const settledEnd = lastHour - config.settleDays * dayMs;
  const unproven: UnprovenWindow[] = [];
  const failures: CostbookError[] = [];
  const unknown = unknownsReporter(effects, account);
  const idleStages: Stage[] = [];
  let role: Role | undefined;
  let decimals = options.known;
  let failuresInARow = 0;
  let postponed = false;
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
  ): Promise<LoadResult | Unproved> {
    const folder = await landing.begin(account, window, effects.now());
    let requests = 0;
    let pages = 0;
    try {
      const reading = await readWindow({
        account,
        window,
        client: countingClient(options.client, () => {
          requests += 1;
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
      const { because, queries, firstUnprovenHour } = reading;
      if (because !== undefined) {
        await folder.discard();
        return { because, provesBefore: firstUnprovenHour ?? claimedEnd };
      }
      return await exclusively(async () => {
        const loadNumber = (await warehouse.lastLoadNumber()) + 1;
        const seenAt = await warehouse.seenAt(effects.now());
        decimals = {
          cost: Math.max(decimals.cost, stage.decimals().cost),
          usage: Math.max(decimals.usage, stage.decimals().usage),
        };
        const facts = { loadNumber, runNumber, reason, requests, pages, queries, claimedEnd, seenAt };
        return stage.load(facts, () => folder.file(loadNumber, reading.role, seenAt));
      });
    } catch (error) {
      await folder.discard();
      if (!(error instanceof RefusedAnswerError)) throw error;
      return { because: error.message, provesBefore: claimedEnd };
    }
  }

  /**
   * Reads a window until it proves: once, once more, and where only young hours stand in the way, without them, since
   * their numbers may be changing while they are read. They are missing then, and the next run asks for them.
   */
  async function attemptAll(plan: PlannedWindow, stage: Stage): Promise<LoadResult | Unproved> {
    const { window } = plan;
    const first = await attempt(plan, stage, plan.reason);
    if (!isUnproved(first)) return first;
    effects.log.warn('window does not prove; it is asked again', {
      account,
      window: formatWindow(window),
      because: first.because,
    });
    const second = await attempt(plan, stage, 'repair');
    if (!isUnproved(second)) return second;
    const end = Math.min(window.end, second.provesBefore);
    if (end <= window.start || end >= window.end || end < settledEnd) return second;
    const shortened = await attempt({ ...plan, window: { start: window.start, end } }, stage, 'repair');
    if (isUnproved(shortened)) return shortened;
    postponed = true;
    effects.log.warn('young hours do not prove yet; the next run asks for them', {
      account,
      window: formatWindow({ start: end, end: window.end }),
      because: second.because,
    });
    return shortened;
  }

  async function ingestWindow(plan: PlannedWindow, isFirst: boolean): Promise<void> {
    if (!isFirst) await roleLearnt.promise;
    signal.throwIfAborted();
    const stage = idleStages.pop() ?? (await warehouse.openStage());
    try {
      const result = await attemptAll(plan, stage);
      failuresInARow = 0;
      await exclusively(async () => {
        const { window } = plan;
        if (isUnproved(result)) {
          await stage.recordUnproven(
            window,
            tools.redact(result.because),
            runNumber,
            await warehouse.seenAt(effects.now()),
          );
        } else {
          await stage.forgetUnproven(window);
        }
        finishWindow(plan, result);
        await publishNowAndThen();
      });
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

  function finishWindow({ window, reason }: PlannedWindow, result: LoadResult | Unproved): void {
    windowsDone += 1;
    if (isUnproved(result)) {
      unproven.push({ window, because: result.because });
      effects.log.warn('window is unproven; its last proven state stands', {
        account,
        window: formatWindow(window),
        because: result.because,
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
  return { role, decimals, unproven, postponed, failures };
}

function isUnproved(result: LoadResult | Unproved): result is Unproved {
  return 'because' in result;
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
