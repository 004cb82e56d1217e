import { totalmem } from 'node:os';

/**
 * How DuckDB's allocator returns freed memory, as the value of the variable that it reads when DuckDB is loaded. By default
 * it keeps freed pages for a second in several pools, beyond DuckDB's limit: loading 10 M rows peaked at 840 MiB instead of
 * 655 MiB. `retain` also returns the addresses, which the kernel's limit of a child counts.
 */
export const allocatorVariable = 'DUCKDB_JE_MALLOC_CONF';
export const allocatorSettings = 'narenas:1,dirty_decay_ms:20,muzzy_decay_ms:0,retain:false';

/**
 * DuckDB's memory limit in MB; beyond it, DuckDB spills to disk. A reader may use a third of the memory, at most 512 MB:
 * more would fill with blocks that are read once, and a command should fit into 768 MB. A
 * writer gets less: it would cache what it has written, and a load does not need that.
 */
export function memoryLimitMb(readOnly: boolean): number {
  return readOnly ? Math.max(256, Math.min(512, third())) : Math.max(192, Math.min(384, third()));
}

/** The limit in MB of a reader beside a writer in the same process: what the writer holds meanwhile comes on top. */
export function memoryBesideWriterMb(): number {
  return Math.max(192, memoryLimitMb(true) - 80);
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
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(totalmem(), constrained) : totalmem();
}
