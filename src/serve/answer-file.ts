import { UsageError } from '../base/errors.ts';
import type { TableAnswer } from '../query/index.ts';
import { csvChunks } from '../reports/formats/index.ts';
import { exportTypes } from '../tables/file-formats.ts';
import { refusal } from './child-work.ts';
import { BusyError } from './limiter.ts';
import type { Download } from './page.ts';

/** More rows are for the command line, which writes them without holding them. */
export const maxFileRows = 5000;

/**
 * The answer of a query or a report as CSV without formulas: all its rows. Throws UsageError for a query that is refused, and
 * for more rows than a file has, with the command that writes them.
 */
export async function answerFile(
  name: string,
  ask: () => Promise<TableAnswer>,
  { command, signal }: { readonly command: string; readonly signal: AbortSignal },
): Promise<Download> {
  const { columns, rows, truncated } = await ask().catch((error: unknown) => {
    const { words } = refusal(error, signal);
    throw error instanceof BusyError ? error : new UsageError(words);
  });
  if (truncated)
    throw new UsageError(`found more than ${maxFileRows} rows, expected fewer in a file from here; run "${command}"`);
  async function* chunks() {
    yield rows.map((row) => columns.map((column) => cellOf(row[column.name])));
  }
  let body = '';
  for await (const chunk of csvChunks({ columns, chunks: chunks() }, { raw: false })) body += chunk;
  return { name, type: exportTypes.csv, body };
}

function cellOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
