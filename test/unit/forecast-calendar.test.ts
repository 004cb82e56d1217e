import { describe, expect, test } from 'vitest';
import { calendarDaysOf } from '../../src/forecast/calendar.ts';
import { forecastSeries, type SeriesForecast } from '../../src/forecast/forecast.ts';
import { zoneOf } from '../../src/time/time.ts';
import { chance, familyNames, syntheticSeries } from '../bench/synthetic-series.ts';

const dayMs = 86_400_000;
const begin = Date.UTC(2025, 8, 1);
const horizon = 31;

/** The cost of each day from September 2025 on; the last `horizon` days are held out. */
function year(seed: number, cost: (date: Date, noise: (variation: number) => number) => number) {
  const random = chance(seed);
  const values = Array.from({ length: 420 + horizon }, (_, day) =>
    cost(new Date(begin + day * dayMs), (variation) => random.noise(variation)),
  );
  return { history: values.slice(0, -horizon), outcomes: values.slice(-horizon) };
}

async function made(values: readonly number[], options = {}): Promise<SeriesForecast> {
  const forecast = await forecastSeries({ start: '2025-09-01T00:00:00Z', step: 'day', values }, horizon, options);
  if (forecast.kind === 'none') throw new Error(forecast.reason);
  return forecast;
}

const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);
const weekday = (date: Date) => ([0, 6].includes(date.getUTCDay()) ? 4 : 10);

function daysNamed(...dates: readonly string[]): ReadonlySet<number> {
  return new Set(dates.map((date) => Date.parse(date) / dayMs));
}

describe('calendarDaysOf(day, holidays)', () => {
  test.each([
    ['2026-05-01', ['first day', 'first working day']],
    ['2026-08-01', ['first day']], // a Saturday
    ['2026-08-03', ['day 3', 'first working day']],
    ['2026-10-30', ['last day but one', 'last working day']],
    ['2026-10-31', ['last day']], // a Saturday
    ['2026-06-16', ['day 16']],
  ])('%s is %j', (date, expected) => {
    expect([...calendarDaysOf(Date.parse(date), new Set())]).toEqual(expected);
  });

  test('a holiday is no working day: the next one is the first of the month', () => {
    const holidays = daysNamed('2026-01-01');
    expect([...calendarDaysOf(Date.parse('2026-01-01'), holidays)]).toEqual(['holiday', 'first day']);
    expect([...calendarDaysOf(Date.parse('2026-01-02'), holidays)]).toEqual(['day 2', 'first working day']);
  });
});

describe('a forecast of days', () => {
  test.each([
    ['the first day', (date: Date) => date.getUTCDate() === 1],
    ['the last day', (date: Date) => new Date(date.getTime() + dayMs).getUTCDate() === 1],
    ['the first working day', (date: Date) => calendarDaysOf(date.getTime(), new Set()).has('first working day')],
    ['the last working day', (date: Date) => calendarDaysOf(date.getTime(), new Set()).has('last working day')],
  ])('knows a batch that runs on %s of a month, and says so', async (name, runs) => {
    const { history, outcomes } = year(
      3,
      (date, noise) => weekday(date) * noise(0.1) + (runs(date) ? 60 * noise(0.2) : 0),
    );
    const { points, cumulative, notes } = await made(history);
    expect(notes).toEqual([
      expect.stringMatching(new RegExp(`^${name} of a month is .* (above|times) the usual \\(1[34] seen\\)$`)),
    ]);
    for (const [day, outcome] of outcomes.entries()) {
      if (outcome < 30) continue;
      expect(points[day]?.lower).toBeLessThan(outcome);
      expect(points[day]?.upper).toBeGreaterThan(outcome);
    }
    // Sums have a model of their own.
    expect(Math.abs((cumulative[30]?.mean ?? 0) / total(points.map(({ mean }) => mean)) - 1)).toBeLessThan(0.02);
    expect(Math.abs(total(outcomes) / (cumulative[30]?.mean ?? 0) - 1)).toBeLessThan(0.06);
  });

  const lastDays = / the last day( but one)? of a month is .*the last day( but one)? of a month is /;
  test.each([
    ['on the last two days', lastDays, (date: Date) => new Date(date.getTime() + 2 * dayMs).getUTCDate() <= 2],
    ['on the 15th', / day 15 of a month is /, (date: Date) => date.getUTCDate() === 15],
  ])('knows what a month costs %s, whichever weekdays these are', async (_, note, isDear) => {
    const { history, outcomes } = year(6, (date, noise) => weekday(date) * noise(0.06) * (isDear(date) ? 4 : 1));
    const { cumulative, notes } = await made(history);
    expect(` ${notes.join()}`).toMatch(note);
    expect(Math.abs((cumulative[30]?.mean ?? 0) / total(outcomes) - 1)).toBeLessThan(0.05);
  });

  test('of nothing but a monthly batch has its cost on that day, and nothing on the others', async () => {
    const { history } = year(4, (date, noise) => (date.getUTCDate() === 1 ? 50 * noise(0.1) : 0));
    const { points } = await made(history);
    const dates = points.map((_, day) => new Date(begin + (history.length + day) * dayMs).getUTCDate());
    for (const [day, date] of dates.entries()) {
      const { mean = -1 } = points[day] ?? {};
      if (date === 1) expect(mean).toBeGreaterThan(40);
      else expect(mean).toBe(0);
    }
  });

  test('is lower on the holidays that are named, after three were seen', async () => {
    const holidays = daysNamed('2025-10-03', '2025-11-19', '2025-12-25', '2026-05-01', '2026-11-18');
    const { history } = year(5, (date, noise) => {
      const isHoliday = holidays.has(Math.floor(date.getTime() / dayMs));
      return weekday(date) * (isHoliday ? 0.3 : 1) * noise(0.08);
    });
    const day = (Date.parse('2026-11-18') - begin) / dayMs - history.length;
    const [told, untold] = [await made(history, { holidays }), await made(history)];
    expect(told.points[day]?.mean).toBeLessThan(4.5);
    expect(untold.points[day]?.mean).toBeGreaterThan(8);
    expect(told.notes.join()).toMatch(/^a holiday is 0\.\d+ times the usual \(4 seen\)$/);
  });

  test('finds no effect of the calendar where there is none', async () => {
    const found: string[] = [];
    for (const family of familyNames) {
      for (const seed of [61, 62, 63]) {
        const { start, step, values } = syntheticSeries(family, seed);
        if (step !== 'day') continue;
        const forecast = await forecastSeries({ start, step, values }, 7);
        const notes = forecast.kind === 'none' ? [] : forecast.notes;
        found.push(...notes.filter((note) => note.endsWith('seen)')).map((note) => `${family} ${seed}: ${note}`));
      }
    }
    expect(found).toEqual([]);
  });
});

describe('a forecast of hours', () => {
  const hourMs = 3_600_000;
  const zone = zoneOf('Europe/Berlin');
  /** A batch from 8 to 11 in Berlin, where the clocks go back on 2026-10-25. */
  const cost = (at: number) => {
    const hour = Math.floor((at + zone.offsetAt(at)) / hourMs) % 24;
    return hour >= 8 && hour < 11 ? 9 : 1;
  };
  const start = Date.UTC(2026, 8, 20);
  const history = (end: number) =>
    Array.from({ length: (end - start) / hourMs }, (_, index) => cost(start + index * hourMs));

  test.each([
    ['a day before the clocks change', Date.UTC(2026, 9, 24, 12)],
    ['two days after the clocks changed', Date.UTC(2026, 9, 27, 5)],
    ['in the hour that comes twice', Date.UTC(2026, 9, 25, 1)],
  ])('follows the local time of its zone %s', async (_, end) => {
    const given = {
      start: new Date(start).toISOString().replace('.000', ''),
      step: 'hour',
      values: history(end),
    } as const;
    const forecast = await forecastSeries(given, 48, { zone: 'Europe/Berlin' });
    if (forecast.kind === 'none') throw new Error(forecast.reason);
    expect(forecast.points).toHaveLength(48);
    expect(forecast.points.map(({ mean }) => Math.round(mean))).toEqual(
      Array.from({ length: 48 }, (_hour, index) => cost(end + index * hourMs)),
    );
    expect(forecast.cumulative[47]?.mean).toBeCloseTo(total(forecast.points.map(({ mean }) => mean)), 6);
    expect(forecast.through).toBe(new Date(end).toISOString().replace('.000', ''));
    expect(forecast.notes).toEqual([]);
  });
});
