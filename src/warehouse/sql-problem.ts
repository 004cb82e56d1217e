import { UsageError } from '../errors.ts';
import type { SqlError } from './connection.ts';
import type { SqlFile } from './sql-files.ts';

/**
 * What DuckDB says of a file's SQL, with the file's path and the line in front where it names one. `linesBefore` is how
 * many lines stood before the file's first in what was run.
 */
export function sqlProblem(file: SqlFile, error: SqlError | UsageError, linesBefore: number): UsageError {
  // What a file calls an error itself, with file and line, is about a file of the user's that it reads.
  const [, own] = /^Invalid Input Error: (\/[^\n]*:\d+: .*)$/s.exec(error.message.trim()) ?? [];
  if (own !== undefined) return new UsageError(own, { cause: error });
  let place = file.path;
  const words = error.message.trim().replace(/LINE (\d+):/, (marker, told: string) => {
    const line = Math.max(1, Number(told) - linesBefore);
    place += `:${line}`;
    return `LINE ${line}:`.padEnd(marker.length); // the caret below stands under the same character
  });
  const hint = /^Permission Error: Cannot access file/.test(words)
    ? '\nSQL reads only the files that its parameters of type file name ("--! params: prices file"), and checks read none'
    : '';
  return new UsageError(`${place}: ${words}${hint}`, { cause: error });
}
