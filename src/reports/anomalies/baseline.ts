import { median, spreadOf } from './robust.ts';

/** What a scope cost and used on each UTC day, without a gap; a day without cost is 0. */
export interface DailyCosts {
  /** Number of the first day since 1970-01-01. The books of its account do not begin later. */
  readonly firstDay: number;
  /** USD, one a day. */
  readonly costs: readonly number[];
  /** In the unit of its billing dimension, one a day. */
  readonly usages: readonly number[];
}

/** A stretch of days, both among them. */
export interface Days {
  readonly from: number;
  readonly to: number;
}

/** What is known to have moved a scope before a day, so that its usual cost is not learned from it. */
export interface Disturbances {
  /** Days that were not as usual: nothing is learned of them. */
  readonly masked: readonly Days[];
  /** Days from which on another level is the usual one. */
  readonly steps: readonly number[];
  /** Days on which a unit cost so many times what it did before; they add up where they overlap. */
  readonly prices: readonly (Days & { readonly ratio: number })[];
}

/** What a day is expected to cost, in USD. */
export interface Expectation {
  readonly expected: number;
  /** Between the two a day is as usual. */
  readonly low: number;
  readonly high: number;
}

/** What is usual for a scope, learned of the days before one day. */
export interface Baseline {
  /**
   * steady: on the weekdays on which it costs at all it nearly always does. sparse: now and then, or too seldom to tell.
   * empty: nothing at all so far. young: for less than the least history.
   */
  readonly nature: 'steady' | 'sparse' | 'empty' | 'young';
  /** Whether each of the last four weeks' days had a cost. */
  readonly isDaily: boolean;
  /** The day of its first cost that is known. */
  readonly firstCostDay: number | undefined;
  /** How far single days lie from what is expected of them, as a share (a standard deviation of logarithms). */
  readonly noise: number;
  /** How uncertain what is expected is itself, in the same measure. */
  readonly error: number;
  /** What the day would cost as usual. */
  expectationOf(day: number): Expectation;
}

/** How a baseline is learned. */
export interface BaselineRules {
  /** Least history in days before anything is expected of a scope. */
  readonly minDays: number;
}

/** Of so many days before a day it is learned what is usual: eight of each weekday. */
export const learningDays = 56;
/** The level is that of so many of the last days. */
const levelDays = 14;
/** A day outside of so many deviations is not as usual. */
export const deviations = 3.8;
/** Where few days tell of noise more may be noise: so many of them would double the width. */
const fewDays = 5;
/** Nothing is as regular as it looks in a few weeks: a deviation is at least this share. */
const leastNoise = 0.02;
const leastPriceNoise = 0.01;
/** What few days tell of noise is drawn towards this much of it, as so many days would. */
const usualNoise = 0.05;
const usualNoiseDays = 3;

/** A scope is steady where it cost something on so many days, and on such a share of those on which it might have. */
const leastSteadyDays = 10;
const steadyShare = 0.9;

interface KnownDay {
  readonly day: number;
  readonly weekday: number;
  /** Between two steps: counted from the oldest. */
  readonly segment: number;
  readonly cost: number;
  readonly usage: number;
  /** Logarithm of the ratio by which prices differed on it from those of the oldest day. */
  readonly priceShift: number;
}

/** Monday is 0: 1970-01-01 was a Thursday. */
function weekdayOf(day: number): number {
  return (day + 3) % 7;
}

/** What is usual for a scope on the days from `asOf` on, learned of the days before it alone. Pure. */
export function learnBaseline(
  series: DailyCosts,
  asOf: number,
  disturbances: Disturbances,
  rules: BaselineRules,
): Baseline {
  const days = knownDays(series, asOf, disturbances);
  const firstCostDay = days[0]?.day;
  const present = disturbances.steps.filter((day) => day < asOf).length;
  const ofWeekday = Array.from({ length: 7 }, (_, weekday) => days.filter((known) => known.weekday === weekday));
  const isWeekdayUsed = ofWeekday.map(
    (own) => own.length > 0 && own.filter(({ cost }) => cost > 0).length * 2 > own.length,
  );
  const onUsed = days.filter(({ weekday }) => isWeekdayUsed[weekday] === true);
  const positive = onUsed.filter(({ cost }) => cost > 0);
  const every = days.filter(({ cost }) => cost > 0);
  const age = firstCostDay === undefined ? 0 : asOf - firstCostDay;
  const isSteady = positive.length >= leastSteadyDays && positive.length >= steadyShare * onUsed.length;
  const lastWeeks = days.filter(({ day }) => day >= asOf - 28);
  const isDaily = lastWeeks.length >= levelDays && lastWeeks.every(({ cost }) => cost > 0);
  const nature = firstCostDay === undefined ? 'empty' : age < rules.minDays ? 'young' : isSteady ? 'steady' : 'sparse';
  const head = { nature, isDaily, firstCostDay } as const;

  if (nature === 'empty' || every.length === 0) {
    return { ...head, noise: usualNoise, error: 0, expectationOf: () => ({ expected: 0, low: 0, high: 0 }) };
  }
  const model = isSteady ? learnLevel(positive, present) : undefined;
  const sparse = learnSparse(every);
  const expectationOf: Baseline['expectationOf'] = (day) => {
    const shift = priceShiftAt(disturbances, day);
    if (model === undefined || nature !== 'steady' || isWeekdayUsed[weekdayOf(day)] !== true) {
      return { expected: 0, low: 0, high: Math.exp(sparse.high + shift) };
    }
    const middle = model.levelAt(day) + shift;
    const width = model.width;
    return { expected: Math.exp(middle), low: Math.exp(middle - width), high: Math.exp(middle + width) };
  };
  return { ...head, noise: model?.noise ?? sparse.noise, error: model?.error ?? sparse.noise, expectationOf };
}

/** The days before `asOf` of which something is learned, oldest first. */
function knownDays(series: DailyCosts, asOf: number, { masked, steps, prices }: Disturbances): KnownDay[] {
  const days: KnownDay[] = [];
  const oldest = Math.max(series.firstDay, asOf - learningDays);
  for (let day = oldest; day < asOf; day += 1) {
    if (masked.length > 0 && masked.some(({ from, to }) => day >= from && day <= to)) continue;
    days.push({
      day,
      weekday: weekdayOf(day),
      segment: steps.length === 0 ? 0 : steps.filter((step) => step <= day).length,
      cost: Math.max(0, series.costs[day - series.firstDay] ?? 0),
      usage: series.usages[day - series.firstDay] ?? 0,
      priceShift: priceShiftAt({ prices }, day),
    });
  }
  // Before a scope's first cost there was nothing to learn.
  const first = days.findIndex(({ cost }) => cost > 0);
  return first === -1 ? [] : days.slice(first);
}

function priceShiftAt({ prices }: Pick<Disturbances, 'prices'>, day: number): number {
  if (prices.length === 0) return 0;
  return prices.reduce((sum, { from, to, ratio }) => (day >= from && day <= to ? sum + Math.log(ratio) : sum), 0);
}

/** Level, weekdays, slope and noise of days that all cost something; logarithms throughout. */
function learnLevel(days: readonly KnownDay[], present: number) {
  const logs = days.map(({ cost, priceShift }) => Math.log(cost) - priceShift);
  const segments = days.map(({ segment }) => segment);
  let effects: number[] = [0, 0, 0, 0, 0, 0, 0];
  for (let round = 0; round < 2; round += 1) {
    const flat = logs.map((log, place) => log - (effects[days[place]?.weekday ?? 0] ?? 0));
    const around = flat.map((_, place) => localLevel(flat, segments, days, place));
    effects = weekdayEffects(
      days,
      logs.map((log, place) => log - (around[place] ?? 0)),
    );
  }
  const flat = logs.map((log, place) => log - (effects[days[place]?.weekday ?? 0] ?? 0));
  // One-step errors of the same kind of expectation as the present day's, so that its own error is among them.
  const errors: number[] = [];
  for (let place = 0; place < flat.length; place += 1) {
    const before = lastOf(flat, segments, place, levelDays);
    if (before.length >= 4) errors.push((flat[place] ?? 0) - median(before));
  }
  const spread = errors.length >= 4 ? spreadOf(errors) : spreadOf(flat);
  const count = Math.max(errors.length, 1);
  const noise = Math.max(
    leastNoise,
    Math.sqrt((spread ** 2 * count + usualNoise ** 2 * usualNoiseDays) / (count + usualNoiseDays)),
  );
  // Of the present level: its last days, and how they moved against the days before them.
  const own = flat.flatMap((value, place) =>
    segments[place] === present ? [{ value, day: days[place]?.day ?? 0 }] : [],
  );
  const recent = (own.length >= 4 ? own : flat.map((value, place) => ({ value, day: days[place]?.day ?? 0 }))).slice(
    -levelDays,
  );
  const earlier = own.slice(-2 * levelDays, -levelDays);
  const recentLevel = median(recent.map(({ value }) => value));
  const recentDay = median(recent.map(({ day }) => day));
  let slope = 0;
  if (earlier.length >= levelDays / 2) {
    const rise = recentLevel - median(earlier.map(({ value }) => value));
    const apart = recentDay - median(earlier.map(({ day }) => day));
    // What noise alone can make of two levels is no slope.
    const certain = Math.max(0, Math.abs(rise) - noise * 0.5);
    slope = apart > 0 ? (Math.sign(rise) * Math.min(certain, 0.5)) / apart : 0;
  }
  const error = (noise * 1.25) / Math.sqrt(recent.length);
  return {
    noise,
    error,
    width: deviations * noise * (1 + fewDays / count),
    levelAt: (day: number) => recentLevel + slope * (day - recentDay) + (effects[weekdayOf(day)] ?? 0),
  };
}

/** The level around a day: the median of up to a week before and after it, between two steps. */
function localLevel(
  flat: readonly number[],
  segments: readonly number[],
  days: readonly KnownDay[],
  place: number,
): number {
  const here = days[place]?.day ?? 0;
  const near: number[] = [];
  for (let other = place; other >= 0 && here - (days[other]?.day ?? 0) <= aroundDays; other -= 1) {
    if (segments[other] === segments[place]) near.push(flat[other] ?? 0);
  }
  for (let other = place + 1; other < flat.length && (days[other]?.day ?? 0) - here <= aroundDays; other += 1) {
    if (segments[other] === segments[place]) near.push(flat[other] ?? 0);
  }
  return median(near);
}
const aroundDays = 10;

/** The last `count` values before a place, without those before the step that it lies behind. */
function lastOf(flat: readonly number[], segments: readonly number[], place: number, count: number): number[] {
  const values: number[] = [];
  for (let other = place - 1; other >= 0 && values.length < count; other -= 1) {
    if (segments[other] === segments[place]) values.push(flat[other] ?? 0);
  }
  return values;
}

/** What weekdays differ by from the level around them: first weekends from the rest, then each by itself; as far as it shows. */
function weekdayEffects(days: readonly KnownDay[], deviation: readonly number[]): number[] {
  const ofGroup: [number[], number[]] = [[], []];
  for (const [place, value] of deviation.entries()) ofGroup[(days[place]?.weekday ?? 0) >= 5 ? 1 : 0].push(value);
  const groups = ofGroup.map((values) => median(values));
  const ofWeekday: number[][] = [[], [], [], [], [], [], []];
  const within = deviation.map((value, place) => {
    const weekday = days[place]?.weekday ?? 0;
    const rest = value - (groups[weekday >= 5 ? 1 : 0] ?? 0);
    ofWeekday[weekday]?.push(rest);
    return rest;
  });
  const noise = spreadOf(within);
  return ofWeekday.map((own, weekday) => {
    const place = weekday >= 5 ? 1 : 0;
    const groupError = (noise * 1.25) / Math.sqrt(Math.max(1, ofGroup[place].length));
    const ownError = (noise * 1.25) / Math.sqrt(Math.max(1, own.length));
    return drawn(groups[place] ?? 0, groupError) + drawn(cautious(own), ownError);
  });
}

/** The middle of a few values; of three and fewer what all of them show, as one of them may have been a holiday. */
function cautious(values: readonly number[]): number {
  if (values.length > 3) return median(values);
  if (values.length < 2) return 0;
  const least = Math.min(...values);
  const most = Math.max(...values);
  return least > 0 ? least : Math.min(most, 0);
}

/** An effect as far as its own error leaves it. */
function drawn(effect: number, error: number): number {
  return effect === 0 ? 0 : effect * Math.max(0, 1 - (error / effect) ** 2);
}

/** Where the days that cost something now and then end: as logarithms. */
function learnSparse(days: readonly KnownDay[]) {
  const logs = days.map(({ cost, priceShift }) => Math.log(cost) - priceShift);
  const noise = Math.max(0.25, logs.length >= 4 ? spreadOf(logs) : 0.5);
  const high = Math.max(
    Math.max(...logs) + Math.log(1.3),
    median(logs) + deviations * noise * (1 + fewDays / logs.length),
  );
  return { noise, high };
}

/** Of so many days before a day it is learned what a unit costs. */
const priceDays = 28;

/**
 * What a unit of usage costs on a day, in USD, learned of the days before it; undefined where it has no steady price, or
 * too few days had usage. `noise` is how far single days lie from it, as a share. Pure.
 */
export function learnUnitPrice(
  series: DailyCosts,
  day: number,
  { prices }: Pick<Disturbances, 'prices'>,
): { readonly price: number; readonly noise: number } | undefined {
  const known: number[] = [];
  let days = 0;
  for (let past = Math.max(series.firstDay, day - priceDays); past < day; past += 1) {
    const cost = series.costs[past - series.firstDay] ?? 0;
    const usage = series.usages[past - series.firstDay] ?? 0;
    if (cost > 0) days += 1;
    if (cost > 0 && usage > 0) known.push(Math.log(cost / usage) - priceShiftAt({ prices }, past));
  }
  if (known.length < 7 || known.length < 0.8 * days) return undefined;
  const level = median(known.slice(-levelDays)) + priceShiftAt({ prices }, day);
  return { price: Math.exp(level), noise: Math.max(leastPriceNoise, spreadOf(known)) };
}
