// Second tier, long: Six rounds of killed runs in one project.

import { expect, test } from 'vitest';
import { liveThroughKills } from '../support/killed-rounds.ts';
import { seedsOfRounds } from '../support/rounds.ts';

// By hand any number of rounds from any seed: COSTBOOK_CRASH_ROUNDS=1000 COSTBOOK_TEST_SEED=7 npx vitest run many-rounds
const seeds = seedsOfRounds('COSTBOOK_CRASH_ROUNDS', { fixed: 6, fresh: 24 });

test(
  'runs killed at random times leave books that the next run makes correct',
  async () => {
    const struck = await liveThroughKills(seeds);
    // Most deaths came in time: a moment that never comes would test nothing.
    expect(struck.length).toBeGreaterThan(seeds.length / 2);
  },
  60_000 + seeds.length * 30_000,
);
