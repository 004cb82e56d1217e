import { metricsLimits } from '../platform/index.ts';
import {
  dayMs,
  floorHour,
  type Instant,
  intersectWindows,
  subtractWindows,
  unionWindows,
  type Window,
} from '../time.ts';

/** Why a window is fetched: some of it was never loaded; all of it is young; it did not prove, or was asked for by hand. */
export type Reason = 'new' | 'settle' | 'repair';

/** One window to fetch, prove and replace, and why. */
export interface PlannedWindow {
  readonly window: Window;
  readonly reason: Reason;
}

/** A stretch of hours in the books, and how they got there. */
export interface CoveredWindow extends Window {
  /** Hours from here on were too young to be claimed when they were read. */
  readonly claimedEnd: Instant;
  /** When they were read. */
  readonly seenAt: Instant;
}

/** What the planner needs to know. */
export interface PlanInput {
  readonly now: Instant;
  /** Where the account's books begin. */
  readonly historyStart: Instant;
  /** What was asked for by hand, whole hours; undefined where nothing was. */
  readonly from: Instant | undefined;
  readonly to: Instant | undefined;
  /** Ask for everything in the range again. */
  readonly refetch: boolean;
  /** Numbers still change for so many days: what was read at a lesser age is asked again. */
  readonly settleDays: number;
  /** What is in the books: disjoint, in any order. */
  readonly covered: readonly CoveredWindow[];
  /** What is asked for again though it is settled: it did not prove, or the platform's totals tell otherwise by now. */
  readonly again: readonly Window[];
}

/**
 * The windows to fetch, newest first, so that a first backfill is useful within a minute.
 *
 * They hold every hour between the start of history (or `from`) and the last complete hour (or `to`) that is missing,
 * was read before it was old enough to be claimed or settled, did not prove, or is asked for again by hand. An hour is
 * settled when it was read `settleDays` after its end: so the last days are asked again every night, and after an
 * outage also those that were young before it. The windows are disjoint, none is longer than the cap of hourly
 * resolution, each begins and ends with a needed hour, and there is no way to do with fewer.
 */
export function planWindows(input: PlanInput): PlannedWindow[] {
  const lastHour = floorHour(input.now);
  const target: Window = {
    start: floorHour(input.from ?? input.historyStart),
    end: Math.min(lastHour, floorHour(input.to ?? lastHour)),
  };
  const settled = input.covered.map(({ start, end, claimedEnd, seenAt }) => ({
    start,
    // A clock that was moved back makes nothing older than it is.
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
 * The fewest windows of at most `maxWindowMs` that hold all of `needed`, newest first. Greedy from the newest end:
 * some window must hold the newest hour, and none that does can reach further back.
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
