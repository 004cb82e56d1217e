import { totalmem } from 'node:os';

/** What DuckDB may take for one command, in MB: a third of the machine's memory, at most 2 GB; it spills to disk beyond. */
export function memoryLimitMb(): number {
  return Math.max(256, Math.min(2048, Math.floor(totalmem() / 3 / 1024 / 1024)));
}
