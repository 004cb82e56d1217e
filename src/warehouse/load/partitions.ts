import { createHash } from 'node:crypto';
import { floorMonth, formatInstant, type Instant } from '../../time/time.ts';
import { readSql, readSqlFolder } from '../sql/sql-files.ts';
import type { Connection, SqlRow } from '../store/connection.ts';

/** The costs of one account in one calendar month. */
export interface CostPartition {
  readonly account: string;
  /** First instant of the month. */
  readonly month: Instant;
}

/** The last load in the books that a connection answers from; 0 if there is none, or as of an instant. */
export async function lastLoadOf(connection: Connection, asOf?: Instant): Promise<number> {
  const [row] = await connection.rows(await readSql('ledger', 'last_load_as_of'), {
    as_of: asOf === undefined ? null : formatInstant(asOf),
  });
  return Number(row?.['number']);
}

/** Every account and month with any cost, in order. Reads the hour of every row. */
export async function costPartitions(connection: Connection): Promise<CostPartition[]> {
  return toPartitions(await connection.rows(await readSql('partitions', 'all')));
}

/** The accounts and months in which a load after `lastLoad` added, changed or removed an hour, in order. */
export async function partitionsChangedSince(connection: Connection, lastLoad: number): Promise<CostPartition[]> {
  return toPartitions(await connection.rows(await readSql('partitions', 'changed_since'), { last_load: lastLoad }));
}

function toPartitions(rows: readonly SqlRow[]): CostPartition[] {
  return rows.map((row) => ({ account: String(row['account']), month: floorMonth(Number(row['month'])) }));
}

/** SHA-256 of everything besides rows that affects the public views: their SQL, and the known units. */
export async function viewsSha256(connection: Connection): Promise<string> {
  const hash = createHash('sha256');
  for (const { name, text } of await readSqlFolder('views')) hash.update(JSON.stringify([name, text]));
  const units = await connection.rows(await readSql('partitions', 'known_units'));
  for (const row of units) hash.update(JSON.stringify(row));
  return hash.digest('hex');
}
