import { defineConfig } from 'vitest/config';

// Tests run in a zone that is not UTC, so that a calendar slip shows; real DuckDB files need a process each.
process.env['TZ'] = 'America/St_Johns';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    // Most tests wait for processes of their own: one worker fewer than cores would leave cores idle.
    maxWorkers: 2,
    testTimeout: 240_000,
    hookTimeout: 240_000,
    globalSetup: 'test/support/build.ts',
  },
});
