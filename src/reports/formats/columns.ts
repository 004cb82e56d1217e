import { noRowsOf } from '../../warehouse/sql/index.ts';
import type { Connection, SqlColumn, SqlParameters } from '../../warehouse/store/index.ts';

/** The columns of a SELECT. Parses and binds it, but does not run it. Throws SqlError if it is invalid. */
export async function columnsOf(
  connection: Connection,
  query: string,
  parameters: SqlParameters,
): Promise<readonly SqlColumn[]> {
  const { columns, chunks } = await connection.stream(noRowsOf(query), parameters);
  for await (const _ of chunks);
  return columns;
}
