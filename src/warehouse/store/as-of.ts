import { formatInstant, type Instant } from '../../time/time.ts';
import { ledgerTables } from '../sql/ledger-tables.ts';
import { readSql, readSqlFolder, type SqlFile } from '../sql/sql-files.ts';
import { lastSeenOf, makeAsOfView } from '../sql/statements.ts';
import type { Connection, LazyViews } from './connection.ts';

/** The catalog name of the file itself when a query answers as of an instant. */
export const presentCatalog = 'present';

/**
 * Creates the catalog `wh` of views: the ledger as of an instant, over the file attached as `present`. The public views
 * over that are made when a statement names them (`lazyViews`). Each connection sets its instant with `setAsOf`. With
 * `draft`, a definition as JSON, these allocation rules apply as if they had always been active. With `isClose`, every
 * closed month has the hours of its own close. With `isOfHours`, only the hours between the instants of `setHours` are there.
 */
export async function createPast(
  connection: Connection,
  { draft, isClose, isOfHours }: { draft?: string | undefined; isClose: boolean; isOfHours: boolean },
): Promise<void> {
  await connection.run(await readSql('as_of', 'catalog'));
  for (const table of ledgerTables) {
    const view = makeAsOfView(table);
    if (view !== undefined) await connection.run(view);
  }
  await connection.run(await readSql('as_of', 'ledger'));
  if (draft !== undefined) await connection.run(await readSql('as_of', 'draft'), { draft });
  if (isOfHours) await connection.run(await readSql('as_of', 'hours_between'));
  if (isClose) await connection.run(await readSql('as_of', 'closed_loaded'));
}

/** The public views of a past. `closed_loaded.sql` has made those that it names for the books of a close. */
export async function viewsOfPast({ isClose }: { readonly isClose: boolean }): Promise<SqlFile[]> {
  const files = await readSqlFolder('views');
  if (!isClose) return files;
  const made = await readSql('as_of', 'closed_loaded');
  // By their whole names: hourly_costs is another view than ledger.hourly_costs.
  return files.filter(({ name, text }) => {
    const head = ` ledger.${name} as\n`;
    return !(text.includes(head) && made.includes(head));
  });
}

/**
 * Sets the instant that a connection answers for, inclusive. From here on it is read-only: the views are in memory,
 * where nothing else would keep typed SQL from replacing them.
 */
export async function setAsOf(connection: Connection, asOf: Instant): Promise<void> {
  await connection.run(await readSql('as_of', 'instant'), { as_of: formatInstant(asOf) });
  await connection.seal();
}

/** Finds out once what each view that names it would find again: the owners, for all hours; for a close the renamed workspaces. */
export async function foundOnce(
  maker: Connection,
  views: LazyViews,
  {
    view,
    by,
    asOf,
  }: { view: 'allocation_owners' | 'renamed_series'; by: 'owners_once' | 'closed_hours'; asOf: Instant },
): Promise<void> {
  await maker.run(await readSql('as_of', 'instant'), { as_of: formatInstant(asOf) });
  await views.make(view);
  await maker.run(await readSql('as_of', by));
}

/** The hours from one instant on, before another; undefined for no limit. */
export interface HoursBetween {
  readonly from: Instant | undefined;
  readonly to: Instant | undefined;
}

/** Sets the hours that a connection sees, for a past with `isOfHours`; call it before `setAsOf`. */
export async function setHours(connection: Connection, { from, to }: HoursBetween): Promise<void> {
  await connection.run(await readSql('as_of', 'hours_between_instants'), {
    hours_from: from === undefined ? '-infinity' : formatInstant(from),
    hours_to: to === undefined ? 'infinity' : formatInstant(to),
  });
}

/**
 * The last instant at which these books recorded anything; as of it, they will later give the same answers as now.
 * Undefined if they never recorded anything.
 */
export async function lastSeen(connection: Connection): Promise<Instant | undefined> {
  const [row] = await connection.rows(lastSeenOf(ledgerTables));
  const text = row?.['last_seen'];
  return typeof text === 'string' ? Number(text) : undefined;
}
