import { join } from 'node:path';
import type { LocalConfig } from '../config/index.ts';
import { type LandingWriter, landingPlaces, loadNumberOf } from '../fetch/index.ts';
import { archiveLoads } from '../storage/index.ts';
import { dayMs } from '../time.ts';
import type { Warehouse } from '../warehouse/index.ts';
import type { CommandContext } from './command.ts';
import type { openStore as Open } from './send-exports.ts';

/**
 * Sends the pages of new loads to `landing.archive`, then removes pages that are older than `landing.keepDays` and, if
 * there is an archive, in it. A failure of the archive is returned and removes nothing.
 */
export async function tidyLanding(
  config: Pick<LocalConfig, 'landing' | 'storage'>,
  landing: LandingWriter,
  warehouse: Warehouse,
  context: CommandContext,
): Promise<unknown> {
  const { archive, keepDays } = config.landing;
  let through = Number.POSITIVE_INFINITY;
  if (archive !== undefined) {
    try {
      through = await sendLoads({ destination: archive, settings: config.storage }, warehouse, context);
    } catch (error) {
      context.signal.throwIfAborted();
      return error;
    }
  }
  if (keepDays === undefined) return undefined;
  // Only for stored loads: a change seen that long ago is no longer pending.
  const places = await warehouse.landingFoldersBefore(context.effects.now() - keepDays * dayMs);
  await landing.removeBodies(places.filter((place) => (loadNumberOf(place) ?? 0) <= through));
  return undefined;
}

async function sendLoads(
  place: Parameters<typeof Open>[0],
  warehouse: Warehouse,
  context: CommandContext,
): Promise<number> {
  const root = join(context.dir, 'data', 'landing');
  const last = await warehouse.lastLoadNumber();
  const loads = (await landingPlaces(root)).filter(({ number }) => number <= last);
  const { openStore } = await import('./send-exports.ts');
  const store = await openStore(place, context);
  try {
    const { through, sent } = await archiveLoads(store, root, loads, context.progress);
    if (sent > 0) {
      context.effects.log.info('landing.archived', 'Landing pages sent to the archive', { loads: sent, through });
    }
    return through;
  } finally {
    store.close();
  }
}
