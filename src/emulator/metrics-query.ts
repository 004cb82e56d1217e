import {
  defaultResolutions,
  type GroupByDimension,
  maxWindowDays,
  type Resolution,
} from '../platform/interface/index.ts';
import { dayMs, type Window } from '../time/time.ts';
import { numberOf, type Parameters } from './parameters.ts';
import { Refusal } from './refusal.ts';
import type { Dimensions } from './sample-costs.ts';

/** The filters by parameter name, each with its field of a series. */
export const filterFields = {
  workspace: 'workspace',
  resourceType: 'resourceType',
  resourceName: 'resourceName',
  resourceUuid: 'resourceUuid',
  billingDimension: 'billingDimension',
} as const satisfies Record<string, keyof Dimensions>;

type Field = keyof typeof filterFields;

/** The field that a dimension groups by. */
export const fieldOf: Readonly<Record<GroupByDimension, Field>> = {
  workspace: 'workspace',
  resource_type: 'resourceType',
  resource_name: 'resourceName',
  resource_uuid: 'resourceUuid',
  billing_dimension: 'billingDimension',
};

/** A valid metrics query, with its defaults filled in. */
export interface MetricsQuery {
  readonly window: Window;
  readonly resolution: Resolution;
  readonly groupBy: readonly GroupByDimension[];
  readonly filters: readonly { readonly field: Field; readonly value: string }[];
  /** Equal for equal queries with parameters in any order; the page size is not part of it. */
  readonly key: string;
}

/**
 * Parses the parameters of a metrics request. Refuses with 400 a window beyond the cap of an explicit resolution, and
 * with 403 what only account admins may query.
 */
export function readMetricsQuery(parameters: Parameters, isAdmin: boolean): MetricsQuery {
  const window = { start: numberOf(parameters, 'startTime'), end: numberOf(parameters, 'endTime') };
  const days = (window.end - window.start) / dayMs;
  const asked = parameters.get('resolution');
  const resolution = isResolution(asked) ? asked : defaultResolution(days);
  if (days > maxWindowDays[resolution]) {
    throw new Refusal(
      400,
      'window_too_long',
      `A window of ${days} days is beyond the ${maxWindowDays[resolution]} days that resolution ${resolution} allows`,
    );
  }
  const groupBy = groupByOf(parameters);
  if (!isAdmin && (groupBy.includes('workspace') || parameters.has('workspace'))) {
    throw new Refusal(403, 'access_denied', 'Access denied');
  }
  const filters = Object.entries(filterFields).flatMap(([name, field]) => {
    const value = parameters.get(name);
    return typeof value === 'string' ? [{ field, value }] : [];
  });
  refuseUnsupported(filters);
  return {
    window,
    resolution,
    groupBy,
    filters,
    key: JSON.stringify([window, resolution, groupBy, filters]),
  };
}

/** Volumes and domains have no UUID (4.6: not every resource type carries one), so they cannot be filtered by one. */
function refuseUnsupported(filters: MetricsQuery['filters']): void {
  const given = (name: Field) => filters.find(({ field }) => field === name)?.value;
  const type = given('resourceType');
  if (given('resourceUuid') === undefined || (type !== 'volume' && type !== 'custom_domain')) return;
  throw new Refusal(400, 'unsupported_feature', `Resources of type ${type} have no UUID to filter by`);
}

function isResolution(value: unknown): value is Resolution {
  return typeof value === 'string' && Object.hasOwn(maxWindowDays, value);
}

function groupByOf(parameters: Parameters): readonly GroupByDimension[] {
  const value = parameters.get('groupBy');
  const given: readonly string[] = Array.isArray(value) ? value : [];
  return given.filter((name): name is GroupByDimension => Object.hasOwn(fieldOf, name));
}

function defaultResolution(days: number): Resolution {
  return defaultResolutions.find(({ underDays }) => days < underDays)?.resolution ?? 'monthly';
}

/** Whether usage is shown: only if units cannot mix (2.15). */
export function showsUsage(query: MetricsQuery): boolean {
  return query.groupBy.includes('billing_dimension');
}
