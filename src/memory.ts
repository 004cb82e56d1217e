import { totalmem } from 'node:os';
import { constrainedMemory } from 'node:process';

/**
 * DuckDB's memory limit in MB; beyond it, DuckDB spills to disk. A reader may use a third of the memory, at most 512 MB:
 * more would fill with blocks that are read once, and a command should fit into 768 MB. A
 * writer gets less: it would cache what it has written, and a load does not need that.
 */
export function memoryLimitMb(readOnly: boolean): number {
  return readOnly ? Math.max(256, Math.min(512, third())) : Math.max(192, Math.min(384, third()));
}

/** The limit of each snapshot of a dashboard, in MB: it reads the same blocks again and again. Two are open while it prepares a newer one. */
export function dashboardMemoryMb(): number {
  return Math.max(192, Math.min(1024, Math.floor(third() / 2)));
}

function third(): number {
  return Math.floor(memoryBytes() / 3 / 1024 / 1024);
}

/** The memory of the machine, or of the container if that is less. */
function memoryBytes(): number {
  const constrained = constrainedMemory();
  return constrained > 0 ? Math.min(totalmem(), constrained) : totalmem();
}
