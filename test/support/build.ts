import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { openDatabase } from '../../src/warehouse/store/database.ts';
import { migrate } from '../../src/warehouse/store/migrate.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A warehouse of this program's schema with no rows. */
    emptyBooks: string;
    /** A folder of this run, for what its test files share. */
    shared: string;
    /** What the cases of this run are drawn from. */
    seed: number;
  }
}

/**
 * Runs once before the tests. Compiles the product, so that tests that start processes start what a user would start.
 * Makes empty books, so that tests copy them: migrating from nothing takes ten times as long.
 */
export default async function build(project: TestProject): Promise<() => Promise<void>> {
  const { seed } = project.getProvidedContext();
  if (seed !== 1) console.log(`Cases are drawn from seed ${seed}; COSTBOOK_TEST_SEED=${seed} draws them again.`);
  // A module of an earlier build would hide that a test, or the product, still names it.
  await rm(fileURLToPath(new URL('../../dist', import.meta.url)), { recursive: true, force: true });
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
  const folder = await mkdtemp(join(tmpdir(), 'costbook-test-'));
  const emptyBooks = join(folder, 'empty.duckdb');
  // Opened twice: the second time stores how DuckDB prints the views, which a copy would have to find out again.
  for (const _ of ['made', 'opened again']) {
    const database = await openDatabase(emptyBooks, { readOnly: false });
    await migrate(await database.connect());
    database.close();
  }
  project.provide('emptyBooks', emptyBooks);
  project.provide('shared', folder);
  return () => rm(folder, { recursive: true, force: true });
}
