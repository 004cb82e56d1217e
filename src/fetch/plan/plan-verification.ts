import { maxWindowDays, metricsLimits } from '../../platform/interface/index.ts';
import {
  addCalendarMonths,
  dayMs,
  floorDay,
  floorMonth,
  type Instant,
  intersectWindows,
  unionWindows,
  type Window,
} from '../../time/time.ts';
import type {
  ContradictedQuestion,
  CoveredWindow,
  Role,
  SeriesLife,
  SeriesQuestion,
  SeriesVerified,
} from '../../warehouse/page.ts';
import { splitAtMidnight } from './buckets.ts';
import { coverWindows } from './plan-windows.ts';
import { daysQuery, monthsQuery, namesQuery, type Query, seriesQuery } from './queries.ts';

/** The start of the first day whose hours may still change. */
export function settledUntil(lastHour: Instant, settleDays: number): Instant {
  return floorDay(lastHour) - settleDays * dayMs;
}

/**
 * The complete and settled windows in the books, at most `verifyDays` back: daily totals are compared with as much of
 * each day as is there. Younger hours are fetched again anyway.
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
 * The queries for the totals of these days, newest first: each window separately, in the fewest queries that daily
 * resolution allows, because hours outside the books have nothing to compare with. As admin also by workspace, as long
 * as all workspaces and billing dimensions (`groups`) fit on one page.
 */
export function daysQueries(
  days: readonly Window[],
  role: Role | undefined,
  groups: number,
): { readonly queries: readonly Query[]; readonly byWorkspace: boolean } {
  const byWorkspace = role === 'admin' && groups <= metricsLimits.maxPageSize;
  const windows = days.toReversed().flatMap((part) => dailyWindows([part]));
  return { queries: windows.map((window) => daysQuery(window, byWorkspace)), byWorkspace };
}

/**
 * The fewest windows that daily resolution allows and that cover all of these, newest first. A part of a day is a window of
 * its own.
 */
export function dailyWindows(parts: readonly Window[]): Window[] {
  const whole = unionWindows(parts).flatMap(splitAtMidnight);
  const begun = whole.filter(({ start, end }) => start !== floorDay(start) && end === floorDay(start) + dayMs);
  const others = whole.filter((part) => !begun.includes(part));
  const windows = [...coverWindows(others, maxWindowDays.daily * dayMs).flatMap(splitAtMidnight), ...begun];
  return windows.sort((one, other) => other.start - one.start);
}

/** The whole months of a window: from the first day of the first one; undefined if there are none. */
export function wholeMonths({ start, end }: Window): Window | undefined {
  const first = floorMonth(start);
  const months = { start: first === start ? start : addCalendarMonths(first, 1), end: floorMonth(end) };
  return months.start < months.end ? months : undefined;
}

/** The query for the totals of these months: months have no window cap, so one answer covers all from first to last. */
export function monthsQueries(months: readonly Window[]): Query[] {
  if (months.length === 0) return [];
  const start = Math.min(...months.map((month) => month.start));
  return [monthsQuery({ start, end: Math.max(...months.map((month) => month.end)) })];
}

/** A value for `verifyDays` that means all days. */
export const everyDay = 100_000;

/** A part of the past whose series are queried at once: all billing dimensions, or one. */
export interface SeriesWindow {
  readonly question: SeriesQuestion;
  readonly billingDimension: string | undefined;
  readonly window: Window;
  /** Months if the window consists of months, days if a month has too many series. */
  readonly resolution: 'daily' | 'monthly';
  /** Estimated number of pages in its answer. */
  readonly pages: number;
}

/**
 * The windows that cover every series of the past (by name: of the billing dimensions with rows without UUID), each in
 * at most `maxPages` pages if days allow it: a year of everything if that fits, otherwise one billing dimension each,
 * over as many months as fit.
 */
export function seriesWindows(
  question: SeriesQuestion,
  past: Window,
  lives: readonly SeriesLife[],
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

/** The past in parts of at most twelve months, each except the first starting on the first of a month. */
function yearsOf({ start, end }: Window): Window[] {
  const years: Window[] = [];
  for (let from = start; from < end; ) {
    const to = Math.min(end, addCalendarMonths(floorMonth(from), 12));
    years.push({ start: from, end: to });
    from = to;
  }
  return years;
}

/** The windows of one billing dimension. */
function windowsOf(
  past: Window,
  lives: readonly SeriesLife[],
  capacity: number,
): Pick<SeriesWindow, 'window' | 'resolution' | 'pages'>[] {
  const seriesParts: Pick<SeriesWindow, 'window' | 'resolution' | 'pages'>[] = [];
  const fits = (window: Window) => alive(lives, window) <= capacity;
  for (let { start } = past; start < past.end; ) {
    // A part of a month or day is queried separately.
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

/** A window of the past with its series' first and last days, identified either way. */
export interface PastWindow {
  readonly window: Window;
  readonly series: readonly SeriesLife[];
  readonly names: readonly SeriesLife[];
}

/**
 * Tonight's queries about series: those verified longest ago, as many as fit in `maxPages` pages, and one page by name
 * if there are rows without UUID.
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

/** The queries that fetch recorded contradictions of series again, in order, adjacent ones as one. */
export function recordedSeriesQueries(recorded: readonly ContradictedQuestion[], role: Role | undefined): Query[] {
  const groups = new Map<string, ContradictedQuestion[]>();
  for (const one of recorded) {
    if (one.purpose !== 'series' && one.purpose !== 'names') continue;
    const key = JSON.stringify([one.purpose, one.unit, one.billingDimension]);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()].flatMap((group) => {
    const [{ purpose, unit, billingDimension } = { purpose: '', unit: '', billingDimension: undefined }] = group;
    const parts = unionWindows(group.map(({ window }) => window));
    const windows = unit === 'month' ? parts : dailyWindows(parts);
    const resolution = unit === 'month' ? 'monthly' : 'daily';
    return windows.map((window) =>
      purpose === 'names'
        ? namesQuery(window, resolution, role, { billingDimension })
        : seriesQuery(window, resolution, { billingDimension }),
    );
  });
}

/**
 * The windows that were verified longest ago, or never: as many as fit in `maxPages` pages, and at least one. A year of
 * everything is a night's work by itself: the cost of a night must not grow with the past.
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

/** Series that may have an hour in the window: started before its end, not ended before its start. */
function alive(lives: readonly SeriesLife[], { start, end }: Window): number {
  return lives.reduce((sum, { day, began, ended }) => sum + (day < end ? began : 0) - (day < start ? ended : 0), 0);
}

/** The furthest step from `start` (at most `end`) for which the window still fits; undefined if not even one does. */
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
