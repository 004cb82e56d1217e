import { DamagedFileError, messageOf } from '../base/errors.ts';
import type { ProjectContext } from '../base/project-context.ts';
import type { Warehouse } from '../warehouse/index.ts';
import { lastUnendedRun, openBooks } from '../warehouse/integrity/index.ts';
import { openProjectWarehouse } from './project-warehouse.ts';

/**
 * Opens the warehouse for a run. DuckDB writes some blocks in place, so that a run which is killed in the middle of a
 * checkpoint can leave one that is half written. Such a warehouse is made again from the snapshot and the journal, if
 * that loses nothing. Every other damage has another cause, which a person has to see: it is thrown.
 */
export async function openAfterKill(
  waitMs: number,
  context: ProjectContext,
  options: Parameters<typeof openProjectWarehouse>[2],
): Promise<Warehouse> {
  try {
    return await openProjectWarehouse(waitMs, context, options);
  } catch (error) {
    if (!(error instanceof DamagedFileError) || !(await wasKilled(context))) throw error;
    await makeAgain(error, waitMs, context);
  }
  return openProjectWarehouse(waitMs, context, options);
}

/** Whether the last run has no end; false if the books cannot say. */
async function wasKilled({ dir, signal }: ProjectContext): Promise<boolean> {
  const books = await openBooks(dir, { lockedDown: true, threads: 1, signal }).catch(() => undefined);
  if (books === undefined) return false;
  try {
    return (await lastUnendedRun(dir, books)) !== undefined;
  } finally {
    books.close();
  }
}

/** Throws the damage if the warehouse cannot be made again without a loss. */
async function makeAgain(damage: DamagedFileError, waitMs: number, context: ProjectContext): Promise<void> {
  const { repair } = await import('./repair.ts');
  const { movedAside, madeFrom } = await repair({ acceptLoss: false, waitMs }, context).catch((reason: unknown) => {
    context.signal.throwIfAborted();
    context.effects.log.warn('warehouse.not_mended', 'Could not mend the warehouse', { reason: messageOf(reason) });
    throw damage;
  });
  context.effects.log.warn('warehouse.mended', 'The killed run left a block half written; nothing is lost', {
    ...{ damage: damage.damage, madeFrom, movedAside },
  });
}
