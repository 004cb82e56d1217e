import { randomUUID } from 'node:crypto';
import { mkdtemp, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

// Folders by their real paths: DuckDB compares the name of the file that it may write.

/**
 * Writes a file completely or not at all: `fill` writes a new file, which is synced and then renamed over the target,
 * so that readers find the old file or the new one. Returns the result of `fill`, and the file's size. Throws what
 * `fill` and the file system throw; then nothing is left.
 */
export async function writeWhole<T>(
  path: string,
  fill: (part: string) => Promise<T>,
): Promise<{ result: T; bytes: number }> {
  const folder = await realpath(dirname(path));
  const name = basename(path);
  const part = join(folder, `.${randomUUID()}-${name}.part`);
  try {
    const result = await fill(part);
    const file = await open(part, 'r+');
    await file.sync();
    await file.close();
    const { size } = await stat(part);
    await rename(part, join(folder, name));
    return { result, bytes: size };
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** Runs `work` with an unused path, in a folder of its own that is removed afterwards. */
export async function withPassingFile<T>(folder: string, work: (path: string) => Promise<T>): Promise<T> {
  const own = await mkdtemp(join(await realpath(folder), 'costbook-'));
  try {
    return await work(join(own, 'answer'));
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}
