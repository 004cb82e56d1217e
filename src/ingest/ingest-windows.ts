import type { Effects } from '../base/effects.ts';
import { type CostbookError, PlatformError, RefusedAnswerError } from '../base/errors.ts';
import { askQuery, type DecodedPage, type LandingFolder } from '../fetch/index.ts';
import type { PlannedWindow } from '../fetch/plan/index.ts';
import type { Client, RawBody } from '../platform/index.ts';
import { answerLimits, billingDimensions, resourceTypes } from '../platform/interface/index.ts';
import { dayMs, floorHour, formatWindow, type Instant, type Window } from '../time/time.ts';
import type { UnprovenWindow } from '../warehouse/ledger/index.ts';
import type { LoadResult, Stage, TotalDecimals, TotalsKnown } from '../warehouse/load/index.ts';
import type { Role } from '../warehouse/page.ts';
import { believedClock, claimedBefore, type RunClock } from './clocks.ts';
import { readWindow, type WindowRead } from './fetch-window.ts';
import { halvesOf } from './halves.ts';
import { checkRoleChange } from './reduced-access.ts';
import type { SharedWork } from './shared-work.ts';
import { countingClient, type IngestRequest, type IngestTools, type RequestCounts } from './tools.ts';
import { nextWindow, openWindowLimiter } from './window-limiter.ts';

/** Consecutive windows with network failures before the platform counts as down. */
const maxFailuresInARow = 3;
/**
 * Pages in progress beyond the sockets: while one is decoded, another one is fetched. More was measured to be slower.
 */
const pagesAhead = 1;
/** Shorter windows to read for one that does not match: enough to find a single hour of a week. */
const maxShorterWindows = 16;
/** Windows of which no part matched, until the account's other windows are no longer read in parts. */
const maxReadInVain = 3;

interface WindowsResult {
  readonly role: Role | undefined;
  readonly decimals: TotalDecimals;
  /** Windows that failed reconciliation, including those with young hours only. */
  readonly unproven: readonly UnprovenWindow[];
  readonly failures: readonly CostbookError[];
  /** Whether the platform reported costs of hours that its Date header had not reached: its clock is wrong then. */
  readonly isPlatformClockWrong: boolean;
}

/** A window that was fetched and failed reconciliation. */
interface NotReconciled {
  readonly reason: string;
  readonly costDifference: string | undefined;
  /** As far as is known, everything before this hour matches. */
  readonly provesBefore: Instant;
  /** False if an answer was refused before anything could be compared. */
  readonly isCompared: boolean;
}

/** The result of a planned window: loads of all or of parts of it, and the parts that failed reconciliation. */
interface Outcome {
  readonly loads: readonly { readonly window: Window; readonly load: LoadResult }[];
  readonly unproven: readonly UnprovenWindow[];
}

/** The input for ingesting an account's windows. */
interface WindowsAsked {
  readonly account: string;
  readonly planned: readonly PlannedWindow[];
  readonly client: Client;
  readonly requests: RequestCounts;
  readonly known: TotalsKnown;
  /** The role of the earlier token; another role today needs a confirmation. */
  readonly roleBefore: Role | undefined;
  /** Today's role if known already. */
  readonly role: Role | undefined;
  readonly now: Instant;
  readonly request: IngestRequest;
  readonly tools: IngestTools;
  readonly clock: RunClock;
  readonly shared: SharedWork;
  /** Grows as windows are loaded. */
  readonly totals: { windows: number; pages: number; rows: number; restated: number };
}

/**
 * Fetches, reconciles and loads the planned windows, several in progress, few compared and one loaded at a time. A window
 * keeps its slot until it is loaded, so that few more than `concurrency` windows are staged, and pages of earlier
 * windows are fetched first.
 */
export async function ingestWindows(options: WindowsAsked): Promise<WindowsResult> {
  const { warehouse } = options.tools;
  // Hours that were old enough to count as complete stay so, even if a clock is set back.
  const seenNow = await warehouse.seenAt(options.now);
  const leftOut = new Set(await warehouse.dimensionsLeftOut(options.account));
  return new WindowsIngest(options, seenNow, leftOut).run();
}

/** One attempt at a window, from its first page to its load. */
interface Attempt {
  readonly plan: PlannedWindow;
  /** Position among the planned windows; earlier ones fetch first. */
  readonly rank: number;
  readonly stage: Stage;
  /** Number of the attempt within the run, from 1. */
  readonly number: number;
  /** Whether it is a part of a window that did not match. */
  readonly isPart: boolean;
  readonly folder: LandingFolder;
  requests: number;
  pages: number;
  /** The platform's clock in the oldest of the answers. */
  answeredAt: Instant | undefined;
}

/** The running ingest of one account's windows. */
class WindowsIngest {
  readonly #options: WindowsAsked;
  readonly #seenNow: Instant;
  /** Billing dimensions that the platform is known to omit from its detail. */
  readonly #leftOut: Set<string>;
  readonly #claimedEnd: Instant;
  readonly #settledEnd: Instant;
  readonly #limiter: ReturnType<typeof openWindowLimiter>;
  readonly #abort = new AbortController();
  readonly #signal: AbortSignal;
  readonly #unknown: ReturnType<typeof unknownsReporter>;
  readonly #idleStages: Stage[] = [];
  readonly #unproven: UnprovenWindow[] = [];
  readonly #failures: CostbookError[] = [];
  readonly #roleLearnt = deferred();
  /** Pages of every window that is not finished, by its rank. */
  readonly #pages: Map<number, number>;
  /** Pages of each finished window. */
  readonly #pagesOfFinished: number[] = [];
  #role: Role | undefined;
  #decimals: TotalDecimals;
  #failuresInARow = 0;
  #windowsDone = 0;
  #readInVain = 0;
  #isPlatformClockWrong = false;

  constructor(options: WindowsAsked, seenNow: Instant, leftOut: Set<string>) {
    const { account, planned, tools, request, now, role, known } = options;
    const { concurrency, lagHours, settleDays } = request.config;
    this.#options = options;
    this.#seenNow = seenNow;
    this.#leftOut = leftOut;
    this.#claimedEnd = claimedBefore(seenNow, undefined, lagHours);
    this.#settledEnd = floorHour(now) - settleDays * dayMs;
    this.#limiter = openWindowLimiter(concurrency + pagesAhead, (waiting) =>
      nextWindow(waiting, this.#pagesLeft(), concurrency),
    );
    this.#signal = AbortSignal.any([tools.signal, this.#abort.signal]);
    this.#unknown = unknownsReporter(tools.effects, account);
    this.#pages = new Map(planned.map((_, rank) => [rank, 0]));
    this.#role = role;
    this.#decimals = known.decimals;
    if (role !== undefined) this.#roleLearnt.resolve();
  }

  /** Ingests every window. Throws what ends the ingest of the account; a single window's failure is in the result. */
  async run(): Promise<WindowsResult> {
    const { account, planned, tools, shared } = this.#options;
    const whenFree = shared.windowLimiter.of(account);
    this.#progress();
    const settled = await Promise.allSettled(
      planned.map((plan, rank) =>
        whenFree(() => this.#ingestWindow(plan, rank), this.#signal)
          .catch((error: unknown) => {
            if (!this.#signal.aborted) this.#abort.abort(error);
            throw error;
          })
          .finally(() => {
            // However the first window ends, the others wait for it no longer.
            if (rank === 0) this.#roleLearnt.resolve();
          }),
      ),
    );
    for (const stage of this.#idleStages) stage.close();
    this.#unknown.report();
    tools.signal.throwIfAborted();
    for (const result of settled) {
      if (result.status === 'rejected' && !(result.reason instanceof PlatformError)) throw result.reason;
    }
    return {
      role: this.#role,
      decimals: this.#decimals,
      unproven: this.#unproven,
      failures: this.#failures,
      isPlatformClockWrong: this.#isPlatformClockWrong,
    };
  }

  async #ingestWindow(plan: PlannedWindow, rank: number): Promise<void> {
    const { warehouse } = this.#options.tools;
    if (rank !== 0) await this.#roleLearnt.promise;
    this.#signal.throwIfAborted();
    // The first answers have set a fast clock back: these hours have not begun.
    if (plan.window.start > this.#options.tools.effects.now()) {
      this.#pages.delete(rank);
      return;
    }
    const stage = this.#idleStages.pop() ?? (await warehouse.openStage());
    try {
      const outcome = await this.#tryWindowRepeatedly(plan, rank, stage);
      this.#failuresInARow = 0;
      await this.#options.tools.warehouse.exclusively(() => this.#record(plan, stage, outcome));
    } catch (error) {
      if (this.#signal.aborted || !(error instanceof PlatformError)) throw error;
      this.#failures.push(error);
      this.#failuresInARow += 1;
      // If not even the first query was answered, the platform is down.
      if (this.#role === undefined || isHopeless(error) || this.#failuresInARow >= maxFailuresInARow) throw error;
    } finally {
      this.#idleStages.push(stage);
      this.#pagesOfFinished.push(this.#pages.get(rank) ?? 0);
      this.#pages.delete(rank);
    }
  }

  /**
   * Fetches a window until it matches: twice, then without its young hours if only they fail, since their numbers may
   * change while they are fetched (the next run fetches those hours), and at last in shorter parts.
   */
  async #tryWindowRepeatedly(plan: PlannedWindow, rank: number, stage: Stage): Promise<Outcome> {
    const { window } = plan;
    let attempts = 0;
    const attempt = (of: Window, isPart = false) =>
      this.#tryWindow({ ...plan, window: of }, rank, { stage, number: ++attempts, isPart });
    const first = await attempt(window);
    if (!isNotReconciled(first)) return { loads: [{ window, load: first }], unproven: [] };
    this.#options.tools.effects.log.warn(
      'window.retried',
      "The window does not match the platform's totals; fetching it again",
      {
        account: this.#options.account,
        window: formatWindow(window),
        reason: first.reason,
      },
    );
    const second = await attempt(window);
    if (!isNotReconciled(second)) return { loads: [{ window, load: second }], unproven: [] };
    const end = Math.min(window.end, Math.max(window.start, second.provesBefore));
    if (end >= window.end || end < this.#settledEnd) return this.#tryParts(window, second, attempt);
    const older = { start: window.start, end };
    const young = { start: end, end: window.end };
    const shortened = end === window.start ? undefined : await attempt(older);
    const before: Outcome =
      shortened === undefined
        ? { loads: [], unproven: [] }
        : isNotReconciled(shortened)
          ? await this.#tryParts(older, shortened, attempt)
          : { loads: [{ window: older, load: shortened }], unproven: [] };
    if (before.loads.length === 0 && isNotReconciled(shortened))
      return { loads: [], unproven: [unprovenOf(window, shortened)] };
    // Hours that count as complete may differ for another reason than their age.
    const after = end < this.#claimedEnd ? await this.#tryParts(young, second, attempt) : undefined;
    const unproven = after?.unproven ?? [unprovenOf(young, second)];
    return {
      loads: [...before.loads, ...(after?.loads ?? [])],
      unproven: [...before.unproven, ...unproven.map((part) => ({ ...part, isYoung: true }))],
    };
  }

  /**
   * Reads a window that failed in halves, their halves and so on: what goes on from one hour to another, such as a
   * workspace that was renamed, may be told apart in shorter windows.
   */
  async #tryParts(
    window: Window,
    failure: NotReconciled,
    attempt: (part: Window, isPart: true) => Promise<LoadResult | NotReconciled>,
  ): Promise<Outcome> {
    const loads: Outcome['loads'][number][] = [];
    const unproven: UnprovenWindow[] = [];
    const failed = [{ window, failure }];
    let left = maxShorterWindows;
    for (const part of failed) {
      const mayHelp = part.failure.isCompared && left > 0 && this.#readInVain < maxReadInVain;
      const halves = mayHelp ? halvesOf(part.window) : [];
      if (halves.length === 0) unproven.push(unprovenOf(part.window, part.failure));
      left -= halves.length;
      for (const half of halves) {
        const result = await attempt(half, true);
        if (isNotReconciled(result)) failed.push({ window: half, failure: result });
        else loads.push({ window: half, load: result });
      }
    }
    if (loads.length > 0) return { loads, unproven };
    if (failed.length > 1) this.#readInVain += 1;
    return { loads, unproven: [unprovenOf(window, failure)] };
  }

  /** One attempt at a window: its load, or why it failed reconciliation. */
  async #tryWindow(
    plan: PlannedWindow,
    rank: number,
    about: Pick<Attempt, 'stage' | 'number' | 'isPart'>,
  ): Promise<LoadResult | NotReconciled> {
    const { account, tools } = this.#options;
    const folder = await tools.landing.begin(account, plan.window, tools.effects.now());
    const tryWindow: Attempt = { plan, rank, ...about, folder, requests: 0, pages: 0, answeredAt: undefined };
    try {
      const read = await this.#read(tryWindow);
      for (const dimension of read.leftOut) this.#leftOut.add(dimension);
      if (read.reason === undefined) await folder.sync();
      return read.reason === undefined
        ? await this.#options.tools.warehouse.exclusively(() => this.#load(tryWindow, read))
        : await this.#refuse(tryWindow, { ...read, reason: read.reason });
    } catch (error) {
      await folder.discard();
      if (!(error instanceof RefusedAnswerError)) throw error;
      // The account and the window are reported with the reason.
      return { reason: error.detail, costDifference: undefined, provesBefore: this.#claimedEnd, isCompared: false };
    }
  }

  /** Reads a window's pages into its stage and compares them with the platform's totals. */
  #read(tryWindow: Attempt): Promise<WindowRead> {
    const { account, known, roleBefore, request, totals } = this.#options;
    const { log } = this.#options.tools.effects;
    const { stage, folder, number, isPart } = tryWindow;
    const client = this.#clientOf(tryWindow);
    const isKnown = (dimension: string) => this.#leftOut.has(dimension);
    return readWindow({
      account,
      window: tryWindow.plan.window,
      stage,
      async ask(query, sink, abort) {
        try {
          return await askQuery({ account, query, client, landing: folder, sink, log, signal: abort });
        } catch (error) {
          // A refused request has no answer: a member token cannot run the control as admin.
          await folder.restart(query);
          throw error;
        }
      },
      role: this.#role,
      known,
      // Missing rows may be a lost page: only a second attempt that is missing the same rows rules that out.
      leavesOut: (dimensions) => number > 1 || (dimensions.length > 0 && dimensions.every(isKnown)),
      // A row that moved between two hours looks like one that is missing to whoever sees only one of them.
      mayAddRows: (dimensions) => !isPart || dimensions.every(isKnown),
      comparing: this.#options.shared.comparing,
      onRole: (learnt) => {
        checkRoleChange(account, roleBefore, learnt, request.acceptReducedAccess);
        this.#role = learnt;
        this.#roleLearnt.resolve();
      },
      onPage: (page) => {
        tryWindow.pages += 1;
        this.#pages.set(tryWindow.rank, tryWindow.pages);
        totals.pages += 1;
        this.#unknown.see(page);
        this.#progress();
      },
      log,
      signal: this.#signal,
    });
  }

  /**
   * The account's client for one attempt: counts its requests, waits for its turn, and records the platform's clock.
   */
  #clientOf(tryWindow: Attempt): Client {
    const { client, requests } = this.#options;
    const counted = countingClient(client, () => {
      tryWindow.requests += 1;
      requests[tryWindow.number === 1 ? tryWindow.plan.reason : 'repair'] += 1;
    });
    return {
      ...counted,
      call: (operation, values, about, read, ...others) =>
        this.#limiter.run(tryWindow.rank, () => {
          const readAtTime = (body: RawBody) => {
            const { answeredAt = Number.POSITIVE_INFINITY } = tryWindow;
            tryWindow.answeredAt = Math.min(answeredAt, body.answeredAt ?? Number.POSITIVE_INFINITY);
            return read(body);
          };
          return counted.call(operation, values, about, readAtTime, ...others);
        }),
    };
  }

  /** How many pages each unfinished window has left if it has as many as the finished ones; empty if none is finished. */
  #pagesLeft(): ReadonlyMap<number, number> {
    const finished = this.#pagesOfFinished;
    if (finished.length === 0) return new Map();
    const usual = finished.reduce((sum, pages) => sum + pages, 0) / finished.length;
    return new Map([...this.#pages].map(([rank, pages]) => [rank, Math.max(0, usual - pages)]));
  }

  /** Loads what was fetched and proven, and stores its answers. */
  async #load(tryWindow: Attempt, read: WindowRead): Promise<LoadResult> {
    const { known, request, tools } = this.#options;
    const { stage, folder, pages, requests } = tryWindow;
    const { runNumber, config } = request;
    const loadNumber = (await tools.warehouse.lastLoadNumber()) + 1;
    const platformAt = await this.#settleClock(tryWindow);
    const seenAt = await tools.warehouse.seenAt(tools.effects.now());
    this.#decimals = {
      cost: Math.max(this.#decimals.cost, stage.decimals().cost),
      usage: Math.max(this.#decimals.usage, stage.decimals().usage),
    };
    const claimedEnd = claimedBefore(this.#seenNow, platformAt, config.lagHours);
    const { reason } = tryWindow.plan;
    const { queries } = read;
    const numbers = { loadNumber, runNumber, attempt: tryWindow.number, reason, requests, queries, seenAt, platformAt };
    return stage.load(
      { ...numbers, pages, claimedEnd },
      ({ outcome, rowCount, restated, cost, coveredWindows, reconciliations }) =>
        folder.file(
          {
            ...numbers,
            role: read.role,
            claimedEnd,
            pagesRead: pages,
            known: { decimals: known.decimals, agreedTolerance: known.agreedTolerance ?? null },
            leavesOut: read.leavesOut,
            ...{ outcome, rowCount, restated, cost },
            covered: coveredWindows.map((part) => ({ window: formatWindow(part.window), role: part.role })),
            reconciliations: outcome === 'unchanged' ? reconciliations : null,
          },
          outcome === 'loaded' || config.landing.keep === 'all',
        ),
    );
  }

  /** Records a failed reconciliation, and discards its answers. */
  async #refuse(tryWindow: Attempt, read: WindowRead & { readonly reason: string }): Promise<NotReconciled> {
    const { tools, request } = this.#options;
    await tryWindow.folder.discard();
    await this.#options.tools.warehouse.exclusively(async () => {
      await this.#settleClock(tryWindow);
      const seenAt = await tools.warehouse.seenAt(tools.effects.now());
      await tryWindow.stage.recordFailedReconciliations(request.runNumber, tryWindow.number, seenAt);
    });
    const { reason, costDifference, firstUnprovenHour } = read;
    return { reason, costDifference, provesBefore: firstUnprovenHour ?? this.#claimedEnd, isCompared: true };
  }

  /** The platform's clock at the first answer of an attempt; undefined if there was none, or if it cannot be right. */
  async #settleClock({ answeredAt, stage }: Attempt): Promise<Instant | undefined> {
    const { account, client, clock } = this.#options;
    const answeredAtPlatform = Number.isFinite(answeredAt) ? answeredAt : undefined;
    const platformAt = believedClock(answeredAtPlatform, await stage.lastHour());
    if (platformAt !== answeredAtPlatform) {
      this.#isPlatformClockWrong = true;
      clock.distrust(account);
    } else if (answeredAtPlatform !== undefined) await clock.settle(account, client.clocks());
    return platformAt;
  }

  /** Records the result of a window in the warehouse, and publishes from time to time. */
  async #record(plan: PlannedWindow, stage: Stage, outcome: Outcome): Promise<void> {
    const { tools, request } = this.#options;
    const { runNumber } = request;
    if (outcome.loads.length > 0) await stage.forgetUnproven(plan.window);
    for (const { window, reason, costDifference, isYoung } of outcome.unproven) {
      const seenAt = await tools.warehouse.seenAt(tools.effects.now());
      const facts = { reason: tools.redact(reason), costDifference, isYoung, runNumber, seenAt };
      await stage.recordUnproven(window, facts);
    }
    this.#finishWindow(plan, outcome);
    if (this.#windowsDone < this.#options.planned.length) await this.#options.shared.publishNowAndThen();
  }

  #finishWindow({ reason }: PlannedWindow, { loads, unproven }: Outcome): void {
    const { account, totals } = this.#options;
    const { log } = this.#options.tools.effects;
    this.#windowsDone += 1;
    if (loads.length > 0) totals.windows += 1;
    for (const { window, load } of loads) {
      totals.rows += load.rowCount;
      totals.restated += load.restated;
      log.info('window.loaded', 'Window loaded', {
        account,
        window: formatWindow(window),
        reason,
        rows: load.rowCount,
        outcome: load.outcome,
        restated: load.restated,
      });
    }
    for (const left of unproven) {
      this.#unproven.push(left);
      log.warn(
        left.isYoung ? 'window.young' : 'window.unproven',
        left.isYoung
          ? "The newest hours do not match the platform's totals yet; the next run fetches them again"
          : 'The window was not loaded and the books keep their numbers; the next run fetches it again',
        { account, window: formatWindow(left.window), reason: left.reason },
      );
    }
    this.#progress();
  }

  #progress(): void {
    const { account, planned, tools, totals } = this.#options;
    const { pages, rows } = totals;
    tools.onProgress({ account, windowsDone: this.#windowsDone, windows: planned.length, pages, rows });
  }
}

function isNotReconciled(result: LoadResult | NotReconciled | undefined): result is NotReconciled {
  return result !== undefined && 'reason' in result;
}

function unprovenOf(window: Window, { reason, costDifference }: NotReconciled): UnprovenWindow {
  return { window, reason, costDifference, isYoung: false };
}

/** True if every other request of this account would fail the same way. */
export function isHopeless(error: PlatformError): boolean {
  return (
    ['unreachable', 'certificate', 'tls', 'web_page'].includes(error.fault ?? '') ||
    (error.status !== undefined && error.status < 500 && ![408, 429].includes(error.status))
  );
}

/**
 * Collects names that the interface document does not list and reports them once, the first of many. All of them are
 * stored.
 */
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
        effects.log.warn(`${what.replace(' ', '_')}.unknown`, `Unknown ${what}; stored as it is`, {
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
