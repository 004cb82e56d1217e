import { type GroupByDimension, metricsLimits } from '../platform/index.ts';
import { formatInstant, type Window } from '../time.ts';

/** What the token may see: grouping by workspace and filtering by it are for account admins (5.7). */
export type Role = 'admin' | 'member';

/**
 * Why a query is asked.
 * - `detail`: the rows themselves.
 * - `control`: totals asked for separately, at a coarser grain, to prove the window.
 * - `residual`: by workspace, the rows of one resource type that carry no uuid.
 * - `repair`: the rows of one billing dimension of which the detail left some out.
 * - `types`: the resource types among those rows, where several may share the dimension.
 */
export type Purpose = 'detail' | 'control' | 'residual' | 'repair' | 'types';

/** One grouped question about one window, answered in pages. */
export interface Query {
  readonly purpose: Purpose;
  readonly window: Window;
  readonly groupBy: readonly GroupByDimension[];
  readonly resourceType?: string;
  readonly billingDimension?: string;
}

/**
 * The rows of a window. Three dimensions asked for fill all five by enrichment (2.15) and need no admin. Its blind
 * spot: resources without uuid that share a name across workspaces come as one row, whose workspace means nothing.
 */
export function detailQuery(window: Window): Query {
  return { purpose: 'detail', window, groupBy: ['resource_name', 'resource_uuid', 'billing_dimension'] };
}

/** The totals that prove a window: hours by billing dimension, and by workspace where the token may see that. */
export function controlQuery(window: Window, role: Role): Query {
  const groupBy: GroupByDimension[] = role === 'admin' ? ['workspace', 'billing_dimension'] : ['billing_dimension'];
  return { purpose: 'control', window, groupBy };
}

/**
 * As admin: all of one resource type (and one billing dimension, where given) by workspace; less its rows with uuid, it
 * gives those without.
 */
export function residualQuery(window: Window, resourceType: string, billingDimension?: string): Query {
  return {
    purpose: 'residual',
    window,
    groupBy: ['workspace', 'resource_name', 'billing_dimension'],
    resourceType,
    ...(billingDimension === undefined ? {} : { billingDimension }),
  };
}

/** All of one billing dimension without asking for uuids ("best effort", 4.6), for what the detail left out. */
export function repairQuery(window: Window, billingDimension: string, role: Role): Query {
  return {
    purpose: 'repair',
    window,
    groupBy: [role === 'admin' ? 'workspace' : 'resource_type', 'resource_name', 'billing_dimension'],
    billingDimension,
  };
}

/** As admin: which resource types share a billing dimension, so that each can be asked for by workspace. */
export function typesQuery(window: Window, billingDimension: string): Query {
  return { ...repairQuery(window, billingDimension, 'member'), purpose: 'types' };
}

/** The parameters of the metrics operation that ask a query's first page; `resolution` and `limit` are always sent. */
export function queryParameters(account: string, query: Query): Record<string, string> {
  return {
    accountId: account,
    startTime: formatInstant(query.window.start),
    endTime: formatInstant(query.window.end),
    resolution: 'hourly',
    groupBy: query.groupBy.join(','),
    ...(query.resourceType === undefined ? {} : { resourceType: query.resourceType }),
    ...(query.billingDimension === undefined ? {} : { billingDimension: query.billingDimension }),
    limit: String(metricsLimits.maxPageSize),
  };
}

/** `detail`, `control`, `residual volume`: a query as messages name it; no two of one window have one name. */
export function describeQuery(query: Query): string {
  return [query.purpose, query.resourceType, query.billingDimension].filter(Boolean).join(' ');
}
