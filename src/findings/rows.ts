import { readSql } from '../warehouse/sql/index.ts';
import type { Connection, SqlParameters, SqlRow } from '../warehouse/store/index.ts';

/** The rows of a query in `sql/alerts`. */
export async function alertRows(connection: Connection, name: string, parameters?: SqlParameters): Promise<SqlRow[]> {
  return connection.rows(await readSql('alerts', name), parameters);
}
