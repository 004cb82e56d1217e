import { lstat, readdir, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Room } from '../../text/full-disk.ts';
import { warehouseBytes } from './warehouse-file.ts';

/** The room on the disk of a project, in bytes. */
export interface Space extends Room {
  readonly books: number;
}

/** Publishing copies the books: for a moment they exist three times, and a night adds to them. */
export async function spaceOf(dir: string): Promise<Space> {
  const books = (await warehouseBytes(dir)) ?? 0;
  const { bavail, bsize } = await statfs(dir);
  const [free, needed] = [bavail * bsize, Math.max(0.2 * 1024 ** 3, 2 * books)];
  return { free, needed, books, ...(free < needed ? { largest: await largestIn(dir) } : {}) };
}

/** A smaller one frees too little. */
const leastBytes = 10 * 1024 ** 2;
const mostNamed = 3;

/** What takes the most room in a project folder; of `data` only the pages, of which a setting deletes old ones. */
export async function largestIn(dir: string): Promise<NonNullable<Room['largest']>> {
  const top = (await readdir(dir)).filter((name) => name !== 'data');
  const sizes = await Promise.all(
    [...top, 'data/landing'].map(async (path) => ({ path, bytes: await bytesBelow(join(dir, path)) })),
  );
  const large = sizes.filter(({ bytes }) => bytes >= leastBytes);
  return large.toSorted((a, b) => b.bytes - a.bytes || (a.path < b.path ? -1 : 1)).slice(0, mostNamed);
}

/** What a file takes, or all files of a folder. Links are not followed: they lead elsewhere, or round. */
async function bytesBelow(path: string): Promise<number> {
  const sizeOf = async (each: string) => (await lstat(each).catch(() => undefined))?.size ?? 0;
  const isFolder = (await lstat(path).catch(() => undefined))?.isDirectory() === true;
  if (!isFolder) return sizeOf(path);
  let bytes = 0;
  for (const entry of await readdir(path, { recursive: true, withFileTypes: true }).catch(() => []))
    bytes += await sizeOf(join(entry.parentPath, entry.name));
  return bytes;
}
