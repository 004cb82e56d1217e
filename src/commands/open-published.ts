import { memoryBesideWriterMb } from '../base/memory.ts';
import type { Warehouse } from '../warehouse/index.ts';
import { type Books, openBooks } from '../warehouse/integrity/index.ts';
import type { CommandContext } from './command.ts';

/**
 * Publishes the warehouse and opens the snapshot beside it: SQL of users must not reach the writer's file. Both together use no
 * more memory than other commands, although an ingest of the same job has read many blocks. Throws as `publish` and `openBooks`.
 */
export async function openPublished(
  warehouse: Pick<Warehouse, 'publish' | 'dropBlocks'>,
  { dir, signal }: Pick<CommandContext, 'dir' | 'signal'>,
): Promise<Books> {
  await warehouse.publish();
  await warehouse.dropBlocks();
  return openBooks(dir, { lockedDown: true, memoryMb: memoryBesideWriterMb(), signal });
}
