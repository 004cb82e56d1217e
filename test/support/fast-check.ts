import fc from 'fast-check';
import { inject } from 'vitest';

// Every property draws from the run's seed: the same failure comes back with COSTBOOK_TEST_SEED.
fc.configureGlobal({ seed: inject('seed') });

export default fc;
