import { UsageError } from '../base/errors.ts';
import type { TableAnswer } from '../query/index.ts';
import { factsOf } from '../reports/formats/index.ts';
import { exportTypes } from '../tables/file-formats.ts';
import { refusal } from './child-work.ts';
import { BusyError } from './limiter.ts';
import type { Download } from './page.ts';
import { type PageFormat, rowsFile } from './rows-file.ts';

/** More rows are for the command line, which writes them without holding them. */
export const maxFileRows = 5000;

/**
 * The answer of a query or a report as a file: all its rows. Throws UsageError for a query that is refused, and for more rows than
 * a file has, with the command that writes them.
 */
export async function answerFile(
  title: string,
  ask: () => Promise<TableAnswer>,
  { format, command, signal }: { readonly format: PageFormat; readonly command: string; readonly signal: AbortSignal },
): Promise<Download> {
  const answer = await ask().catch((error: unknown) => {
    const { words } = refusal(error, signal);
    throw error instanceof BusyError ? error : new UsageError(words);
  });
  const { columns, truncated, completeThrough, settledThrough } = answer;
  if (truncated)
    throw new UsageError(`found more than ${maxFileRows} rows, expected fewer in a file from here; run "${command}"`);
  const facts = factsOf({ completeThrough, settledThrough, completeFrom: null, asOf: null, closedAt: null });
  const rows = answer.rows.map((row) => columns.map((column) => cellOf(row[column.name])));
  const body = await rowsFile({ columns, rows, facts, title, signal }, format);
  return { name: `${title}.${format}`, type: exportTypes[format], body };
}

function cellOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
