import { createHash } from 'node:crypto';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** An invented account of any size: what each hour of each series costs follows from their numbers alone. */
export interface AccountSize {
  readonly series: number;
  /** Share of hours in which a series has neither cost nor usage, 0 to 1. */
  readonly zeroShare: number;
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

/** Answers the platform's metrics operation for the account; each answer is made when it is first asked for. */
export function openAccount(size: AccountSize): { page(parameters: URLSearchParams): string } {
  const all = Array.from({ length: size.series }, (_, number): Series => {
    const [resourceType, billingDimension] = billed[number % billed.length] ?? billed[0];
    const hash = createHash('md5').update(String(number)).digest('hex');
    return {
      workspace: workspaces[Math.floor(number / billed.length) % workspaces.length] ?? '',
      resourceType,
      resourceName: `${resourceType.replace('_', '-')}-${String(number).padStart(6, '0')}`,
      resourceUuid: hash.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
      billingDimension,
    };
  });
  const isZeroBelow = size.zeroShare * 65_536;

  /** Adds an hour's billionths of a dollar and thousandths of a unit. */
  function add(sums: Float64Array, at: number, series: number, hour: number): void {
    let mixed = Math.imul(series + 1, 0x9e3779b1) ^ Math.imul(hour, 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
    mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
    mixed = (mixed ^ (mixed >>> 15)) >>> 0;
    if ((mixed & 0xffff) < isZeroBelow) return;
    sums[2 * at] = (sums[2 * at] ?? 0) + 1 + (mixed % 50_000_017);
    sums[2 * at + 1] = (sums[2 * at + 1] ?? 0) + 1 + (mixed % 3_600_007);
  }

  const totals = new Map<string, number>();

  function groupsOf(groupBy: readonly Field[], filters: readonly (readonly [Field, string])[]): Group[] {
    const groups = new Map<string, Group>();
    for (const [number, series] of all.entries()) {
      if (!filters.every(([field, value]) => series[field] === value)) continue;
      const key = groupBy.map((field) => series[field]).join(' ');
      const group = groups.get(key);
      if (group === undefined) groups.set(key, { face: series, members: [number] });
      else group.members.push(number);
    }
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

  return {
    page(parameters) {
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
      const isLast = from + pageSize >= groups.length;

      const key = JSON.stringify([start, end, filters]);
      let total = totals.get(key);
      if (total === undefined) {
        total = 0;
        for (const { members } of groups) total += sumsOf(members, [start, end])[0] ?? 0;
        totals.set(key, total);
      }

      const bounds = boundsOf(start, end, resolution);
      const heads = bounds.slice(0, -1).map((instant) => `{"timestamp":"${format(instant)}","cost":`);
      const shown = asked.includes('resource_uuid') ? (Object.values(fields) as Field[]) : groupBy;
      const data = groups.slice(from, from + pageSize).map(({ face, members }) => {
        const sums = sumsOf(members, bounds);
        let cost = 0;
        let usage = 0;
        const points = heads.map((head, bucket) => {
          cost += sums[2 * bucket] ?? 0;
          usage += sums[2 * bucket + 1] ?? 0;
          return `${head}${(sums[2 * bucket] ?? 0) / 1e9},"usage":${(sums[2 * bucket + 1] ?? 0) / 1e3}}`;
        });
        const named = shown.map((field) => `"${field}":"${face[field]}"`).join(',');
        return `{${named},"summary":{"cost":${cost / 1e9},"usage":${usage / 1e3}},"timeseries":[${points.join(',')}]}`;
      });
      const meta = isLast ? '{"hasMore":false}' : `{"hasMore":true,"nextCursor":"${from + pageSize}"}`;
      return (
        `{"startTime":"${format(start)}","endTime":"${format(end)}","resolution":"${resolution}",` +
        `"summary":{"totalCost":${total / 1e9}},"data":[${data.join(',')}],"meta":${meta}}`
      );
    },
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
