import { totalmem } from 'node:os';
import { constrainedMemory } from 'node:process';

/**
 * What DuckDB may hold, in MB; it spills to disk beyond it. A reader may take a third of the memory, at most 2 GB. A
 * writer takes less: what it has written it would keep in memory as long as there is room, and a load needs little of that.
 */
export function memoryLimitMb(readOnly: boolean): number {
  const third = Math.floor(memoryBytes() / 3 / 1024 / 1024);
  return readOnly ? Math.max(256, Math.min(2048, third)) : Math.max(192, Math.min(384, third));
}

/** The memory of the machine, or of the container where that has less. */
function memoryBytes(): number {
  const constrained = constrainedMemory();
  return constrained > 0 ? Math.min(totalmem(), constrained) : totalmem();
}
