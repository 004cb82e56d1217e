import { median } from '../base/median.ts';
import { type Holidays, weekdayOf } from '../time/time.ts';
import { recurringOf } from './recurring.ts';
import { centreOf, madScale, medianOfEach, spreadOf } from './robust-statistics.ts';
import {
  aroundDays,
  batchDeviations,
  chanceDays,
  deviations,
  fewDays,
  growthDoubt,
  learningDays,
  leastDailyDays,
  leastDays,
  leastLevelDays,
  leastNoise,
  leastPriceNoise,
  leastSteadyDays,
  levelDays,
  levelMemory,
  lowReach,
  mostMemory,
  mostRise,
  movedErrors,
  priceDays,
  priceLevelDays,
  slopeErrors,
  sparseDeviations,
  steadyShare,
  unusualReach,
  unusualShare,
  usualNoise,
  usualNoiseDays,
  veryFewDays,
  youngNoise,
} from './tuning.ts';

/** Cost and usage of a scope on each UTC day, without gaps; a day without cost is 0. */
export interface DailyCosts {
  /** Number of the first day since 1970-01-01; not before the start of its account's books. */
  readonly firstDay: number;
  /** USD per day. */
  readonly costs: readonly number[];
  /** Usage per day, in the unit of its billing dimension. */
  readonly usages: readonly number[];
}

/** A range of days, both ends inclusive. */
export interface Days {
  readonly from: number;
  readonly to: number;
}

/** Known events before a day, so that the usual cost is not learned from them. */
export interface Disturbances {
  /** Unusual days, which are not learned from. */
  readonly masked: readonly Days[];
  /** Days on which a new usual level starts. */
  readonly steps: readonly number[];
  /** Days on which the unit price changed by a factor; factors multiply where they overlap. */
  readonly prices: readonly (Days & { readonly ratio: number })[];
  /** Whether many scopes cost less on a day. Level and noise are not learned from such holidays. */
  readonly isQuiet: (day: number) => boolean;
}

/** The expected cost of a day, in USD. */
export interface Expectation {
  readonly expected: number;
  /** A day between these bounds is usual. */
  readonly low: number;
  readonly high: number;
}

/** The usual cost of a scope, learned from the days before one day. */
export interface Baseline {
  /**
   * steady: it nearly always costs on the weekdays on which it costs at all. sparse: it costs irregularly, or too
   * rarely to tell. empty: no cost so far. young: less than the minimum history.
   */
  readonly nature: 'steady' | 'sparse' | 'empty' | 'young';
  /** Whether each of the last four weeks' days had a cost. */
  readonly isDaily: boolean;
  /** The day of its first known cost. */
  readonly firstCostDay: number | undefined;
  /** Noise: how far single days are from their expected cost, as a share (standard deviation of logarithms). */
  readonly noise: number;
  /** The uncertainty of the expectation itself, in the same unit. */
  readonly error: number;
  /**
   * How far the mean of this many days may be from its expectation, by noise and by the expectation's error, in the
   * same unit.
   */
  readonly errorOf: (days: number) => number;
  /** The expected cost of a day if it is usual. */
  expectationOf(day: number): Expectation;
}

/** Parameters of learning a baseline. */
export interface BaselineRules {
  /** The minimum history in days; without it, a scope has no expectation. */
  readonly minDays: number;
  /** What is a working day depends on them. */
  readonly holidays?: Holidays | undefined;
}

interface KnownDay {
  readonly day: number;
  readonly weekday: number;
  /** The range between two steps, counted from the oldest. */
  readonly segment: number;
  readonly isQuiet: boolean;
  readonly cost: number;
  readonly usage: number;
  /** Logarithm of the price relative to the oldest day. */
  readonly priceShift: number;
}

/** The usual cost of a scope on the days from `asOf` on, learned only from earlier days. Pure. */
export function learnBaseline(
  series: DailyCosts,
  asOf: number,
  disturbances: Disturbances,
  rules: BaselineRules,
): Baseline {
  const known = knownDays(series, asOf, disturbances);
  const recent = known.filter(({ day }) => day >= asOf - learningDays);
  // There is nothing to learn before a scope's first cost.
  const first = recent.findIndex(({ cost }) => cost > 0);
  const days = first === -1 ? [] : recent.slice(first);
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
  const isDaily = lastWeeks.length >= leastDailyDays && lastWeeks.every(({ cost }) => cost > 0);
  const nature = firstCostDay === undefined ? 'empty' : age < rules.minDays ? 'young' : isSteady ? 'steady' : 'sparse';
  const head = { nature, isDaily, firstCostDay } as const;

  if (nature === 'empty' || every.length === 0) {
    return {
      ...head,
      noise: usualNoise,
      error: 0,
      errorOf: () => 0,
      expectationOf: () => ({ expected: 0, low: 0, high: 0 }),
    };
  }
  const model = isSteady
    ? learnLevel(
        known.filter(({ cost, weekday }) => cost > 0 && isWeekdayUsed[weekday] === true),
        present,
        rules.holidays,
      )
    : undefined;
  const sparse = learnSparse(every, nature === 'young' ? youngNoise : undefined);
  const expectationOf: Baseline['expectationOf'] = (day) => {
    const shift = priceShiftAt(disturbances, day);
    if (nature === 'young') {
      const low = every.length === days.length ? Math.exp(sparse.low + shift) : 0;
      return { expected: Math.exp(sparse.middle + shift), low, high: Math.exp(sparse.high + shift) };
    }
    if (model === undefined || nature !== 'steady' || isWeekdayUsed[weekdayOf(day)] !== true) {
      return { expected: 0, low: 0, high: Math.exp(sparse.high + shift) };
    }
    const middle = model.levelAt(day) + shift;
    const width = model.width;
    return { expected: Math.exp(middle), low: Math.exp(middle - width), high: Math.exp(middle + width) };
  };
  return {
    ...head,
    noise: model?.noise ?? sparse.noise,
    error: model?.error ?? sparse.noise,
    errorOf: model?.errorOf ?? (() => sparse.noise),
    expectationOf,
  };
}

/** The days before `asOf` to learn from, oldest first. */
function knownDays(series: DailyCosts, asOf: number, { masked, steps, prices, isQuiet }: Disturbances): KnownDay[] {
  const days: KnownDay[] = [];
  const oldest = Math.max(series.firstDay, asOf - chanceDays);
  for (let day = oldest; day < asOf; day += 1) {
    if (masked.length > 0 && masked.some(({ from, to }) => day >= from && day <= to)) continue;
    days.push({
      day,
      weekday: weekdayOf(day),
      segment: steps.length === 0 ? 0 : steps.filter((step) => step <= day).length,
      isQuiet: isQuiet(day),
      cost: Math.max(0, series.costs[day - series.firstDay] ?? 0),
      usage: series.usages[day - series.firstDay] ?? 0,
      priceShift: priceShiftAt({ prices }, day),
    });
  }
  return days;
}

function priceShiftAt({ prices }: Pick<Disturbances, 'prices'>, day: number): number {
  if (prices.length === 0) return 0;
  return prices.reduce((sum, { from, to, ratio }) => (day >= from && day <= to ? sum + Math.log(ratio) : sum), 0);
}

/** Level, weekdays, slope and noise of days that all have a cost, as logarithms. */
function learnLevel(all: readonly KnownDay[], present: number, holidays: Holidays | undefined) {
  // After a step of many scopes at once, its days are the only ones at the new level, even if they look like holidays.
  const usual = all.filter(({ isQuiet }) => !isQuiet);
  const days = usual.filter(({ segment }) => segment === present).length >= leastLevelDays ? usual : all;
  const logs = days.map(({ cost, priceShift }) => Math.log(cost) - priceShift);
  const localLevelOf = localLevels(days);
  let effects: readonly number[] = [0, 0, 0, 0, 0, 0, 0];
  const flattened = () => days.map(({ weekday }, place) => (logs[place] ?? 0) - (effects[weekday] ?? 0));
  for (let round = 0; round < 2; round += 1) {
    const around = localLevelOf(flattened());
    effects = weekdayEffects(
      days,
      logs.map((log, place) => log - (around[place] ?? 0)),
    );
  }
  const flat = flattened();
  // Deviations from the levels around the days. Levels from earlier days only would lag behind an unreported change.
  const around = localLevelOf(flat);
  const rest = flat.map((value, place) => value - (around[place] ?? 0));
  const spread = spreadOf(withoutUnusual(withoutLow(withoutRecurring(days, rest, holidays))));
  const noise = Math.max(
    leastNoise,
    Math.sqrt((spread ** 2 * flat.length + usualNoise ** 2 * usualNoiseDays) / (flat.length + usualNoiseDays)),
  );
  const values = days.map(({ day, segment }, place) => ({ day, segment, value: flat[place] ?? 0 }));
  const own = values.filter(({ segment }) => segment === present);
  const known = own.length >= leastLevelDays ? own : values;
  /** Of `count` days, behind which there are so many later ones. */
  const levelOf = (count: number, later: number) =>
    stretchOf(known.slice(Math.max(0, known.length - later - count), Math.max(0, known.length - later)), noise);
  // Uses the last four weeks, or only their last half if that differs by more than chance.
  let levelCount = levelDays;
  for (; levelCount > leastDays; levelCount /= 2) {
    const [newer, older] = [levelOf(levelCount / 2, 0), levelOf(levelCount / 2, levelCount / 2)];
    const isMoved = Math.abs(newer.level - older.level) > movedErrors * errorBetween(newer, older, noise);
    if (older.count > 0 && !isMoved) break;
  }
  const recent = levelOf(levelCount, 0);
  const memory = memoryOf(rest, noise);
  const levelError = meanError(recent.count, memory);
  const slope = slopeOf(levelOf, Math.min(levelCount, Math.floor(known.length / 3)), noise);
  const grown = slope * ((days.at(-1)?.day ?? recent.day) + 1 - recent.day);
  const doubt = 1 + fewDays / flat.length + (veryFewDays / flat.length) ** 2;
  return {
    noise,
    // The errors of the level, of the weekday effect, and of growth.
    error: Math.hypot(noise * levelError, noise / Math.sqrt(Math.max(1, flat.length / 7)), growthDoubt * grown),
    errorOf: (count: number) => noise * doubt * Math.hypot(meanError(count, memory), levelError),
    width: deviations * noise * doubt,
    levelAt: (day: number) => recent.level + slope * (day - recent.day) + (effects[weekdayOf(day)] ?? 0),
  };
}

/**
 * Deviations from a level, without days far below it: those are holidays, not noise, and say nothing about more
 * expensive days.
 */
function withoutLow(rest: readonly number[]): readonly number[] {
  const lowest = -lowReach * madScale * median(rest.map(Math.abs));
  return rest.filter((value) => value >= lowest);
}

/**
 * The same without days that recur by date: those are not noise either. Far out ones recur from the second time, and lesser
 * ones, which may be chance, from the third.
 */
function withoutRecurring(
  days: readonly KnownDay[],
  rest: readonly number[],
  holidays: Holidays | undefined,
): readonly number[] {
  const typical = madScale * median(rest.map(Math.abs));
  const above = (reach: number) =>
    days.flatMap(({ day }, place) => ((rest[place] ?? 0) > reach * typical ? [day] : []));
  const recurring = new Set([
    ...recurringOf(above(lowReach), 2, holidays),
    ...recurringOf(above(batchDeviations), 3, holidays),
  ]);
  return recurring.size === 0 ? rest : rest.filter((_, place) => !recurring.has(days[place]?.day ?? 0));
}

/** The same without the few days furthest out: an unusual day teaches no noise, reported or not. Many of them are usual. */
function withoutUnusual(rest: readonly number[]): readonly number[] {
  const reach = unusualReach * madScale * median(rest.map(Math.abs));
  const out = rest.filter((value) => Math.abs(value) > reach);
  return out.length > Math.ceil(unusualShare * rest.length) ? rest : rest.filter((value) => Math.abs(value) <= reach);
}

/** Some days of a level: their number, median and position. */
interface Stretch {
  readonly count: number;
  readonly day: number;
  readonly level: number;
}

function stretchOf(days: readonly { readonly day: number; readonly value: number }[], noise: number): Stretch {
  const count = days.length;
  const day = days.reduce((sum, one) => sum + one.day, 0) / Math.max(1, count);
  const level = centreOf(
    days.map(({ value }) => value),
    noise,
  );
  return { count, day, level };
}

/** How far two ranges of days may differ by chance. */
function errorBetween(one: Stretch, other: Stretch, noise: number): number {
  return noise * Math.sqrt(1 / Math.max(1, one.count) + 1 / Math.max(1, other.count));
}

/**
 * The slope of a level per day. It counts only as far as both increases between three ranges of days show it, so that a
 * step is not a slope.
 */
function slopeOf(levelOf: (count: number, later: number) => Stretch, count: number, noise: number): number {
  if (count < leastDays) return 0;
  const [late, middle, early] = [levelOf(count, 0), levelOf(count, count), levelOf(count, 2 * count)];
  const [rise, before] = [late.level - middle.level, middle.level - early.level];
  if (rise * before <= 0) return 0;
  const shown = Math.sign(rise) * Math.min(Math.abs(rise), Math.abs(before), mostRise);
  return drawn(shown, slopeErrors * errorBetween(late, middle, noise)) / (late.day - middle.day);
}

/** The share of a day's deviation that remains on the next day, as far as it is significant; at least 0. */
function memoryOf(rest: readonly number[], noise: number): number {
  // Single outliers say nothing about how days depend on each other.
  const near = rest.map((value) => Math.max(-2 * noise, Math.min(2 * noise, value)));
  let together = 0;
  let alone = 0;
  for (const [place, value] of near.entries()) {
    if (place === 0) continue;
    const before = near[place - 1] ?? 0;
    together += value * before;
    alone += before ** 2;
  }
  if (alone === 0) return 0;
  return Math.max(0, Math.min(mostMemory, drawn(together / alone + levelMemory, 1 / Math.sqrt(near.length))));
}

/** The error of the mean of this many days, if a single day has a deviation of 1. */
function meanError(count: number, memory: number): number {
  let variance = 1;
  for (let apart = 1; apart < count; apart += 1) variance += 2 * (1 - apart / count) * memory ** apart;
  return Math.sqrt(variance / count);
}

/** The level around each day: the median of up to `aroundDays` days before and after it, between two steps. */
function localLevels(days: readonly KnownDay[]): (values: readonly number[]) => number[] {
  const firsts: number[] = [];
  const lasts: number[] = [];
  let first = 0;
  let last = 0;
  for (const { day, segment } of days) {
    const isNear = (other: KnownDay | undefined) =>
      other !== undefined && other.segment === segment && Math.abs(other.day - day) <= aroundDays;
    while (!isNear(days[first])) first += 1;
    last = Math.max(first, last);
    while (isNear(days[last + 1])) last += 1;
    firsts.push(first);
    lasts.push(last);
  }
  return (values) => medianOfEach(values, firsts, lasts);
}

/**
 * The differences of weekdays from the level around them, as far as significant: first weekends from the rest, then
 * each weekday.
 */
function weekdayEffects(days: readonly KnownDay[], deviation: readonly number[]): number[] {
  const ofGroup: [number[], number[]] = [[], []];
  for (const [place, value] of deviation.entries()) ofGroup[groupOf(days[place]?.weekday)].push(value);
  const groups = ofGroup.map((values) => centreOf(values, spreadOf(values)));
  const ofWeekday: number[][] = [[], [], [], [], [], [], []];
  const within = deviation.map((value, place) => {
    const weekday = days[place]?.weekday ?? 0;
    const rest = value - (groups[groupOf(weekday)] ?? 0);
    ofWeekday[weekday]?.push(rest);
    return rest;
  });
  const noise = spreadOf(within);
  const errorOf = (values: readonly number[]) => noise / Math.sqrt(Math.max(1, values.length));
  return ofWeekday.map((own, weekday) => {
    const group = groupOf(weekday);
    return drawn(groups[group] ?? 0, errorOf(ofGroup[group])) + drawn(cautious(own, noise), errorOf(own));
  });
}

/** 1 is the weekend. */
function groupOf(weekday = 0): 0 | 1 {
  return weekday >= 5 ? 1 : 0;
}

/** The median of a few values; of three or fewer, what all of them show, because one may be a holiday. */
function cautious(values: readonly number[], noise: number): number {
  if (values.length > 3) return centreOf(values, noise);
  if (values.length < 2) return 0;
  const least = Math.min(...values);
  const most = Math.max(...values);
  return least > 0 ? least : Math.min(most, 0);
}

/** An effect, shrunk by its own error. */
function drawn(effect: number, error: number): number {
  return effect === 0 ? 0 : effect * Math.max(0, 1 - (error / effect) ** 2);
}

/** The bounds of irregular costs, as logarithms. */
function learnSparse(days: readonly KnownDay[], leastSparse = 0.25) {
  const logs = days.map(({ cost, priceShift }) => Math.log(cost) - priceShift);
  const noise = Math.max(leastSparse, logs.length >= 4 ? spreadOf(logs) : 0.5);
  const middle = median(logs);
  const reach = sparseDeviations * noise * (1 + fewDays / logs.length);
  const high = Math.max(Math.max(...logs) + Math.log(1.3), middle + reach);
  const low = Math.min(Math.min(...logs) - Math.log(1.3), middle - reach);
  return { noise, middle, low, high };
}

/**
 * The usual price of a unit on a day in USD, learned from earlier days; undefined without a steady price, or with too
 * few days of usage. `noise` is the deviation of single days, as a share. Pure.
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
  const level = median(known.slice(-priceLevelDays)) + priceShiftAt({ prices }, day);
  return { price: Math.exp(level), noise: Math.max(leastPriceNoise, spreadOf(known)) };
}
