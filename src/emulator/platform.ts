import {
  earliestVersion,
  groupByDimensions,
  type Operation,
  type OperationName,
  operations,
  pagedListingsVersion,
} from '../platform/index.ts';
import { formatInstant, hourMs, type Instant } from '../time.ts';
import { expiredCursor, readCursor, writeCursor } from './cursors.ts';
import { addAsDoubles } from './double-sums.ts';
import type { FaultPlan } from './fault-plan.ts';
import type { HourlyCosts } from './hourly-costs.ts';
import { openShelves } from './listings.ts';
import {
  type Grouped,
  groupSeries,
  type MetricsQuery,
  readMetricsQuery,
  resourceTypesIn,
  showsUsage,
  toEntries,
  toUnits,
  toUsd,
  withLie,
} from './metrics.ts';
import { numberOf, type Parameters, readParameters } from './parameters.ts';
import { Refusal } from './refusal.ts';
import { costScale, type Story } from './sample-costs.ts';
import type { Resource, ResourceKind } from './sample-listings.ts';

/** The part of a request that the platform reads. */
export interface PlatformRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly target: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The platform without sockets: takes a request, returns the body of a 200, or throws a Refusal. */
export interface Platform {
  answer(request: PlatformRequest, calledExpired: boolean): unknown;
}

interface Caller {
  readonly isAdmin: boolean;
  /** The workspace in its listings; undefined for all. */
  readonly workspace: string | undefined;
}

/** The input of an operation. */
interface Call {
  readonly caller: Caller;
  readonly parameters: Parameters;
  readonly version: string;
  readonly now: Instant;
  readonly calledExpired: boolean;
}

/** 9.7 leaves open whether the second one is valid; the emulator supports it. */
const allVersions: readonly string[] = [earliestVersion, pagedListingsVersion];

/**
 * How a listing gets its workspace is not documented. Here it depends on the token: an account admin's token lists
 * every workspace, any other token one.
 */
const workspaceOfMember = 'production';

// A client works on a few queries at once and pages through each: those need not be grouped again.
const maxRecentQueries = 8;

/** Answers the metrics operation, and caches the groups of the last few queries. */
function metricsAnswerer(story: Story, hourlyCosts: HourlyCosts, faults: FaultPlan): (call: Call) => unknown {
  const recent = new Map<string, Grouped>();

  function groupsOf(query: MetricsQuery, seenAt: Instant, leavesOutUnnamed: boolean): Grouped {
    const key = `${Math.floor(seenAt / hourMs)} ${leavesOutUnnamed} ${query.key}`;
    const known = recent.get(key);
    const grouped = known ?? groupSeries(story, hourlyCosts, query, seenAt, leavesOutUnnamed);
    recent.delete(key);
    recent.set(key, grouped);
    for (const oldest of recent.keys()) {
      if (recent.size <= maxRecentQueries) break;
      recent.delete(oldest);
    }
    return grouped;
  }

  return ({ caller, parameters, now: at, calledExpired }) => {
    const query = readMetricsQuery(parameters, caller.isAdmin);
    const cursor = parameters.get('cursor');
    const limit = numberOf(parameters, 'limit');
    const place =
      typeof cursor === 'string' ? readCursor(query.key, cursor, at) : { offset: 0, seenAt: at, issuedAt: at };
    if (calledExpired && typeof cursor === 'string') throw expiredCursor();
    const window = `${query.window.start}/${query.window.end}`;
    const { groups, cost, usage } = groupsOf(query, place.seenAt, faults.leavesOutUnnamed(window));
    const end = place.offset + limit;
    const hasMore = query.groupBy.length > 0 && end < groups.length;
    const seed = faults.addsDoubles();
    const doubles = seed === undefined ? undefined : addAsDoubles(hourlyCosts, query, groups, place.seenAt, seed);
    const lie = faults.lieAbout(window);
    return {
      startTime: formatInstant(query.window.start),
      endTime: formatInstant(query.window.end),
      resolution: query.resolution,
      summary: {
        totalCost: doubles === undefined ? toUsd(cost + BigInt(lie)) : doubles.cost + lie / costScale,
        ...(showsUsage(query) ? { totalUsage: doubles?.usage ?? toUnits(usage) } : {}),
      },
      data: withLie(
        toEntries(
          hourlyCosts,
          query,
          groups.slice(place.offset, end),
          place.seenAt,
          doubles?.groups.slice(place.offset, end),
        ),
        query.groupBy.includes('resource_name') && place.offset === 0 ? faults.rowLie(window) : undefined,
      ),
      meta: {
        hasMore,
        nextCursor: hasMore ? writeCursor(query.key, { offset: end, seenAt: place.seenAt, issuedAt: at }) : '',
      },
    };
  };
}

/** The platform with this story, by the clock that `now` reads. */
export function openPlatform(
  story: Story,
  fleet: readonly Resource[],
  hourlyCosts: HourlyCosts,
  faults: FaultPlan,
  now: () => Instant,
): Platform {
  const shelves = openShelves(fleet, {
    leavesOut: ({ workspace, kind, name }) => faults.leavesUnlisted(`${workspace}/${kind}/${name}`),
    overcounts: (kind) => faults.overcounts(kind),
  });
  const versions = faults.knowsOnlyEarliestVersion ? [earliestVersion] : allVersions;
  const routes = Object.entries(answers()).map(([name, answer]) => {
    const operation = operations[name as OperationName];
    return { operation, pattern: patternOf(operation), answer };
  });

  function answers(): Partial<Record<OperationName, (call: Call) => unknown>> {
    return {
      metrics: metricsAnswerer(story, hourlyCosts, faults),
      groupByEnum: () => ({ values: groupByDimensions }),
      resourceTypesEnum: answerResourceTypes,
      accounts: answerAccounts,
      sandboxes: answerListing('sandbox'),
      agents: answerListing('agent'),
      functions: answerListing('function'),
      jobs: answerListing('job'),
      models: answerListing('model'),
      policies: answerListing('policy'),
    };
  }

  function answerResourceTypes({ parameters, now: at }: Call): unknown {
    const window = { start: numberOf(parameters, 'startTime'), end: numberOf(parameters, 'endTime') };
    return { values: resourceTypesIn(story, hourlyCosts, window, at) };
  }

  function answerListing(kind: ResourceKind): (call: Call) => unknown {
    return ({ caller, parameters, version, now: at, calledExpired }) => {
      if (faults.forbidsListing(kind)) throw new Refusal(403, 'access_denied', 'Insufficient permissions');
      const isPaged = version >= pagedListingsVersion;
      return shelves.answer(kind, parameters, { workspace: caller.workspace, isPaged, now: at, calledExpired });
    };
  }

  /** The document does not show this shape; the other listings return a list of envelopes (2.1). */
  function answerAccounts(): unknown {
    const { id, displayName } = story.account;
    return [{ id, metadata: { name: id, displayName, createdAt: formatInstant(story.since) }, spec: {} }];
  }

  return {
    answer({ method, target, headers }, calledExpired) {
      const caller = callerOf(story, headers);
      const version = versionOf(headers['service-version'], versions);
      const mark = target.indexOf('?');
      const path = mark < 0 ? target : target.slice(0, mark);
      const search = new URLSearchParams(mark < 0 ? '' : target.slice(mark));
      const onPath = routes.flatMap((route) => {
        const match = route.pattern.exec(path);
        return match === null ? [] : [{ route, values: match.groups ?? {} }];
      });
      const first = onPath[0];
      if (first === undefined) throw new Refusal(404, 'not_found', `There is nothing at ${path}`);
      const found = onPath.find(({ route }) => route.operation.method === method);
      if (found === undefined) {
        const allow = first.route.operation.method;
        throw new Refusal(405, 'method_not_allowed', `${path} answers ${allow} only`, { allow });
      }
      const accountId = found.values.accountId;
      if (accountId !== undefined && accountId !== encodeURIComponent(story.account.id)) {
        // 403 rather than 404: only its owner may learn whether an account exists.
        throw new Refusal(403, 'access_denied', `This token has no access to account ${accountId}`);
      }
      const parameters = readParameters(found.route.operation, search);
      return found.route.answer({ caller, parameters, version, now: now(), calledExpired });
    },
  };
}

/** A path template as a pattern, with each `{parameter}` as a named group. */
function patternOf(operation: Operation): RegExp {
  return new RegExp(`^${operation.path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
}

/** The caller (5.1): a bearer token in either header. If both are sent, one valid token is enough. */
function callerOf(story: Story, headers: PlatformRequest['headers']): Caller {
  const sent = [headers.authorization, headers['x-service-authorization']].flat();
  if (sent.includes(`Bearer ${story.tokens.admin}`)) return { isAdmin: true, workspace: undefined };
  if (sent.includes(`Bearer ${story.tokens.member}`)) return { isAdmin: false, workspace: workspaceOfMember };
  for (const [workspace, token] of story.workspaceTokens) {
    if (sent.includes(`Bearer ${token}`)) return { isAdmin: false, workspace };
  }
  throw new Refusal(401, 'unauthorized', 'Invalid or missing credentials');
}

function versionOf(header: string | string[] | undefined, versions: readonly string[]): string {
  const version = [header].flat()[0] ?? earliestVersion;
  if (versions.includes(version)) return version;
  throw new Refusal(
    400,
    'invalid_api_version',
    `Unknown API version "${version}"; valid versions are ${versions.join(', ')}`,
  );
}
