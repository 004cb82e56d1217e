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
  /** Hours of the last so many days are asked again although they are there: numbers change afterwards. */
  readonly settleDays: number;
  /** Hours that are loaded; and those of them that were old enough to be claimed. In any order. */
  readonly loaded: readonly Window[];
  readonly claimed: readonly Window[];
  /** Windows that did not prove when they were last asked for: they are asked again until they do. */
  readonly unproven: readonly Window[];
}

/**
 * The windows to fetch, newest first, so that a first backfill is useful within a minute.
 *
 * They hold every hour between the start of history (or `from`) and the last complete hour (or `to`) that is not
 * claimed yet, is young, did not prove, or is asked for again by hand. They are disjoint, none is longer than the cap of hourly
 * resolution, each begins and ends with a needed hour, and there is no way to do with fewer.
 */
export function planWindows(input: PlanInput): PlannedWindow[] {
  const lastHour = floorHour(input.now);
  const target: Window = {
    start: floorHour(input.from ?? input.historyStart),
    end: Math.min(lastHour, floorHour(input.to ?? lastHour)),
  };
  const missing = subtractWindows([target], input.claimed);
  const young: Window = { start: Math.max(target.start, lastHour - input.settleDays * dayMs), end: target.end };
  const unproven = input.unproven.flatMap((window) => intersectWindows(window, target) ?? []);
  const needed = input.refetch ? [target] : [...missing, young, ...unproven];
  const neverLoaded = subtractWindows([target], input.loaded);
  return coverWindows(needed, metricsLimits.maxHourlyWindowMs).map((window) => {
    const isNew = neverLoaded.some((hole) => intersectWindows(hole, window) !== undefined);
    const isRepair = input.refetch || unproven.some((again) => intersectWindows(again, window) !== undefined);
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
