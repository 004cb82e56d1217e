import type { Log } from '../base/effects.ts';
import { excerpt, PlatformError, RefusedAnswerError } from '../base/errors.ts';
import { parseBody, type RawBody } from './body.ts';
import type { Client } from './client.ts';
import { answerLimits, listingLimits, pagedListingsVersion } from './interface/limits.ts';
import { type Operation, operations } from './interface/operations.ts';
import { CursorRefusedError, type Page, pages } from './paging.ts';

/** What a listing says of a resource, besides its name. */
export type ListingColumn =
  | 'workspace'
  | 'uuid'
  | 'createdAt'
  | 'updatedAt'
  | 'displayName'
  | 'externalId'
  | 'labels'
  | 'region'
  | 'memoryMb'
  | 'generation'
  | 'status'
  | 'isEnabled'
  | 'plan'
  | 'createdBy'
  | 'integrationConnections'
  | 'volumes'
  | 'provider'
  | 'sizeBytes'
  | 'attachedTo'
  | 'runtimeState'
  | 'lastUsedAt'
  | 'expiresAt'
  | 'timeToLive'
  | 'expirationPolicies'
  | 'minScale';

/** The place of each column in an item: a path, or several of which the first counts (`a.b|c`); a list are texts that belong together. */
export type ColumnPlaces = Readonly<Partial<Record<ListingColumn, string | readonly string[]>>>;

/** A listing: where it is, how often it is asked for, and where its columns are. Nothing else is stored of its items. */
export interface Listing {
  /** As in messages. */
  readonly kind: string;
  /** The resource type in costs: metrics say mcp_server for what listings call function. */
  readonly resourceType: string;
  readonly operation: Operation;
  /** The query parameters besides paging. */
  readonly filters: Readonly<Record<string, string>>;
  readonly columns: ColumnPlaces;
  /** The name of an item; by default `metadata.name`. Items whose fields are at the top level have one. */
  name?(item: Readonly<Record<string, unknown>>): unknown;
  /** Whether its items have a history of deployments. */
  readonly hasDeployments?: true;
  /** The workspace that owns an item and lists it, too: only that listing counts. */
  owner?(item: Readonly<Record<string, unknown>>): string | undefined;
  /** Whether several workspaces may list the same items: people do. */
  readonly isShared?: true;
  /** Days from one reading to the next; 1 if left out. */
  readonly everyDays?: number;
  /** The operation that has an item with all of its columns, and its parameter for the name. */
  readonly detail?: { readonly operation: Operation; readonly parameter: string };
  /** Where it is missing: the operation that lists the items of one resource, and the dimension that bills for them. */
  readonly byResource?: {
    readonly operation: Operation;
    readonly parameter: string;
    readonly billingDimension: string;
  };
  /** What is not known without it; left out for the listings of the interface document. */
  readonly serves?: string;
}

/** Where most listings have their columns (2.2, 2.4 to 2.9). */
const common = {
  workspace: 'metadata.workspace',
  uuid: 'metadata.uuid',
  createdAt: 'metadata.createdAt',
  updatedAt: 'metadata.updatedAt',
  displayName: 'metadata.displayName',
  externalId: 'metadata.externalId',
  labels: 'metadata.labels',
  createdBy: 'metadata.createdBy',
  plan: 'metadata.plan',
  status: 'status',
  region: 'spec.region',
} as const satisfies ColumnPlaces;

const workload = {
  ...common,
  memoryMb: 'spec.runtime.memory',
  generation: 'spec.runtime.generation',
  isEnabled: 'spec.enabled',
  integrationConnections: 'spec.integrationConnections',
  runtimeState: 'state',
  lastUsedAt: 'lastUsedAt',
  expiresAt: 'spec.runtime.expires',
  timeToLive: 'spec.runtime.ttl',
  expirationPolicies: 'spec.lifecycle.expirationPolicies',
  minScale: 'spec.runtime.minScale',
} as const satisfies ColumnPlaces;
const mounting = { ...workload, volumes: 'spec.volumes' } as const;

/** Names that are read once a week: of people, connections and what is only stored. */
const week = 7;

/**
 * Every listing, with the parameters that exclude nothing: a terminated sandbox's storage still costs. Those after the
 * policies are in the public description only: a platform without them is asked again every week.
 */
export const listings: readonly Listing[] = [
  {
    ...{ kind: 'sandbox', resourceType: 'sandbox', operation: operations.sandboxes, hasDeployments: true },
    filters: { showTerminated: 'true' },
    columns: { ...mounting, generation: 'spec.runtime.generation|nodeGeneration' },
  },
  {
    ...{ kind: 'agent', resourceType: 'agent', operation: operations.agents, hasDeployments: true },
    ...{ filters: {}, columns: mounting },
  },
  {
    ...{ kind: 'function', resourceType: 'mcp_server', operation: operations.functions, hasDeployments: true },
    ...{ filters: {}, columns: workload },
  },
  {
    ...{ kind: 'job', resourceType: 'job', operation: operations.jobs, hasDeployments: true },
    ...{ filters: {}, columns: mounting },
  },
  {
    ...{ kind: 'model', resourceType: 'model', operation: operations.models, hasDeployments: true },
    ...{ filters: {}, columns: { ...workload, provider: 'spec.runtime.type' } },
  },
  {
    ...{ kind: 'policy', resourceType: 'policy', operation: operations.policies, hasDeployments: true },
    ...{ filters: {}, columns: workload },
  },
  {
    ...{ kind: 'volume', resourceType: 'volume', operation: operations.volumes, filters: {} },
    columns: { ...common, sizeBytes: 'spec.size', attachedTo: 'state.attachedTo' },
    detail: { operation: operations.volume, parameter: 'volumeName' },
    serves: 'labels of volumes, and what they are attached to',
  },
  {
    ...{ kind: 'custom domain', resourceType: 'custom_domain', operation: operations.customDomains, filters: {} },
    columns: { ...common, status: 'spec.status' },
    owner: ({ metadata }) => joined(metadata, ['sharedFromWorkspace'], ''),
    serves: 'labels of custom domains',
  },
  {
    ...{ kind: 'image', resourceType: 'image', operation: operations.images, filters: {}, everyDays: week },
    columns: { ...common, sizeBytes: 'spec.size', lastUsedAt: 'metadata.lastDeployedAt' },
    name: ({ metadata }) => joined(metadata, ['resourceType', 'name'], '/'),
    owner: ({ metadata }) => joined(metadata, ['sourceWorkspace'], ''),
    serves: 'sizes of images, and when they were last deployed',
  },
  {
    ...{ kind: 'snapshot', resourceType: 'snapshot', operation: operations.snapshots, filters: {}, everyDays: week },
    columns: {
      ...{ workspace: 'workspace', createdAt: 'createdAt', createdBy: 'createdBy', status: 'status' },
      ...{ region: 'spec.region', memoryMb: 'spec.memory', attachedTo: 'source.name|sandboxName' },
    },
    byResource: {
      ...{ operation: operations.sandboxSnapshots, parameter: 'sandboxName' },
      billingDimension: 'sandbox_snapshot_storage_gbs',
    },
    name: (item) => item['name'] || item['id'],
    serves: 'the age of snapshots',
  },
  {
    ...{ kind: 'connection', resourceType: 'connection', operation: operations.connections, filters: {} },
    ...{ columns: { ...common, provider: 'spec.integration' }, everyDays: week },
    serves: 'the providers behind connections',
  },
  {
    ...{ kind: 'user', resourceType: 'user', operation: operations.users, filters: {}, everyDays: week },
    ...{ columns: { displayName: ['given_name', 'family_name'] }, isShared: true, serves: 'names of people' },
    name: (item) => item['sub'],
  },
  {
    ...{ kind: 'service account', resourceType: 'service_account', operation: operations.serviceAccounts, filters: {} },
    ...{ columns: { displayName: 'name' }, everyDays: week, isShared: true, serves: 'names of service accounts' },
    name: (item) => item['client_id'],
  },
];

/** Of executions and their tasks; the public description allows no larger pages. */
const newestFirst = { sort: 'createdAt:desc', limit: '100' } as const;

/** The executions of a job: a cross-check of its compute. */
const executionListing: Listing = {
  ...{ kind: 'execution', resourceType: 'execution', operation: operations.executions, filters: newestFirst },
  ...{ columns: {}, everyDays: week, serves: 'whether executions explain the compute of jobs' },
  name: ({ metadata }) => joined(metadata, ['id'], ''),
};

/** The tasks of an execution. */
const taskListing: Listing = {
  ...{ kind: 'task', resourceType: 'task', operation: operations.tasks, filters: newestFirst, columns: {} },
};

/** The listings that are not asked for every night, with their days. */
export const listingPeriods: readonly { readonly resource_type: string; readonly days: number }[] = [
  ...listings,
  executionListing,
].flatMap(({ resourceType, everyDays }) =>
  everyDays === undefined ? [] : [{ resource_type: resourceType, days: everyDays }],
);

/** The workspaces that a token reaches, each of which contains itself. */
export const workspaceListing: Listing = {
  ...{ kind: 'workspace', resourceType: 'workspace', operation: operations.workspaces, filters: {} },
  columns: {
    ...{ workspace: 'name', createdAt: 'createdAt', updatedAt: 'updatedAt', displayName: 'displayName' },
    ...{ labels: 'labels', region: 'region', status: 'status', createdBy: 'createdBy' },
  },
  name: (item) => item['name'],
  serves: 'names and labels of workspaces',
};

/** What is read besides: workspaces before all others, executions of jobs after them. */
export const otherListings = {
  workspaces: workspaceListing,
  executions: executionListing,
  tasks: taskListing,
} as const;

/** The texts of these fields as one; undefined if one is missing. */
function joined(object: unknown, fields: readonly string[], between: string): string | undefined {
  const texts = fields.map((field) => (isObject(object) ? object[field] : undefined));
  return texts.every((text) => typeof text === 'string' && text !== '') ? texts.join(between) : undefined;
}

/** A listed resource as it came: an object whose `metadata.name` is a text; any other part may contain secrets. */
export interface RawResource {
  readonly metadata: { readonly name: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

/** One page of a listing. */
export interface ListingPage {
  /** From 1. A page 1 starts the listing, perhaps again: discard earlier pages. */
  readonly number: number;
  readonly items: readonly RawResource[];
  /** Whether this page ends the listing; a listing without such a page ended in an error. */
  readonly isLast: boolean;
  /**
   * On the last page: why the listing may be incomplete although it was read to its end; undefined if it is complete.
   */
  readonly doubt: string | undefined;
  /** On the last page: how many items fewer came than the platform counts; undefined if none, or if it does not count. */
  readonly shortfall: number | undefined;
  /** The API version of query and answer. */
  readonly apiVersion: string;
  /** Whether the answer has the form of versions with pages; the form of earlier ones is a bare list. */
  readonly isPaged: boolean;
}

/** Reads listings with one token. */
export interface ListingReader {
  /**
   * Reads one listing to its last page, page by page; `about` names its account in messages (`account acc_one`), and
   * `workspace` is the one that it is about, named in the query, and in the header that is configured for it. If the
   * platform refuses a cursor (valid for 24 hours), the listing restarts, at most three times. Throws PlatformError as
   * the client does, and RefusedAnswerError naming kind and page for an answer that is not a list of resources.
   */
  pages(
    listing: Pick<Listing, 'operation' | 'filters' | 'name'>,
    about: string,
    signal: AbortSignal,
    workspace?: string,
  ): AsyncGenerator<ListingPage, void, undefined>;
  /** Reads one item of a listing that has details, with all of its columns. Throws as `pages` does. */
  detail(listing: Listing, name: string, about: string, signal: AbortSignal, workspace: string): Promise<RawResource>;
}

/** How often a listing restarts after the platform refused its cursor. */
const maxRestarts = 3;

/**
 * A reader that requests the version in which listings have pages, or a later one if the client is set to that. If a
 * platform does not know this version, the reader tries one that the refusal names; that is logged, and all further
 * listings use it.
 */
export function openListings(client: Client, log: Log, { namesInQuery = true } = {}): ListingReader {
  let apiVersion = isPaged(client.apiVersion) ? client.apiVersion : pagedListingsVersion;
  let hasFallenBack = false;
  let isNamedInQuery = namesInQuery;

  /** Whether a failure concerns the version and another one is available, which the reader then uses. */
  function fallsBack(error: unknown, about: string): boolean {
    if (hasFallenBack || !(error instanceof PlatformError) || error.code !== 'invalid_api_version') return false;
    const named = versionNamedBy(error, apiVersion);
    if (named === undefined) return false;
    log.warn(
      'listing.version_changed',
      'The platform does not support the API version for listings; trying another one that it offers',
      {
        about,
        refused: apiVersion,
        askedNow: named,
      },
    );
    apiVersion = named;
    hasFallenBack = true;
    return true;
  }

  /** Whether a platform may refuse the query parameter that names a workspace: then only a configured header names it. */
  function leavesQuery(error: unknown, workspace: string | undefined): boolean {
    const isRefused = error instanceof PlatformError && error.status === 400 && error.code !== 'invalid_api_version';
    if (!isRefused || workspace === undefined || !isNamedInQuery) return false;
    isNamedInQuery = false;
    return true;
  }

  return {
    async detail({ detail, name: nameOf }, name, about, signal, workspace) {
      if (detail === undefined) throw new TypeError('this listing has no details');
      const { operation, parameter } = detail;
      const values = { [parameter]: name, ...(isNamedInQuery ? { workspace } : {}) };
      const aboutItem = `${about}, ${operation.name} ${excerpt(name, 100)}`;
      const read = async (body: RawBody) => {
        const item = resourceOf(await parseBody(body), nameOf);
        if (item === undefined) throw new RefusedAnswerError(`${aboutItem}: found an answer without a name`);
        return item;
      };
      return client.call(operation, values, aboutItem, read, signal, { apiVersion, workspace });
    },
    async *pages(listing, about, signal, workspace) {
      const { operation } = listing;
      const aboutListing = `${about}, ${operation.name}`;
      for (let restarts = 0; ; ) {
        try {
          yield* turnPages(
            client,
            listing,
            { about: aboutListing, apiVersion, workspace, namesInQuery: isNamedInQuery },
            signal,
          );
          return;
        } catch (error) {
          if (fallsBack(error, aboutListing) || leavesQuery(error, workspace)) continue;
          if (!(error instanceof CursorRefusedError)) throw error;
          if (restarts >= maxRestarts) throw error.afterRestarts();
          restarts += 1;
          log.warn('listing.restarted', 'The platform refused a cursor; starting the listing again', {
            about: aboutListing,
            reason: error.found,
          });
        }
      }
    },
  };
}

async function* turnPages(
  client: Client,
  { operation, filters, name }: Pick<Listing, 'operation' | 'filters' | 'name'>,
  how: {
    readonly about: string;
    readonly apiVersion: string;
    readonly workspace: string | undefined;
    readonly namesInQuery: boolean;
  },
  signal: AbortSignal,
): AsyncGenerator<ListingPage, void, undefined> {
  // Before pages existed, everything came at once. Oldest first: new resources then move no others to another page.
  const { about, apiVersion, workspace } = how;
  const hasPages = operation.pagedSince !== undefined && apiVersion >= operation.pagedSince;
  const limit = hasPages ? listingLimits.maxPageSize : undefined;
  const asked = {
    ...(limit === undefined ? {} : { sort: 'createdAt:asc', limit: String(limit) }),
    ...filters,
    ...(workspace === undefined || !how.namesInQuery ? {} : { workspace }),
  };
  let number = 0;
  let count = 0;
  const chain = pages(about, answerLimits.maxListingPages, (page, cursor) => {
    const aboutPage = `${about}, page ${page}`;
    const read = async (body: RawBody) =>
      readListingPage(await parseBody(body), { about: aboutPage, limit, cursor, name });
    const values = cursor === undefined ? asked : { ...asked, cursor };
    return client.call(withCursor(operation), values, aboutPage, read, signal, { apiVersion, workspace });
  });
  for await (const { items, hasMore, total, doubt, isPaged: hasForm } of chain) {
    number += 1;
    count += items.length;
    if (hasMore && number >= answerLimits.maxSparsePages && count <= number) {
      const found = `found ${count} items on the first ${number} pages, expected about ${limit} on each`;
      throw new RefusedAnswerError(`${about}: ${found}`);
    }
    const shortfall =
      !hasMore && doubt === undefined && total !== undefined && count < total ? total - count : undefined;
    const counted = shortfall === undefined ? undefined : `the platform counts ${total} items and listed ${count}`;
    const isLast = !hasMore;
    yield {
      number,
      items,
      isLast,
      doubt: hasMore ? undefined : (doubt ?? counted),
      shortfall,
      apiVersion,
      isPaged: hasForm,
    };
  }
}

const cursorParameter = operations.sandboxes.parameters.filter(({ name }) => name === 'cursor');

/** An operation that takes a cursor: what is described as an array may have pages one day. */
function withCursor(operation: Operation): Operation {
  return operation.paging === undefined
    ? { ...operation, parameters: [...operation.parameters, ...cursorParameter] }
    : operation;
}

function isPaged(apiVersion: string): boolean {
  return apiVersion >= pagedListingsVersion;
}

/**
 * The version to use instead: of those that a refusal names (7.2), the earliest in which listings have pages, because
 * it is the closest to what we know; else the latest of the others. Previews come last: they may change.
 */
function versionNamedBy(refusal: PlatformError, refused: string): string | undefined {
  // The refusal in the platform's own words: the text that we add contains dates, too.
  const said = refusal.cause instanceof Error ? refusal.cause.message : refusal.message;
  const named = [...said.matchAll(/\b\d{4}-\d{2}-\d{2}(?:\.preview)?(?![\w.-]*\w)/g)]
    .map(([version]) => version)
    .filter((version) => version !== refused)
    .sort();
  for (const candidates of [named.filter((version) => !isPreview(version)), named.filter(isPreview)]) {
    const best = candidates.find(isPaged) ?? candidates.at(-1);
    if (best !== undefined) return best;
  }
  return undefined;
}

function isPreview(version: string): boolean {
  return version.endsWith('.preview');
}

interface ReadPage extends Page {
  readonly items: readonly RawResource[];
  /** The platform's count; undefined if there is none, only a lower bound, or no whole number. */
  readonly total: number | undefined;
  readonly doubt: string | undefined;
  readonly isPaged: boolean;
}

/**
 * Parses a listing's answer of either form for any requested version, because a proxy may change a header. Throws
 * RefusedAnswerError if the answer is not a list, or if accepting it would lose a resource or a page.
 */
export function readListingPage(
  body: unknown,
  asked: {
    about: string;
    limit: number | undefined;
    cursor: string | undefined;
    name?: Listing['name'] | undefined;
  },
): ReadPage {
  const { about, limit, cursor } = asked;
  function refuse(place: string, found: unknown, expected: string): never {
    throw new RefusedAnswerError(`${about}: ${place}: found ${describe(found)}, expected ${expected}`);
  }
  function resources(list: readonly unknown[], place: string): RawResource[] {
    return list.map((item, i) => {
      const resource = resourceOf(item, asked.name);
      if (resource !== undefined) return resource;
      // The value itself is not shown: specs contain secrets.
      return refuse(
        `${place}[${i}]`,
        item,
        asked.name === undefined ? 'a resource with a metadata.name' : 'an item with a name',
      );
    });
  }

  if (Array.isArray(body)) {
    if (cursor !== undefined) refuse('the answer to a cursor', body, '{data, meta}');
    // A platform without pages that applies the limit would have cut the list exactly here.
    const doubt =
      body.length === limit
        ? `it has exactly the ${limit} requested items and does not say whether there are more`
        : undefined;
    const items = resources(body, 'items');
    const end = { hasMore: false, nextCursor: undefined, total: undefined };
    return { items, keys: items.map(keyOf), ...end, doubt, isPaged: false };
  }
  if (!isObject(body)) return refuse('the answer', body, 'a list, or {data, meta}');
  const meta = body['meta'] ?? undefined;
  if (meta !== undefined && !isObject(meta)) refuse('meta', meta, 'an object');
  const { hasMore, nextCursor, total, totalIsPartial } = (meta ?? {}) as Readonly<Record<string, unknown>>;
  if (!isNullOr('boolean', hasMore)) refuse('meta.hasMore', hasMore, 'true or false');
  if (!isNullOr('string', nextCursor)) refuse('meta.nextCursor', nextCursor, 'a text');
  const next = typeof nextCursor === 'string' && nextCursor !== '' ? nextCursor : undefined;
  const more = typeof hasMore === 'boolean' ? hasMore : next !== undefined;
  const counted = Number.isSafeInteger(total) ? Number(total) : undefined;

  const { data } = body;
  // Some JSON encoders write an empty list as null or omit it; accept that only if nothing contradicts it.
  const isEmptyList = (data ?? undefined) === undefined && meta !== undefined && !more && (counted ?? 0) === 0;
  if (!isEmptyList && !Array.isArray(data)) refuse('data', data ?? body, 'a list');
  const items = Array.isArray(data) ? resources(data, 'data') : [];
  return {
    items,
    keys: items.map(keyOf),
    hasMore: more,
    nextCursor: next,
    total: totalIsPartial === true ? undefined : counted,
    doubt: meta === undefined ? 'the answer has no meta, which would say whether there are more' : undefined,
    isPaged: true,
  };
}

/** The key of a resource within its listing. */
function keyOf({ metadata: { workspace, name, createdAt } }: RawResource): string {
  return JSON.stringify([workspace, name, createdAt]);
}

function isNullOr(type: 'boolean' | 'string', value: unknown): boolean {
  return (value ?? undefined) === undefined || typeof value === type;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An item as a resource with a `metadata.name`; undefined if it has no name. */
function resourceOf(item: unknown, nameOf: Listing['name']): RawResource | undefined {
  if (!isObject(item)) return undefined;
  const metadata = isObject(item['metadata']) ? item['metadata'] : {};
  const name = nameOf === undefined ? metadata['name'] : nameOf(item);
  if (typeof name !== 'string' || name === '') return undefined;
  return nameOf === undefined ? (item as unknown as RawResource) : { ...item, metadata: { ...metadata, name } };
}

/** What kind of value it is, for a message: never the value. */
function describe(value: unknown): string {
  if (value === undefined || value === null) return value === null ? 'null' : 'nothing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (!isObject(value)) return `a ${typeof value}`;
  const names = Object.keys(value)
    .slice(0, 5)
    .map((name) => JSON.stringify(excerpt(name, 40)));
  return names.length === 0 ? 'an empty object' : `an object with ${names.join(', ')}`;
}
