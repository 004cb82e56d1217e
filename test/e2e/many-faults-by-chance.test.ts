// Second tier: Eighty mixes of faults; eight are in e2e/faults-by-chance.

import { expect, inject, test } from 'vitest';
import { ingestThroughFaults, mixedFaults } from '../support/fault-rounds.ts';

// By hand any number of rounds from any seed: COSTBOOK_FAULT_ROUNDS=2000 COSTBOOK_TEST_SEED=500 npx vitest run many-faults
const rounds = Number(process.env['COSTBOOK_FAULT_ROUNDS'] ?? 80);
const seeds = Array.from({ length: rounds }, (_, round) => inject('seed') + round);

test(
  'an ingest with many faults at once ends with correct books, or reports the failure and publishes proven hours',
  async () => {
    const outcomes = await ingestThroughFaults(seeds);
    // Both ends occur, and every fault was there: rounds without would show nothing.
    if (rounds >= 50) {
      expect(new Set(outcomes.map(({ exitCode }) => exitCode === 0)).size).toBe(2);
      expect(new Set(outcomes.flatMap(({ faults }) => faults.map(({ name }) => name)))).toEqual(new Set(mixedFaults));
    }
  },
  60_000 + rounds * 5000,
);
