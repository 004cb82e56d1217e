import { expect, test } from 'vitest';
import { nearTwins } from '../../src/text/choices.ts';

test.each([
  ['Platform', 'platform'],
  ['Platform', 'platfrom'],
  ['Support', 'suport'],
  ['Research', 'research '],
  ['Payments', 'Pay-ments'],
  ['Payments', 'paymnets'],
  ['Zürich', 'zu\u0308rich'],
])('%j and %j are probably the same', (one, other) => {
  expect(nearTwins([one, other])).toEqual([[one, other]]);
});

test.each([
  ['team-1', 'team-2'],
  ['Sales', 'Search'],
  ['dev', 'des'],
  ['core', 'care'],
  ['platform', 'payments'],
  ['production', 'product'],
  ['', '--'],
])('%j and %j are different', (one, other) => {
  expect(nearTwins([one, other])).toEqual([]);
});

test('each pair is listed once, in the order of the names', () => {
  expect(nearTwins(['Support', 'Sales', 'suport', 'SUPPORT'])).toEqual([
    ['Support', 'suport'],
    ['Support', 'SUPPORT'],
    ['suport', 'SUPPORT'],
  ]);
});

test('a thousand long names are compared quickly', () => {
  const begun = performance.now();
  nearTwins(Array.from({ length: 5000 }, (_, index) => `team ${'x'.repeat(50)} ${index}`));
  expect(performance.now() - begun).toBeLessThan(10_000);
});
