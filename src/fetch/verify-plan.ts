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
import { splitAtMidnight } from './buckets.ts';
import { daysQuery, monthsQuery, namesQuery, type Query, type Role, seriesQuery } from './grain.ts';
import { type CoveredWindow, coverWindows } from './plan.ts';

/** The start of the first day with hours that are still expected to change. */
export function settledUntil(lastHour: Instant, settleDays: number): Instant {
  return floorDay(lastHour) - settleDays * dayMs;
}

/**
 * The stretches of hours that are claimed in the books and settled, at most `verifyDays` back: what daily totals can be
 * compared with, a day by as much of it as is there. Younger hours are read again anyway.
 */
export function settledDays(
  covered: readonly CoveredWindow[],
  { lastHour, settleDays, verifyDays }: { lastHour: Instant; settleDays: number; verifyDays: number },
): Window[] {
  const until = settledUntil(lastHour, settleDays);
  const range = { start: until - verifyDays * dayMs, end: until };
  const claimed = unionWindows(
    covered.map(({ start, end, claimedEnd }) => ({ start, end: Math.min(end, claimedEnd) })),
  );
  return claimed.flatMap((part) => intersectWindows(part, range) ?? []);
}

/**
 * The queries of these days' totals, newest first: each stretch by itself, in the fewest windows that daily resolution
 * allows, because hours that are not in the books have nothing to be compared with. As admin by workspace too, as long
 * as all workspaces and billing dimensions (`groups`) fit on one page.
 */
export function daysQueries(
  days: readonly Window[],
  role: Role | undefined,
  groups: number,
): { readonly queries: readonly Query[]; readonly byWorkspace: boolean } {
  const byWorkspace = role === 'admin' && groups <= metricsLimits.maxPageSize;
  const parts = days.flatMap(splitAtMidnight).reverse();
  const windows = parts.flatMap((part) => coverWindows([part], maxWindowDays.daily * dayMs));
  return { queries: windows.map((window) => daysQuery(window, byWorkspace)), byWorkspace };
}

/** The whole months of a stretch of hours: from the first day of the first one; undefined where it holds none. */
export function wholeMonths({ start, end }: Window): Window | undefined {
  const first = floorMonth(start);
  const months = { start: first === start ? start : addCalendarMonths(first, 1), end: floorMonth(end) };
  return months.start < months.end ? months : undefined;
}

/** The query of these months' totals: months have no window cap, so one answer holds all from the first to the last. */
export function monthsQueries(months: readonly Window[]): Query[] {
  if (months.length === 0) return [];
  const start = Math.min(...months.map((month) => month.start));
  return [monthsQuery({ start, end: Math.max(...months.map((month) => month.end)) })];
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
  /** Whether the billing dimension has any rows without uuid. */
  readonly hasRowsWithoutUuid: boolean;
}

/** How series are told apart: by uuid, or by name where rows without uuid are to be told as well. */
export type SeriesQuestion = 'series' | 'names';

/** A part of the past whose series are asked for at once: all billing dimensions, or one. */
export interface SeriesWindow {
  readonly question: SeriesQuestion;
  readonly billingDimension: string | undefined;
  readonly window: Window;
  /** Months where the slice is made of them, days where a month holds too many series. */
  readonly resolution: 'daily' | 'monthly';
  /** Pages that its answer takes, as far as the books can tell. */
  readonly pages: number;
}

/**
 * The slices of a stretch of the past that cover every series (by name: of the billing dimensions with rows without
 * uuid), each in at most `maxPages` pages where days allow it: a year of everything if that fits, otherwise one billing
 * dimension each, over as many months as fit.
 */
export function seriesWindows(
  question: SeriesQuestion,
  past: Window,
  lives: readonly SeriesLives[],
  maxPages: number,
): SeriesWindow[] {
  const wanted = lives.filter(({ hasRowsWithoutUuid }) => question === 'series' || hasRowsWithoutUuid);
  if (wanted.length === 0) return [];
  const capacity = maxPages * metricsLimits.maxPageSize;
  const dimensions = [...new Set(wanted.flatMap(({ billingDimension }) => billingDimension ?? []))].sort();
  const all = alive(lives, past);
  if (all === 0) return [];
  if (all <= capacity) {
    return yearsOf(past).map((window) => {
      return { question, billingDimension: undefined, window, resolution: 'monthly', pages: pagesOf(all) };
    });
  }
  return dimensions.flatMap((billingDimension) => {
    const own = lives.filter((life) => life.billingDimension === billingDimension);
    return windowsOf(past, own, capacity).map((slice) => ({ question, billingDimension, ...slice }));
  });
}

/** The past in parts of twelve months at most, each but the first from the first of a month. */
function yearsOf({ start, end }: Window): Window[] {
  const years: Window[] = [];
  for (let from = start; from < end; ) {
    const to = Math.min(end, addCalendarMonths(floorMonth(from), 12));
    years.push({ start: from, end: to });
    from = to;
  }
  return years;
}

/** The slices of one billing dimension. */
function windowsOf(
  past: Window,
  lives: readonly SeriesLives[],
  capacity: number,
): Pick<SeriesWindow, 'window' | 'resolution' | 'pages'>[] {
  const seriesParts: Pick<SeriesWindow, 'window' | 'resolution' | 'pages'>[] = [];
  const fits = (window: Window) => alive(lives, window) <= capacity;
  for (let { start } = past; start < past.end; ) {
    // A part of a month or day is asked for by itself.
    const months = furthest(
      start,
      start === floorMonth(start) ? past.end : endOf(past, nextMonth(start)),
      nextMonth,
      fits,
    );
    const days = furthest(start, start === floorDay(start) ? past.end : endOf(past, nextDay(start)), nextDay, fits);
    const end = months ?? days ?? endOf(past, nextDay(start));
    const window = { start, end };
    const series = alive(lives, window);
    if (series > 0) {
      seriesParts.push({ window, resolution: months === undefined ? 'daily' : 'monthly', pages: pagesOf(series) });
    }
    start = end;
  }
  return seriesParts;
}

function endOf(past: Window, instant: Instant): Instant {
  return Math.min(past.end, instant);
}

/** When the series of a billing dimension (undefined: all at once) were last verified from an instant on. */
export interface SeriesVerified {
  readonly question: SeriesQuestion;
  readonly billingDimension: string | undefined;
  readonly from: Instant;
  readonly at: Instant;
}

/** A stretch of the past with the lives of its series, told apart either way. */
export interface PastWindow {
  readonly window: Window;
  readonly series: readonly SeriesLives[];
  readonly names: readonly SeriesLives[];
}

/**
 * The queries of tonight's share of the series: what was verified longest ago, as much as `maxPages` pages hold, and
 * one page by name where there are rows without uuid.
 */
export function seriesQueries(
  parts: readonly PastWindow[],
  verified: readonly SeriesVerified[],
  maxPages: number,
  role: Role | undefined,
): Query[] {
  if (maxPages === 0) return [];
  function tonight(question: SeriesQuestion, pages: number): SeriesWindow[] {
    const seriesParts = parts.flatMap((part) => seriesWindows(question, part.window, part[question], pages));
    return windowsOfTonight(seriesParts, verified, pages);
  }
  return [
    ...tonight('series', maxPages).map(({ window, resolution, billingDimension }) =>
      seriesQuery(window, resolution, { billingDimension }),
    ),
    ...tonight('names', 1).map(({ window, resolution, billingDimension }) =>
      namesQuery(window, resolution, role, { billingDimension }),
    ),
  ];
}

/** A question of which the answer is on record as a contradiction. */
export interface RecordedQuestion {
  readonly purpose: 'days' | 'months' | SeriesQuestion;
  readonly unit: 'day' | 'month';
  /** Undefined where it is about all of them. */
  readonly billingDimension: string | undefined;
  readonly window: Window;
}

/** The queries that ask again what is on record of the series, in its order, those that touch as one. */
export function recordedSeriesQueries(recorded: readonly RecordedQuestion[], role: Role | undefined): Query[] {
  const groups = new Map<string, RecordedQuestion[]>();
  for (const one of recorded) {
    if (one.purpose !== 'series' && one.purpose !== 'names') continue;
    const key = JSON.stringify([one.purpose, one.unit, one.billingDimension]);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()].flatMap((group) => {
    const [{ purpose, unit, billingDimension } = { purpose: '', unit: '', billingDimension: undefined }] = group;
    const parts = unionWindows(group.map(({ window }) => window));
    const windows =
      unit === 'month' ? parts : coverWindows(parts.flatMap(splitAtMidnight), maxWindowDays.daily * dayMs);
    const resolution = unit === 'month' ? 'monthly' : 'daily';
    return windows.map((window) =>
      purpose === 'names'
        ? namesQuery(window, resolution, role, { billingDimension })
        : seriesQuery(window, resolution, { billingDimension }),
    );
  });
}

/**
 * Those slices that were verified longest ago, or never, as many as `maxPages` pages hold, and one at least. A year of
 * everything is a night's work by itself: what a night costs is not to grow with the past.
 */
export function windowsOfTonight(
  seriesParts: readonly SeriesWindow[],
  verified: readonly SeriesVerified[],
  maxPages: number,
): SeriesWindow[] {
  const times = new Map(verified.map((one) => [keyOf(one.question, one.billingDimension, one.from), one.at]));
  const waiting = seriesParts
    .map((slice, position) => {
      const at =
        times.get(keyOf(slice.question, slice.billingDimension, slice.window.start)) ?? Number.NEGATIVE_INFINITY;
      return { slice, position, at };
    })
    .sort((a, b) => (a.at === b.at ? a.position - b.position : a.at < b.at ? -1 : 1));
  const chosen: SeriesWindow[] = [];
  let pages = 0;
  for (const { slice } of waiting) {
    const isTooMuch = pages + slice.pages > maxPages || slice.billingDimension === undefined;
    if (chosen.length > 0 && isTooMuch) break;
    chosen.push(slice);
    pages += slice.pages;
  }
  return chosen;
}

function keyOf(question: SeriesQuestion, billingDimension: string | undefined, from: Instant): string {
  return JSON.stringify([question, billingDimension, from]);
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
