import { UsageError } from '../../base/errors.ts';
import { type SqlResult, toJsonValue } from '../../warehouse/store/index.ts';

/** Rows as objects, chunk by chunk: decimals are text, so that they stay exact. Throws UsageError for two columns of one name. */
export async function* jsonRows({ columns, chunks }: SqlResult): AsyncGenerator<Record<string, unknown>[]> {
  const repeated = columns.find(({ name }, index) => columns.findIndex((column) => column.name === name) !== index);
  for await (const rows of chunks) {
    if (rows.length === 0) continue;
    if (repeated) throw new UsageError(`two columns are named "${repeated.name}": rename one with "as"`);
    yield rows.map((row) =>
      Object.fromEntries(columns.map(({ name }, index) => [name, toJsonValue(row[index] ?? null)])),
    );
  }
}

/**
 * Writes the rows as JSON objects, one per line, in chunks. Decimals and integers beyond 2^53 are text, so that no
 * reader converts them to doubles; instants are `2026-10-01T00:00:00Z`. Throws UsageError if two columns have the same
 * name.
 */
export async function* jsonLines(result: SqlResult): AsyncGenerator<string[]> {
  for await (const rows of jsonRows(result)) yield rows.map((row) => JSON.stringify(row));
}

/** Writes an answer as one JSON array, one object per line as in `jsonLines`. */
export async function* jsonChunks(result: SqlResult): AsyncGenerator<string> {
  let lead = '[';
  for await (const lines of jsonLines(result)) {
    yield `${lead}\n${lines.join(',\n')}`;
    lead = ',';
  }
  yield lead === '[' ? '[]\n' : '\n]\n';
}
