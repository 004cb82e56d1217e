import { statfs } from 'node:fs/promises';
import { warehouseBytes } from './warehouse-file.ts';

/** The room on the disk of a project, in bytes. */
export interface Space {
  readonly free: number;
  /** What a run may need. */
  readonly needed: number;
  readonly books: number;
}

/** Publishing copies the books: for a moment they exist three times, and a night adds to them. */
export async function spaceOf(dir: string): Promise<Space> {
  const books = (await warehouseBytes(dir)) ?? 0;
  const { bavail, bsize } = await statfs(dir);
  return { free: bavail * bsize, needed: Math.max(0.2 * 1024 ** 3, 2 * books), books };
}
