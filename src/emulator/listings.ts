import {
  type DeploymentStatus,
  deploymentStatuses,
  type ListingSort,
  listingLimits,
} from '../platform/interface/index.ts';
import type { Instant } from '../time/time.ts';
import { expiredCursor, readCursor, writeCursor } from './cursors.ts';
import { itemAt, type Surroundings } from './listed-items.ts';
import { numberOf, type Parameters } from './parameters.ts';
import { Refusal } from './refusal.ts';
import { statusAt } from './resource-states.ts';
import type { Traits } from './sample-labels.ts';
import { type Look, lookAt, type Resource, type ResourceKind } from './sample-listings.ts';
import type { World } from './world.ts';

/** A valid listing request (4.1). */
export interface ListingQuery {
  readonly kind: ResourceKind;
  /** One workspace, or undefined for all workspaces of the account. */
  readonly workspace: string | undefined;
  /** Whether the requested version has pages, orders and search. */
  readonly isPaged: boolean;
  readonly sort: ListingSort;
  /** Lower case; undefined if too short to filter. */
  readonly search: string | undefined;
  readonly externalId: string | undefined;
  /** Undefined for all. */
  readonly statuses: ReadonlySet<string> | undefined;
  readonly showTerminated: boolean;
}

/** The state of a resource at the instant that a listing shows. */
interface Sighting {
  readonly resource: Resource;
  readonly look: Look;
  readonly status: DeploymentStatus;
}

interface Listed {
  /** What the caller requested, in order. */
  readonly sightings: readonly Sighting[];
  /** All of the kind in the workspace, regardless of every filter (2.13). */
  readonly total: number;
}

/** Answers listing requests. */
export interface Shelves {
  /** The body of a 200. Refuses with 400 what 4.1 does not allow. */
  answer(
    kind: ResourceKind,
    parameters: Parameters,
    asked: {
      workspace: string | undefined;
      isPaged: boolean;
      now: Instant;
      calledExpired: boolean;
      surroundings: Surroundings;
    },
  ): unknown;
}

/** Beyond this number the platform reports only a lower bound. */
const countedUpTo = 2_500;
// Clients page through a few listings at once; a listing of tens of thousands is sorted once.
const maxCachedListings = 8;

/** Deliberate errors of listings. */
export interface ListingFaults {
  /** Resources that are missing from the listing. */
  leavesOut(resource: Resource): boolean;
  /** How many items too many the total counts. */
  overcounts(kind: ResourceKind): number;
}

/** The listings of a fleet, without what clients deleted. */
export function openShelves(account: string, world: World, { leavesOut, overcounts }: ListingFaults): Shelves {
  const kept = new Map<string, Listed>();

  function listed(query: ListingQuery, key: string, seenAt: Instant): Listed {
    const place = `${world.revision()} ${seenAt} ${key}`;
    const known = kept.get(place) ?? list(world, leavesOut, query, seenAt);
    kept.delete(place);
    kept.set(place, known);
    for (const oldest of kept.keys()) {
      if (kept.size <= maxCachedListings) break;
      kept.delete(oldest);
    }
    return known;
  }

  return {
    answer(kind, parameters, { workspace, isPaged, now, calledExpired, surroundings }) {
      const query = readListingQuery(kind, workspace, isPaged, parameters);
      const key = JSON.stringify({ account, ...query, statuses: [...(query.statuses ?? [])] });
      if (!isPaged) return itemsOf(listed(query, key, now).sightings, now, surroundings);

      const cursor = parameters.get('cursor');
      const limit = numberOf(parameters, 'limit');
      const isTail = parameters.has('anchor');
      if (isTail && cursor !== undefined) {
        throw new Refusal(400, 'invalid_parameter', 'anchor asks for the tail page, and cursor for another one');
      }
      const place =
        typeof cursor === 'string' ? readCursor(key, cursor, now) : { offset: 0, seenAt: now, issuedAt: now };
      if (calledExpired && typeof cursor === 'string') throw expiredCursor();
      const { sightings, total } = listed(query, key, place.seenAt);
      const first = isTail ? Math.max(0, sightings.length - limit) : place.offset;
      const end = first + limit;
      const hasMore = end < sightings.length;
      return {
        data: itemsOf(sightings.slice(first, end), place.seenAt, surroundings),
        meta: {
          hasMore,
          nextCursor: hasMore ? writeCursor(key, { offset: end, seenAt: place.seenAt, issuedAt: now }) : '',
          total: Math.max(0, Math.min(total + overcounts(kind), countedUpTo)),
          totalIsPartial: total > countedUpTo,
        },
      };
    },
  };
}

function itemsOf(sightings: readonly Sighting[], at: Instant, surroundings: Surroundings): unknown[] {
  return sightings.map(({ resource, look }) => itemAt(resource, look, at, surroundings));
}

function readListingQuery(
  kind: ResourceKind,
  workspace: string | undefined,
  isPaged: boolean,
  parameters: Parameters,
): ListingQuery {
  const sort = isPaged ? (textOf(parameters, 'sort') ?? 'createdAt:desc') : 'createdAt:desc';
  if (parameters.has('anchor') && sort.startsWith('name:')) {
    throw new Refusal(400, 'invalid_parameter', `anchor is for sorts by createdAt, not for ${sort}`);
  }
  const search = isPaged ? (textOf(parameters, 'q') ?? '').trim().toLowerCase() : '';
  const given = parameters.get('status');
  const statuses =
    Array.isArray(given) && given.length < deploymentStatuses.length ? new Set<string>(given) : undefined;
  return {
    kind,
    workspace,
    isPaged,
    sort: sort as ListingSort,
    search: [...search].length < listingLimits.minSearchLength ? undefined : search,
    externalId: textOf(parameters, 'externalId') || undefined,
    statuses: isPaged || kind === 'sandbox' ? statuses : undefined,
    showTerminated: parameters.get('showTerminated') === true,
  };
}

function textOf(parameters: Parameters, name: string): string | undefined {
  const value = parameters.get(name);
  return typeof value === 'string' ? value : undefined;
}

function list(world: World, leavesOut: (resource: Resource) => boolean, query: ListingQuery, at: Instant): Listed {
  const sightings: Sighting[] = [];
  let total = 0;
  for (const resource of world.all(query.kind)) {
    if ((query.workspace ?? resource.workspace) !== resource.workspace) continue;
    const look = lookAt(resource, at);
    if (look === undefined || leavesOut(resource)) continue;
    if ((world.deletedAt(resource) ?? Number.POSITIVE_INFINITY) <= at) continue;
    total += 1;
    const status = statusAt(resource, look, at, world.restoredAt(resource));
    const isHidden = status === 'TERMINATED' && !query.showTerminated;
    // A status filter takes precedence over hiding.
    if (query.statuses === undefined ? isHidden : !query.statuses.has(status)) continue;
    if (query.externalId !== undefined && look.externalId !== query.externalId) continue;
    if (query.search !== undefined && !holds(resource.name, look, query.search)) continue;
    sightings.push({ resource, look, status });
  }
  const [field, direction] = query.sort.split(':');
  const sign = direction === 'desc' ? -1 : 1;
  sightings.sort((a, b) => sign * (field === 'name' ? byName(a, b) : byCreation(a, b)));
  return { sightings, total };
}

function holds(name: string, { displayName = '', labels = {} }: Traits, search: string): boolean {
  return [name, displayName, ...Object.entries(labels).flat()].some((text) => text.toLowerCase().includes(search));
}

function byCreation(a: Sighting, b: Sighting): number {
  return a.resource.createdAt - b.resource.createdAt || byName(a, b);
}

/** By code unit; several workspaces may have a resource of the same name. */
function byName({ resource: a }: Sighting, { resource: b }: Sighting): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return a.workspace < b.workspace ? -1 : 1;
}
