import { join } from 'node:path';
import type { FastClock } from '../effects.ts';
import { readSeal } from './seal.ts';

/** The snapshot that readers open, below the project folder. */
export function snapshotFile(dir: string): string {
  return join(dir, 'data', 'costbook.duckdb');
}

/**
 * What the published books say of a clock that was ahead, read from the seal without DuckDB; undefined where they say
 * nothing. A snapshot that cannot be read says nothing here: the command that opens it reports what is wrong.
 */
export async function publishedClock(dir: string): Promise<FastClock | undefined> {
  const sealed = await readSeal(snapshotFile(dir)).catch(() => undefined);
  return sealed?.state === 'intact' ? sealed.seal.fastClock : undefined;
}
