// Second tier: Two years of a hundred scopes through the detection of anomalies.

import { expect, test } from 'vitest';
import { quietDays } from '../../src/anomalies/detect.ts';
import { evaluateScope } from '../../src/anomalies/evaluate-scope.ts';
import { noticesOf } from '../../src/anomalies/notices.ts';
import { usualRules } from '../../src/anomalies/rules.ts';
import { type Detector, labelledYear, measureYear } from '../bench/labelled-year.ts';

const detector = { evaluateScope, noticesOf, quietDays, usualRules } as unknown as Detector;
// Others than those that the detector was tuned on, and than those of the bench.
const seeds = [301, 302];
const years = seeds.map((seed) => measureYear(labelledYear({ seed, scopes: 100, days: 365 }), detector));

test('every planted event of at least 5 USD and 30 % that exceeds noise is reported within a day', () => {
  expect(years.flatMap((year) => year.missed)).toEqual([]);
  for (const kind of ['spike', 'step', 'drop', 'price', 'new', 'lower step'] as const) {
    const clear = years.reduce((sum, { recall }) => sum + (recall.get(kind)?.clear ?? 0), 0);
    expect(clear, kind).toBeGreaterThan(10);
  }
  for (const kind of ['larger batch', 'missing batch'] as const) {
    const clear = years.reduce((sum, { recall }) => sum + (recall.get(kind)?.clear ?? 0), 0);
    expect(clear, kind).toBeGreaterThan(3);
  }
});

test('fewer than one false alarm in two months per 100 scopes: holidays, growth, noise and monthly batches raise few', () => {
  const falseAlarms = years.flatMap((year) => year.falseAlarms);
  expect(falseAlarms.length / seeds.length / 12, falseAlarms.join('\n')).toBeLessThan(0.5);
});
