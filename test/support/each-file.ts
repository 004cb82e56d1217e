import { afterAll, afterEach } from 'vitest';
import { cleanUpFile, cleanUpTest } from './clean-up.ts';

// Vitest runs this module again for each test file, also where files share a process.
afterEach(cleanUpTest);
afterAll(cleanUpFile);
