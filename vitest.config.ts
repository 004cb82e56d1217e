import { randomInt } from 'node:crypto';
import { defineConfig } from 'vitest/config';
import { drawingFiles, LongFirst, testFiles } from './test/support/tiers.ts';

// Tests run in a zone that is not UTC, so that a calendar slip shows.
process.env['TZ'] = 'America/St_Johns';
// Test processes keep the memory that DuckDB frees: to give it back and take it again costs a tenth of the CPU of an ingest.
process.env['DUCKDB_JE_MALLOC_CONF'] ??= 'narenas:1,dirty_decay_ms:-1,muzzy_decay_ms:-1';

/**
 * `--mode first` runs the first tier, `--mode second` the second, `--mode random` what draws its cases, from a new seed;
 * any other mode runs both tiers, each file once.
 */
export default defineConfig(({ mode }) => {
  const slow = [...testFiles(import.meta.dirname)].flatMap(([file, reason]) => (reason === undefined ? [] : [file]));
  const includes: Readonly<Record<string, readonly string[]>> = {
    second: slow,
    random: drawingFiles(import.meta.dirname),
  };
  const tier = {
    include: [...(includes[mode] ?? ['test/**/*.test.ts'])],
    ...(mode === 'first' ? { exclude: slow } : {}),
  };
  // Both tiers draw the same cases each time; `random` draws new ones, to find what nobody thought of.
  const seed = Number(process.env['COSTBOOK_TEST_SEED'] ?? (mode === 'random' ? randomInt(2, 1_000_000_000) : 1));
  return {
    test: {
      ...tier,
      pool: 'forks',
      // Files share these processes, so that each loads the program once; `each-file.ts` cleans up between them.
      isolate: false,
      // Slow tests wait for processes of their own: as many workers as cores would leave cores idle. In the first tier a third
      // worker costs 4 % more CPU and gains 2 % of time.
      maxWorkers: mode === 'first' ? 2 : 3,
      sequence: { sequencer: LongFirst },
      testTimeout: 240_000,
      hookTimeout: 240_000,
      globalSetup: 'test/support/build.ts',
      setupFiles: 'test/support/each-file.ts',
      provide: { seed },
      // The compiled program is loaded as it is, not read again by Vite.
      server: { deps: { external: [/\/dist\//] } },
    },
  };
});
