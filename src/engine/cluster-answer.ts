import { engineAnswerTable, fromSource, makeEngineAnswer, noRowsOf } from '../warehouse/sql/index.ts';
import type { Connection, SqlColumn, SqlParameters } from '../warehouse/store/index.ts';

/** The query for the rows of a cluster after `readClusterAnswer`. */
export const clusterAnswerQuery = fromSource(engineAnswerTable);

/**
 * Reads the rows of a cluster into a temporary table of the connection, with the columns and types that DuckDB gives the
 * same query: exact decimals and all. Call it before the connection is locked down.
 */
export async function readClusterAnswer(
  connection: Connection,
  rowsFile: string,
  { sql, parameters }: { readonly sql: string; readonly parameters: SqlParameters },
): Promise<readonly SqlColumn[]> {
  const { columns, chunks } = await connection.stream(noRowsOf(sql), parameters);
  for await (const _ of chunks); // none
  await connection.run(makeEngineAnswer(rowsFile, columns));
  return columns;
}
