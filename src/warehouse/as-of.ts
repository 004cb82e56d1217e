import { formatInstant, type Instant } from '../time.ts';
import type { Connection } from './connection.ts';
import { ledgerTables } from './ledger-tables.ts';
import { createViews } from './migrate.ts';
import { readSql, readSqlFolder } from './sql-files.ts';
import { lastSeenOf, makeAsOfView } from './statements.ts';

/** The name under which the file itself is attached where the books are asked as of an instant. */
export const presentCatalog = 'present';

/**
 * Makes the catalog `wh` of views: the ledger as it was at a moment, over the file attached as `present`, and the
 * public views over that. Which moment, each connection says with `setMoment`. With `draft`, a definition as JSON, it is
 * as if these allocation rules had always been in force.
 */
export async function createPast(connection: Connection, draft?: string): Promise<void> {
  await connection.run(await readSql('as_of', 'catalog'));
  for (const table of ledgerTables) {
    const view = makeAsOfView(table);
    if (view !== undefined) await connection.run(view);
  }
  await connection.run(await readSql('as_of', 'ledger'));
  if (draft !== undefined) await connection.run(await readSql('as_of', 'draft'), { draft });
  await createViews(connection, await readSqlFolder('views'));
}

/**
 * Says as of when a connection asks: what was seen at that instant is included. From here on it only reads: the views
 * lie in memory, where nothing else would keep typed SQL from putting others in their place.
 */
export async function setAsOf(connection: Connection, asOf: Instant): Promise<void> {
  await connection.run(await readSql('as_of', 'instant'), { as_of: formatInstant(asOf) });
  await connection.seal();
}

/**
 * The instant as of which these books, asked later, answer as they do now: the last at which anything in them was seen.
 * Undefined where nothing ever was.
 */
export async function lastSeen(connection: Connection): Promise<Instant | undefined> {
  const [row] = await connection.rows(lastSeenOf(ledgerTables));
  const text = row?.['last_seen'];
  return typeof text === 'string' ? Number(text) : undefined;
}
