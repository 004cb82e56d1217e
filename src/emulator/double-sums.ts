import { hourMs, type Instant } from '../time/time.ts';
import { emptySums, type HourlyCosts, type Hours } from './hourly-costs.ts';
import { type AddedGroup, type Bucket, bucketsOf, type Group } from './metrics.ts';
import type { MetricsQuery } from './metrics-query.ts';
import { mix, toUnit } from './random.ts';
import { costScale, usageScale } from './sample-costs.ts';

/** The sums of one answer: USD and units, as doubles. */
export interface DoubleSums {
  readonly cost: number;
  readonly usage: number;
  /** In the order of the given groups. */
  readonly groups: readonly AddedGroup[];
}

/** Sums doubles that arrive one at a time. */
interface Adder {
  add(value: number): void;
  sum(): number;
}

/** One after the other. */
function onePass(): Adder {
  let total = 0;
  return {
    add(value) {
      total += value;
    },
    sum: () => total,
  };
}

/** As a tree: adds numbers in pairs, then the sums in pairs, and so on. */
function pairwise(): Adder {
  const levels: (number | undefined)[] = [];
  return {
    add(value) {
      let carry = value;
      let level = 0;
      for (; levels[level] !== undefined; level += 1) {
        carry = (levels[level] ?? 0) + carry;
        levels[level] = undefined;
      }
      levels[level] = carry;
    },
    sum: () => levels.reduce<number>((total, part) => total + (part ?? 0), 0),
  };
}

const adders = [onePass, pairwise] as const;

/** What the sum of a group is made of: every hour, or the sums of its buckets. */
const groupParts = ['hours', 'buckets'] as const;
const totalParts = ['hours', 'buckets', 'groups'] as const;

/**
 * Sums a query's hours as doubles, in a way that the seed chooses: the order of series and of their hours, one pass or
 * a tree, groups from hours or buckets, the total from hours, buckets or groups.
 */
export function addAsDoubles(
  hourlyCosts: HourlyCosts,
  query: MetricsQuery,
  groups: readonly Group[],
  seenAt: Instant,
  seed: number,
): DoubleSums {
  let drawn = 0;
  const draw = (below: number) => Math.floor(toUnit(mix(seed, drawn++, 0xd0b1)) * below);
  const adder = adders[draw(adders.length)] ?? onePass;
  const groupPart = groupParts[draw(groupParts.length)];
  const totalPart = totalParts[draw(totalParts.length)];
  const buckets = bucketsOf(query.window, query.resolution);
  const hours = buckets.flatMap(hoursIn);
  const seenHour = Math.floor(seenAt / hourMs);
  const total = { cost: adder(), usage: adder() };
  const ofBuckets = buckets.map(() => ({ cost: adder(), usage: adder() }));
  const sums: AddedGroup[] = [];

  for (const index of shuffled(groups.length, draw)) {
    const group = { cost: adder(), usage: adder() };
    const own = buckets.map(() => ({ cost: adder(), usage: adder() }));
    const members = groups[index]?.members ?? [];
    for (const member of shuffled(members.length, draw)) {
      const series = members[member];
      if (series === undefined) continue;
      const exact = emptySums(hours.length);
      hourlyCosts.addTo(exact, series, hours, seenHour);
      for (const hour of shuffled(hours.length, draw)) {
        const cost = (exact.costs[hour] ?? 0) / costScale;
        const usage = (exact.usages[hour] ?? 0) / usageScale;
        if (cost === 0 && usage === 0) continue;
        const bucket = hours[hour]?.bucket ?? 0;
        for (const sum of [own[bucket], groupPart === 'hours' ? group : undefined]) add(sum, cost, usage);
        if (totalPart === 'hours') add(total, cost, usage);
        if (totalPart === 'buckets') add(ofBuckets[bucket], cost, usage);
      }
    }
    const costs = Float64Array.from(own, ({ cost }) => cost.sum());
    const usages = Float64Array.from(own, ({ usage }) => usage.sum());
    if (groupPart === 'buckets') for (const [at, cost] of costs.entries()) add(group, cost, usages[at] ?? 0);
    sums[index] = { cost: group.cost.sum(), usage: group.usage.sum(), costs, usages };
    if (totalPart === 'groups') add(total, group.cost.sum(), group.usage.sum());
  }
  if (totalPart === 'buckets') for (const { cost, usage } of ofBuckets) add(total, cost.sum(), usage.sum());
  return { cost: total.cost.sum(), usage: total.usage.sum(), groups: sums };
}

function add(into: { cost: Adder; usage: Adder } | undefined, cost: number, usage: number): void {
  into?.cost.add(cost);
  into?.usage.add(usage);
}

/** The single hours of a bucket, each with the bucket's position. */
function hoursIn({ fromHour, toHour }: Bucket, bucket: number): (Hours & { bucket: number })[] {
  return Array.from({ length: Math.max(0, toHour - fromHour) }, (_, i) => {
    return { bucket, fromHour: fromHour + i, toHour: fromHour + i + 1 };
  });
}

/** The numbers from 0 to below `length`, in random order. */
function shuffled(length: number, draw: (below: number) => number): Int32Array {
  const order = Int32Array.from({ length }, (_, i) => i);
  for (let i = length - 1; i > 0; i -= 1) {
    const j = draw(i + 1);
    [order[i], order[j]] = [order[j] ?? 0, order[i] ?? 0];
  }
  return order;
}
