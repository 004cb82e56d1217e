import { hourMs, type Instant } from '../../src/time/time.ts';
import type { Stage } from '../../src/warehouse/load/stage.ts';
import type { Page, Role } from '../../src/warehouse/page.ts';

/** The platform's totals have every decimal. */
export const known = { decimals: { cost: 12, usage: 6 }, agreedTolerance: undefined };

/** What there is to pay for; a member cannot tell in which workspace the rows without uuid are. */
export const resources = [
  { workspace: 'north', resourceType: 'sandbox', resourceName: 'box', resourceUuid: 'sbx-1' },
  { workspace: 'south', resourceType: 'sandbox', resourceName: 'box', resourceUuid: 'sbx-2' },
  { workspace: 'north', resourceType: 'volume', resourceName: 'disk', resourceUuid: undefined },
  { workspace: 'south', resourceType: 'volume', resourceName: 'disk', resourceUuid: undefined },
];

/** One answer's page: a group for each resource and a point for each hour that is not zero. */
function page(groups: readonly Partial<(typeof resources)[number]>[], micros: readonly (readonly number[])[]): Page {
  const points = micros.flatMap((series, entry) =>
    series.flatMap((value, bucket) => (value ? [[entry, bucket, value]] : [])),
  );
  const sums = micros.map((series) => series.reduce((sum, value) => sum + value, 0));
  return {
    totalCost: usd(sums.reduce((sum, value) => sum + value, 0)),
    costDecimals: 6,
    usageDecimals: 6,
    entries: groups.map((group, index) => ({
      workspace: group.workspace,
      resourceType: group.resourceType,
      resourceName: group.resourceName,
      resourceUuid: group.resourceUuid,
      billingDimension: 'gpu_hours',
      cost: usd(sums[index] ?? 0),
      usage: usd(sums[index] ?? 0),
    })),
    points: {
      count: points.length,
      entry: Int32Array.from(points, ([entry = 0]) => entry),
      bucket: Int32Array.from(points, ([, bucket = 0]) => bucket),
      cost: BigInt64Array.from(points, ([, , value = 0]) => BigInt(value) * 1_000_000n),
      usage: BigInt64Array.from(points, ([, , value = 0]) => BigInt(value)),
    },
  };
}

function usd(micros: number): string {
  return (micros / 1e6).toFixed(6);
}

/** Reads a window of the truth, in hours since `historyStart`, as the ingest does: detail, control, and as admin what the detail cannot tell. */
export async function readTruth(
  stage: Stage,
  account: string,
  window: { historyStart: Instant; start: number; end: number },
  role: Role,
  truth: readonly (readonly number[])[],
): Promise<void> {
  const here = truth.map((series) => series.slice(window.start, window.end));
  const span = { start: window.historyStart + window.start * hourMs, end: window.historyStart + window.end * hourMs };
  await stage.begin(account, span);
  stage.readAs(role);
  const total = here[0]?.map((_, hour) => here.reduce((sum, series) => sum + (series[hour] ?? 0), 0)) ?? [];
  await stage.addQuery(1, 'detail', 'detail').page(page(resources, here));
  const control = role === 'admin' ? page(resources, here) : page([{}], [total]);
  await stage.addQuery(2, 'control', 'control').page(control);
  await stage.takeDetail();
  if (role !== 'admin') return;
  for (const [index, resourceType] of (await stage.typesWithoutUuid()).entries()) {
    const query = 3 + index;
    const asked = resources.flatMap((resource, at) => (resource.resourceType === resourceType ? [at] : []));
    const named = page(
      asked.map((at) => ({ ...resources[at], resourceUuid: undefined })),
      asked.map((at) => here[at] ?? []),
    );
    await stage.addQuery(query, 'residual', 'residual').page(named);
    await stage.takeResidual(query, { resourceType, billingDimension: undefined });
  }
}
