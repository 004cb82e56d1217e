import { formatInstant, type Instant } from '../time.ts';
import type { Connection } from './connection.ts';
import { createViews } from './migrate.ts';
import { readSql, readSqlFolder } from './sql-files.ts';

/** The catalog name of the file itself when a query answers as of an instant. */
export const presentCatalog = 'present';

/**
 * Creates the catalog `wh` of views: the ledger as of an instant, over the file attached as `present`, and the public
 * views over that. Each connection sets its instant with `setAsOf`. With `draft`, a definition as JSON, these
 * allocation rules apply as if they had always been active.
 */
export async function createPast(connection: Connection, draft?: string): Promise<void> {
  await connection.run(await readSql('as_of', 'catalog'));
  await connection.run(await readSql('as_of', 'ledger'));
  if (draft !== undefined) await connection.run(await readSql('as_of', 'draft'), { draft });
  await createViews(connection, await readSqlFolder('views'));
}

/**
 * Sets the instant that a connection answers for, inclusive. From here on it is read-only: the views are in memory,
 * where nothing else would keep typed SQL from replacing them.
 */
export async function setAsOf(connection: Connection, asOf: Instant): Promise<void> {
  await connection.run(await readSql('as_of', 'instant'), { as_of: formatInstant(asOf) });
  await connection.seal();
}

/**
 * The instant as of which these books will later answer as they do now: the last at which they recorded anything.
 * Undefined if they never did.
 */
export async function lastSeen(connection: Connection): Promise<Instant | undefined> {
  const [row] = await connection.rows(await readSql('as_of', 'last_seen'));
  const text = row?.['last_seen'];
  return typeof text === 'string' ? Number(text) : undefined;
}
