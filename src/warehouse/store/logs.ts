import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ChangedFileError } from '../../base/errors.ts';
import { repair } from '../../base/next-step.ts';

/** The names of write-ahead logs next to a DuckDB file. */
export async function logsBeside(file: string): Promise<string[]> {
  const names = await readdir(dirname(file)).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter((name) => name.startsWith(`${basename(file)}.wal`)).map((name) => join(dirname(file), name));
}

/** Throws ChangedFileError if DuckDB would apply another program's log to a file that only Costbook writes. */
export async function refuseLogsBeside(file: string): Promise<void> {
  const [log] = await logsBeside(file);
  if (log === undefined) return;
  throw new ChangedFileError(
    `${log} was left by another program that opened the snapshot for writing, and would change its numbers`,
    { subject: log, next: repair(', which removes it') },
  );
}
