// Second tier: Drawn series, a hundred and more for each property.

import { expect, test } from 'vitest';
import { type Episode, follow, quietDays } from '../../src/anomalies/detect.ts';
import { evaluateScope, type StoredEpisode } from '../../src/anomalies/evaluate-scope.ts';
import { noticesOf } from '../../src/anomalies/notices.ts';
import { usualRules } from '../../src/anomalies/rules.ts';
import fc from '../support/fast-check.ts';

const isQuiet = () => false;
// Without a floor in dollars, so that costs of any size are looked at.
const rules = { ...usualRules, minAmount: 0 };
const firstDay = 20_458;
const options = { isQuiet, rules };

/** Days of a scope: some level with weekdays, chance, days without a cost and single ones that stand out. */
const costs = fc
  .record({
    level: fc.double({ min: 0.01, max: 1e6, noNaN: true }),
    weekend: fc.constantFrom(0, 0.4, 1),
    chance: fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 60, maxLength: 100 }),
    odd: fc.array(fc.record({ day: fc.nat(99), times: fc.constantFrom(0, 0.2, 1.5, 10, 1e5) }), { maxLength: 6 }),
  })
  .map(({ level, weekend, chance, odd }) =>
    chance.map((percent, day) => {
      const times = odd.findLast((one) => one.day === day)?.times ?? 1;
      return level * (day % 7 >= 5 ? weekend : 1) * (1 + percent / 100) * times;
    }),
  );

function followed(of: readonly number[], usages: readonly number[] = of): readonly Episode[] {
  const series = { firstDay, costs: of, usages };
  return follow(series, [], { from: firstDay, to: firstDay + of.length - 1 }, options);
}

/** What does not depend on the unit of the amounts. */
function shapeOf(episodes: readonly Episode[]) {
  return episodes.map(({ kind, isUp, firstDay: first, lastDay, notifiedDay, state }) => ({
    ...{ kind, isUp, first, lastDay, notifiedDay, state },
  }));
}

test('every number is finite, for any costs', () => {
  fc.assert(
    fc.property(
      costs,
      fc.array(fc.double({ min: -5, max: 1e9, noNaN: true }), { minLength: 40, maxLength: 90 }),
      (some, any) => {
        for (const of of [some, any, any.map(() => 0)]) {
          for (const { cost, expected, low, high, impacts, ratio } of followed(of, any)) {
            for (const value of [cost, expected, low, high, ratio ?? 0, ...impacts]) expect(value).not.toBeNaN();
            expect(expected).toBeGreaterThanOrEqual(low);
            expect(high).toBeGreaterThanOrEqual(expected);
          }
        }
      },
    ),
    { numRuns: 60 },
  );
});

test('ten times the costs give the same anomalies', () => {
  fc.assert(
    fc.property(costs, fc.constantFrom(2, 1024, 0.125), (some, times) => {
      expect(
        shapeOf(
          followed(
            some.map((cost) => cost * times),
            some,
          ),
        ),
      ).toEqual(shapeOf(followed(some)));
    }),
    { numRuns: 60 },
  );
});

test('a day is judged only by the days before it', () => {
  fc.assert(
    fc.property(costs, fc.integer({ min: 30, max: 59 }), (some, days) => {
      const until = (episodes: readonly Episode[]) =>
        episodes
          .filter(({ seenDay }) => seenDay < firstDay + days)
          .map(({ firstDay: first, cost, expected }) => [first, cost, expected]);
      expect(until(followed(some.slice(0, days)))).toEqual(until(followed(some)));
    }),
    { numRuns: 60 },
  );
});

test('evaluations night by night, at once, or after an empty restatement give the same result', () => {
  fc.assert(
    fc.property(costs, fc.integer({ min: 1, max: 20 }), (some, again) => {
      const series = { firstDay, costs: some, usages: some };
      const lastDay = firstDay + some.length - 1;
      const newKey = ({ firstDay: first, kind }: Episode) => `${first} ${kind === 'price'}`;
      let kept: StoredEpisode[] = [];
      for (let day = firstDay; day <= lastDay; day += 1) {
        const evaluatedDay = day === firstDay ? undefined : day - 1;
        kept = evaluateScope({
          ...options,
          series,
          known: kept,
          lastDay: day,
          evaluatedDay,
          changedFrom: undefined,
          newKey,
        });
      }
      expect(shapeOf(kept)).toEqual(shapeOf(followed(some)));
      const noticesOfAll = (of: readonly Episode[]) => of.map((episode) => noticesOf(episode, usualRules));
      expect(noticesOfAll(kept)).toEqual(noticesOfAll(followed(some)));
      const changedFrom = lastDay - again + 1;
      const twice = evaluateScope({
        ...options,
        series,
        known: kept,
        lastDay,
        evaluatedDay: lastDay,
        changedFrom,
        newKey,
      });
      const byKey = (episodes: readonly StoredEpisode[]) => episodes.toSorted((a, b) => (a.key < b.key ? -1 : 1));
      expect(shapeOf(byKey(twice))).toEqual(shapeOf(byKey(kept)));
      // Nothing is reported twice.
      expect(twice.filter(({ isNotified }) => isNotified).length).toBe(
        kept.filter(({ isNotified }) => isNotified).length,
      );
    }),
    { numRuns: 40 },
  );
});

test('reports about a day do not change when later days are known, and never become less urgent', () => {
  fc.assert(
    fc.property(costs, fc.integer({ min: 40, max: 90 }), (some, days) => {
      const upTo = (of: readonly Episode[]) =>
        of
          .flatMap((episode) => noticesOf(episode, usualRules))
          .filter(({ day }) => day < firstDay + days)
          .map(({ day, severity }) => `${day} ${severity}`);
      expect(upTo(followed(some.slice(0, days)))).toEqual(upTo(followed(some)));
      for (const episode of followed(some)) {
        const ranks = noticesOf(episode, usualRules).map(({ severity }) => severities.indexOf(severity));
        expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
      }
    }),
    { numRuns: 60 },
  );
});
const severities = ['info', 'warning', 'critical'];

test('the order of scopes does not affect holidays', () => {
  fc.assert(
    fc.property(fc.array(costs, { minLength: 1, maxLength: 8 }), (all) => {
      const scopes = all.map((some) => ({ firstDay, costs: some, usages: some }));
      const [one, other] = [quietDays(scopes, usualRules), quietDays(scopes.toReversed(), usualRules)];
      for (let day = firstDay + 28; day < firstDay + 60; day += 1) expect(one(day)).toBe(other(day));
    }),
    { numRuns: 30 },
  );
});
