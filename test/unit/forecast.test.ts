import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/base/errors.ts';
import { type Forecast, forecastSeries, type SeriesForecast } from '../../src/forecast/forecast.ts';
import { sumMargins } from '../../src/forecast/intervals.ts';
import { normalQuantile, quantilesByWeight, studentQuantile } from '../../src/forecast/numbers.ts';
import { stepsAfter } from '../../src/forecast/step.ts';
import { chance, syntheticSeries } from '../bench/synthetic-series.ts';

const start = '2026-01-05T00:00:00Z';

function days(count: number, value: (day: number) => number | null): (number | null)[] {
  return Array.from({ length: count }, (_, day) => value(day));
}

async function made(values: (number | null)[], horizon = 31, options = {}): Promise<SeriesForecast> {
  const forecast = await forecastSeries({ start, step: 'day', values }, horizon, options);
  if (forecast.kind === 'none') throw new Error(forecast.reason);
  return forecast;
}

/** Weekdays cost ten, weekends four. */
const week = (day: number) => (day % 7 < 5 ? 10 : 4);

describe('forecastSeries(history, horizon)', () => {
  test('repeats a weekly pattern, with narrow intervals', async () => {
    const { points, cumulative, seasons, from, through } = await made(days(140, week), 14);
    for (const [day, { mean, lower, upper }] of points.entries()) {
      for (const value of [mean, lower, upper]) expect(value).toBeCloseTo(week(day), 6);
    }
    expect(cumulative[13]?.mean).toBeCloseTo(2 * (5 * 10 + 2 * 4), 6);
    expect({ seasons, from, through }).toEqual({ seasons: [7], from: start, through: '2026-05-25T00:00:00Z' });
  });

  test('follows growth', async () => {
    const random = chance(1);
    const { cumulative } = await made(
      days(300, (day) => (100 + day) * random.noise(0.05)),
      30,
    );
    const expected = 30 * (100 + 300 + 14.5);
    expect(Math.abs((cumulative[29]?.mean ?? 0) / expected - 1)).toBeLessThan(0.05);
  });

  test('ignores history before a price change', async () => {
    const random = chance(2);
    const { points } = await made(
      days(300, (day) => (day < 250 ? 100 : 160) * week(day) * random.noise(0.03)),
      7,
    );
    for (const [day, { mean }] of points.entries()) expect(mean / (160 * week(300 + day))).toBeCloseTo(1, 0.9);
  });

  test('says that an unusual end may last or be over, and its interval includes both', async () => {
    const random = chance(7);
    const calm = days(200, (day) => 10 * week(day) * random.noise(0.05));
    const usual = await made(calm, 30);
    const wild = await made([...calm.slice(0, -2), ...calm.slice(-2).map((cost) => 8 * (cost ?? 0))], 30);
    expect(usual.notes).toEqual([]);
    expect(wild.notes).toEqual([
      expect.stringMatching(/^the last 2 steps were [78]\.\d times the expected value: the interval includes both/),
    ]);
    const [before, after] = [usual.cumulative[29], wild.cumulative[29]];
    expect((after?.lower ?? 0) / (before?.lower ?? 1)).toBeCloseTo(1, 1);
    expect(after?.upper).toBeGreaterThan(7 * (before?.mean ?? 0));
    expect(after?.upper).toBeLessThan(10 * (before?.mean ?? 0));
    // One that was over yesterday is none.
    const over = await made([...calm.slice(0, -2), 8 * (calm.at(-2) ?? 0), calm.at(-1) ?? 0], 30);
    expect(over.notes).toEqual([expect.stringContaining('leaves out what was unlike all other steps')]);
    expect((over.cumulative[29]?.mean ?? 0) / (before?.mean ?? 1)).toBeCloseTo(1, 1);
  });

  test('is at a new level without a weekly pattern, as soon as that has lasted a week', async () => {
    const random = chance(11);
    const calm = days(182, (day) => (day % 7 < 5 ? 1.2 : 0.5) * random.noise(0.1));
    const away = Array.from({ length: 7 }, () => 90 * random.noise(0.05));
    const { notes, cumulative } = await made([...calm.slice(0, -7), ...away], 10);
    expect(notes).toEqual([expect.stringMatching(/the forecast is at that level$/)]);
    const sum = cumulative[9] ?? { mean: 0, lower: 0, upper: 0 };
    expect(Math.abs(sum.mean / 900 - 1)).toBeLessThan(0.05);
    expect(sum.lower).toBeGreaterThan(800);
    expect(sum.upper).toBeLessThan(1000);
  });

  describe('of a level that has changed', () => {
    /** The share of what comes that a forecast of a month has, and whether its interval holds, where `changed` multiplies the last days. */
    async function foreseen(seed: number, changed: (back: number) => number, lasting: number) {
      const random = chance(seed);
      const all = days(290, (day) => week(day) * random.noise(0.05)).map(Number);
      const history = all.slice(0, 265).map((cost, day) => cost * changed(265 - day));
      const sum = (await made(history, 25)).cumulative[24] ?? { mean: 0, lower: 0, upper: 0 };
      const outcome = lasting * all.slice(265).reduce((a, b) => a + b, 0);
      return { share: sum.mean / outcome, holds: sum.lower <= outcome && outcome <= sum.upper };
    }
    const seeds = Array.from({ length: 12 }, (_, index) => index + 1);

    test.each([
      ['a fall', 0.4],
      ['a rise', 2],
    ])('follows %s once it has lasted a week, with an interval of that level', async (_, factor) => {
      const found = await Promise.all(seeds.map((seed) => foreseen(seed, (back) => (back <= 8 ? factor : 1), factor)));
      for (const { share } of found) expect(Math.abs(share - 1)).toBeLessThan(0.1);
      expect(found.filter(({ holds }) => holds).length).toBeGreaterThanOrEqual(8);
    });

    test('is as before a rise of some days that has ended, and its interval holds', async () => {
      const rise = (back: number) => (back > 3 && back <= 9 ? 3 : 1);
      const found = await Promise.all(seeds.map((seed) => foreseen(seed, rise, 1)));
      for (const { share } of found) expect(Math.abs(share - 1)).toBeLessThan(0.05);
      expect(found.filter(({ holds }) => holds).length).toBeGreaterThanOrEqual(8);
    });

    test('does not take one expensive day for all days to come, and says so', async () => {
      const { share } = await foreseen(1, (back) => (back === 1 ? 20 : 1), 1);
      expect(Math.abs(share - 1)).toBeLessThan(0.05);
      const sparse = days(200, (day) => (day === 199 ? 15.6 : day % 23 === 0 ? 0.2 : 0));
      const { cumulative, notes } = await made(sparse, 20);
      expect(cumulative[19]?.mean).toBeLessThan(10);
      const calm = days(199, week);
      expect((await made([...calm, 200], 20)).notes).toEqual([
        expect.stringMatching(/^the last step was [\d.]+ times the expected value: the forecast leaves that out/),
      ]);
      expect(notes.join()).not.toContain('NaN');
    });
  });

  test('has the mean of costs that come in bursts, not what most days cost', async () => {
    let [told, came] = [0, 0];
    for (let seed = 1; seed <= 12; seed += 1) {
      const random = chance(seed);
      const all = days(390, () => random.noise(0.1) * (random.uniform() < 0.08 ? 1 + 4 * random.noise(0.9) : 1));
      told += (await made(all.slice(0, 365), 25)).cumulative[24]?.mean ?? 0;
      came += (25 * all.reduce<number>((sum, cost) => sum + (cost ?? 0), 0)) / all.length;
    }
    expect(Math.abs(told / came - 1)).toBeLessThan(0.06);
  });

  test('says since when a stopped series is zero, and expects nothing more', async () => {
    const stopped = await made(days(100, (day) => (day < 90 ? week(day) : 0)));
    expect(stopped).toMatchObject({
      model: 'stopped',
      notes: ['stopped: zero since 2026-04-05T00:00:00Z'],
      backtest: { folds: 0, coverage: null },
    });
    for (const range of [...stopped.points, ...stopped.cumulative])
      expect(range).toEqual({ mean: 0, lower: 0, upper: 0 });
  });

  test('does not take a usual pause as the end', async () => {
    const pausing = await made(days(200, (day) => (day % 20 < 8 ? 50 : 0)));
    expect(pausing.model).not.toBe('stopped');
    expect(pausing.cumulative.at(-1)?.mean).toBeGreaterThan(100);
  });

  test('says that a series was always zero', async () => {
    expect(await made(days(30, () => 0))).toMatchObject({ model: 'stopped', notes: ['always zero'] });
  });

  test('starts at the first value that is not zero', async () => {
    const random = chance(3);
    const young = await made(
      days(300, (day) => (day < 200 ? 0 : 80 * random.noise(0.1))),
      30,
    );
    expect((young.cumulative[29]?.mean ?? 0) / (30 * 80)).toBeCloseTo(1, 1);
    expect(young.from >= stepsAfter(start, 'day', 200)).toBe(true);
  });

  test.each<[string, (number | null)[], number, string]>([
    ['nothing known', days(50, () => null), 7, 'it has no values'],
    ['no values', [], 7, 'it has no values'],
    ['two weeks', days(14, week), 7, 'too little history: 14 known steps, at least 21 needed'],
    [
      'two weeks since it began',
      days(100, (day) => (day < 86 ? 0 : 5)),
      7,
      'too little history: 14 known steps since its first value, at least 21 needed',
    ],
    ['gaps', days(90, (day) => (day % 3 === 0 ? 5 : null)), 7, 'too many gaps: 60 of 90 steps are unknown'],
    [
      'a horizon beyond reason',
      days(30, week),
      61,
      'too little history: 30 steps allow a horizon of at most 60, not 61',
    ],
  ])('has no forecast for %s, and says why', async (_, values, horizon, reason) => {
    const forecast: Forecast = await forecastSeries({ start, step: 'day', values }, horizon);
    expect(forecast).toEqual({ kind: 'none', reason });
  });

  describe('of one odd day', () => {
    const noise = () => {
      const random = chance(11);
      return days(101, () => 7.2 * random.noise(0.1));
    };
    const sumOf = ({ cumulative }: SeriesForecast) => cumulative.at(-1) ?? { mean: 0, lower: 0, upper: 0 };
    const with500 = (values: (number | null)[], back: number, by = 500) =>
      values.map((value, day) => (day === values.length - 1 - back ? (value ?? 0) + by : value));
    const flat = days(101, () => 7.2);

    test.each([
      ['a charge', 5, 500],
      ['a charge', 26, 500],
      ['a charge', 60, 500],
      ['a credit', 0, -500],
      ['a credit', 5, -500],
      ['a credit', 26, -500],
    ])('says nothing of other days: %s %i days before the end', async (_, back, by) => {
      const { mean, lower, upper } = sumOf(await made(with500(flat, back, by), 21, { nonNegative: by > 0 }));
      for (const value of [mean, lower, upper]) expect(value).toBeCloseTo(151.2, 3);
    });

    test('moves neither mean nor interval of a noisy series, and is named', async () => {
      const usual = sumOf(await made(noise(), 21));
      for (const [back, by] of [
        [5, 500],
        [26, 500],
        [26, -500],
      ] as const) {
        const odd = await made(with500(noise(), back, by), 21, { nonNegative: by > 0 });
        const { mean, lower, upper } = sumOf(odd);
        expect(Math.abs(mean / usual.mean - 1)).toBeLessThan(0.02);
        expect(upper - lower).toBeLessThan(1.5 * (usual.upper - usual.lower));
        expect(odd.notes).toEqual([expect.stringContaining('unlike all other steps')]);
        expect(odd.points.every((point) => point.lower >= 0)).toBe(true);
      }
    });

    test('that has come back counts by how often it came', async () => {
      const often = [9, 31, 47, 80].reduce((values, back) => with500(values, back), noise());
      const { mean, upper } = sumOf(await made(often, 21));
      // Four times in 101 days: 0.83 times in 21.
      expect(mean).toBeCloseTo(151.2 + (4 / 101) * 21 * 500, -1.5);
      expect(upper).toBeGreaterThan(600);
    });

    test('does not hide what every first day of a month costs', async () => {
      const first = (day: number) => new Date(Date.parse(start) + day * 86_400_000).getUTCDate() === 1;
      const values = days(200, (day) => 10 + (first(day) ? 40 : 0) + (day === 170 ? 3000 : 0));
      const { points } = await made(values, 21);
      for (const [day, { mean }] of points.entries()) expect(mean).toBeCloseTo(first(200 + day) ? 50 : 10, 0);
    });
  });

  test('does not count a gap as zero', async () => {
    const random = chance(4);
    const { points } = await made(
      days(200, (day) => (day % 11 === 3 || (day > 100 && day < 110) ? null : week(day) * random.noise(0.03))),
      7,
    );
    for (const [day, { mean }] of points.entries()) expect(mean / week(200 + day)).toBeCloseTo(1, 1);
  });

  test('treats values that are not numbers as unknown', async () => {
    const values = days(100, week);
    values[40] = Number.NaN;
    values[50] = Number.POSITIVE_INFINITY;
    const { points } = await made(values, 7);
    for (const [day, { mean }] of points.entries()) expect(mean).toBeCloseTo(week(100 + day), 1);
  });

  test('forecasts credits below zero only if they are allowed', async () => {
    const random = chance(5);
    const values = days(200, (day) => -week(day) * random.noise(0.05));
    const credits = await made(values, 7, { nonNegative: false });
    for (const [day, { mean, lower, upper }] of credits.points.entries()) {
      expect(mean / -week(200 + day)).toBeCloseTo(1, 1);
      expect(lower).toBeLessThan(upper);
      expect(upper).toBeLessThan(0);
    }
    const cost = await made(values, 7);
    expect(cost.points.every(({ mean, lower }) => mean === 0 && lower === 0)).toBe(true);
  });

  test('follows daily and weekly patterns of hours', async () => {
    const random = chance(6);
    const value = (hour: number) => (hour % 24 < 8 ? 1 : 5) * (hour % 168 < 120 ? 1 : 0.5);
    const values = Array.from({ length: 24 * 42 }, (_, hour) => value(hour) * random.noise(0.05));
    const forecast = await forecastSeries({ start, step: 'hour', values }, 168);
    if (forecast.kind === 'none') throw new Error(forecast.reason);
    expect(forecast.seasons).toEqual([24, 168]);
    for (const [hour, { mean }] of forecast.points.entries())
      expect(Math.abs(mean / value(hour) - 1)).toBeLessThan(0.2);
  });

  test.each([3, -5])('follows a pattern that moved by %i hours three days ago, and says so', async (by) => {
    const random = chance(7);
    const value = (hour: number) => ((hour + 24) % 24 < 8 ? 1 : 5) * ((hour + 168) % 168 < 120 ? 1 : 0.5);
    const hours = 24 * 42;
    const movedAt = hours - 72;
    const truth = (hour: number) => value(hour >= movedAt ? hour + by : hour);
    const values = Array.from({ length: hours }, (_, hour) => truth(hour) * random.noise(0.05));
    const forecast = await forecastSeries({ start, step: 'hour', values }, 48);
    if (forecast.kind === 'none') throw new Error(forecast.reason);
    const errors = forecast.points.map(({ mean }, hour) => Math.abs(mean / truth(hours + hour) - 1));
    expect(Math.max(...errors)).toBeLessThan(0.35);
    expect(forecast.notes.join()).toContain(by > 0 ? 'moved 3 steps earlier' : 'moved 5 steps later');
  });

  test('sees no moved pattern in steady hours, nor in a day that was unlike the others', async () => {
    const random = chance(8);
    const value = (hour: number) => (hour % 24 < 8 ? 1 : 5);
    const values = Array.from({ length: 24 * 35 }, (_, hour) => value(hour) * random.noise(0.1));
    const odd = values.map((cost, hour) => (Math.floor(hour / 24) === 30 ? 3 : cost));
    for (const given of [values, odd]) {
      const forecast = await forecastSeries({ start, step: 'hour', values: given }, 48);
      if (forecast.kind === 'none') throw new Error(forecast.reason);
      expect(forecast.notes.join()).not.toContain('moved');
    }
  });

  test('has wider intervals at a higher level', async () => {
    const { values, horizon } = syntheticSeries('weekly', 900);
    const [narrow, usual, wide] = await Promise.all(
      [0.5, 0.8, 0.95].map(async (level) => (await made([...values], horizon, { level })).cumulative.at(-1)),
    );
    expect(usual?.lower).toBeLessThan(narrow?.lower ?? 0);
    expect(wide?.lower).toBeLessThan(usual?.lower ?? 0);
    expect(usual?.upper).toBeGreaterThan(narrow?.upper ?? 0);
    expect(wide?.upper).toBeGreaterThan(usual?.upper ?? 0);
  });

  test('has intervals of sums that are narrower than the sum of bounds', async () => {
    const { values, horizon } = syntheticSeries('noisy', 900);
    const { points, cumulative } = await made([...values], horizon);
    const bounds = points.reduce((total, { lower, upper }) => total + upper - lower, 0);
    const sum = cumulative.at(-1);
    expect((sum?.upper ?? 0) - (sum?.lower ?? 0)).toBeLessThan(0.6 * bounds);
  });

  test('reports every mistake in its options', async () => {
    const asked = forecastSeries({ start, step: 'day', values: [] }, 0, { level: 1, seasons: [1, 2.5] });
    await expect(asked).rejects.toThrow(UsageError);
    await expect(asked).rejects.toThrow(
      [
        'horizon: 0 is not a whole number of at least 1',
        'level: 1 is not between 0 and 1',
        'seasons: 1 is not a whole number of at least 2',
        'seasons: 2.5 is not a whole number of at least 2',
      ].join('\n'),
    );
  });
});

describe('sumMargins(folds, horizon, level)', () => {
  test('are as wide at each step as errors were there, if these come back within a day and then grow', () => {
    const random = chance(11);
    // As the sums of hours do: far off by noon, nearly right after the day, and far off after two.
    const growth = Array.from({ length: 48 }, (_, hour) =>
      hour < 24 ? 1 + Math.sin((Math.PI * hour) / 24) : hour / 8,
    );
    const folds = Array.from({ length: 40 }, (_, index) => {
      const size = random.normal();
      return { back: 48 * (index + 1), weight: 1, errors: growth.map((by) => by * size) };
    });
    const margins = sumMargins(folds, 48, 0.8);
    const widths = [0, 12, 24, 47].map(
      (hour) => ((margins[hour]?.[1] ?? 0) - (margins[hour]?.[0] ?? 0)) / (growth[hour] ?? 1),
    );
    expect(Math.max(...widths) / Math.min(...widths)).toBeLessThan(1.1);
  });
});

describe('stepsAfter(start, step, count)', () => {
  test.each([
    ['hour', 25, '2026-02-01T01:00:00Z'],
    ['day', 28, '2026-02-28T00:00:00Z'],
    ['week', 1, '2026-02-07T00:00:00Z'],
    ['month', 1, '2026-02-28T00:00:00Z'],
    [900_000, 4, '2026-01-31T01:00:00Z'],
  ] as const)('%s', (step, count, expected) => {
    expect(stepsAfter('2026-01-31T00:00:00Z', step, count)).toBe(expected);
  });
});

describe('quantiles', () => {
  test.each([
    [0.9, 1.2815515655],
    [0.975, 1.9599639845],
    [0.001, -3.0902323062],
  ])('normalQuantile(%d)', (share, expected) => expect(normalQuantile(share)).toBeCloseTo(expected, 6));

  test.each([
    [0.9, 2, 1.885618],
    [0.9, 5, 1.475884],
    [0.975, 10, 2.228139],
  ])('studentQuantile(%d, %d)', (share, degrees, expected) =>
    expect(Math.abs(studentQuantile(share, degrees) / expected - 1)).toBeLessThan(0.01),
  );

  test('quantilesByWeight counts a value by its weight', () => {
    expect(quantilesByWeight([3, 1, 2], [1, 1, 1], [0, 0.5, 1])).toEqual([1, 2, 3]);
    expect(quantilesByWeight([1, 2], [9, 1], [0.3, 0.99])).toEqual([1, 2]);
  });
});
