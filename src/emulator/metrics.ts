import { populatedBy, type Resolution } from '../platform/interface/index.ts';
import {
  addCalendarMonths,
  dayMs,
  floorDay,
  floorHour,
  floorMonth,
  formatInstant,
  hourMs,
  type Instant,
  type Window,
} from '../time/time.ts';
import { hourOfWeek } from './activity-shapes.ts';
import type { RowLie } from './fault-plan.ts';
import { emptySums, type HourlyCosts, type Hours, type Sums } from './hourly-costs.ts';
import { fieldOf, filterFields, type MetricsQuery, showsUsage } from './metrics-query.ts';
import { costScale, instanceOf, type Series, type Story, usageScale } from './sample-costs.ts';

/** One group of a query's answer. */
export interface Group {
  readonly key: string;
  /** The member whose fields the entry shows if enrichment adds more than the grouped dimensions. */
  face: Series;
  readonly members: Series[];
  cost: bigint;
  usage: bigint;
  /** Its buckets, if they were summed along with the total; otherwise they are summed when its page is fetched. */
  readonly sums: Sums | undefined;
}

/** A group that was summed as doubles: USD and units, in total and in each bucket of the query. */
export interface AddedGroup extends Sums {
  readonly cost: number;
  readonly usage: number;
}

/** What all pages of a query share. */
export interface Grouped {
  readonly groups: readonly Group[];
  /** Billionths of a dollar. */
  readonly cost: bigint;
  /** Thousandths of a unit, units mixed. */
  readonly usage: bigint;
}

/** One entry of an answer. */
export interface Entry {
  readonly summary: { readonly cost: number; readonly usage?: number };
  readonly timeseries: readonly Point[];
}

/** One item of an entry's series. */
interface Point {
  readonly timestamp: string;
  readonly cost: number;
  readonly usage?: number;
}

/** One bucket of a query, as an answer names it. */
export interface Bucket extends Hours {
  readonly timestamp: string;
}

/** Hours in a window. A cost belongs to the start of its hour, also if the window cuts the hour. */
function hoursOf(window: Window): Hours {
  return { fromHour: Math.ceil(window.start / hourMs), toHour: Math.ceil(window.end / hourMs) };
}

/**
 * The groups of a query as seen at `seenAt`, in paging order: by the grouped dimensions, absent values last. Groups
 * without costs or usage are missing. With `leavesOutUnnamed`, series without a UUID are missing when grouping by UUID
 * (a fault).
 */
export function groupSeries(
  story: Story,
  hourlyCosts: HourlyCosts,
  query: MetricsQuery,
  seenAt: Instant,
  leavesOutUnnamed: boolean,
): Grouped {
  const hours = hoursOf(query.window);
  const seenHour = Math.floor(seenAt / hourMs);
  const skipsUnnamed = leavesOutUnnamed && query.groupBy.includes('resource_uuid');
  const buckets = bucketsOf(query.window, query.resolution);
  // Grouped by resource, there may be tens of thousands of groups, but a page shows a hundred.
  const keepsSums = !query.groupBy.includes('resource_name') && !query.groupBy.includes('resource_uuid');
  const stretches = keepsSums ? buckets : [hours];
  const groups = new Map<string, Group>();
  let cost = 0n;
  let usage = 0n;
  for (const series of story.series) {
    if (!isAliveIn(series, hours, seenHour)) continue;
    if (skipsUnnamed && series.resourceUuid === undefined) continue;
    if (!query.filters.every((filter) => matches(series, filter))) continue;
    const sums = emptySums(stretches.length);
    hourlyCosts.addTo(sums, series, stretches, seenHour);
    const seriesCost = totalOf(sums.costs);
    const seriesUsage = totalOf(sums.usages);
    if (seriesCost === 0n && seriesUsage === 0n) continue;
    const key = query.groupBy.map((dimension) => sortable(series[fieldOf[dimension]])).join('\u0000');
    let group = groups.get(key);
    if (group === undefined) {
      group = {
        key,
        face: series,
        members: [],
        cost: 0n,
        usage: 0n,
        sums: keepsSums ? emptySums(buckets.length) : undefined,
      };
      groups.set(key, group);
    }
    group.members.push(series);
    if (orderOf(series) < orderOf(group.face)) group.face = series;
    // A whole account's years in billionths of a dollar can exceed 2^53; one series cannot.
    if (group.sums !== undefined) addSums(group.sums, sums);
    group.cost += seriesCost;
    group.usage += seriesUsage;
    cost += seriesCost;
    usage += seriesUsage;
  }
  const sorted = [...groups.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  return { groups: sorted, cost, usage };
}

/** A filter by UUID also takes the ID of the instance (4.6). */
function matches(series: Series, { field, value }: MetricsQuery['filters'][number]): boolean {
  const own = series[field];
  return own === value || (field === 'resourceUuid' && own !== undefined && instanceOf(own) === value);
}

/** Exact while one series stays below 2^53, which is nine million dollars. */
function totalOf(hourlyCosts: Float64Array): bigint {
  let total = 0;
  for (const amount of hourlyCosts) total += amount;
  return BigInt(total);
}

function addSums(into: Sums, sums: Sums): void {
  for (const [i, cost] of sums.costs.entries()) into.costs[i] = (into.costs[i] ?? 0) + cost;
  for (const [i, usage] of sums.usages.entries()) into.usages[i] = (into.usages[i] ?? 0) + usage;
}

/** The distinct resource types that are visible in a window at `seenAt`, sorted. */
export function resourceTypesIn(story: Story, hourlyCosts: HourlyCosts, window: Window, seenAt: Instant): string[] {
  const hours = hoursOf(window);
  const seenHour = Math.floor(seenAt / hourMs);
  const types = new Set<string>();
  for (const series of story.series) {
    if (types.has(series.resourceType) || !isAliveIn(series, hours, seenHour)) continue;
    const { costs, usages } = emptySums(1);
    hourlyCosts.addTo({ costs, usages }, series, [hours], seenHour);
    if (costs[0] !== 0 || usages[0] !== 0) types.add(series.resourceType);
  }
  return [...types].sort();
}

function isAliveIn(series: Series, hours: Hours, seenHour: number): boolean {
  return series.fromHour < Math.min(hours.toHour, seenHour) && series.toHour > hours.fromHour;
}

/** Absent values come last. */
function sortable(value: string | undefined): string {
  return value ?? '\uffff';
}

/** Which member of a group provides the entry's enriched fields: the first by workspace, then by name. */
function orderOf(series: Series): string {
  return [sortable(series.workspace), series.resourceName, series.resourceType, sortable(series.resourceUuid)].join(
    '\u0000',
  );
}

/** The entries (2.15) of some of a query's groups; without groupBy one entry for everything, even if it is nothing. */
export function toEntries(
  hourlyCosts: HourlyCosts,
  query: MetricsQuery,
  groups: readonly Group[],
  seenAt: Instant,
  doubles?: readonly AddedGroup[],
): Entry[] {
  const buckets = bucketsOf(query.window, query.resolution);
  const seenHour = Math.floor(seenAt / hourMs);
  const withUsage = showsUsage(query);
  if (groups.length === 0 && query.groupBy.length === 0) {
    return [{ summary: { cost: 0 }, timeseries: buckets.map(({ timestamp }) => ({ timestamp, cost: 0 })) }];
  }
  return groups.map((group, index) => {
    const added = doubles?.[index];
    const [cost, usage] = added ? [added.cost, added.usage] : [toUsd(group.cost), toUnits(group.usage)];
    const points = added ?? exactPoints(group.sums ?? sumsOf(hourlyCosts, group.members, buckets, seenHour));
    return {
      ...fieldsOf(query, group.face),
      summary: { cost, ...(withUsage ? { usage } : {}) },
      timeseries: toPoints(points, buckets, withUsage),
    };
  });
}

/** The entries with one of them wrong; each of them still looks right. */
export function withLie(entries: readonly Entry[], lie: RowLie | undefined): readonly Entry[] {
  const dearest = entries.toSorted((a, b) => b.summary.cost - a.summary.cost)[0];
  if (lie === undefined || dearest === undefined) return entries;
  if (lie === 'missing') return entries.filter((entry) => entry !== dearest);
  const { summary, timeseries } = dearest;
  const [first, ...rest] = timeseries;
  if (first === undefined) return entries;
  const wrong =
    lie === 'cost'
      ? {
          summary: { ...summary, cost: summary.cost + 1 },
          timeseries: [{ ...first, cost: first.cost + 1 }, ...rest],
        }
      : { timeseries: [...rest, first].map((point, at) => ({ ...point, timestamp: timeseries[at]?.timestamp ?? '' })) };
  return entries.map((entry) => (entry === dearest ? { ...entry, ...wrong } : entry));
}

/** Converts USD and units from the story's scales. */
function exactPoints({ costs, usages }: Sums): Sums {
  return { costs: costs.map((cost) => cost / costScale), usages: usages.map((usage) => usage / usageScale) };
}

function sumsOf(
  hourlyCosts: HourlyCosts,
  members: readonly Series[],
  buckets: readonly Bucket[],
  seenHour: number,
): Sums {
  const sums = emptySums(buckets.length);
  for (const series of members) hourlyCosts.addTo(sums, series, buckets, seenHour);
  return sums;
}

function toPoints({ costs, usages }: Sums, buckets: readonly Bucket[], withUsage: boolean): Point[] {
  return buckets.map(({ timestamp }, i) => {
    const cost = costs[i] ?? 0;
    return withUsage ? { timestamp, cost, usage: usages[i] ?? 0 } : { timestamp, cost };
  });
}

/** The entry fields that the table in 2.15 populates; absent values are left out. */
function fieldsOf(query: MetricsQuery, face: Series): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const field of Object.values(filterFields)) {
    const value = face[field];
    const isPopulated = populatedBy[field].some((dimension) => query.groupBy.includes(dimension));
    if (isPopulated && value !== undefined) fields[field] = value;
  }
  return fields;
}

/**
 * The buckets of a window: calendar hours, days, weeks (from Monday) or months in UTC. Each has the calendar's own
 * start, even if the window cuts the first one; its costs are only those inside the window.
 */
export function bucketsOf(window: Window, resolution: Resolution): Bucket[] {
  const { fromHour, toHour } = hoursOf(window);
  const buckets: Bucket[] = [];
  for (let start = floorTo(window.start, resolution); start < window.end; ) {
    const next = nextAfter(start, resolution);
    buckets.push({
      timestamp: formatInstant(start),
      fromHour: Math.max(start / hourMs, fromHour),
      toHour: Math.min(next / hourMs, toHour),
    });
    start = next;
  }
  return buckets;
}

function floorTo(instant: Instant, resolution: Resolution): Instant {
  switch (resolution) {
    case 'hourly':
      return floorHour(instant);
    case 'daily':
      return floorDay(instant);
    case 'weekly':
      return floorHour(instant) - hourOfWeek(floorHour(instant) / hourMs) * hourMs;
    case 'monthly':
      return floorMonth(instant);
  }
}

function nextAfter(start: Instant, resolution: Resolution): Instant {
  switch (resolution) {
    case 'hourly':
      return start + hourMs;
    case 'daily':
      return start + dayMs;
    case 'weekly':
      return start + 7 * dayMs;
    case 'monthly':
      return addCalendarMonths(start, 1);
  }
}

/** Dollars from billionths: the number nearest to the exact decimal. */
export function toUsd(billionths: bigint): number {
  return toScaled(billionths, costScale);
}

/** Units from thousandths. */
export function toUnits(thousandths: bigint): number {
  return toScaled(thousandths, usageScale);
}

function toScaled(amount: bigint, scale: number): number {
  // Division rounds correctly while both sides are exact; beyond 2^53 only reading the decimal itself does.
  if (amount <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(amount) / scale;
  const digits = String(scale).length - 1;
  return Number(`${amount / BigInt(scale)}.${String(amount % BigInt(scale)).padStart(digits, '0')}`);
}
