import { join } from 'node:path';
import type { ProjectContext } from '../base/project-context.ts';
import { prepareDecoding, readStoredLoads } from '../fetch/index.ts';
import {
  type Knowledge,
  type LoadInBooks,
  openRebuildingWarehouse,
  type RebuildingBase,
} from '../warehouse/integrity/index.ts';
import { JournalLossError } from '../warehouse/journal/index.ts';
import { rebuildLoads, withLandingLosses } from './rebuild.ts';

export interface WarehouseAsked {
  /** The last journal event and the last load to include; undefined for all. */
  readonly throughEvent?: number | undefined;
  readonly throughLoad?: number | undefined;
  /** Loads that must exist, and what is known about lost ones. */
  readonly loadsInBooks?: (() => Promise<readonly LoadInBooks[]>) | undefined;
  /** A snapshot to start from; undefined to use only landing folder and journal. */
  readonly base?: RebuildingBase | undefined;
  /** The last journal event that present books have: a repair can restore it. */
  readonly inBooks?: number | undefined;
  /** Whether to continue without events that a repair recorded as lost. */
  readonly acceptsGaps?: boolean;
  /** Inspects the new file before it is renamed; if this throws, the file is discarded. */
  readonly beforeFinish?: (knows: Knowledge) => Promise<void>;
}

/**
 * Creates a warehouse from landing folder and journal, whole or not at all; returns the number of loads read.
 * Throws UnprovenError if answers are missing or do not reconcile, UsageError if the file exists.
 */
export async function makeWarehouse(
  file: string,
  {
    throughEvent,
    throughLoad,
    loadsInBooks = async () => [],
    base,
    inBooks = 0,
    acceptsGaps = false,
    beforeFinish,
  }: WarehouseAsked,
  { dir, effects, signal, progress }: ProjectContext,
): Promise<{ loads: number }> {
  prepareDecoding();
  const landingRoot = join(dir, 'data', 'landing');
  const stored = await readStoredLoads(landingRoot);
  const lastLoad = stored.loads
    .map(({ record }) => record)
    .findLast(({ loadNumber }) => throughLoad === undefined || loadNumber <= throughLoad);
  const asked = { throughEvent, base, inBooks, lastLoad, acceptsGaps, signal };
  const opening = openRebuildingWarehouse(dir, file, asked);
  const warehouse = await opening.catch(async (error: unknown) => {
    if (!(error instanceof JournalLossError) || base !== undefined) throw error;
    const hasBooks = inBooks > 0;
    throw await withLandingLosses(error, { landingRoot, afterLoad: 0, throughLoad, loadsInBooks, hasBooks });
  });
  try {
    const loads = await rebuildLoads({
      landingRoot,
      afterLoad: (await warehouse.knows()).loadNumber,
      throughLoad,
      loadsInBooks,
      stages: warehouse.stages,
      log: effects.log,
      signal,
      onProgress: (done, of) => progress(`${done}/${of} loads into ${file}.part`),
    });
    await beforeFinish?.(await warehouse.knows());
    await warehouse.finish();
    return { loads };
  } catch (error) {
    await warehouse.discard();
    throw error;
  } finally {
    progress('comparing');
  }
}
