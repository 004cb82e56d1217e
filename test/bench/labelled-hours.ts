// Months of invented hourly costs with known runaways: the truth that the hourly watch is measured against. The same seed
// gives the same months.

import { chance, normal, spread } from './labelled-year.ts';

/** A cost that was made to run away. Hours are counted from the first one. */
export interface PlantedRunaway {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** What its hours cost more, as a multiple of the largest hour of the eight weeks before, and of their mean hour. */
  readonly timesLargest: number;
  readonly timesMean: number;
}

/** The hours of a scope. */
export interface HourlyScope {
  readonly name: string;
  readonly nature: string;
  /** USD, one an hour. */
  readonly costs: readonly number[];
  readonly planted: readonly PlantedRunaway[];
  /** Hours in which an alarm is neither right nor wrong: what recurs by date comes for the first or second time. */
  readonly unknown: readonly { readonly from: number; readonly to: number }[];
}

/** What the months are made of. */
export interface HoursOptions {
  readonly seed: number;
  readonly scopes: number;
  readonly days: number;
}

type Random = () => number;

function whole(random: Random, low: number, high: number): number {
  return low + Math.floor(random() * (high - low + 1));
}

/** A Monday: 5 January 2026. */
export const firstDay = 20_458;
const dayMs = 86_400_000;

export const natures = [
  ...[
    'steady',
    'office',
    'customers',
    'nightly',
    'mondays',
    'monthly',
    'intermittent',
    'late',
    'six-hourly',
    'growing',
  ],
  ...['rarely', 'monthly alone', 'shifting', 'weekdays', 'jobs'],
] as const;
type Nature = (typeof natures)[number];

/** Scopes with what was planted in them. Pure. */
export function labelledHours({ seed, scopes, days }: HoursOptions): HourlyScope[] {
  return Array.from({ length: scopes }, (_, index) =>
    hourlyScope(chance(seed * 7919 + index * 104_729 + 1), natures[index % natures.length] ?? 'steady', index, days),
  );
}

export interface Made {
  readonly costs: number[];
  readonly unknown: { from: number; to: number }[];
}

function hourlyScope(random: Random, nature: Nature, index: number, days: number): HourlyScope {
  const made = usualHours(random, nature, days);
  const planted = plantedIn(random, made.costs, days);
  return { name: `scope ${index}`, nature, ...made, planted };
}

/** A profile over the hours of a day and week, with chance in each hour. */
export function usualHours(random: Random, nature: Nature, days: number): Made {
  const level = spread(random, 0.02, 40);
  const noise = spread(random, 0.03, 0.6);
  const unknown: { from: number; to: number }[] = [];
  const shape = shapeOf(random, nature, days);
  const begin = nature === 'late' ? whole(random, 30, days - 40) * 24 + whole(random, 0, 23) : 0;
  const growth = nature === 'growing' ? spread(random, 0.003, 0.03) : 0;
  const isHeavy = random() < 0.25;
  const costs = Array.from({ length: days * 24 }, (_, hour) => {
    if (hour < begin) return 0;
    const grown = Math.exp(Math.min(3, (growth * hour) / 24));
    const heavy = isHeavy
      ? Math.sqrt(4 / Array.from({ length: 6 }, () => normal(random) ** 2).reduce((a, b) => a + b))
      : 1;
    return level * grown * shape(hour) * Math.exp(noise * heavy * normal(random));
  });
  // The daily rule reports what is new as well.
  if (begin > 0) unknown.push({ from: begin, to: begin + 48 });
  if (nature === 'monthly' || nature === 'monthly alone') addMonthly(random, { costs, unknown }, level, nature);
  if (nature === 'intermittent' || nature === 'rarely') addSessions(random, costs, level, nature === 'rarely' ? 40 : 6);
  if (nature === 'jobs') addJobs(random, costs, level);
  return { costs, unknown };
}

const officeHours = [
  0, 0, 0, 0, 0, 0.05, 0.2, 0.55, 0.85, 1, 1, 0.9, 0.7, 0.9, 1, 1, 0.95, 0.7, 0.4, 0.25, 0.15, 0.08, 0.03, 0,
];

function shapeOf(random: Random, nature: Nature, days: number): (hour: number) => number {
  const at = whole(random, 0, 23);
  const length = whole(random, 1, 5);
  const isIn = (hour: number, start: number) => (((hour - start) % 24) + 24) % 24 < length;
  const weekday = (hour: number) => Math.floor(hour / 24) % 7;
  switch (nature) {
    case 'steady':
    case 'growing':
    case 'late':
      return () => 1;
    case 'office':
    case 'weekdays':
      return (hour) => (officeHours[hour % 24] ?? 0) * (weekday(hour) < 5 ? 1 : nature === 'office' ? 0.08 : 0);
    case 'customers':
    case 'monthly':
    case 'jobs':
      return (hour) => 0.6 + 0.4 * Math.sin((2 * Math.PI * ((hour - at) % 24)) / 24);
    case 'nightly':
      return (hour) => (isIn(hour, at) ? 1 : 0.01);
    case 'mondays':
      return (hour) => (weekday(hour) === 0 && isIn(hour, at) ? 1 : 0.002);
    case 'six-hourly':
      return (hour) => (hour % 6 === at % 6 ? 1 : 0);
    case 'shifting': {
      // A night's batch that starts up to two hours later or earlier, and that moves by some hours for good now and then.
      const starts: number[] = [];
      let start = at;
      for (let day = 0; day < days; day += 1) {
        if (random() < 0.03) start += whole(random, -8, 8);
        starts.push(start + whole(random, -2, 2));
      }
      const sizes = starts.map(() => spread(random, 0.6, 1.7));
      return (hour) => (isIn(hour, starts[Math.floor(hour / 24)] ?? at) ? (sizes[Math.floor(hour / 24)] ?? 1) : 0);
    }
    case 'monthly alone':
    case 'intermittent':
    case 'rarely':
      return () => 0;
  }
}

/** A batch by date, by weekday of the month or at its end, whose size depends on the weekday. */
function addMonthly(random: Random, { costs, unknown }: Made, level: number, nature: Nature): void {
  const rule = whole(random, 0, 4);
  const date = whole(random, 1, 28);
  const at = whole(random, 0, 20);
  const length = whole(random, 1, 9);
  const size = level * (nature === 'monthly' ? spread(random, 3, 100) : 20);
  const ofWeekday = Array.from({ length: 7 }, (_, day) =>
    day >= 5 ? spread(random, 0.5, 1) : spread(random, 0.8, 1.2),
  );
  let count = 0;
  for (let month = 0; month < 13; month += 1) {
    const first = Date.UTC(2026, month, 1) / dayMs;
    const next = Date.UTC(2026, month + 1, 1) / dayMs;
    const weekday = (first + 3) % 7;
    const day =
      [
        first,
        first + date - 1,
        next - 1,
        first + ((7 - weekday) % 7),
        weekday === 5 ? first + 2 : weekday === 6 ? first + 1 : first,
      ][rule] ?? first;
    const from = (day - firstDay) * 24 + at + whole(random, -1, 1);
    if (from < 0 || from >= costs.length) continue;
    const amount = size * (ofWeekday[(day + 3) % 7] ?? 1) * Math.exp(0.15 * normal(random));
    for (let hour = from; hour < Math.min(costs.length, from + length); hour += 1) {
      costs[hour] = (costs[hour] ?? 0) + amount * Math.exp(0.1 * normal(random));
    }
    if (count < 2) unknown.push({ from: from - 1, to: from + length + 24 });
    count += 1;
  }
}

/** Work that comes now and then, for some hours, in sizes of its own. */
function addSessions(random: Random, costs: number[], level: number, daysApart: number): void {
  const sizes = spread(random, 0.2, 0.9);
  for (let hour = 0; hour < costs.length; hour += 1) {
    if (random() > 1 / (24 * daysApart)) continue;
    const amount = level * Math.exp(sizes * normal(random));
    const length = whole(random, 1, 8);
    for (let after = hour; after < Math.min(costs.length, hour + length); after += 1) {
      costs[after] = (costs[after] ?? 0) + amount * Math.exp(0.2 * normal(random));
    }
  }
}

/** Single jobs of some times the usual, once in a month or two: unusual, but no runaway. */
function addJobs(random: Random, costs: number[], level: number): void {
  for (let hour = 0; hour < costs.length; hour += 1) {
    if (random() > 1 / (24 * 45)) continue;
    const amount = level * spread(random, 1, 8);
    const length = whole(random, 1, 6);
    for (let after = hour; after < Math.min(costs.length, hour + length); after += 1)
      costs[after] = (costs[after] ?? 0) + amount;
  }
}

/** One runaway in two months: 20 to 100 times the largest or the mean hour before it. */
function plantedIn(random: Random, costs: number[], days: number): PlantedRunaway[] {
  const planted: PlantedRunaway[] = [];
  for (let day = 45 + whole(random, 0, 30); day < days - 5; day += whole(random, 50, 70)) {
    const from = day * 24 + whole(random, 0, 23);
    const before = costs.slice(Math.max(0, from - historyHours), from);
    const largest = Math.max(...before);
    const mean = before.reduce((sum, cost) => sum + cost, 0) / before.length;
    if (mean === 0 || costs.slice(0, from - 14 * 24).every((cost) => cost === 0)) continue;
    const size = spread(random, 20, 100) * (random() < 0.5 ? largest : mean);
    const to = Math.min(costs.length, from + whole(random, 4, 60));
    for (let hour = from; hour < to; hour += 1)
      costs[hour] = (costs[hour] ?? 0) + size * Math.exp(0.1 * normal(random));
    planted.push({ from, to, timesLargest: size / largest, timesMean: size / mean });
  }
  return planted;
}

/** What is measured of the product. */
export interface Watch {
  runawayOf(
    hours: { readonly firstHour: number; readonly costs: readonly number[] },
    rules: { readonly hourlyTimes: number; readonly minAmount: number; readonly minDays: number },
    isTold: (hour: number) => boolean,
  ): { readonly firstHour: number } | undefined;
  isReported(
    reported: readonly { readonly firstDay: number; readonly lastDay: number }[],
    day: number,
    today: number,
  ): boolean;
}

/** How many runaways were seen, and how soon. */
export interface Seen {
  readonly planted: number;
  /** Within two hours of the end of the first hour. */
  readonly inTime: number;
  readonly later: number;
}

/** What months of hourly evaluations came to. */
export interface MeasuredHours {
  /** Those of at least 20 times the largest hour of eight weeks, and those of at least 20 times their mean hour. */
  readonly ofLargest: Seen;
  readonly ofMean: Seen;
  readonly falseAlarms: readonly string[];
  readonly missed: readonly string[];
  readonly months: number;
}

const rules = { hourlyTimes: 20, minAmount: 5, minDays: 14 };
const historyHours = 57 * 24;
/** Hours that must pass after a runaway before another alarm is another one. */
const apart = 30;
const nothing: Seen = { planted: 0, inTime: 0, later: 0 };

/** Evaluates every hour as a job that runs once an hour does, and compares the alarms with the planted runaways. */
export function measureHours(scopes: readonly HourlyScope[], watch: Watch): MeasuredHours {
  const falseAlarms: string[] = [];
  const missed: string[] = [];
  let [ofLargest, ofMean] = [nothing, nothing];
  const hours = scopes[0]?.costs.length ?? 0;
  for (const scope of scopes) {
    const alarms = alarmsOf(scope, watch);
    for (const { from, to, timesLargest, timesMean } of scope.planted) {
      // Below the daily minimum it is no money.
      const added = (scope.costs[from] ?? 0) + (scope.costs[from + 1] ?? 0);
      if (added * 12 < rules.minAmount * 1.3) continue;
      const told = alarms.find((alarm) => alarm > from && alarm <= to);
      const seen: Seen = {
        planted: 1,
        inTime: Number(told !== undefined && told <= from + 3),
        later: Number(told !== undefined && told > from + 3),
      };
      if (timesLargest >= 20) ofLargest = added_(ofLargest, seen);
      else if (timesMean >= 20) ofMean = added_(ofMean, seen);
      if (timesLargest >= 20 && seen.inTime === 0)
        missed.push(`${scope.name} (${scope.nature}): hour ${from} to ${to}, ${timesLargest} times, told ${told}`);
    }
    for (const alarm of alarms) {
      const isPlanted = scope.planted.some(({ from, to }) => alarm > from && alarm <= to + apart);
      const isUnknown = scope.unknown.some(({ from, to }) => alarm > from && alarm <= to);
      if (!isPlanted && !isUnknown) falseAlarms.push(`${scope.name} (${scope.nature}): hour ${alarm}`);
    }
  }
  return { ofLargest, ofMean, falseAlarms, missed, months: ((hours - 30 * 24) / (365.25 * 2)) * (scopes.length / 100) };
}

function added_(one: Seen, other: Seen): Seen {
  return { planted: one.planted + other.planted, inTime: one.inTime + other.inTime, later: one.later + other.later };
}

/** The hours at whose start an alarm is sent: hours before it have ended. Days that were reported are not learned from. */
function alarmsOf({ costs, planted }: HourlyScope, { runawayOf, isReported }: Watch): number[] {
  const alarms: number[] = [];
  // The daily rule reports each of them once its day is complete, also if the watch did not.
  const reported = planted.map(({ from, to }) => ({
    firstDay: Math.floor(from / 24),
    lastDay: Math.floor((to - 1) / 24),
  }));
  for (let end = 14 * 24 + 2; end <= costs.length; end += 1) {
    const newest = (costs[end - 1] ?? 0) + (costs[end - 2] ?? 0);
    if (newest * 12 < rules.minAmount) continue;
    if (newest < 2 * pairBefore(costs, end)) continue;
    if (end - (alarms.at(-1) ?? Number.NEGATIVE_INFINITY) < apart) continue;
    const from = Math.max(0, end - historyHours);
    const isTold = (hour: number) => isReported(reported, Math.floor(hour / 24), Math.floor((end - 1) / 24));
    const found = runawayOf({ firstHour: from, costs: costs.slice(from, end) }, rules, isTold);
    if (found === undefined) continue;
    alarms.push(end);
    const day = Math.floor(found.firstHour / 24);
    reported.push({ firstDay: day, lastDay: day });
  }
  return alarms;
}

/** The largest two hours of the day before yesterday's same time: more than a runaway of a day leaves alone. */
function pairBefore(costs: readonly number[], end: number): number {
  let largest = 0;
  for (let place = Math.max(1, end - 48); place < end - 24; place += 1) {
    largest = Math.max(largest, (costs[place] ?? 0) + (costs[place - 1] ?? 0));
  }
  return largest;
}
