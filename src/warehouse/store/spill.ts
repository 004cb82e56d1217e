import { randomUUID } from 'node:crypto';
import { access, constants, readdir, rm, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Folders next to the database with what exceeds DuckDB's memory. */
const prefix = '.spill';
const maxMb = 20_000;
const quietMs = 3_600_000;

/** A reader's folder. Its name is random: process IDs repeat between containers that share a folder. */
export function readersSpillName(reader: string = randomUUID()): string {
  return `${readersSpillPrefix(reader)}${randomUUID()}`;
}

/** The common prefix of all folders of one reader: it may open the snapshot several times. */
export function readersSpillPrefix(reader: string): string {
  return `${prefix}-${reader}-`;
}

/** A new name for the folder of a database file's writer. */
export function writersSpillName(database: string): string {
  return `${writersPrefix(database)}${randomUUID()}`;
}

function writersPrefix(database: string): string {
  return `${prefix}-${database}-`;
}

/**
 * How much may be spilled, in MB: half of the free disk space, at most 20 GB. A runaway query then ends with an error
 * and leaves room for the night's load and its snapshot.
 */
export async function maxSpillMb(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return Math.max(1, Math.min(maxMb, Math.floor((bavail * bsize) / 2 / 1024 / 1024)));
}

/** Where a reader spills: next to the database, or in the system's temporary folder if it may not write there. */
export async function spillRoom(folder: string): Promise<string> {
  return access(folder, constants.W_OK).then(
    () => folder,
    () => tmpdir(),
  );
}

/** Removes what killed writers of a database file spilled; only the holder of the file's lock may call this. */
export async function clearWritersSpill(folder: string, database: string, own: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.startsWith(writersPrefix(database)) && name !== own)
      await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** Removes every spill folder without changes for an hour: its process was killed. */
export async function removeOldSpill(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    if (!name.startsWith(`${prefix}-`)) continue;
    const path = join(folder, name);
    const changedAt = await lastChange(path).catch(() => undefined); // another process has removed it meanwhile
    if (changedAt === undefined || Date.now() - changedAt <= quietMs) continue;
    // If this reader may not remove it, the writer will.
    await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** When a folder or a file in it was last written. */
async function lastChange(path: string): Promise<number> {
  const paths = [path, ...(await readdir(path)).map((name) => join(path, name))];
  return Math.max(...(await Promise.all(paths.map(async (each) => (await stat(each)).mtimeMs))));
}
