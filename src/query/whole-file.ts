import { type FileHandle, mkdtemp, open, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/**
 * Makes a file whole or not at all: `work` fills one beside it, which is synced and then renamed over it, so that
 * whoever looks finds the old file or the new one. Returns what `work` returns, and the file's size. Throws what
 * `work` and the file system throw; then nothing is left.
 */
export async function writeWhole<T>(
  path: string,
  work: (part: { readonly file: FileHandle; readonly path: string }) => Promise<T>,
): Promise<{ result: T; bytes: number }> {
  // The folder's real path: DuckDB compares the file that it may write by its name.
  const folder = await realpath(dirname(path));
  const part = join(folder, `.${basename(path)}.${process.pid}.part`);
  const file = await open(part, 'wx');
  try {
    const result = await work({ file, path: part });
    await file.sync();
    const { size } = await file.stat();
    await rename(part, join(folder, basename(path)));
    return { result, bytes: size };
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/** Runs `work` with the path of an empty file that is gone afterwards. */
export async function withPassingFile<T>(folder: string, work: (path: string) => Promise<T>): Promise<T> {
  const own = await mkdtemp(join(await realpath(folder), 'costbook-'));
  try {
    const path = join(own, 'answer');
    await (await open(path, 'wx')).close();
    return await work(path);
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}
