// Second tier, long: Hundreds of forecasts, to count how often their intervals hold.

import { expect, test } from 'vitest';
import { forecastSeries } from '../../src/forecast/forecast.ts';
import { beatsNaive, mean, type Score, scoreOf } from '../bench/scores.ts';
import { familyNames, syntheticSeries } from '../bench/synthetic-series.ts';

/** These are not unseen: a constant of `src/forecast/intervals.ts` was chosen so that this test holds. */
const seeds = Array.from({ length: 24 }, (_, index) => index + 1);

const scores = new Map<string, Score[]>();
for (const family of familyNames) {
  const ofFamily: Score[] = [];
  for (const seed of seeds) {
    const { start, step, horizon, values } = syntheticSeries(family, seed);
    const history = values.slice(0, -horizon);
    const forecast = await forecastSeries({ start, step, values: history }, horizon);
    if (forecast.kind === 'none') throw new Error(`${family} ${seed}: ${forecast.reason}`);
    const told = [...forecast.points, ...forecast.cumulative.slice(-1)].map(({ mean, lower, upper }) => ({
      forecast: mean,
      low: lower,
      high: upper,
    }));
    const sum = told.pop();
    if (sum === undefined) throw new Error('no sum');
    ofFamily.push(scoreOf(history, values.slice(-horizon), { points: told, sum }, step === 'hour' ? 168 : 7));
  }
  scores.set(family, ofFamily);
}
const all = [...scores.values()].flat();

test('80 % intervals of a held-out month contain 76 to 84 % of its sums, and of its days', () => {
  const held = mean(all.map(({ isSumHeld }) => (isSumHeld ? 1 : 0)));
  expect(held).toBeGreaterThanOrEqual(0.76);
  expect(held).toBeLessThanOrEqual(0.84);
  const points = mean(all.map(({ pointsHeld }) => pointsHeld));
  expect(points).toBeGreaterThanOrEqual(0.76);
  expect(points).toBeLessThanOrEqual(0.84);
});

test.each(familyNames)('80 % intervals are nearly calibrated in the family %s alone', (family) => {
  const ofFamily = scores.get(family) ?? [];
  // Of 24 series 80 % are 19, and one family in a hundred holds 13 or fewer by chance.
  expect(mean(ofFamily.map(({ isSumHeld }) => (isSumHeld ? 1 : 0)))).toBeGreaterThanOrEqual(0.5);
  expect(mean(ofFamily.map(({ pointsHeld }) => pointsHeld))).toBeGreaterThanOrEqual(0.66);
});

test('forecasts are more accurate than repeating the last season on at least 70 % of series', () => {
  expect(mean(all.map((score) => (beatsNaive(score) ? 1 : 0)))).toBeGreaterThanOrEqual(0.7);
});
