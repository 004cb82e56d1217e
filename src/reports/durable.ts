import { copyFile, link, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Names that only we give, to what is being written: nobody reads them, and the next run removes what is left of them. */
const partPattern = /^\..+\.\d+\.part$/;

/** Where a file is written before it gets its name: beside it, hidden from whoever lists `*.csv` or `*.parquet`. */
export function partOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.${process.pid}.part`);
}

/** Whether a name is one of `partOf`. */
export function isPart(name: string): boolean {
  return partPattern.test(name);
}

/** Brings what is written of a file, or the names in a folder, onto the disk. */
export async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Puts a text under a name, whole: written aside, synced, renamed, the folder synced. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const part = partOf(path);
  try {
    await writeFile(part, text);
    await syncPath(part);
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  await syncPath(dirname(path));
}

/** Makes `path` another name of a file, in the place of what had that name, which is never missing meanwhile. */
export async function relink(file: string, path: string): Promise<void> {
  // rename() between two names of one file does nothing, and would leave the part.
  if (await isSameFile(file, path)) return;
  const part = partOf(path);
  try {
    await rm(part, { force: true });
    await link(file, part).catch((error: NodeJS.ErrnoException) => {
      // Not every file system has hard links.
      if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(error.code ?? '')) throw error;
      return copyFile(file, part);
    });
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** Whether two names are of one file; false where either is missing. */
export async function isSameFile(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([statOf(one), statOf(other)]);
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev;
}

/** Bytes, inode and device of a file; undefined where there is none. */
export function statOf(path: string): Promise<{ size: number; ino: number; dev: number } | undefined> {
  return stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
}

/** The names in a folder, in order; none where it is not there. */
export async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
  return names.sort();
}
