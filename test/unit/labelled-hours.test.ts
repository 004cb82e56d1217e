import { expect, test } from 'vitest';
import { isReported, runawayOf } from '../../src/anomalies/hourly-watch.ts';
import { labelledHours, measureHours, type Watch } from '../bench/labelled-hours.ts';

const watch: Watch = { runawayOf, isReported };
// Others than those that the watch was tuned on (1 to 8).
const seeds = [401, 402, 403];
const years = seeds.map((seed) => measureHours(labelledHours({ seed, scopes: 100, days: 365 }), watch));

test('every runaway of 20 times the largest usual hour is reported within two hours of its first complete one', () => {
  expect(years.flatMap(({ missed }) => missed)).toEqual([]);
  for (const { ofLargest } of years) {
    expect(ofLargest.planted).toBeGreaterThan(200);
    expect(ofLargest.inTime).toBe(ofLargest.planted);
  }
});

test('a month of 100 scopes with batches by night, week and month has at most one false alarm in ten', () => {
  const falseAlarms = years.flatMap((year) => year.falseAlarms);
  const months = years.reduce((sum, year) => sum + year.months, 0);
  expect(falseAlarms.length / months, falseAlarms.join('\n')).toBeLessThanOrEqual(0.2);
});
