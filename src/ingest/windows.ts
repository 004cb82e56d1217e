import pLimit from 'p-limit';
import type { Effects } from '../effects.ts';
import { type CostbookError, PlatformError, RefusedAnswerError, UnprovenError } from '../errors.ts';
import { askQuery, type DecodedPage, type PlannedWindow, type Role } from '../fetch/index.ts';
import { answerLimits, billingDimensions, type Client, type RawBody, resourceTypes } from '../platform/index.ts';
import { dayMs, floorHour, formatWindow, type Instant } from '../time.ts';
import type { LoadResult, Stage, TotalDecimals, TotalsKnown, UnprovenWindow } from '../warehouse/index.ts';
import { believedClock, claimedBefore, type RunClock } from './clocks.ts';
import { countingClient, type IngestRequest, type IngestTools, type RequestCounts } from './tools.ts';
import { openTurns } from './turns.ts';
import { readWindow } from './window.ts';

/** Windows failing at the transport one after another before the platform is taken to be down. */
const maxFailuresInARow = 3;
/** Windows on their way beyond those that requests are made for: while one is proven and loaded, another one asks. */
const windowsAhead = 4;
/** Pages on their way beyond the sockets: while one is decoded, another one is asked for. More was measured to be slower. */
const pagesAhead = 1;
/** Readers get what a long backfill has so far at this pace, or slower where publishing itself takes long. */
const publishEveryMs = 30_000;

interface WindowsResult {
  readonly role: Role | undefined;
  readonly decimals: TotalDecimals;
  /** What did not prove, also where only young hours are concerned. */
  readonly unproven: readonly UnprovenWindow[];
  readonly failures: readonly CostbookError[];
  /** Whether the platform told costs of hours that its Date header had not reached: its clock says nothing then. */
  readonly isPlatformClockWrong: boolean;
}

/** A window that was read and did not prove. */
interface Unproved {
  readonly because: string;
  /** Before this hour everything was met, as far as is known. */
  readonly provesBefore: Instant;
}

/** What became of a planned window: a load of all or of its older part, and what did not prove. */
interface Outcome {
  readonly load: LoadResult | undefined;
  readonly unproven: UnprovenWindow | undefined;
}

/**
 * Reads, proves and loads the planned windows, several on their way at once and one in the warehouse at a time.
 * A window holds its place until it is loaded, so that few more than `concurrency` windows are staged, and the pages of
 * an earlier one are asked for first.
 */
export async function ingestWindows(options: {
  account: string;
  planned: readonly PlannedWindow[];
  client: Client;
  requests: RequestCounts;
  known: TotalsKnown;
  /** As whom the account was read before; another role today is a question, not a fact. */
  roleBefore: Role | undefined;
  /** As whom it is read today, where that is known already. */
  role: Role | undefined;
  now: Instant;
  request: IngestRequest;
  tools: IngestTools;
  clock: RunClock;
  /** Grows as windows are loaded. */
  totals: { windows: number; pages: number; rows: number; restated: number };
}): Promise<WindowsResult> {
  const { account, planned, request, tools, totals, clock } = options;
  const { warehouse, landing, effects } = tools;
  const { config, runNumber } = request;
  const windowsInFlight = pLimit(config.concurrency + windowsAhead); // sockets limit the requests
  const turns = openTurns(config.concurrency + pagesAhead);
  const warehouseQueue = pLimit(1); // DuckDB has one writer, and four busy queries would starve DNS and files
  const abort = new AbortController();
  const signal = AbortSignal.any([tools.signal, abort.signal]);
  const lastHour = floorHour(options.now);
  // What was old enough to be claimed stays so, though a clock is set back.
  const seenNow = await warehouse.seenAt(options.now);
  const claimedEnd = claimedBefore(seenNow, undefined, config.lagHours);
  const settledEnd = lastHour - config.settleDays * dayMs;
  const unproven: UnprovenWindow[] = [];
  const failures: CostbookError[] = [];
  const unknown = unknownsReporter(effects, account);
  const idleStages: Stage[] = [];
  const leftOut = new Set(await warehouse.dimensionsLeftOut(account));
  let { role } = options;
  let { decimals } = options.known;
  let failuresInARow = 0;
  let windowsDone = 0;
  let isPlatformClockWrong = false;
  let lastPublished = Date.now();
  let publishPauseMs = publishEveryMs;
  const roleLearnt = deferred();
  if (role !== undefined) roleLearnt.resolve();

  function exclusively<T>(work: () => Promise<T>): Promise<T> {
    return warehouseQueue(work);
  }
  function progress(): void {
    tools.onProgress({ account, windowsDone, windows: planned.length, pages: totals.pages, rows: totals.rows });
  }

  /** One reading of a window: its load, or why it did not prove. */
  async function attempt(
    { window, reason }: PlannedWindow,
    rank: number,
    stage: Stage,
    reading: number,
  ): Promise<LoadResult | Unproved> {
    const folder = await landing.begin(account, window, effects.now());
    let requests = 0;
    let pages = 0;
    const counted = countingClient(options.client, () => {
      requests += 1;
      options.requests[reading === 1 ? reason : 'repair'] += 1;
    });
    // What the platform's clock said when it made the oldest of the answers.
    let answeredAt: Instant | undefined;
    const client: Client = {
      ...counted,
      call: (operation, values, about, read, ...others) =>
        turns.run(rank, () => {
          const readAtTime = (body: RawBody) => {
            answeredAt = Math.min(answeredAt ?? Number.POSITIVE_INFINITY, body.answeredAt ?? Number.POSITIVE_INFINITY);
            return read(body);
          };
          return counted.call(operation, values, about, readAtTime, ...others);
        }),
    };
    async function settleClock(read: Stage): Promise<Instant | undefined> {
      const toldAt = Number.isFinite(answeredAt) ? answeredAt : undefined;
      const platformAt = believedClock(toldAt, await read.lastHour());
      if (platformAt !== toldAt) {
        isPlatformClockWrong = true;
        clock.distrust(account);
      } else if (toldAt !== undefined) await clock.settle(account, counted.clocks());
      return platformAt;
    }
    try {
      const read = await readWindow({
        account,
        window,
        stage,
        async ask(query, sink, abort) {
          try {
            return await askQuery({ account, query, client, landing: folder, sink, log: effects.log, signal: abort });
          } catch (error) {
            // What was refused is no answer to anything: a control asked as admin by a member.
            await folder.restart(query);
            throw error;
          }
        },
        role,
        known: options.known,
        // What the pages lack may be a page that was lost: only a second reading that lacks the same shows that it was not.
        leavesOut: (dimensions) =>
          reading > 1 || (dimensions.length > 0 && dimensions.every((dimension) => leftOut.has(dimension))),
        exclusively,
        onRole(learnt) {
          askAboutRole(account, options.roleBefore, learnt, request.acceptSight);
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
      const { because, queries, firstUnprovenHour } = read;
      for (const dimension of read.leftOut) leftOut.add(dimension);
      if (because !== undefined) {
        await folder.discard();
        await exclusively(async () => {
          await settleClock(stage);
          await stage.recordFailedProofs(runNumber, reading, await warehouse.seenAt(effects.now()));
        });
        return { because, provesBefore: firstUnprovenHour ?? claimedEnd };
      }
      return await exclusively(async () => {
        const loadNumber = (await warehouse.lastLoadNumber()) + 1;
        const platformAt = await settleClock(stage);
        const seenAt = await warehouse.seenAt(effects.now());
        decimals = {
          cost: Math.max(decimals.cost, stage.decimals().cost),
          usage: Math.max(decimals.usage, stage.decimals().usage),
        };
        const claimed = claimedBefore(seenNow, platformAt, config.lagHours);
        const numbers = { loadNumber, runNumber, reading, reason, requests, queries, seenAt, platformAt };
        const facts = { ...numbers, pages, claimedEnd: claimed };
        return stage.load(facts, ({ outcome, amounts, restated, cost, pieces, proofs }) =>
          folder.file(
            {
              ...numbers,
              role: read.role,
              claimedEnd: claimed,
              pagesRead: pages,
              known: {
                decimals: options.known.decimals,
                agreedTolerance: options.known.agreedTolerance ?? null,
              },
              leavesOut: read.leavesOut,
              ...{ outcome, amounts, restated, cost },
              covered: pieces.map((piece) => ({ window: formatWindow(piece.window), role: piece.role })),
              proofs: outcome === 'unchanged' ? proofs : null,
            },
            outcome === 'loaded' || config.landing.keep === 'all',
          ),
        );
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
  async function attemptAll(plan: PlannedWindow, rank: number, stage: Stage): Promise<Outcome> {
    const { window } = plan;
    const first = await attempt(plan, rank, stage, 1);
    if (!isUnproved(first)) return { load: first, unproven: undefined };
    effects.log.warn('window does not prove; it is asked again', {
      account,
      window: formatWindow(window),
      because: first.because,
    });
    const second = await attempt(plan, rank, stage, 2);
    if (!isUnproved(second)) return { load: second, unproven: undefined };
    const end = Math.min(window.end, Math.max(window.start, second.provesBefore));
    if (end >= window.end || end < settledEnd) {
      return { load: undefined, unproven: { window, because: second.because, isYoung: false } };
    }
    const young = { window: { start: end, end: window.end }, because: second.because, isYoung: true };
    if (end === window.start) return { load: undefined, unproven: young };
    const shortened = await attempt({ ...plan, window: { start: window.start, end } }, rank, stage, 3);
    return isUnproved(shortened)
      ? { load: undefined, unproven: { window, because: shortened.because, isYoung: false } }
      : { load: shortened, unproven: young };
  }

  async function ingestWindow(plan: PlannedWindow, rank: number): Promise<void> {
    const isFirst = rank === 0;
    if (!isFirst) await roleLearnt.promise;
    signal.throwIfAborted();
    const stage = idleStages.pop() ?? (await warehouse.openStage());
    try {
      const result = await attemptAll(plan, rank, stage);
      failuresInARow = 0;
      await exclusively(async () => {
        if (result.load !== undefined) await stage.forgetUnproven(plan.window);
        if (result.unproven !== undefined) {
          const { window, because, isYoung } = result.unproven;
          const seenAt = await warehouse.seenAt(effects.now());
          await stage.recordUnproven(window, { because: tools.redact(because), isYoung, runNumber, seenAt });
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

  function finishWindow({ window, reason }: PlannedWindow, { load, unproven: left }: Outcome): void {
    windowsDone += 1;
    if (load !== undefined) {
      totals.windows += 1;
      totals.rows += load.amounts;
      totals.restated += load.restated;
      effects.log.info('window is in the books', {
        account,
        window: formatWindow(left === undefined ? window : { start: window.start, end: left.window.start }),
        reason,
        rows: load.amounts,
        outcome: load.outcome,
        restated: load.restated,
      });
    }
    if (left !== undefined) {
      unproven.push(left);
      effects.log.warn(
        left.isYoung
          ? 'young hours do not prove yet; the next run asks for them'
          : 'the window is not loaded; what the books held of it stays, and the next ingest asks again',
        { account, window: formatWindow(left.window), because: left.because },
      );
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
    planned.map((plan, rank) =>
      windowsInFlight(() => ingestWindow(plan, rank)).catch((error: unknown) => {
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
  return { role, decimals, unproven, failures, isPlatformClockWrong };
}

function isUnproved(result: LoadResult | Unproved): result is Unproved {
  return 'because' in result;
}

/**
 * An account that was read as admin until now and is a member's today would lose the workspaces of its rows: somebody
 * has to say that this is meant.
 */
export function askAboutRole(account: string, before: Role | undefined, now: Role, accepted: boolean): void {
  if (before !== 'admin' || now === 'admin' || accepted) return;
  throw new UnprovenError(
    `account ${account} was read as admin until now, and this token is a member's: it cannot see workspaces. Nothing was ` +
      'changed. Is that meant? If not, give the account an admin token; if it is, run "costbook ingest --accept-sight" once',
  );
}

/** True where every other request of this account would fail the same way. */
export function isHopeless(error: PlatformError): boolean {
  return (
    ['unreachable', 'certificate'].includes(error.code ?? '') ||
    (error.status !== undefined && [400, 401, 403, 404].includes(error.status))
  );
}

/** Collects what the interface document does not list and reports it once, the first names of many: all of it is stored. */
function unknownsReporter(effects: Effects, account: string): { see(page: DecodedPage): void; report(): void } {
  const { maxUnknownNames, maxUnknownShown, maxUnknownLength } = answerLimits;
  const types = new Set<string>();
  const dimensions = new Set<string>();
  const fields = new Set<string>();
  function add(names: Set<string>, name: string): void {
    if (names.size <= maxUnknownNames) names.add(name.slice(0, maxUnknownLength));
  }
  return {
    see(page) {
      for (const { resourceType, billingDimension } of page.entries) {
        if (resourceType !== undefined && !resourceTypes.includes(resourceType)) add(types, resourceType);
        if (billingDimension !== undefined && !billingDimensions.some(({ name }) => name === billingDimension)) {
          add(dimensions, billingDimension);
        }
      }
      for (const field of page.unknownFields) add(fields, field);
    },
    report() {
      for (const [what, found] of [
        ['resource type', types],
        ['billing dimension', dimensions],
        ['field', fields],
      ] as const) {
        if (found.size === 0) continue;
        const isMany = found.size > maxUnknownNames;
        const more = isMany ? `more than ${maxUnknownNames}` : Math.max(0, found.size - maxUnknownShown);
        effects.log.warn(`unknown ${what}, kept as it is`, {
          account,
          [what.replace(' ', '_')]: [...found].slice(0, maxUnknownShown).sort(),
          ...(more === 0 ? {} : { notShown: more }),
        });
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
