import { createHash } from 'node:crypto';
import { floorMonth, formatInstant, type Instant } from '../time.ts';
import type { Connection, SqlParameters } from './connection.ts';
import { readSqlFolder } from './sql-files.ts';

/** The costs of one account in one calendar month. */
export interface CostPartition {
  readonly account: string;
  /** First instant of the month. */
  readonly month: Instant;
}

/** The last load that is in the books that a connection answers from; 0 where there is none, or as of an instant. */
export async function lastLoadOf(connection: Connection, asOf?: Instant): Promise<number> {
  const [row] = await connection.rows(
    `select coalesce(max(load_number), 0) as number
    from ledger.loads
    where $as_of is null or seen_at <= cast($as_of as timestamp)`,
    { as_of: asOf === undefined ? null : formatInstant(asOf) },
  );
  return Number(row?.['number']);
}

/** Every account and month with any cost, in order. Reads every amount's hour. */
export function costPartitions(connection: Connection): Promise<CostPartition[]> {
  return partitionsOf(connection, 'select series_id, bucket_start from ledger.amounts', {});
}

/**
 * The accounts and months in which any hour came to be, changed or went with a load after `lastLoad`, in order. An
 * amount carries the load that gave it its value, so that what stood before is passed over a row group at a time; what
 * went is in the restatements.
 */
export function partitionsChangedSince(connection: Connection, lastLoad: number): Promise<CostPartition[]> {
  return partitionsOf(
    connection,
    `select series_id, bucket_start from ledger.amounts where load_number > $last_load
    union all
    select series_id, bucket_start from ledger.restatements where load_number > $last_load`,
    { last_load: lastLoad },
  );
}

async function partitionsOf(
  connection: Connection,
  hours: string,
  parameters: SqlParameters,
): Promise<CostPartition[]> {
  const rows = await connection.rows(
    `with hours as (${hours}),
    months as (select distinct series_id, date_trunc('month', bucket_start) as month from hours)
    select distinct series.account, epoch_ms(cast(months.month as timestamp)) as month
    from months
    join ledger.series as series using (series_id)
    order by all`,
    parameters,
  );
  return rows.map((row) => ({ account: String(row['account']), month: floorMonth(Number(row['month'])) }));
}

/** A digest of what else than amounts decides what the public views say of them: their SQL, and the units known. */
export async function viewsDigest(connection: Connection): Promise<string> {
  const hash = createHash('sha256');
  for (const { name, text } of await readSqlFolder('views')) hash.update(JSON.stringify([name, text]));
  const units = await connection.rows(`
    select billing_dimension, resource_type, unit from ledger.billing_dimensions
    union all
    select suffix, null, unit from ledger.unit_suffixes
    order by all
  `);
  for (const row of units) hash.update(JSON.stringify(row));
  return hash.digest('hex');
}
