import { formatInstant, hourMs, type Instant } from '../time/time.ts';
import type { Call } from './call.ts';
import { expiredCursor, readCursor, writeCursor } from './cursors.ts';
import { addAsDoubles } from './double-sums.ts';
import type { FaultPlan } from './fault-plan.ts';
import type { HourlyCosts } from './hourly-costs.ts';
import { remember } from './maps.ts';
import {
  type Entry,
  type Grouped,
  groupSeries,
  resourceTypesIn,
  toEntries,
  toUnits,
  toUsd,
  withLie,
} from './metrics.ts';
import { type MetricsQuery, readMetricsQuery, showsUsage } from './metrics-query.ts';
import { instantText, numberOf } from './parameters.ts';
import { json, type Reply } from './reply.ts';
import { costScale, type Story } from './sample-costs.ts';
import type { UsageChanges } from './usage-changes.ts';

// A client works on a few queries at once and pages through each: those need not be grouped again.
const maxRecentQueries = 8;

/** Answers the metrics operation, and caches the groups of the last few queries. */
export function metricsAnswerer(
  story: Story,
  hourlyCosts: HourlyCosts,
  changes: UsageChanges,
  faults: FaultPlan,
): (call: Call) => Reply {
  const recent = new Map<string, Grouped>();

  function groupsOf(query: MetricsQuery, seenAt: Instant, leavesOutUnnamed: boolean): Grouped {
    const key = `${changes.revision()} ${faults.lateShare} ${Math.floor(seenAt / hourMs)} ${leavesOutUnnamed} ${query.key}`;
    const grouped = recent.get(key) ?? groupSeries(story, hourlyCosts, query, seenAt, leavesOutUnnamed);
    remember(recent, key, grouped, maxRecentQueries);
    return grouped;
  }

  return ({ caller, parameters, now: at, calledExpired }) => {
    const query = readMetricsQuery(parameters, caller?.isAdmin === true);
    const cursorKey = `${story.account.id} ${query.key}`;
    const cursor = parameters.get('cursor');
    const limit = numberOf(parameters, 'limit');
    const place =
      typeof cursor === 'string' ? readCursor(cursorKey, cursor, at) : { offset: 0, seenAt: at, issuedAt: at };
    if (calledExpired && typeof cursor === 'string') throw expiredCursor();
    const window = `${query.window.start}/${query.window.end}`;
    const { groups, cost, usage } = groupsOf(query, place.seenAt, faults.leavesOutUnnamed(window));
    const end = place.offset + limit;
    const hasMore = query.groupBy.length > 0 && end < groups.length;
    const seed = faults.addsDoubles();
    const doubles = seed === undefined ? undefined : addAsDoubles(hourlyCosts, query, groups, place.seenAt, seed);
    const lie = faults.lieAbout(window);
    const page = groups.slice(place.offset, end);
    const entries = toEntries(hourlyCosts, query, page, place.seenAt, doubles?.groups.slice(place.offset, end));
    const isFirstByName = query.groupBy.includes('resource_name') && place.offset === 0;
    return json({
      startTime: instantText(parameters, 'startTime') ?? formatInstant(query.window.start),
      endTime: instantText(parameters, 'endTime') ?? formatInstant(query.window.end),
      resolution: query.resolution,
      summary: {
        totalCost: doubles === undefined ? toUsd(cost + BigInt(lie)) : doubles.cost + lie / costScale,
        ...(showsUsage(query) ? { totalUsage: doubles?.usage ?? toUnits(usage) } : {}),
      },
      data: withLie(
        entries.map((entry) => withEmptyTexts(entry, query, faults)),
        isFirstByName ? faults.rowLie(window) : undefined,
      ),
      meta: {
        hasMore,
        nextCursor: hasMore ? writeCursor(cursorKey, { offset: end, seenAt: place.seenAt, issuedAt: at }) : '',
      },
    });
  };
}

/** An entry whose missing fields are empty, if the fault hits its resource. */
function withEmptyTexts(entry: Entry, { groupBy }: MetricsQuery, faults: FaultPlan): Entry {
  const named = entry as Entry & { readonly resourceName?: string };
  if (!faults.emptiesTexts(named.resourceName ?? 'account')) return entry;
  return { ...emptyFields(groupBy), ...entry };
}

function emptyFields(groupBy: MetricsQuery['groupBy']): Readonly<Record<string, string>> {
  return {
    ...(groupBy.includes('workspace') ? { workspace: '' } : {}),
    ...(groupBy.includes('resource_uuid') ? { resourceUuid: '' } : {}),
  };
}

/** Answers which resource types a window has. */
export function resourceTypesAnswerer(story: Story, hourlyCosts: HourlyCosts): (call: Call) => Reply {
  return ({ parameters, now }) => {
    const window = { start: numberOf(parameters, 'startTime'), end: numberOf(parameters, 'endTime') };
    return json({ values: resourceTypesIn(story, hourlyCosts, window, now) });
  };
}
