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

/** Makes the value of each hour; the last `heldOut` are held out. */
type HourMaking = (random: Chance, hours: number, heldOut: number) => number[];

/** The value at an hour of a workload's own clock, without noise. */
function rhythm(random: Chance): (hour: number) => number {
  const [size, weekend, kind] = [random.between(0.05, 20), random.between(0.3, 1), random.uniform()];
  const [peak, depth, low] = [random.between(8, 20), random.between(0.3, 0.9), random.between(0.1, 0.6)];
  const [first, count, high] = [random.whole(0, 23), random.whole(1, 4), random.between(2, 5)];
  const ofDay = (hour: number): number => {
    if (kind < 0.4) return 1 + depth * Math.cos((2 * Math.PI * (hour - peak)) / 24);
    if (kind < 0.75) return hour >= peak - 8 && hour < peak + 2 ? 1.4 : low;
    return (hour - first + 24) % 24 < count ? high : low;
  };
  return (hour) => size * ofDay(((hour % 24) + 24) % 24) * (Math.floor(hour / 24) % 7 < 5 ? 1 : weekend);
}

function hoursOf(random: Chance, hours: number, value: (hour: number) => number): number[] {
  const variation = random.between(0.05, 0.25);
  return Array.from({ length: hours }, (_, hour) => value(hour) * random.noise(variation));
}

/** Families of hours whose phase or level moves. None of them was used to choose a constant of the engine. */
const hourFamilies: Readonly<Record<string, HourMaking>> = {
  /** Everything moves by one to eight hours, a week to two days before the end. */
  'shifted hours'(random, hours, heldOut) {
    const value = rhythm(random);
    const by = (random.uniform() < 0.5 ? -1 : 1) * random.whole(1, 8);
    const at = hours - heldOut - random.whole(48, 168);
    return hoursOf(random, hours, (hour) => value(hour >= at ? hour + by : hour));
  },
  /** Some hours were never recorded, so what follows comes earlier. */
  'missing hours'(random, hours, heldOut) {
    const value = rhythm(random);
    const gaps = Array.from({ length: random.whole(1, 3) }, () => ({
      at: random.whole(200, hours - heldOut - 48),
      length: random.whole(1, 6),
    }));
    return hoursOf(random, hours, (hour) =>
      value(hour + gaps.reduce((sum, gap) => sum + (hour >= gap.at ? gap.length : 0), 0)),
    );
  },
  /** The clocks of the workload's place change by an hour. */
  'clock changes'(random, hours, heldOut) {
    const value = rhythm(random);
    const by = random.uniform() < 0.5 ? -1 : 1;
    const at = hours - heldOut - random.whole(48, 400);
    return hoursOf(random, hours, (hour) => value(hour >= at ? hour + by : hour));
  },
  'intermittent hours'(random, hours) {
    const [size, share] = [random.between(0.1, 20), random.between(0.03, 0.3)];
    return hoursOf(random, hours, () => (random.uniform() < share ? size : 0));
  },
  /** Two to four times, level and phase change for good. */
  regimes(random, hours, heldOut) {
    const value = rhythm(random);
    const changes = Array.from({ length: random.whole(2, 4) }, () => ({
      at: random.whole(100, hours - heldOut - 24),
      factor: random.between(0.4, 2.2),
      by: random.uniform() < 0.5 ? random.whole(-6, 6) : 0,
    })).sort((a, b) => a.at - b.at);
    return hoursOf(random, hours, (hour) => {
      const past = changes.filter(({ at }) => hour >= at);
      return past.reduce((product, { factor }) => product * factor, 1) * value(hour + (past.at(-1)?.by ?? 0));
    });
  },
};

/** A smooth day around 0, about 1 from its lowest hour to its highest. */
function wave(random: Chance): (hour: number) => number {
  const [first, second, share] = [random.between(0, 24), random.between(0, 24), random.between(0.2, 0.5)];
  const cosine = (turns: number) => Math.cos(2 * Math.PI * turns);
  return (hour) => 0.4 * cosine((hour - first) / 24) + 0.4 * share * cosine((hour - second) / 12);
}

function sized(random: Chance, hours: number, value: (hour: number) => number): number[] {
  const size = random.between(0.05, 20);
  return made(hours, (hour) => size * value(hour));
}

/** Families of hours that change a little every day, and a stable week to compare with. None chose a constant either. */
const slowFamilies: Readonly<Record<string, HourMaking>> = {
  /** The level moves by nearly as much every day, while the shape of the day turns slowly into another one. */
  'steady drift'(random, hours) {
    const [before, after] = [wave(random), wave(random)];
    const daily = (random.uniform() < 0.5 ? -1 : 1) * random.between(0.004, 0.012);
    let [pace, level] = [daily, 1];
    return sized(random, hours, (hour) => {
      if (hour % 24 === 0) pace += 0.15 * Math.abs(daily) * random.normal() + 0.1 * (daily - pace);
      level += pace / 24;
      const turned = hour / hours;
      return level * (1 + ((1 - turned) * before(hour) + turned * after(hour)) / 2) + 0.002 * random.normal();
    });
  },
  /** Each day's pattern comes some minutes later than the one before. */
  'drifting phase'(random, hours) {
    const [day, late] = [wave(random), random.between(0.5, 0.95)];
    const [swing, period] = [random.between(0.02, 0.04), random.between(300, 400)];
    return sized(random, hours, (hour) => {
      const slow = swing * Math.sin((2 * Math.PI * hour) / period);
      return 1 + 0.12 * day((hour * 24) / (24 + late)) + slow + 0.0006 * random.normal();
    });
  },
  /** A level that wanders and comes back slowly. */
  'persistent level'(random, hours) {
    const [day, weekend] = [wave(random), random.between(0.8, 1)];
    const [kept, far] = [random.between(0.97, 0.99), random.between(0.12, 0.2)];
    let log = 0;
    return sized(random, hours, (hour) => {
      log = kept * log + far * Math.sqrt(1 - kept * kept) * random.normal();
      return (1 + day(hour) / 2) * (Math.floor(hour / 24) % 7 < 5 ? 1 : weekend) * Math.exp(log);
    });
  },
  /** The busy hours grow from day to day, and the quiet ones stay. */
  'growing amplitude'(random, hours) {
    const [day, daily] = [wave(random), random.between(0.008, 0.032)];
    let log = 0;
    return sized(random, hours, (hour) => {
      log = 0.9 * log + 0.01 * random.normal();
      return 0.3 + Math.max(0, 0.6 + day(hour)) * (0.3 + (daily * hour) / 24) * Math.exp(log);
    });
  },
  'stable week'(random, hours) {
    const [day, weekend, variation] = [wave(random), random.between(0.5, 1), random.between(0.03, 0.1)];
    return sized(
      random,
      hours,
      (hour) => (1 + 0.8 * day(hour)) * (Math.floor(hour / 24) % 7 < 5 ? 1 : weekend) * random.noise(variation),
    );
  },
};

/** Every family of daily series, `hourly`, and the families of hours whose phase or level moves. */
export const familyNames: readonly string[] = [...Object.keys(families), 'hourly', ...Object.keys(hourFamilies)];

export const slowFamilyNames: readonly string[] = Object.keys(slowFamilies);

/** The series of a family by its seed: the same for the same, and different for each. */
export function syntheticSeries(family: string, seed: number): SyntheticSeries {
  const random = chance(1_000_003 * ([...familyNames, ...slowFamilyNames].indexOf(family) + 1) + seed);
  const id = `${family}-${seed}`;
  const makeHours = hourFamilies[family] ?? slowFamilies[family];
  if (makeHours !== undefined) {
    const horizon = 48;
    const values = makeHours(random, (random.uniform() < 0.5 ? 700 : 960) + horizon, horizon);
    return { id, family, start: '2026-08-03T00:00:00Z', step: 'hour', horizon, values };
  }
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
