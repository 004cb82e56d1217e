// First tier, long: Kills ingests at drawn moments.

import { expect, test } from 'vitest';
import { liveThroughKills } from '../support/killed-rounds.ts';

// A list that ever failed stays here: its seeds, in the order of their rounds.
test.concurrent.each([{ seeds: [2, 4] }, { seeds: [1, 3] }])(
  'runs killed at the moments of seeds $seeds leave books that the next run makes the truth',
  async ({ seeds }) => {
    expect(await liveThroughKills(seeds)).not.toEqual([]);
  },
);
