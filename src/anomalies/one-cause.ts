import { mainDriverOf } from '../budgets/forecasts/index.ts';
import { sumOf } from '../money/money.ts';
import { dayNamed, hourMs } from '../time/time.ts';
import type { AnomalyRow } from '../warehouse/watch/index.ts';
import type { DeploymentBefore } from './deployments.ts';
import type { AnomalyDetail, AnomalyDriver, Explanation } from './detail.ts';
import type { AnomalyKind } from './detect.ts';

/** What starts within so many hours of each other, after a deployment in its workspace, has that one cause. */
const togetherHours = 6;
/** Prices that changed by the same factor, to this part of it, changed for one reason. */
const samePrice = 0.02;
/** As many drivers and deployments as a single anomaly has. */
const mostDrivers = 5;
const mostDeployments = 10;

/** One of several anomalies of one cause: a billing dimension, resource type and workspace. */
export interface AnomalyPart {
  /** The key of its anomaly. */
  readonly key: string;
  readonly workspace: string | null;
  readonly resourceType: string | null;
  readonly billingDimension: string | null;
  readonly anomaly: AnomalyKind;
  readonly firstDay: string;
  readonly lastDay: string;
  readonly isOver: boolean;
  /** Difference of its days so far from their expected cost in USD, decimal text. */
  readonly impact: string;
  /** The resource that is most of it; null if none is. */
  readonly driver?: string | null;
}

/** An anomaly with what is needed to compare its cause with that of another. */
export interface Caused {
  readonly row: AnomalyRow;
  readonly detail: AnomalyDetail;
}

/** Anomalies of one cause; the first one gives its key to the alert. */
export type OneCause = readonly [Caused, ...Caused[]];

/**
 * Groups anomalies by cause. `headOf` returns the key of the alert that an anomaly already belongs to; such anomalies are
 * never moved. New ones join an open alert of the same cause, or else each other: the largest gives its key. Pure.
 */
export function byCause(
  rows: readonly AnomalyRow[],
  headOf: (key: string) => string | undefined,
  isJoinable: (head: string) => boolean,
): OneCause[] {
  const all = rows
    .map((row): Caused => ({ row, detail: JSON.parse(row.detail) as AnomalyDetail }))
    .toSorted((a, b) => sizeOf(b) - sizeOf(a) || (a.row.anomaly_key < b.row.anomaly_key ? -1 : 1));
  const groups = new Map<string, Caused[]>();
  const add = (head: string, one: Caused) => groups.set(head, [...(groups.get(head) ?? []), one]);
  const told = all.filter(({ row }) => headOf(row.anomaly_key) !== undefined);
  // The head comes first, whatever its size is by now.
  const isHead = ({ row }: Caused) => headOf(row.anomaly_key) === row.anomaly_key;
  for (const one of [...told.filter(isHead), ...told.filter((one) => !isHead(one))]) {
    add(headOf(one.row.anomaly_key) ?? one.row.anomaly_key, one);
  }
  for (const one of all) {
    const { anomaly_key: key } = one.row;
    if (headOf(key) !== undefined) continue;
    const [same] = [...groups].find(
      ([head, group]) => isJoinable(head) && group.some((other) => isOneCause(one, other)),
    ) ?? [key];
    add(same, one);
  }
  return [...groups.values()].map(([head, ...more]) => [head as Caused, ...more]);
}

function sizeOf({ row }: Caused): number {
  return Math.abs(Number(row.impact));
}

/**
 * Whether two anomalies have one cause: they began together, in the same direction, and share their main resource, or are
 * billing dimensions of the same costs, or follow a deployment in their workspace, or are one change of a price. Pure.
 */
export function isOneCause(one: Caused, other: Caused): boolean {
  const [a, b] = [one.row, other.row];
  if (a.account !== b.account || a.is_up !== b.is_up) return false;
  if (Math.abs(dayNamed(a.first_day) - dayNamed(b.first_day)) > 1) return false;
  const isPrice = a.kind === 'price';
  if (isPrice !== (b.kind === 'price')) return false;
  if (isPrice) {
    const apart = Math.log(a.price_ratio ?? 1) - Math.log(b.price_ratio ?? 1);
    return a.billing_dimension === b.billing_dimension && Math.abs(apart) <= samePrice;
  }
  const [mainOfOne, mainOfOther] = [mainDriverOf(one.detail.drivers), mainDriverOf(other.detail.drivers)];
  const isSameMain = mainOfOne?.resourceName === mainOfOther?.resourceName;
  const isSameType = a.resource_type === b.resource_type;
  if (isSameType && mainOfOne?.resourceName != null && isSameMain) return true;
  if (a.workspace !== b.workspace) return false;
  if (isSameType && isSameMain && a.billing_dimension !== b.billing_dimension) return true;
  return isAfterDeployment(one, other) || isAfterDeployment(other, one);
}

/** Whether something was deployed for one anomaly, and both began just after it. */
function isAfterDeployment({ detail }: Caused, { detail: other }: Caused): boolean {
  if (detail.firstHour === null || other.firstHour === null) return false;
  const [first, second] = [Date.parse(detail.firstHour), Date.parse(other.firstHour)];
  if (Math.abs(first - second) > togetherHours * hourMs) return false;
  return (detail.deployments ?? []).some(
    ({ by, hoursBefore, event, settings }) =>
      hoursBefore <= togetherHours &&
      Date.parse(by) < Math.min(first, second) + hourMs &&
      (settings.length > 0 || event?.status?.toUpperCase() === 'DEPLOYED'),
  );
}

/** A part of an alert. */
export function partOf({ row, detail }: Caused): AnomalyPart {
  return {
    key: row.anomaly_key,
    workspace: row.workspace,
    resourceType: row.resource_type,
    billingDimension: row.billing_dimension,
    anomaly: row.kind as AnomalyKind,
    firstDay: row.first_day,
    lastDay: row.last_day,
    isOver: row.state !== 'open',
    impact: row.impact,
    driver: mainDriverOf(detail.drivers)?.resourceName ?? null,
  };
}

/** Anomalies of one cause as one: its days, amounts and drivers are their sums. Pure. */
export function together(group: OneCause): Caused {
  const [head] = group;
  // Of what was corrected away nothing is left to add, unless it is all.
  const left = group.filter(({ row }) => row.state !== 'restated');
  const parts = left.length === 0 ? group : left;
  const rows = parts.map(({ row }) => row);
  const details = parts.map(({ detail }) => detail);
  const sum = (of: (row: AnomalyRow) => string) => sumOf(rows.map(of));
  const first = least(rows.map((row) => row.first_day));
  // What each would have cost on the first day of all.
  const ofFirstDay = rows.filter((row) => row.first_day === first);
  const last =
    rows
      .map((row) => row.last_day)
      .toSorted()
      .at(-1) ?? first;
  const impact = sum((row) => row.impact);
  const days = dayNamed(last) - dayNamed(first) + 1;
  const impacts = new Array<number>(Math.max(1, days)).fill(0);
  for (const { row, detail } of parts) {
    const skipped = dayNamed(row.first_day) - dayNamed(first);
    for (const [place, value] of detail.impacts.entries()) {
      if (skipped + place < impacts.length) impacts[skipped + place] = (impacts[skipped + place] ?? 0) + value;
    }
  }
  const open = rows.find(({ state }) => state === 'open');
  const row: AnomalyRow = {
    ...head.row,
    ...{ first_day: first, last_day: last, impact },
    notified_day: least(rows.flatMap((each) => each.notified_day ?? [])),
    seen_day: least(rows.map((each) => each.seen_day)),
    state: open?.state ?? rows.find(({ state }) => state === 'usual')?.state ?? (rows[0] ?? head.row).state,
    cost: sumOf(ofFirstDay.map((each) => each.cost)),
    expected: sumOf(ofFirstDay.map((each) => each.expected)),
    expected_low: sumOf(ofFirstDay.map((each) => each.expected_low)),
    expected_high: sumOf(ofFirstDay.map((each) => each.expected_high)),
  };
  return { row, detail: { ...head.detail, ...daysAtBar(parts), impacts, ...explanationOf(details, impact) } };
}

/** A day is held if all parts of that day are, and above the bar if one part is. */
function daysAtBar(parts: readonly Caused[]): Pick<AnomalyDetail, 'heldDays' | 'aboveDays'> {
  const above = new Set(parts.flatMap(({ detail }) => detail.aboveDays ?? []));
  const held = new Set(parts.flatMap(({ detail }) => detail.heldDays ?? []));
  const isHeld = (day: string) =>
    parts.every(({ row, detail }) => row.first_day > day || row.last_day < day || detail.heldDays?.includes(day));
  return { heldDays: [...held].filter(isHeld).toSorted(), aboveDays: [...above].toSorted() };
}

function explanationOf(details: readonly AnomalyDetail[], impact: string): Explanation {
  const known = (of: (detail: AnomalyDetail) => string | null | undefined) => {
    const values = details.flatMap((detail) => of(detail) ?? []);
    return values.length < details.length ? null : sumOf(values);
  };
  // Each part has its own bar: together they are reported above the sum.
  const largestDay = known((detail) => detail.largestDay);
  const moved = new Set(details.map((detail) => detail.moved));
  const hours = details.flatMap(({ firstHour }) => firstHour ?? []);
  const paces = details.flatMap(({ pace }) => pace ?? []);
  const deployments = new Map<string, DeploymentBefore>();
  for (const deployment of details.flatMap((detail) => detail.deployments ?? [])) {
    const { workspace, resourceType, resourceName, by, revision } = deployment;
    const key = JSON.stringify([workspace, resourceType, resourceName, by, revision]);
    if (!deployments.has(key)) deployments.set(key, deployment);
  }
  const counts = details.map(({ deploymentCount }) => deploymentCount ?? 0);
  return {
    costSoFar: known(({ costSoFar }) => costSoFar),
    ...(largestDay === null ? {} : { largestDay }),
    firstHour: hours.length === 0 ? null : least(hours),
    pace: paces.length === 0 ? null : sumOf(paces),
    moved: moved.size === 1 ? ([...moved][0] ?? null) : moved.has(null) ? null : 'both',
    priceEffect: known(({ priceEffect }) => priceEffect),
    volumeEffect: known(({ volumeEffect }) => volumeEffect),
    // Parts have prices of their own: of several, none is that of all.
    prices: details.length === 1 ? details[0]?.prices : undefined,
    corrected: correctedIn(details),
    drivers: driversOf(details, impact),
    deployments: [...deployments.values()].slice(0, mostDeployments),
    deploymentCount: Math.max(deployments.size, ...counts),
    ...(details.every(({ isByAccess }) => isByAccess === true) ? { isByAccess: true } : {}),
  };
}

/** What corrections added to all parts. */
function correctedIn(details: readonly AnomalyDetail[]): string | undefined {
  const known = details.flatMap(({ corrected }) => corrected ?? []);
  return known.length === 0 ? undefined : sumOf(known);
}

/** The drivers of all parts, each resource once, with its share of the whole difference. */
function driversOf(details: readonly AnomalyDetail[], impact: string): AnomalyDriver[] {
  const byResource = new Map<string, AnomalyDriver[]>();
  for (const driver of details.flatMap(({ drivers }) => drivers)) {
    const key = JSON.stringify([driver.resourceUuid, driver.resourceName]);
    byResource.set(key, [...(byResource.get(key) ?? []), driver]);
  }
  const difference = ({ cost, expected }: AnomalyDriver) => Number(cost) - Number(expected);
  const whole = Number(impact);
  return [...byResource.values()]
    .flatMap((own): AnomalyDriver[] => {
      const [first] = own;
      if (first === undefined) return [];
      const sums = {
        ...first,
        cost: sumOf(own.map(({ cost }) => cost)),
        expected: sumOf(own.map((one) => one.expected)),
      };
      const part = whole === 0 ? 0 : Math.round((difference(sums) / whole) * 1000) / 10;
      return [{ ...sums, part }];
    })
    .sort((a, b) => Math.abs(difference(b)) - Math.abs(difference(a)))
    .slice(0, mostDrivers);
}

function least(texts: readonly string[]): string {
  return texts.toSorted()[0] ?? '';
}
