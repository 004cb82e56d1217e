import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DamagedFileError } from '../errors.ts';
import type { Instant } from '../time.ts';
import { damagedWarehouse, repairs, setAside, type Traces } from './intactness.ts';
import { snapshotFile } from './published.ts';
import { damageOfWarehouse, readSeal } from './seal.ts';

/** The writer's file, below the project folder. */
export function warehouseFile(dir: string): string {
  return join(dir, 'data', 'warehouse.duckdb');
}

/**
 * What is seen from outside to be wrong with the writer's file: `is missing`, `is damaged (it is empty)`; undefined where
 * nothing is. Not for the process that holds it, whose lock would be dropped.
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
    if (code === 'EISDIR') return 'is a folder';
    if (code === 'EACCES') return undefined; // whoever reads need not be allowed to
    throw error;
  }
}

/** Throws DamagedFileError where the writer's file is seen to be damaged before DuckDB opens it. */
export async function refuseDamaged(file: string, traces: Traces): Promise<void> {
  const found = await damageOfWarehouse(file, traces.seal).catch(() => undefined); // DuckDB says why it cannot be read
  if (found !== undefined) throw damagedWarehouse(new DamagedFileError(file, found, repairs), traces);
}

/** Whether a path is the writer's file. */
export function isWarehouse(dir: string, path: string): boolean {
  return path === warehouseFile(dir);
}

/** Moves the writer's file aside, with its log; returns its new path, or undefined where there was none. */
export function setWarehouseAside(dir: string, at: Instant): Promise<string | undefined> {
  return setAside(warehouseFile(dir), at);
}

/** How large the writer's file is; undefined where there is none. */
export async function warehouseBytes(dir: string): Promise<number | undefined> {
  return stat(warehouseFile(dir)).then(
    ({ size }) => size,
    () => undefined,
  );
}
