import { join } from 'node:path';
import type { FastClock } from '../../time/clock.ts';
import { readSeal } from './seal.ts';

/** The snapshot that readers open, below the project folder. */
export function snapshotFile(dir: string): string {
  return join(dir, 'data', 'costbook.duckdb');
}

/**
 * The clock that was ahead according to the published books, read from the seal without DuckDB; undefined if there is
 * none. Ignores an unreadable snapshot: the command that opens it reports the problem.
 */
export async function publishedClock(dir: string): Promise<FastClock | undefined> {
  const sealed = await readSeal(snapshotFile(dir)).catch(() => undefined);
  return sealed?.state === 'intact' ? sealed.seal.fastClock : undefined;
}
