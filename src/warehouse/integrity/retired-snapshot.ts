import { chmod, link, readdir, readlink, rename, rm, stat, statfs, utimes } from 'node:fs/promises';
import { openDatabase } from '../store/database.ts';
import { blockBytesOf, type SealState } from './seal.ts';

/** When the file of a replaced snapshot is used again. */
export interface Retiring {
  /** A smaller snapshot is copied whole: that takes less than a second. */
  readonly leastBytes: number;
  /** How long ago it was replaced, in milliseconds: a program may still be copying it. */
  readonly leastAgeMs: number;
}

export const usualRetiring: Retiring = { leastBytes: 256 * 1024 * 1024, leastAgeMs: 60 * 60_000 };

/** The file of a replaced snapshot that no program reads. */
export interface Retired {
  readonly path: string;
  /** The length of its blocks, in bytes. */
  readonly blockBytes: number;
}

/** The free space that must remain, in sizes of a snapshot. */
const freeCopies = 2;

/**
 * Keeps the file of the snapshot that is about to be replaced, so that the next publication writes only the blocks that
 * differ into it. Only for large snapshots as Costbook published them, on a disk with much space. Call it just before
 * the new snapshot is renamed over it.
 */
export async function keepRetired(
  snapshot: string,
  before: SealState | undefined,
  { leastBytes }: Retiring,
): Promise<void> {
  const retired = retiredFile(snapshot);
  await rm(retired, { force: true });
  if (before?.state !== 'intact' || before.seal.bytes < leastBytes) return;
  const { bavail, bsize } = await statfs(snapshot);
  if (bavail * bsize < freeCopies * before.seal.bytes) return;
  try {
    await link(snapshot, retired);
    await utimes(retired, new Date(), new Date());
  } catch {
    await rm(retired, { force: true }); // a file system without links: the next publication copies the file whole
  }
}

/**
 * Takes the file of the snapshot before the present one, for the next publication to write to. Returns undefined, and removes
 * the file, unless the length of its blocks is known and it is certain that no program reads it: it was replaced long
 * ago, DuckDB can lock it, and on Linux no visible process has it open.
 */
export async function takeRetired(
  snapshot: string,
  present: SealState | undefined,
  { leastAgeMs }: Retiring,
): Promise<Retired | undefined> {
  const retired = retiredFile(snapshot);
  const found = await stat(retired).catch(() => undefined);
  if (found === undefined) return undefined;
  const taken = `${retired}.part`; // what a killed publication leaves under this name is removed
  const isOld = Date.now() - found.mtimeMs >= leastAgeMs;
  const blockBytes = await blockBytesOf(retired);
  if (
    blockBytes !== undefined &&
    present?.state === 'intact' &&
    found.nlink === 1 &&
    isOld &&
    !(await isOpen(found)) &&
    (await isLockable(retired))
  ) {
    await rename(retired, taken);
    return { path: taken, blockBytes };
  }
  await rm(retired, { force: true });
  return undefined;
}

function retiredFile(snapshot: string): string {
  return `${snapshot}.retired`;
}

/** Whether no program has the file open through DuckDB, which locks the files that it reads. */
async function isLockable(file: string): Promise<boolean> {
  try {
    await chmod(file, 0o600);
    (await openDatabase(file, { readOnly: false })).close();
    return true;
  } catch {
    return false;
  }
}

/** Whether a process that this one may look at has the file open. Only Linux tells; elsewhere the answer is no. */
async function isOpen({ ino, dev }: { readonly ino: number; readonly dev: number }): Promise<boolean> {
  const processes = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  for (const id of processes) {
    const folder = `/proc/${id}/fd`;
    for (const descriptor of await readdir(folder).catch(() => [])) {
      const path = `${folder}/${descriptor}`;
      if (!(await readlink(path).catch(() => '')).includes('costbook.duckdb')) continue;
      const opened = await stat(path).catch(() => undefined);
      if (opened?.ino === ino && opened.dev === dev) return true;
    }
  }
  return false;
}
