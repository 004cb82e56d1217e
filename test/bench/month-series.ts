// Daily costs of which a month is forecast from one of its days, by kind and seed: for the bench. They end with November 2026.

import { type Chance, chance, type SyntheticSeries } from './synthetic-series.ts';

const dayMs = 86_400_000;
const start = Date.UTC(2026, 1, 1);
const month = (Date.UTC(2026, 10, 1) - start) / dayMs;
export const monthDays = 30;

/** What a day costs as a multiple of its weekday's usual cost, without noise. */
type Kind = (random: Chance) => (day: number) => number;

const dateOf = (day: number) => new Date(start + day * dayMs);

const [idleKind, expensiveKind] = ['idle months and runs of days', 'one expensive day before the 10th'] as const;

/** Whether something of a month of this kind can be known from a day on. */
export const isKnowable = (kind: string, known: number) => kind !== idleKind && (kind !== expensiveKind || known >= 10);

const kinds: Readonly<Record<string, Kind>> = {
  stable: () => () => 1,
  'growth of 5 to 20 % a month'(random) {
    const monthly = random.between(1.05, 1.2);
    return (day) => monthly ** ((day - month) / monthDays);
  },
  'a rise 4 to 12 days before the 5th'(random) {
    const [at, factor] = [month + 1 - random.whole(0, 8), random.between(1.5, 3)];
    return (day) => (day >= at ? factor : 1);
  },
  'a fall 4 to 12 days before the 5th'(random) {
    const [at, factor] = [month + 1 - random.whole(0, 8), random.between(0.3, 0.6)];
    return (day) => (day >= at ? factor : 1);
  },
  'a rise of 3 to 8 days that ends'(random) {
    const [at, length, factor] = [month - 3 + random.whole(0, 5), random.whole(3, 8), random.between(2, 5)];
    return (day) => (day >= at && day < at + length ? factor : 1);
  },
  'a batch on the 15th'(random) {
    const factor = random.between(3, 8);
    return (day) => (dateOf(day).getUTCDate() === 15 ? factor : 1);
  },
  'a close on the last two days'(random) {
    const factor = random.between(2, 4);
    return (day) => (dateOf(day + 2).getUTCDate() <= 2 ? factor : 1);
  },
  bursts: (random) => () => (random.uniform() < 0.06 ? 1 + 4 * random.noise(0.95) : 1),
  'a batch on the 1st'(random) {
    const factor = random.between(3, 8);
    return (day) => (dateOf(day).getUTCDate() === 1 ? factor : 1);
  },
  'a level that wanders'(random) {
    const daily = random.between(0.03, 0.06);
    let log = 0;
    return () => {
      log = 0.985 * log + daily * random.normal();
      return Math.exp(log);
    };
  },
  'new for 5 to 7 weeks'(random) {
    const [begin, growth] = [month - random.whole(35, 48), random.between(0, 0.01)];
    return (day) => (day < begin ? 0 : 1 + growth * (day - begin));
  },
  'training on random days'(random) {
    const share = random.between(0.08, 0.28);
    return () => 0.05 + (random.uniform() < share ? Math.exp(0.7 * random.normal()) : 0);
  },
  [idleKind](random) {
    let left = 0;
    return () => {
      left = left > 0 ? left - 1 : random.uniform() < 0.05 ? random.whole(3, 6) : 0;
      return left > 0 ? 1 : 0;
    };
  },
  [expensiveKind](random) {
    const factor = random.between(5, 25);
    return (day) => (day === month + 9 ? factor : 1);
  },
};

export const monthKinds: readonly string[] = Object.keys(kinds);

/** A series of a kind and seed whose month is held out from a day on, and what the whole month costs. */
export function monthSeries(kind: string, seed: number, known: number): SyntheticSeries & { readonly month: number } {
  const random = chance(7_000_003 * (monthKinds.indexOf(kind) + 1) + seed);
  const [size, weekend, variation] = [random.between(1, 200), random.between(0.3, 1), random.between(0.04, 0.1)];
  const costOf = kinds[kind]?.(random) ?? (() => 1);
  const values = Array.from({ length: month + monthDays }, (_, day) => {
    const usual = [0, 6].includes(dateOf(day).getUTCDay()) ? weekend : 1;
    return size * usual * costOf(day) * random.noise(variation);
  });
  const whole = values.slice(month).reduce((sum, value) => sum + value, 0);
  const own = { id: `${kind}-${seed}-${known}`, family: kind, start: dateOf(0).toISOString().replace('.000', '') };
  return { ...own, step: 'day', horizon: monthDays - known, values, month: whole };
}
