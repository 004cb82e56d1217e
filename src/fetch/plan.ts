import { type Instant, subtractWindows, unionWindows, type Window } from '../time.ts';

/** Why a window is fetched: never loaded, or claimed only now; young and asked again; asked for by hand. */
export type Reason = 'new' | 'settle' | 'repair';

/** One window to fetch, prove and replace, and why. */
export interface PlannedWindow {
  readonly window: Window;
  readonly reason: Reason;
}

/** What the planner needs to know; all bounds are whole hours. */
export interface PlanInput {
  /** The hours that should be in the books: from the start of history to the last complete hour. */
  readonly target: Window;
  /** Hours that are loaded, proven and old enough to be claimed; in any order, may touch, do not overlap. */
  readonly covered: readonly Window[];
  /** Hours at or after this instant are asked again although they are there. */
  readonly settleFrom: Instant;
  /** Ask for everything in the target again. */
  readonly refetch: boolean;
  /** Longest window that the platform takes, in milliseconds. */
  readonly maxWindowMs: number;
}

/**
 * The windows to fetch, newest first, so that a first backfill is useful within a minute.
 * They are disjoint, none is longer than the cap, together they hold every hour that is missing or to be asked again,
 * each begins and ends with such an hour, and there is no way to do with fewer.
 */
export function planWindows(input: PlanInput): PlannedWindow[] {
  const missing = subtractWindows([input.target], input.covered);
  const again: Window = { start: Math.max(input.target.start, input.settleFrom), end: input.target.end };
  const needed = input.refetch ? [input.target] : unionWindows([...missing, again]);
  return coverWindows(needed, input.maxWindowMs).map((window) => {
    const isNew = missing.some((hole) => hole.start < window.end && window.start < hole.end);
    return { window, reason: isNew ? 'new' : input.refetch ? 'repair' : 'settle' };
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
