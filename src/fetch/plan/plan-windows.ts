import { metricsLimits } from '../../platform/interface/index.ts';
import {
  dayMs,
  floorHour,
  type Instant,
  intersectWindows,
  subtractWindows,
  unionWindows,
  type Window,
} from '../../time/time.ts';
import type { CoveredWindow } from '../../warehouse/page.ts';

/**
 * Why a window is fetched: part of it was never loaded; all of it is young; it failed reconciliation, or a user asked
 * for it.
 */
export type Reason = 'new' | 'settle' | 'repair';

/** One window to fetch, reconcile and replace, and why. */
export interface PlannedWindow {
  readonly window: Window;
  readonly reason: Reason;
}

/** The planner's input. */
export interface PlanInput {
  readonly now: Instant;
  /** Where the account's history starts. */
  readonly historyStart: Instant;
  /** The range that a user gave, whole hours; undefined if none. */
  readonly from: Instant | undefined;
  readonly to: Instant | undefined;
  /** Fetch everything in the range again. */
  readonly refetch: boolean;
  /** Costs still change for this many days: hours fetched at a younger age are fetched again. */
  readonly settleDays: number;
  /** Windows in the books: disjoint, in any order. */
  readonly covered: readonly CoveredWindow[];
  /** Windows to fetch again although settled: they are unproven, or the platform's totals have changed. */
  readonly again: readonly Window[];
}

/**
 * The windows to fetch, newest first, so that a first backfill is useful within a minute.
 * \n They cover every hour between the start of history (or `from`) and the last complete hour (or `to`) that is
 * missing, was fetched too young to count as complete or settled, is unproven, or was requested again. An hour is
 * settled if it was fetched `settleDays` after its end: so the last days are fetched again every night, and after an
 * outage also the days that were young before it. The windows are disjoint, none exceeds the cap of hourly resolution,
 * each starts and ends with a needed hour, and their number is minimal.
 */
export function planWindows(input: PlanInput): PlannedWindow[] {
  const lastHour = floorHour(input.now);
  const target: Window = {
    start: floorHour(input.from ?? input.historyStart),
    end: Math.min(lastHour, floorHour(input.to ?? lastHour)),
  };
  const settled = input.covered.map(({ start, end, claimedEnd, seenAt }) => ({
    start,
    // A clock that was set back makes no hour older than it is.
    end: Math.min(end, claimedEnd, floorHour(Math.min(seenAt, input.now)) - input.settleDays * dayMs),
  }));
  const again = input.again.flatMap((window) => intersectWindows(window, target) ?? []);
  const needed = input.refetch ? [target] : [...subtractWindows([target], settled), ...again];
  const neverLoaded = subtractWindows([target], input.covered);
  return coverWindows(needed, metricsLimits.maxHourlyWindowMs).map((window) => {
    const isNew = neverLoaded.some((hole) => intersectWindows(hole, window) !== undefined);
    const isRepair = input.refetch || again.some((asked) => intersectWindows(asked, window) !== undefined);
    return { window, reason: isNew ? 'new' : isRepair ? 'repair' : 'settle' };
  });
}

/**
 * The fewest windows of at most `maxWindowMs` that cover all of `needed`, newest first. Greedy from the newest end:
 * some window must contain the newest hour, and none of them can reach further back.
 */
export function coverWindows(needed: readonly Window[], maxWindowMs: number): Window[] {
  const windows: Window[] = [];
  let left = unionWindows(needed);
  for (let newest = left.at(-1); newest !== undefined; newest = left.at(-1)) {
    const end = newest.end;
    const reach = Math.max(end - maxWindowMs, left[0]?.start ?? end);
    const inReach = left.filter((hole) => hole.end > reach);
    const window = { start: Math.max(reach, inReach[0]?.start ?? reach), end };
    windows.push(window);
    left = subtractWindows(left, [window]);
  }
  return windows;
}
