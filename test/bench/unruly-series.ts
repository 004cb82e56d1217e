import type { DailyCosts } from '../../src/anomalies/baseline.ts';
import type { StoredEpisode } from '../../src/anomalies/evaluate-scope.ts';
import { chance, type Detector, normal, spread } from './labelled-year.ts';

// Invented daily costs of the shapes that machines, advertisements and traffic have, with changes that at least double or
// halve a day. The same seed gives the same series.

/** Families of series: each one's usual cost of a day as a share of its level, from day 0 on, and its length in days. */
const families: Readonly<
  Record<string, (random: () => number) => { readonly days: number; readonly usualOf: (day: number) => number }>
> = {
  // Calm days, and peaks now and then that nobody planted: they are told, and must not hide what follows.
  spiky: (random) => {
    const [noise, week] = [0.03 + 0.07 * random(), weekOf(random)];
    return { days: 80, usualOf: (day) => week(day) * Math.exp(noise * normal(random)) };
  },
  drifting: (random) => {
    const [noise, drift, week] = [0.03 + 0.05 * random(), 0.02 + 0.03 * random(), weekOf(random)];
    let level = 0;
    return {
      days: 80,
      usualOf: (day) => {
        level = 0.985 * level + drift * normal(random);
        return week(day) * Math.exp(level + noise * normal(random));
      },
    };
  },
  bursty: (random) => {
    const [noise, rate] = [0.06 + 0.08 * random(), 0.03 + 0.05 * random()];
    return {
      days: 80,
      usualOf: () => Math.exp(noise * normal(random)) * (random() < rate ? 1.2 + 0.35 * random() : 1),
    };
  },
  young: (random) => {
    const [noise, week] = [0.03 + 0.2 * random(), weekOf(random)];
    return { days: 14 + Math.floor(15 * random()), usualOf: (day) => week(day) * Math.exp(noise * normal(random)) };
  },
};

/** Half of the weeks have cheaper weekends. */
function weekOf(random: () => number): (day: number) => number {
  const weekend = random() < 0.5 ? 1 : 0.4 + 0.5 * random();
  return (day) => (day % 7 >= 5 ? weekend : 1);
}

/** A planted change, from its first to its last day, counted from the first day of the series. */
interface Change {
  readonly kind: 'peak' | 'step' | 'fall';
  readonly from: number;
  readonly to: number;
}

export interface UnrulySeries {
  readonly family: string;
  readonly costs: readonly number[];
  readonly changes: readonly Change[];
}

/** A Monday: 5 January 2026. */
const firstDay = 20_458;

/** `each` series of each family. Pure. */
export function unrulySeries(seed: number, each: number): UnrulySeries[] {
  return Object.entries(families).flatMap(([family, shape], place) =>
    Array.from({ length: each }, (_, index) =>
      seriesOf(family, shape, chance(seed * 7919 + place * 15_485_863 + index * 104_729 + 1)),
    ),
  );
}

function seriesOf(family: string, shape: (typeof families)[string] & {}, random: () => number): UnrulySeries {
  const { days, usualOf } = shape(random);
  const level = spread(random, 10, 500);
  const factors = new Array<number>(days).fill(1);
  const changes: Change[] = [];
  const oldest = family === 'young' ? 8 : 15;
  const apart = family === 'spiky' ? 8 : 24;
  for (let day = oldest + Math.floor(8 * random()); day < days - 1; day += apart + Math.floor(apart * random())) {
    const drawn = random();
    const kind = drawn < 0.5 ? 'peak' : drawn < 0.7 && family !== 'spiky' ? 'step' : 'fall';
    const length = kind === 'step' ? 10 : 1 + Math.floor(2 * random());
    const size = spread(random, 2, 5) ** (kind === 'fall' ? -1 : 1);
    const to = Math.min(days, day + length) - 1;
    factors.fill(size, day, to + 1);
    changes.push({ kind, from: day, to });
  }
  return { family, costs: factors.map((factor, day) => level * factor * usualOf(day)), changes };
}

/** What is known about the detection of a family's changes. */
export interface UnrulyResult {
  readonly months: number;
  readonly falseAlarms: number;
  readonly planted: number;
  readonly found: number;
}

/** The days that a detector reports, each once per event: first day, and the day after which it is told. */
type Alarms = (costs: readonly number[]) => readonly { readonly first: number; readonly told: number }[];

/** Compares what a detector reports with what was planted: a change is found if it is told within two days of its first. */
export function measureUnruly(all: readonly UnrulySeries[], alarmsOf: Alarms): ReadonlyMap<string, UnrulyResult> {
  const results = new Map<string, UnrulyResult>();
  for (const { family, costs, changes } of all) {
    const result = results.get(family) ?? { months: 0, falseAlarms: 0, planted: 0, found: 0 };
    const alarms = alarmsOf(costs);
    const isOf = ({ from, to }: Change, told: number) => told >= from && told <= to + 2;
    const found = changes.map((change) => alarms.some(({ told }) => isOf(change, told) && told <= change.from + 2));
    results.set(family, {
      ...result,
      months: result.months + costs.length / 30,
      planted: result.planted + changes.length,
      found: result.found + found.filter(Boolean).length,
      falseAlarms:
        result.falseAlarms + alarms.filter(({ told }) => !changes.some((change) => isOf(change, told))).length,
    });
  }
  return results;
}

/** What the product reports of a series, judged night by night. */
export function productAlarms({ evaluateScope, quietDays, usualRules }: Detector): Alarms {
  return (costs) => {
    const series: DailyCosts = { firstDay, costs, usages: costs };
    let known: readonly StoredEpisode[] = [];
    const told = new Map<string, { first: number; told: number }>();
    for (let day = 0; day < costs.length; day += 1) {
      known = evaluateScope({
        ...{ series, known, lastDay: firstDay + day, changedFrom: undefined, rules: usualRules },
        isQuiet: quietDays([series], usualRules),
        evaluatedDay: day === 0 ? undefined : firstDay + day - 1,
        newKey: ({ firstDay: first, kind }) => `${first} ${kind === 'price' || kind === 'missing' ? kind : ''}`,
      });
      for (const { key, isNotified, firstDay: first } of known) {
        if (isNotified && !told.has(key)) told.set(key, { first: first - firstDay, told: day });
      }
    }
    return [...told.values()];
  };
}

/** A simple peer: a day outside six robust deviations of the median of the same weekday in four weeks. */
export const peerAlarms: Alarms = (costs) => {
  const middle = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
  const expectedOf = (day: number) => middle([7, 14, 21, 28].flatMap((apart) => costs[day - apart] ?? []));
  const alarms: { first: number; told: number }[] = [];
  let last = Number.NEGATIVE_INFINITY;
  for (let day = 14; day < costs.length; day += 1) {
    const expected = expectedOf(day);
    const rest = Array.from({ length: Math.min(28, day - 7) }, (_, back) =>
      Math.abs((costs[day - 1 - back] ?? 0) - expectedOf(day - 1 - back)),
    );
    const difference = Math.abs((costs[day] ?? 0) - expected);
    if (difference < Math.max(5, 0.3 * expected, 6 * 1.4826 * middle(rest))) continue;
    // Days in a row are one event.
    if (last !== day - 1) alarms.push({ first: day, told: day });
    last = day;
  }
  return alarms;
};
