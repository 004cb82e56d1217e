// Second tier: Drawn series, each forecast many times.

import { expect, test } from 'vitest';
import { type Forecast, forecastSeries } from '../../src/forecast/forecast.ts';
import type { Range } from '../../src/forecast/ranges.ts';
import { syntheticSeries } from '../bench/synthetic-series.ts';
import fc from '../support/fast-check.ts';

const start = '2026-01-01T00:00:00Z';
/** A series is a few hundred models: some dozen are enough for seconds. */
const runs = { numRuns: 40 };

/** Anything that a double can be, sane, huge, tiny, constant, gone. */
const anyValue = fc.oneof(
  { weight: 6, arbitrary: fc.double({ min: 0, max: 1000, noNaN: true }) },
  { weight: 2, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.double() },
  { weight: 1, arbitrary: fc.constantFrom(Number.MAX_VALUE, -Number.MAX_VALUE, 5e-324, 1e-300, -0) },
);
const anyHistory = fc.oneof(
  fc.array(anyValue, { maxLength: 90 }),
  fc.tuple(anyValue, fc.nat(90)).map(([value, length]) => Array.from({ length }, () => value)),
  fc.array(fc.constantFrom(0, 0, 0, 5, null), { minLength: 20, maxLength: 120 }),
);
const familyHistory = fc
  .tuple(
    fc.constantFrom('weekly', 'growing', 'step', 'intermittent', 'noisy', 'spiky', 'young'),
    fc.integer({ min: 5000, max: 9000 }),
  )
  .map(([family, seed]) => syntheticSeries(family, seed).values.slice(200));

function rangesOf(forecast: Forecast): Range[] {
  return forecast.kind === 'none' ? [] : [...forecast.points, ...forecast.cumulative];
}

test('every number is finite and intervals contain their mean, for any history', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyHistory,
      fc.integer({ min: 1, max: 40 }),
      fc.boolean(),
      async (values, horizon, nonNegative) => {
        const forecast = await forecastSeries({ start, step: 'day', values }, horizon, { nonNegative });
        if (forecast.kind === 'none') {
          expect(forecast.reason).toMatch(/\w/);
          return;
        }
        expect([forecast.points.length, forecast.cumulative.length]).toEqual([horizon, horizon]);
        for (const { mean, lower, upper } of rangesOf(forecast)) {
          expect([mean, lower, upper].every(Number.isFinite)).toBe(true);
          expect(lower <= mean && mean <= upper).toBe(true);
          if (nonNegative) expect(lower).toBeGreaterThanOrEqual(0);
        }
        for (const share of Object.values(forecast.backtest))
          expect(share === null || Number.isFinite(share)).toBe(true);
        expect(forecast.cumulative[0]).toEqual(forecast.points[0]);
      },
    ),
    { numRuns: 150 },
  );
});

test('sums of values that cannot be negative never decrease', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(anyHistory, familyHistory), async (values) => {
      const forecast = await forecastSeries({ start, step: 'day', values }, 31);
      if (forecast.kind === 'none') return;
      for (const bound of ['mean', 'lower', 'upper'] as const) {
        const bounds = forecast.cumulative.map((range) => range[bound]);
        expect(bounds).toEqual([...bounds].sort((a, b) => a - b));
      }
    }),
    runs,
  );
});

test('ten times the cost gives ten times the forecast', async () => {
  await fc.assert(
    fc.asyncProperty(familyHistory, fc.constantFrom(10, 0.001, 1e6, 7), async (values, factor) => {
      const [one, other] = await Promise.all(
        [values, values.map((value) => value * factor)].map((scaled) =>
          forecastSeries({ start, step: 'day', values: scaled }, 31),
        ),
      );
      const [before, after] = [rangesOf(one as Forecast), rangesOf(other as Forecast)];
      expect(after).toHaveLength(before.length);
      for (const [index, { mean, lower, upper }] of before.entries()) {
        const scaled = after[index];
        const near = (value: number, expected: number) =>
          expect(Math.abs(value - expected)).toBeLessThanOrEqual(1e-6 * factor * Math.max(1e-9, upper));
        near(scaled?.mean ?? Number.NaN, mean * factor);
        near(scaled?.lower ?? Number.NaN, lower * factor);
        near(scaled?.upper ?? Number.NaN, upper * factor);
      }
    }),
    runs,
  );
});

test('the same values a week later or in another year give the same forecast', async () => {
  await fc.assert(
    fc.asyncProperty(
      familyHistory,
      fc.constantFrom('2026-01-08T00:00:00Z', '1999-02-28T13:00:00Z'),
      async (values, later) => {
        const one = await forecastSeries({ start, step: 'day', values }, 14);
        const other = await forecastSeries({ start: later, step: 'day', values }, 14);
        expect(rangesOf(other)).toEqual(rangesOf(one));
      },
    ),
    { numRuns: 15 },
  );
});

test('the same history gives the same bytes, independent of earlier forecasts', async () => {
  await fc.assert(
    fc.asyncProperty(familyHistory, anyHistory, async (values, between) => {
      const once = JSON.stringify(await forecastSeries({ start, step: 'day', values }, 31));
      await forecastSeries({ start, step: 'hour', values: between }, 5);
      expect(JSON.stringify(await forecastSeries({ start, step: 'day', values }, 31))).toBe(once);
    }),
    { numRuns: 15 },
  );
});
