import { join } from 'node:path';
import type { ProjectContext } from '../base/project-context.ts';
import type { LocalConfig } from '../config/index.ts';
import { type LandingWriter, landingPlaces, loadNumberOf } from '../fetch/index.ts';
import { archiveLoads, type ObjectStore, openStore, proveLoad } from '../storage/index.ts';
import type { Warehouse } from '../warehouse/index.ts';

/**
 * Sends the pages of new loads to `landing.archive`, then removes pages that are older than `landing.keepDays` and, if
 * there is an archive, of which it has every byte now. A failure of the archive is returned and removes nothing more.
 */
export async function tidyLanding(
  config: Pick<LocalConfig, 'landing' | 'storage'>,
  landing: LandingWriter,
  warehouse: Warehouse,
  context: ProjectContext,
): Promise<unknown> {
  const { archive, keepDays } = config.landing;
  // Only for stored loads: a change seen that long ago is no longer pending.
  const old = async () =>
    keepDays === undefined ? [] : warehouse.landingFoldersOlderThan(keepDays, context.effects.now());
  if (archive === undefined) {
    await landing.removeBodies(await old());
    return undefined;
  }
  try {
    const store = await openStore({ destination: archive, settings: config.storage }, context);
    try {
      const root = join(context.dir, 'data', 'landing');
      const through = await sendLoads(store, root, warehouse, context);
      for (const place of await old()) {
        if ((loadNumberOf(place) ?? 0) > through) continue;
        await proveLoad(store, root, place);
        await landing.removeBodies([place]);
      }
    } finally {
      store.close();
    }
  } catch (error) {
    context.signal.throwIfAborted();
    return error;
  }
  return undefined;
}

async function sendLoads(
  store: ObjectStore,
  root: string,
  warehouse: Warehouse,
  context: ProjectContext,
): Promise<number> {
  const last = await warehouse.lastLoadNumber();
  const loads = (await landingPlaces(root)).filter(({ number }) => number <= last);
  const { through, sent } = await archiveLoads(store, root, loads, context.progress, last);
  if (sent > 0) {
    context.effects.log.info('landing.archived', 'Landing pages sent to the archive', { loads: sent, through });
  }
  return through;
}
