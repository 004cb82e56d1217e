/** Metrics answers written out by hand from 2.15; nothing here is taken from src. */

export const windowStart = Date.UTC(2026, 9, 1);
const hourMs = 3_600_000;

export interface Point {
  timestamp: unknown;
  cost: unknown;
  usage?: unknown;
}

/** One group; dimensions that are left out are absent. */
export interface Group {
  workspace?: unknown;
  resourceType?: unknown;
  resourceName?: unknown;
  resourceUuid?: unknown;
  billingDimension?: unknown;
  summary: { cost: unknown; usage?: unknown };
  timeseries: Point[];
}

export interface Body {
  startTime: unknown;
  endTime: unknown;
  resolution: unknown;
  summary: { totalCost: unknown; totalUsage?: unknown };
  data: Group[];
  meta: { hasMore: unknown; nextCursor?: unknown };
}

/** The window of `hours` hours from 2026-10-01. */
export function windowOf(hours: number): { start: number; end: number } {
  return { start: windowStart, end: windowStart + hours * hourMs };
}

/** `2026-10-01T00:00:00Z` of the window's hour. */
export function hourText(hour: number): string {
  return new Date(windowStart + hour * hourMs).toISOString().replace('.000Z', 'Z');
}

/** A group with the given cost and usage of each hour. */
export function group(hours: readonly (readonly [cost: number, usage: number])[], fields: Partial<Group> = {}): Group {
  return {
    workspace: 'prod',
    resourceType: 'sandbox',
    resourceName: 'crawler',
    resourceUuid: 'u-1',
    billingDimension: 'sandbox_compute_runtime_gbs',
    summary: {
      cost: hours.reduce((sum, [cost]) => sum + cost, 0),
      usage: hours.reduce((sum, [, usage]) => sum + usage, 0),
    },
    timeseries: hours.map(([cost, usage], hour) => ({ timestamp: hourText(hour), cost, usage })),
    ...fields,
  };
}

/** A last page with these groups about a window of `hours` hours. */
export function bodyOf(hours: number, data: Group[], fields: Partial<Body> = {}): Body {
  return {
    startTime: hourText(0),
    endTime: hourText(hours),
    resolution: 'hourly',
    summary: { totalCost: data.reduce((sum, { summary }) => sum + Number(summary.cost), 0), totalUsage: 0 },
    data,
    meta: { hasMore: false, nextCursor: '' },
    ...fields,
  };
}

/** A page of one hour of one group, whose amounts are written as the given texts: what JSON.parse makes of it. */
export function oneBucket(written: { readonly cost: string; readonly usage: string }): unknown {
  const timeseries = [{ timestamp: hourText(0), cost: '@cost', usage: '@usage' }];
  const json = JSON.stringify(bodyOf(1, [group([[0, 0]], { timeseries })]));
  return JSON.parse(json.replace('"@cost"', written.cost).replace('"@usage"', written.usage));
}
