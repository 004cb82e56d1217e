import { createHash } from 'node:crypto';
import type { DecodedPage } from '../../src/fetch/index.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** An invented account of any size: what each hour of each series costs follows from their numbers alone. */
export interface AccountSize {
  readonly series: number;
  /** Share of hours in which a series has neither cost nor usage, 0 to 1. */
  readonly zeroShare: number;
  /** Whether what is stored costs the same in every hour of a day, as storage does; otherwise every hour differs. */
  readonly isStorageSteady?: boolean;
}

/** Hours that a platform has corrected since: each of them costs more than before. */
export interface Corrections {
  /** The first of the hours of which some were corrected, in hours since 1970. */
  readonly fromHour: number;
  /** One of so many rows was corrected. */
  readonly oneOf: number;
  /** Another number corrects other rows. */
  readonly number: number;
}

/** The description of its pages that goes with all figures. */
export function describePages({ zeroShare }: AccountSize): string {
  return `${Math.round(zeroShare * 100)} % of the buckets zero, cost with up to 9 decimals, usage with up to 3`;
}

type Field = 'workspace' | 'resourceType' | 'resourceName' | 'resourceUuid' | 'billingDimension';
type Series = Readonly<Record<Field, string>>;

interface Group {
  readonly face: Series;
  readonly members: number[];
}

const fields = {
  workspace: 'workspace',
  resource_type: 'resourceType',
  resource_name: 'resourceName',
  resource_uuid: 'resourceUuid',
  billing_dimension: 'billingDimension',
} as const;

const workspaces = ['production', 'staging', 'research', 'demos'];
const billed = [
  ['sandbox', 'sandbox_compute_runtime_gbs'],
  ['sandbox', 'sandbox_image_storage_gbs'],
  ['sandbox', 'sandbox_snapshot_storage_gbs'],
  ['agent', 'agent_compute_runtime_gbs'],
  ['agent', 'agent_image_storage_gbs'],
  ['job', 'job_compute_runtime_gbs'],
  ['mcp_server', 'mcp_server_compute_runtime_gbs'],
] as const;
const pageSize = 100;

/** An account that answers the platform's metrics operation. */
export interface Account {
  /** One page of an answer, as JSON. */
  page(parameters: URLSearchParams): string;
  /** The same page as the decoder would return it. */
  columns(parameters: URLSearchParams): DecodedPage;
  /** From now on, these hours are corrected; undefined for none. */
  correct(corrections: Corrections | undefined): void;
}

/** One page of a query: what is on it, and the sums of each of its groups by bucket. */
interface Page {
  readonly start: number;
  readonly end: number;
  readonly resolution: string;
  readonly bounds: readonly number[];
  /** The fields that its entries have. */
  readonly shown: readonly Field[];
  readonly groups: readonly Group[];
  /** Billionths of a dollar. */
  readonly total: number;
  readonly nextCursor: string | undefined;
}

function seriesOf(number: number): Series {
  const [resourceType, billingDimension] = billed[number % billed.length] ?? billed[0];
  const hash = createHash('md5').update(String(number)).digest('hex');
  return {
    workspace: workspaces[Math.floor(number / billed.length) % workspaces.length] ?? '',
    resourceType,
    resourceName: `${resourceType.replace('_', '-')}-${String(number).padStart(6, '0')}`,
    resourceUuid: hash.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
    billingDimension,
  };
}

function mixOf(series: number, time: number): number {
  let mixed = Math.imul(series + 1, 0x9e3779b1) ^ Math.imul(time, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

/** Answers the platform's metrics operation for the account; each answer is made when it is asked for. */
export function openAccount(size: AccountSize): Account {
  const all = Array.from({ length: size.series }, (_, number) => seriesOf(number));
  const isSteady = all.map(
    ({ billingDimension }) => size.isStorageSteady === true && billingDimension.includes('storage'),
  );
  const isZeroBelow = size.zeroShare * 65_536;
  let corrected: Corrections | undefined;

  /** Adds an hour's billionths of a dollar and thousandths of a unit. */
  function add(sums: Float64Array, at: number, series: number, hour: number): void {
    const mixed = mixOf(series, isSteady[series] ? Math.floor(hour / 24) : hour);
    if ((mixed & 0xffff) < isZeroBelow) return;
    const isCorrected =
      corrected !== undefined &&
      hour >= corrected.fromHour &&
      mixOf(series ^ 0x5bd1e995, hour + corrected.number * 0x10000) % corrected.oneOf === 0;
    sums[2 * at] = (sums[2 * at] ?? 0) + 1 + (mixed % 50_000_017) + (isCorrected ? 1000 : 0);
    sums[2 * at + 1] = (sums[2 * at + 1] ?? 0) + 1 + (mixed % 3_600_007);
  }

  const totals = new Map<string, number>();
  const grouped = new Map<string, Group[]>();

  function groupsOf(groupBy: readonly Field[], filters: readonly (readonly [Field, string])[]): Group[] {
    const asked = JSON.stringify([groupBy, filters]);
    const before = grouped.get(asked);
    if (before !== undefined) return before;
    const groups = new Map<string, Group>();
    for (const [number, series] of all.entries()) {
      if (!filters.every(([field, value]) => series[field] === value)) continue;
      const key = groupBy.map((field) => series[field]).join(' ');
      const group = groups.get(key);
      if (group === undefined) groups.set(key, { face: series, members: [number] });
      else group.members.push(number);
    }
    grouped.set(asked, [...groups.values()]);
    return [...groups.values()];
  }

  function sumsOf(members: readonly number[], bounds: readonly number[]): Float64Array {
    const sums = new Float64Array(2 * (bounds.length - 1));
    for (const number of members) {
      for (let bucket = 0; bucket + 1 < bounds.length; bucket += 1) {
        const end = (bounds[bucket + 1] ?? 0) / hourMs;
        for (let hour = (bounds[bucket] ?? 0) / hourMs; hour < end; hour += 1) add(sums, bucket, number, hour);
      }
    }
    return sums;
  }

  function pageOf(parameters: URLSearchParams): Page {
    const start = Date.parse(parameters.get('startTime') ?? '');
    const end = Date.parse(parameters.get('endTime') ?? '');
    const resolution = parameters.get('resolution') ?? 'hourly';
    const asked = (parameters.get('groupBy') ?? '').split(',') as (keyof typeof fields)[];
    const groupBy = asked.map((name) => fields[name]);
    const filters = Object.values(fields).flatMap((field) => {
      const value = parameters.get(field);
      return value === null ? [] : [[field, value] as const];
    });
    const groups = groupsOf(groupBy, filters);
    const from = Number(parameters.get('cursor') ?? 0);
    const key = JSON.stringify([start, end, filters]);
    let total = totals.get(key);
    if (total === undefined) {
      total = 0;
      for (const { members } of groups) total += sumsOf(members, [start, end])[0] ?? 0;
      totals.set(key, total);
    }
    return {
      start,
      end,
      resolution,
      bounds: boundsOf(start, end, resolution),
      shown: asked.includes('resource_uuid') ? (Object.values(fields) as Field[]) : groupBy,
      groups: groups.slice(from, from + pageSize),
      total,
      nextCursor: from + pageSize >= groups.length ? undefined : String(from + pageSize),
    };
  }

  return {
    page(parameters) {
      const { start, end, resolution, bounds, shown, groups, total, nextCursor } = pageOf(parameters);
      const heads = bounds.slice(0, -1).map((instant) => `{"timestamp":"${format(instant)}","cost":`);
      const data = groups.map(({ face, members }) => {
        const sums = sumsOf(members, bounds);
        const points = heads.map(
          (head, bucket) => `${head}${(sums[2 * bucket] ?? 0) / 1e9},"usage":${(sums[2 * bucket + 1] ?? 0) / 1e3}}`,
        );
        const [cost, usage] = addedUp(sums);
        const named = shown.map((field) => `"${field}":"${face[field]}"`).join(',');
        return `{${named},"summary":{"cost":${cost / 1e9},"usage":${usage / 1e3}},"timeseries":[${points.join(',')}]}`;
      });
      const meta = nextCursor === undefined ? '{"hasMore":false}' : `{"hasMore":true,"nextCursor":"${nextCursor}"}`;
      return (
        `{"startTime":"${format(start)}","endTime":"${format(end)}","resolution":"${resolution}",` +
        `"summary":{"totalCost":${total / 1e9}},"data":[${data.join(',')}],"meta":${meta}}`
      );
    },
    columns: (parameters) => columnsOf(pageOf(parameters), sumsOf),
    correct(corrections) {
      corrected = corrections;
      totals.clear();
    },
  };
}

function addedUp(sums: Float64Array): readonly [number, number] {
  let cost = 0;
  let usage = 0;
  for (let at = 0; at < sums.length; at += 2) {
    cost += sums[at] ?? 0;
    usage += sums[at + 1] ?? 0;
  }
  return [cost, usage];
}

function columnsOf(
  { bounds, shown, groups, total, nextCursor }: Page,
  sumsOf: (members: readonly number[], bounds: readonly number[]) => Float64Array,
): DecodedPage {
  const buckets = bounds.length - 1;
  const entry = new Int32Array(groups.length * buckets);
  const bucket = new Int32Array(groups.length * buckets);
  const cost = new BigInt64Array(groups.length * buckets);
  const usage = new BigInt64Array(groups.length * buckets);
  // Halves of each integer of 64 bits: a BigInt for each point takes longer than all the rest.
  const [costHalves, usageHalves] = [new Uint32Array(cost.buffer), new Uint32Array(usage.buffer)];
  let count = 0;
  const entries = groups.map(({ face, members }, index) => {
    const sums = sumsOf(members, bounds);
    for (let at = 0; at < buckets; at += 1) {
      const [dollars, units] = [(sums[2 * at] ?? 0) * 1000, (sums[2 * at + 1] ?? 0) * 1000];
      if (dollars === 0 && units === 0) continue;
      entry[count] = index;
      bucket[count] = at;
      costHalves[2 * count] = dollars % 2 ** 32;
      costHalves[2 * count + 1] = Math.floor(dollars / 2 ** 32);
      usageHalves[2 * count] = units % 2 ** 32;
      usageHalves[2 * count + 1] = Math.floor(units / 2 ** 32);
      count += 1;
    }
    const [ofCost, ofUsage] = addedUp(sums);
    const shownOf = (field: Field) => (shown.includes(field) ? face[field] : undefined);
    return {
      ...{ workspace: shownOf('workspace'), resourceType: shownOf('resourceType') },
      ...{ resourceName: shownOf('resourceName'), resourceUuid: shownOf('resourceUuid') },
      ...{
        billingDimension: shownOf('billingDimension'),
        cost: (ofCost / 1e9).toFixed(9),
        usage: (ofUsage / 1e3).toFixed(3),
      },
    };
  });
  return {
    hasMore: nextCursor !== undefined,
    nextCursor,
    totalCost: (total / 1e9).toFixed(9),
    costDecimals: 9,
    usageDecimals: 3,
    entries,
    points: { count, entry, bucket, cost, usage },
    unknownFields: [],
  };
}

/** The starts of a window's buckets, and the end of the last one. */
function boundsOf(start: number, end: number, resolution: string): number[] {
  const bounds: number[] = [];
  for (let instant = start; instant < end; instant = nextAfter(instant, resolution)) bounds.push(instant);
  return [...bounds, end];
}

function nextAfter(instant: number, resolution: string): number {
  if (resolution === 'hourly') return instant + hourMs;
  if (resolution === 'daily') return (Math.floor(instant / dayMs) + 1) * dayMs;
  const date = new Date(instant);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

function format(instant: number): string {
  return new Date(instant).toISOString().replace('.000', '');
}
