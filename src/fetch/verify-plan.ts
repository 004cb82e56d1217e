import { maxWindowDays, metricsLimits } from '../platform/index.ts';
import {
  addCalendarMonths,
  dayMs,
  floorDay,
  floorMonth,
  type Instant,
  intersectWindows,
  unionWindows,
  type Window,
} from '../time.ts';
import { daysQuery, type Query, type Role, seriesQuery } from './grain.ts';
import { type CoveredPiece, coverWindows } from './plan.ts';

/**
 * The whole UTC days that are claimed in the books and settled, at most `verifyDays` back: what daily totals can be
 * compared with. Younger hours are read again anyway.
 */
export function settledDays(
  covered: readonly CoveredPiece[],
  { lastHour, settleDays, verifyDays }: { lastHour: Instant; settleDays: number; verifyDays: number },
): Window[] {
  const until = floorDay(lastHour) - settleDays * dayMs;
  const range = { start: until - verifyDays * dayMs, end: until };
  const claimed = unionWindows(
    covered.map(({ start, end, claimedEnd }) => ({ start, end: Math.min(end, claimedEnd) })),
  );
  return claimed.flatMap(({ start, end }) => {
    const days = { start: floorDay(start + dayMs - 1), end: floorDay(end) };
    return intersectWindows(days, range) ?? [];
  });
}

/**
 * The queries of these days' totals, newest first: each stretch of days by itself, in the fewest windows that daily
 * resolution allows, because a day that is not wholly in the books has nothing to be compared with. As admin by
 * workspace too, as long as all workspaces and billing dimensions (`groups`) fit on one page.
 */
export function daysQueries(
  days: readonly Window[],
  role: Role | undefined,
  groups: number,
): { readonly queries: readonly Query[]; readonly byWorkspace: boolean } {
  const byWorkspace = role === 'admin' && groups <= metricsLimits.maxPageSize;
  const windows = days.toReversed().flatMap((stretch) => coverWindows([stretch], maxWindowDays.daily * dayMs));
  return { queries: windows.map((window) => daysQuery(window, byWorkspace)), byWorkspace };
}

/** As `verifyDays`: however long ago. */
export const everyDay = 100_000;

/** How many series of a billing dimension had their first and their last day on a day. */
export interface SeriesLives {
  /** Undefined where the series belong to none. */
  readonly billingDimension: string | undefined;
  /** Start of a UTC day. */
  readonly day: Instant;
  readonly began: number;
  readonly ended: number;
}

/** A part of the past whose series are asked for at once: all billing dimensions, or one. */
export interface SeriesSlice {
  readonly billingDimension: string | undefined;
  readonly window: Window;
  /** Months where the slice is made of them, days where a month holds too many series. */
  readonly resolution: 'daily' | 'monthly';
  /** Pages that its answer takes, as far as the books can tell. */
  readonly pages: number;
}

/**
 * The slices of the past (one stretch of whole days) that cover every series, each in at most `maxPages` pages where
 * days allow it: everything at once if that fits, otherwise one billing dimension each, over as many months as fit.
 */
export function seriesSlices(past: Window, lives: readonly SeriesLives[], maxPages: number): SeriesSlice[] {
  if (lives.length === 0 || past.start >= past.end) return [];
  const capacity = maxPages * metricsLimits.maxPageSize;
  const all = alive(lives, past);
  if (all <= capacity) {
    return [{ billingDimension: undefined, window: past, resolution: 'monthly', pages: pagesOf(all) }];
  }
  const dimensions = [...new Set(lives.flatMap(({ billingDimension }) => billingDimension ?? []))].sort();
  return dimensions.flatMap((billingDimension) => {
    const own = lives.filter((life) => life.billingDimension === billingDimension);
    const slices: SeriesSlice[] = [];
    for (let { start } = past; start < past.end; ) {
      const months = furthest(start, past.end, nextMonth, (window) => alive(own, window) <= capacity);
      const end =
        months ?? furthest(start, past.end, nextDay, (window) => alive(own, window) <= capacity) ?? nextDay(start);
      const window = { start, end: Math.min(end, past.end) };
      const series = alive(own, window);
      const resolution = months === undefined ? 'daily' : 'monthly';
      if (series > 0) slices.push({ billingDimension, window, resolution, pages: pagesOf(series) });
      start = window.end;
    }
    return slices;
  });
}

/** When the series of a billing dimension (undefined: all at once) were last verified from a day on. */
export interface SeriesVerified {
  readonly billingDimension: string | undefined;
  readonly from: Instant;
  readonly at: Instant;
}

/** The queries of tonight's share of the series: what was verified longest ago, as much as `maxPages` pages hold. */
export function seriesQueries(
  past: Window | undefined,
  lives: readonly SeriesLives[],
  verified: readonly SeriesVerified[],
  maxPages: number,
): Query[] {
  if (past === undefined || maxPages === 0) return [];
  return slicesOfTonight(seriesSlices(past, lives, maxPages), verified, maxPages).map(
    ({ window, resolution, billingDimension }) => seriesQuery(window, resolution, { billingDimension }),
  );
}

/** Those slices that were verified longest ago, or never, as many as `maxPages` pages hold, and one at least. */
export function slicesOfTonight(
  slices: readonly SeriesSlice[],
  verified: readonly SeriesVerified[],
  maxPages: number,
): SeriesSlice[] {
  const times = new Map(verified.map(({ billingDimension, from, at }) => [keyOf(billingDimension, from), at]));
  const waiting = slices
    .map((slice, position) => {
      const at = times.get(keyOf(slice.billingDimension, slice.window.start)) ?? Number.NEGATIVE_INFINITY;
      return { slice, position, at };
    })
    .sort((a, b) => (a.at === b.at ? a.position - b.position : a.at < b.at ? -1 : 1));
  const chosen: SeriesSlice[] = [];
  let pages = 0;
  for (const { slice } of waiting) {
    if (chosen.length > 0 && pages + slice.pages > maxPages) break;
    chosen.push(slice);
    pages += slice.pages;
  }
  return chosen;
}

function keyOf(billingDimension: string | undefined, from: Instant): string {
  return JSON.stringify([billingDimension, from]);
}

/** Series that may have had an hour in the window: begun before its end, not ended before its start. */
function alive(lives: readonly SeriesLives[], { start, end }: Window): number {
  return lives.reduce((sum, { day, began, ended }) => sum + (day < end ? began : 0) - (day < start ? ended : 0), 0);
}

/** The furthest step from `start` (at most `end`) for which the window still fits; undefined where not even one does. */
function furthest(
  start: Instant,
  end: Instant,
  step: (from: Instant) => Instant,
  fits: (window: Window) => boolean,
): Instant | undefined {
  let reached: Instant | undefined;
  for (let next = step(start); fits({ start, end: Math.min(next, end) }); next = step(next)) {
    reached = Math.min(next, end);
    if (reached === end) break;
  }
  return reached;
}

function nextMonth(instant: Instant): Instant {
  return addCalendarMonths(floorMonth(instant), 1);
}

function nextDay(instant: Instant): Instant {
  return floorDay(instant) + dayMs;
}

function pagesOf(series: number): number {
  return Math.max(1, Math.ceil(series / metricsLimits.maxPageSize));
}
