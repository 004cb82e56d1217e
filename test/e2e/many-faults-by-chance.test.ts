// Second tier, long: Twelve mixes of faults.

import { expect, test } from 'vitest';
import { ingestThroughFaults, mixedFaults } from '../support/fault-rounds.ts';
import { seedsOfRounds } from '../support/rounds.ts';

// By hand any number of rounds from any seed: COSTBOOK_FAULT_ROUNDS=2000 COSTBOOK_TEST_SEED=500 npx vitest run many-faults
const seeds = seedsOfRounds('COSTBOOK_FAULT_ROUNDS', { fixed: 12, fresh: 80 });

test(
  'an ingest with many faults at once ends with correct books, or reports the failure and publishes proven hours',
  async () => {
    const outcomes = await ingestThroughFaults(seeds);
    // Both ends occur, and every fault was there: rounds without would show nothing.
    if (seeds.length >= 12) {
      expect(new Set(outcomes.map(({ exitCode }) => exitCode === 0)).size).toBe(2);
      expect(new Set(outcomes.flatMap(({ faults }) => faults.map(({ name }) => name)))).toEqual(new Set(mixedFaults));
    }
  },
  60_000 + seeds.length * 20_000,
);
