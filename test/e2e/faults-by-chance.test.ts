// First tier, long: Ingests from platforms that fail by chance.

import { expect, test } from 'vitest';
import { ingestThroughFaults } from '../support/fault-rounds.ts';

// A seed that ever failed stays here.
const seeds = [1, 2, 3, 4];

test(`an ingest with the faults of seeds ${seeds} ends with correct books, or reports the failure and publishes proven hours`, async () => {
  const rounds = await ingestThroughFaults(seeds);
  // Both ends occur.
  expect(new Set(rounds.map(({ exitCode }) => exitCode === 0)).size).toBe(2);
});
