import { readdir, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { kill } from 'node:process';

/** Where DuckDB puts what does not fit into memory: one folder of the writer's, one of each reader's. */
export function spillFolder(folder: string, readOnly: boolean): string {
  return join(folder, readOnly ? `${readersPrefix}${process.pid}` : writersName);
}

const writersName = '.spill';
const readersPrefix = '.spill-';
const maxMb = 20_000;
const quietMs = 3_600_000;

/**
 * What may be spilled, in MB: half of what is free on the disk, at most 20 GB. A query that runs away then ends with an
 * error and leaves room for the night's load and its snapshot.
 */
export async function maxSpillMb(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return Math.max(1, Math.min(maxMb, Math.floor((bavail * bsize) / 2 / 1024 / 1024)));
}

/** Removes what a writer that was killed had spilled; only whoever holds the lock may. */
export async function clearSpill(folder: string): Promise<void> {
  await rm(join(folder, writersName), { recursive: true, force: true });
}

/** Removes what a reader had spilled that is known to have ended. */
export async function removeReadersSpill(folder: string, pid: number): Promise<void> {
  await rm(join(folder, `${readersPrefix}${pid}`), { recursive: true, force: true });
}

/**
 * Removes what readers that were killed had spilled. A reader in another container has a number that means nothing
 * here, so a folder also has to have been left alone for an hour.
 */
export async function removeDeadReadersSpill(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const pid = name.startsWith(readersPrefix) ? Number(name.slice(readersPrefix.length)) : Number.NaN;
    if (!Number.isInteger(pid) || isAlive(pid)) continue;
    const path = join(folder, name);
    // Where it cannot be removed (a reader may have no right to), the writer will.
    const found = await stat(path).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > quietMs) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

function isAlive(pid: number): boolean {
  try {
    kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
