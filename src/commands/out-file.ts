import { randomUUID } from 'node:crypto';
import { realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { UsageError } from '../base/errors.ts';

/** Throws UsageError if the file has no folder, is a folder, or would be inside the books. */
export async function checkOut(path: string, dir: string): Promise<string> {
  const folder = await realpath(dirname(path)).catch(() => undefined);
  if (folder === undefined) throw new UsageError(`--out: the folder ${dirname(path)} does not exist; make it first`);
  const found = await stat(path).catch(() => undefined);
  if (found && !found.isFile()) throw new UsageError(`--out: ${path} is not a file; expected the name of a file`);
  // Imported here because loading DuckDB takes longer than everything else in a process that only asks.
  const { snapshotFile } = await import('../warehouse/integrity/index.ts');
  const books = await realpath(dirname(snapshotFile(dir))).catch(() => undefined);
  if (books !== undefined && !relative(books, folder).startsWith('..')) {
    throw new UsageError(`--out: ${path} is in ${books}, which is reserved for the books; choose another folder`);
  }
  return join(dirname(path), basename(path));
}

/** Writes a file whole or not at all. `path` comes from `checkOut`. */
export async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  const part = `${path}.${randomUUID()}.part`;
  try {
    await writeFile(part, content);
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}
