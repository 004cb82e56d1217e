import { randomUUID } from 'node:crypto';
import { lstat, mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { UsageError } from '../../base/errors.ts';
import { act } from '../../base/next-step.ts';

/** Temporary names of our own. Nobody reads such files, and the next run removes leftovers. */
const partPattern = /^\..+\.\d+\.part$/;

/**
 * The temporary path of a file: in the same folder, and not matched by `*.csv` or `*.parquet`. Nobody can guess it: who may
 * write there too, or SQL of a project beside it, could have put a link in its place.
 */
export function partOf(path: string): string {
  return join(dirname(path), `.${basename(path)}-${randomUUID()}.${process.pid}.part`);
}

/** Whether a name comes from `partOf`. */
export function isPart(name: string): boolean {
  return partPattern.test(name);
}

/** Removes a file, if it is there. A folder of that name is somebody else's, and stays. */
export async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_FS_EISDIR') throw error;
  });
}

/** Syncs a file, or the names in a folder, to disk. */
export async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Writes a text atomically: to a temporary file that is synced and renamed; then syncs the folder. */
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

/** Bytes, inode and device of a file; undefined if it does not exist. */
export function statOf(path: string): Promise<{ size: number; ino: number; dev: number } | undefined> {
  return stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
}

/**
 * Makes folders below another, each in the one before, where they are missing. Throws UsageError for a link in their place: in a
 * shared folder, others may have put it there, and it would lead elsewhere what is written and removed.
 */
export async function makeFolders(root: string, names: readonly string[]): Promise<void> {
  await mkdir(root, { recursive: true });
  let path = root;
  for (const name of names) {
    path = join(path, name);
    await mkdir(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    if ((await lstat(path)).isDirectory()) continue;
    throw new UsageError(`found ${path}, which is a link or a file, expected a folder of exports`, {
      next: act('remove it, or name another folder with --out.'),
    });
  }
}

/** The names in a folder, sorted; empty if it does not exist. */
export async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
  return names.sort();
}
