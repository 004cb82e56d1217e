// Anomalies that begin at a drawn minute, in invented hours: how close the start that is told comes. The same seed gives the same.

import type { DetectionRules, Episode } from '../../src/anomalies/detect.ts';
import { type Made, natures, usualHours } from './labelled-hours.ts';
import { chance, spread } from './labelled-year.ts';

/** What a start adds: at least twice the usual cost of its hour and of the mean hour, or half of it. */
export const startKinds = ['triples', 'adds half'] as const;
type StartKind = (typeof startKinds)[number];

/** What has no usual hours has no start to find. */
const regular = natures.filter((nature) => !['late', 'intermittent', 'rarely', 'monthly alone'].includes(nature));
const firstDay = 20_458;
const days = 66;
const usualDays = 28;

interface Start {
  readonly costs: readonly number[];
  /** In hours from the first day on; a start within an hour adds its part of it. */
  readonly from: number;
}

function startOf(kind: StartKind, seed: number): Start | undefined {
  const random = chance(seed);
  const nature = regular[Math.floor(random() * regular.length)] ?? 'steady';
  const { costs }: Made = usualHours(random, nature, days);
  const from = (60 + Math.floor(random() * 5)) * 24 + random() * 24;
  const hours = Math.floor(from / 24) * 24;
  const before = Array.from({ length: usualDays }, (_, back) =>
    costs.slice(hours - (back + 1) * 24, hours - back * 24),
  );
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const usual = Math.max(mean(before.map((day) => day[Math.floor(from) % 24] ?? 0)), mean(before.flat()));
  const factor = kind === 'triples' ? spread(random, 3, 10) : 1.5;
  const until = from + 2 + Math.floor(random() * 46);
  for (let hour = Math.floor(from); hour < Math.min(until, costs.length); hour += 1) {
    costs[hour] = (costs[hour] ?? 0) + usual * (factor - 1) * Math.min(1, hour + 1 - from);
  }
  return usual > 0 ? { costs, from } : undefined;
}

/** The hours between a start and the one that is told of the anomaly that the daily rule finds; undefined if it finds none. */
function hoursApart({ costs, from }: Start, product: Product): number | undefined {
  const daily = Array.from({ length: days }, (_, day) =>
    costs.slice(day * 24, day * 24 + 24).reduce((sum, cost) => sum + cost, 0),
  );
  const day = Math.floor(from / 24);
  const series = { firstDay, costs: daily, usages: daily };
  const window = { from: firstDay + day, to: firstDay + day + 1 };
  const found = product
    .follow(series, [], window, { isQuiet: () => false, rules: product.usualRules })
    .find((episode) => episode.isUp && episode.notifiedDay !== undefined);
  if (found === undefined) return undefined;
  const first = (found.firstDay - firstDay) * 24;
  const hours = {
    firstHour: found.firstDay * 24 - (usualDays + 1) * 24,
    costs: costs.slice(first - (usualDays + 1) * 24, first + 24),
  };
  const told = Date.parse(product.beginning(found, hours).firstHour ?? '') / 3_600_000 - firstDay * 24;
  return Math.abs(told - Math.floor(from));
}

/** What is measured. */
export interface Product {
  readonly follow: typeof import('../../src/anomalies/detect.ts').follow;
  readonly usualRules: DetectionRules;
  beginning(
    episode: Pick<Episode, 'firstDay' | 'expected' | 'isUp'>,
    hours: { readonly firstHour: number; readonly costs: readonly number[] },
  ): { readonly firstHour: string | null };
}

/** Hours between the planted and the told start, of each anomaly that is found. */
export function measureStarts(kind: StartKind, seed: number, count: number, product: Product): number[] {
  return Array.from({ length: count }, (_, index) => startOf(kind, seed * 7919 + index * 104_729 + 1)).flatMap(
    (start) => (start === undefined ? [] : (hoursApart(start, product) ?? [])),
  );
}
