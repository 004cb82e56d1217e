// Series with a known making, by family and seed: for the bench and for tests of forecasts.

/** One series whose last `horizon` values are to be held out. */
export interface SyntheticSeries {
  readonly id: string;
  readonly family: string;
  /** UTC instant of the first value. */
  readonly start: string;
  readonly step: 'hour' | 'day';
  readonly horizon: number;
  readonly values: readonly number[];
}

/** Numbers by chance that a seed repeats. */
export interface Chance {
  /** From 0 to 1, 1 excluded. */
  uniform(): number;
  between(low: number, high: number): number;
  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number;
  normal(): number;
  /** Of mean 1 and the given coefficient of variation, never negative: the noise of costs. */
  noise(variation: number): number;
}

/** mulberry32, and what is made of it. Seeds in a row give streams that resemble one another, so each is mixed first. */
export function chance(seed: number): Chance {
  let state = scrambled(seed);
  function uniform(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
  function normal(): number {
    return Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  }
  return {
    uniform,
    between: (low, high) => low + (high - low) * uniform(),
    whole: (low, high) => low + Math.floor((high - low + 1) * uniform()),
    normal,
    noise(variation) {
      const sigma = Math.sqrt(Math.log(1 + variation * variation));
      return Math.exp(sigma * normal() - (sigma * sigma) / 2);
    },
  };
}

/** Any bit of a number turned into all bits of another one (the end of MurmurHash3). */
function scrambled(number: number): number {
  let hash = number >>> 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

const dayCount = 400;
const monthLength = 31;

/** Makes the value of each day, the held-out ones included. */
type Making = (random: Chance, days: number) => number[];

function weekdays(random: Chance): (day: number) => number {
  const weekend = random.between(0.2, 0.9);
  const profile = Array.from({ length: 7 }, (_, day) => (day < 5 ? 1 : weekend) * random.between(0.9, 1.1));
  return (day) => profile[day % 7] ?? 1;
}

/** A level that wanders: what a workload's size does from day to day. */
function wander(random: Chance, days: number, dailyShare: number): number[] {
  let log = 0;
  return Array.from({ length: days }, () => {
    log = 0.985 * log + dailyShare * random.normal();
    return Math.exp(log);
  });
}

function made(days: number, value: (day: number) => number): number[] {
  return Array.from({ length: days }, (_, day) => Math.max(0, value(day)));
}

const families: Readonly<Record<string, Making>> = {
  /** Busy on weekdays, quieter at weekends, with a level that wanders a little. */
  weekly(random, days) {
    const [size, week, level] = [random.between(1, 500), weekdays(random), wander(random, days, 0.015)];
    const variation = random.between(0.04, 0.15);
    return made(days, (day) => size * week(day) * (level[day] ?? 1) * random.noise(variation));
  },
  growing(random, days) {
    const [size, week, level] = [random.between(1, 100), weekdays(random), wander(random, days, 0.01)];
    const yearly = random.between(1.5, 6);
    const isExponential = random.uniform() < 0.5;
    const variation = random.between(0.04, 0.12);
    return made(days, (day) => {
      const years = day / 365;
      const growth = isExponential ? yearly ** years : 1 + (yearly - 1) * years;
      return size * growth * week(day) * (level[day] ?? 1) * random.noise(variation);
    });
  },
  /** Runs for a while, then no more; the end may lie anywhere in the last ten months, also in what is held out. */
  stopping(random, days) {
    const [size, week] = [random.between(1, 100), weekdays(random)];
    const end = random.whole(Math.floor(days / 4), days);
    const variation = random.between(0.05, 0.2);
    return made(days, (day) => (day < end ? size * week(day) * random.noise(variation) : 0));
  },
  /** One or two changes of price or size that stay. */
  step(random, days) {
    const [size, week] = [random.between(1, 200), weekdays(random)];
    const steps = Array.from({ length: random.whole(1, 2) }, () => ({
      day: random.whole(20, days - 1),
      factor: random.uniform() < 0.5 ? random.between(0.4, 0.85) : random.between(1.15, 2),
    }));
    const variation = random.between(0.03, 0.12);
    return made(days, (day) => {
      const factor = steps.reduce((product, step) => (day >= step.day ? product * step.factor : product), 1);
      return size * factor * week(day) * random.noise(variation);
    });
  },
  /** Nothing on most days. */
  intermittent(random, days) {
    const [size, share, variation] = [random.between(1, 200), random.between(0.08, 0.5), random.between(0.3, 1)];
    return made(days, () => (random.uniform() < share ? size * random.noise(variation) : 0));
  },
  noisy(random, days) {
    const [size, variation] = [random.between(1, 200), random.between(0.3, 0.9)];
    return made(days, () => size * random.noise(variation));
  },
  /** Ten holidays a year that are as quiet as Sundays or quieter, and two quiet weeks at the turn of the year. */
  holidays(random, days) {
    const [size, week] = [random.between(5, 300), weekdays(random)];
    const quiet = random.between(0.2, 0.7);
    const holidays = new Set(Array.from({ length: 10 }, () => random.whole(0, 364)));
    const turn = random.whole(0, 364);
    const variation = random.between(0.04, 0.12);
    return made(days, (day) => {
      const inYear = day % 365;
      const isQuiet = holidays.has(inYear) || (inYear >= turn && inYear < turn + 14);
      return size * week(day) * (isQuiet ? quiet : 1) * random.noise(variation);
    });
  },
  /** The level goes up and down by chance and never comes back by itself. */
  wandering(random, days) {
    const [size, week, daily] = [random.between(1, 300), weekdays(random), random.between(0.01, 0.04)];
    let log = 0;
    return made(days, (day) => {
      log += daily * random.normal();
      return size * Math.exp(log) * week(day) * random.noise(0.05);
    });
  },
  /** Steady, with a few single days of several times as much. */
  spiky(random, days) {
    const [size, week] = [random.between(1, 300), weekdays(random)];
    const share = random.between(0.005, 0.03);
    const variation = random.between(0.03, 0.1);
    return made(days, (day) => {
      const factor = random.uniform() < share ? random.between(2, 6) : 1;
      return size * week(day) * factor * random.noise(variation);
    });
  },
  /** Began a few weeks ago, and may still be finding its size. */
  young(random, days) {
    const [size, week] = [random.between(1, 100), weekdays(random)];
    const begin = days - monthLength - random.whole(35, 110);
    const pace = random.between(5, 30);
    const variation = random.between(0.05, 0.2);
    return made(days, (day) =>
      day < begin ? 0 : size * (1 - 0.8 * Math.exp(-(day - begin) / pace)) * week(day) * random.noise(variation),
    );
  },
};

/** Every family of daily series, and `hourly`. */
export const familyNames: readonly string[] = [...Object.keys(families), 'hourly'];

/** The series of a family by its seed: the same for the same, and different for each. */
export function syntheticSeries(family: string, seed: number): SyntheticSeries {
  const random = chance(1_000_003 * (familyNames.indexOf(family) + 1) + seed);
  const id = `${family}-${seed}`;
  const make = families[family];
  if (make === undefined) return { id, family, start: '2026-08-03T00:00:00Z', ...hourly(random) };
  const values = make(random, dayCount + monthLength);
  return { id, family, start: '2025-06-02T00:00:00Z', step: 'day', horizon: monthLength, values };
}

/** Six weeks of hours with a day and a week in them, and one week held out. */
function hourly(random: Chance): { step: 'hour'; horizon: number; values: number[] } {
  const [size, week, variation] = [random.between(0.05, 20), weekdays(random), random.between(0.05, 0.3)];
  const [peak, depth] = [random.between(8, 20), random.between(0.1, 0.8)];
  const horizon = 7 * 24;
  const days = 42 + 7;
  const level = wander(random, days, 0.02);
  const values = made(days * 24, (hour) => {
    const day = Math.floor(hour / 24);
    const ofDay = 1 + depth * Math.cos((2 * Math.PI * ((hour % 24) - peak)) / 24);
    return size * ofDay * week(day) * (level[day] ?? 1) * random.noise(variation);
  });
  return { step: 'hour', horizon, values };
}
