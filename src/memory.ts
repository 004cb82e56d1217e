import { totalmem } from 'node:os';
import { constrainedMemory } from 'node:process';

/**
 * DuckDB's memory limit in MB; beyond it, DuckDB spills to disk. A reader may use a third of the memory, at most 2 GB. A
 * writer gets less: it would cache what it has written, and a load does not need that.
 */
export function memoryLimitMb(readOnly: boolean): number {
  const third = Math.floor(memoryBytes() / 3 / 1024 / 1024);
  return readOnly ? Math.max(256, Math.min(2048, third)) : Math.max(192, Math.min(384, third));
}

/** The limit of each snapshot of a dashboard, in MB: two are open while it prepares a newer one, and share a reader's limit. */
export function dashboardMemoryMb(): number {
  return Math.max(192, Math.floor(memoryLimitMb(true) / 2));
}

/** The memory of the machine, or of the container if that is less. */
function memoryBytes(): number {
  const constrained = constrainedMemory();
  return constrained > 0 ? Math.min(totalmem(), constrained) : totalmem();
}
