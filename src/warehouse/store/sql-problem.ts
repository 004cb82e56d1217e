import { UsageError } from '../../base/errors.ts';
import type { SqlFile } from '../sql/sql-files.ts';
import type { SqlError } from './connection.ts';
import { isFileAccess } from './duckdb-errors.ts';

/**
 * DuckDB's error about a file's SQL, with the file's path and line in front if DuckDB names one. `linesBefore` is the
 * number of lines before the file's first line in the text that ran.
 */
export function sqlProblem(file: SqlFile, error: SqlError | UsageError, linesBefore: number): UsageError {
  // An error that already starts with a file and line is about a user's file that the SQL reads.
  const [, own] = /^Invalid Input Error: (\/[^\n]*:\d+: .*)$/s.exec(error.message.trim()) ?? [];
  if (own !== undefined) return new UsageError(own, { cause: error });
  let place = file.path;
  const words = error.message.trim().replace(/LINE (\d+):/, (marker, lineNumber: string) => {
    const line = Math.max(1, Number(lineNumber) - linesBefore);
    place = file.places?.[line - 1] ?? `${place}:${line}`;
    return `LINE ${line}:`.padEnd(marker.length); // the caret below stays under its character
  });
  const hint = isFileAccess(error)
    ? '\nSQL can read only files that parameters of type file name ("--! params: prices file"); checks can read none'
    : '';
  return new UsageError(`${place}: ${words}${hint}`, { cause: error });
}
