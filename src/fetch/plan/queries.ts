import { type GroupByDimension, metricsLimits } from '../../platform/interface/index.ts';
import { formatInstant, type Window } from '../../time/time.ts';
import type { Role } from '../../warehouse/page.ts';
import type { AskedResolution } from './buckets.ts';

/**
 * The purpose of a query.
 * - `detail`: the rows themselves.
 * - `control`: separate, coarser totals that prove the window.
 * - `residual`: by workspace, the rows of one resource type that have no UUID.
 * - `repair`: the rows of one billing dimension that the detail reports incompletely.
 * - `types`: the resource types among those rows, if several may share the dimension.
 * - `days`: daily totals of the past, to find the days that changed.
 * - `series`: totals of every series over the past, to find costs that moved between resources.
 * - `names`: totals by name instead of UUID, to find what moved among rows without UUID, which "best effort" may omit.
 * - `months`: monthly totals that whole months must add up to.
 */
export type Purpose = 'detail' | 'control' | 'residual' | 'repair' | 'types' | 'days' | 'series' | 'names' | 'months';

/** One grouped query over one window, answered in pages. */
export interface Query {
  readonly purpose: Purpose;
  readonly window: Window;
  /** Hours if omitted. */
  readonly resolution?: AskedResolution;
  readonly groupBy: readonly GroupByDimension[];
  readonly resourceType?: string;
  readonly resourceName?: string;
  readonly billingDimension?: string;
}

/**
 * The rows of a window. Three queried dimensions fill all five by enrichment (2.15) and need no admin. Its blind spot:
 * resources without UUID that share a name across workspaces arrive as one row, whose workspace is meaningless.
 */
export function detailQuery(window: Window): Query {
  return { purpose: 'detail', window, groupBy: ['resource_name', 'resource_uuid', 'billing_dimension'] };
}

/** The totals that prove a window: hours by billing dimension, and by workspace if the token may see that. */
export function controlQuery(window: Window, role: Role): Query {
  const groupBy: GroupByDimension[] = role === 'admin' ? ['workspace', 'billing_dimension'] : ['billing_dimension'];
  return { purpose: 'control', window, groupBy };
}

/**
 * As admin: everything by workspace, of one resource type and one billing dimension if given; subtracting its rows with
 * UUID gives the rows without.
 */
export function residualQuery(window: Window, resourceType?: string, billingDimension?: string): Query {
  return {
    purpose: 'residual',
    window,
    groupBy: ['workspace', 'resource_name', 'billing_dimension'],
    ...(resourceType === undefined ? {} : { resourceType }),
    ...(billingDimension === undefined ? {} : { billingDimension }),
  };
}

/**
 * Everything in one billing dimension (or in all) without querying UUIDs ("best effort", 4.6), for what the detail
 * omits.
 */
export function repairQuery(window: Window, billingDimension: string | undefined, role: Role): Query {
  return {
    purpose: 'repair',
    window,
    groupBy: [role === 'admin' ? 'workspace' : 'resource_type', 'resource_name', 'billing_dimension'],
    ...(billingDimension === undefined ? {} : { billingDimension }),
  };
}

/** As admin: which resource types share a billing dimension, so that each can be queried by workspace. */
export function typesQuery(window: Window, billingDimension: string): Query {
  return { ...repairQuery(window, billingDimension, 'member'), purpose: 'types' };
}

/** Daily totals by billing dimension (as admin also by workspace): one page for the longest allowed window. */
export function daysQuery(window: Window, byWorkspace: boolean): Query {
  return {
    purpose: 'days',
    window,
    resolution: 'daily',
    groupBy: byWorkspace ? ['workspace', 'billing_dimension'] : ['billing_dimension'],
  };
}

/** Monthly totals by billing dimension: one page however long the window is. */
export function monthsQuery(window: Window): Query {
  return { purpose: 'months', window, resolution: 'monthly', groupBy: ['billing_dimension'] };
}

/** Totals of every series by month or by day, of all billing dimensions or of one. */
export function seriesQuery(
  window: Window,
  resolution: 'daily' | 'monthly',
  filter: { readonly billingDimension?: string | undefined; readonly resourceName?: string | undefined },
): Query {
  const { billingDimension, resourceName } = filter;
  return {
    purpose: 'series',
    window,
    resolution,
    groupBy: ['resource_name', 'resource_uuid', 'billing_dimension'],
    ...(billingDimension === undefined ? {} : { billingDimension }),
    ...(resourceName === undefined ? {} : { resourceName }),
  };
}

/** Totals by name, and by workspace as admin, otherwise by resource type: they include rows without UUID. */
export function namesQuery(
  window: Window,
  resolution: 'daily' | 'monthly',
  role: Role | undefined,
  filter: { readonly billingDimension?: string | undefined; readonly resourceName?: string | undefined },
): Query {
  return {
    ...seriesQuery(window, resolution, filter),
    purpose: 'names',
    groupBy: [role === 'admin' ? 'workspace' : 'resource_type', 'resource_name', 'billing_dimension'],
  };
}

/** The parameters of a query's first page; `resolution` and `limit` are always sent. */
export function queryParameters(account: string, query: Query): Record<string, string> {
  return {
    accountId: account,
    startTime: formatInstant(query.window.start),
    endTime: formatInstant(query.window.end),
    resolution: query.resolution ?? 'hourly',
    groupBy: query.groupBy.join(','),
    ...(query.resourceType === undefined ? {} : { resourceType: query.resourceType }),
    ...(query.resourceName === undefined ? {} : { resourceName: query.resourceName }),
    ...(query.billingDimension === undefined ? {} : { billingDimension: query.billingDimension }),
    limit: String(metricsLimits.maxPageSize),
  };
}

/** `detail`, `control`, `residual volume`: a query's name in messages, distinct within a window. */
export function describeQuery(query: Query): string {
  const { purpose, resourceType, resourceName, billingDimension } = query;
  return [purpose, resourceType, resourceName, billingDimension].filter(Boolean).join(' ');
}
