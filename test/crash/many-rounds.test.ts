// Second tier, long: Eight rounds of killed runs; four are in crash/rounds.

import { describe, expect, test } from 'vitest';
import { liveThroughKills } from '../support/killed-rounds.ts';
import { seedsOfRounds } from '../support/rounds.ts';

// By hand any number of rounds from any seed: COSTBOOK_CRASH_ROUNDS=1000 COSTBOOK_TEST_SEED=7 npx vitest run test/crash
const seeds = seedsOfRounds('COSTBOOK_CRASH_ROUNDS', { fixed: 8, fresh: 24 });

describe.concurrent('runs killed at random times', () => {
  test.each([0, 1])(
    'leave books that the next run makes correct (project %i of 2)',
    async (project) => {
      const own = seeds.filter((seed) => seed % 2 === project);
      const struck = await liveThroughKills(own);
      // Most deaths came in time: a moment that never comes would test nothing.
      expect(struck.length).toBeGreaterThan(own.length / 2);
    },
    60_000 + seeds.length * 30_000,
  );
});
