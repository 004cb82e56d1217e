import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DamagedFileError } from '../../base/errors.ts';
import type { Instant } from '../../time/time.ts';
import { logsBeside } from '../store/logs.ts';
import { damagedWarehouse, repairs, setAside, type Traces } from './damage.ts';
import { damageOfWarehouse, hasHeadersOf, readSeal, type Seal } from './seal.ts';
import { snapshotFile } from './snapshot-file.ts';

/** The writer's file, below the project folder. */
export function warehouseFile(dir: string): string {
  return join(dir, 'data', 'warehouse.duckdb');
}

/**
 * What is visibly wrong with the writer's file: `is missing`, `is damaged (it is empty)`; undefined if nothing. Not for
 * the process that holds the file: it would lose its lock.
 */
export async function warehouseFault(dir: string): Promise<string | undefined> {
  const file = warehouseFile(dir);
  try {
    const published = await readSeal(snapshotFile(dir)).catch(() => undefined);
    const found = await damageOfWarehouse(file, published?.state === 'intact' ? published.seal : undefined);
    return found === undefined ? undefined : `is damaged (${found})`;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return 'is missing';
    if (code === 'EISDIR') return 'is no file';
    if (code === 'EACCES') return undefined; // readers need no access to it
    throw error;
  }
}

/**
 * Whether the writer's file was written to since the snapshot was published: by a run that is active or was killed, or
 * by another program. False if there is no intact snapshot or no such file. Not for the process that holds the file.
 */
export async function isWrittenSincePublished(dir: string): Promise<boolean> {
  return (await sinceSeal(dir))?.isWritten ?? false;
}

/**
 * The seal of the snapshot if the writer's file is still what was published: each checkpoint changes its headers, and
 * other changes are in its log. Undefined otherwise. Not for the process that holds the file.
 */
export async function asPublished(dir: string): Promise<Seal | undefined> {
  const found = await sinceSeal(dir);
  return found?.isWritten === false ? found.seal : undefined;
}

async function sinceSeal(dir: string): Promise<{ readonly seal: Seal; readonly isWritten: boolean } | undefined> {
  const file = warehouseFile(dir);
  const published = await readSeal(snapshotFile(dir)).catch(() => undefined);
  if (published?.state !== 'intact') return undefined;
  const isSame = await hasHeadersOf(file, published.seal).catch(() => undefined); // reported elsewhere
  if (isSame === undefined) return undefined;
  return { seal: published.seal, isWritten: !isSame || (await hasLog(file)) };
}

/** Whether a write-ahead log next to a DuckDB file has any content. */
async function hasLog(file: string): Promise<boolean> {
  for (const log of await logsBeside(file)) {
    if (((await stat(log).catch(() => undefined))?.size ?? 0) > 0) return true;
  }
  return false;
}

/** Throws DamagedFileError if the writer's file is visibly damaged, before DuckDB opens it. */
export async function refuseDamaged(file: string, traces: Traces): Promise<void> {
  const found = await damageOfWarehouse(file, traces.seal).catch(() => undefined); // DuckDB reports why it is unreadable
  if (found !== undefined) throw damagedWarehouse(new DamagedFileError(file, found, { next: repairs }), traces);
}

/** Whether a path is the writer's file. */
export function isWarehouse(dir: string, path: string): boolean {
  return path === warehouseFile(dir);
}

/** Moves the writer's file aside, with its log; returns its new path, or undefined if there was none. */
export function setWarehouseAside(dir: string, at: Instant): Promise<string | undefined> {
  return setAside(warehouseFile(dir), at);
}

/** Size of the writer's file in bytes; undefined if there is none. */
export async function warehouseBytes(dir: string): Promise<number | undefined> {
  return stat(warehouseFile(dir)).then(
    ({ size }) => size,
    () => undefined,
  );
}
