import type { Connection, SqlColumn, SqlParameters } from '../warehouse/index.ts';

/** The columns that a SELECT would answer with; it is read, bound and not run. Throws SqlError where it is wrong. */
export async function columnsOf(
  connection: Connection,
  query: string,
  parameters: SqlParameters,
): Promise<readonly SqlColumn[]> {
  // The query begins on the first line, so that its lines count from there; it may end in a comment.
  const { columns, pieces } = await connection.stream(`select * from (${query}\n) limit 0`, parameters);
  for await (const _ of pieces);
  return columns;
}

/** A column's name as SQL text. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
