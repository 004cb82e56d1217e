import { UsageError } from '../errors.ts';
import type { SqlFile } from '../warehouse/index.ts';

/**
 * What DuckDB says of a file's SQL, with the file's path and the line in front where it names one. `linesBefore` is how
 * many lines stood before the file's first in what was run.
 */
export function sqlProblem(file: SqlFile, error: Error, linesBefore: number): UsageError {
  const line = /LINE (\d+):/.exec(error.message)?.[1];
  const place = line === undefined ? '' : `:${Math.max(1, Number(line) - linesBefore)}`;
  return new UsageError(`${file.path}${place}: ${error.message.trim()}`, { cause: error });
}
