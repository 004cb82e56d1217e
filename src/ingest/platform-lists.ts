import { type Client, readPlatformLists } from '../platform/index.ts';
import { listDifferences } from '../platform/interface/index.ts';
import { floorHour } from '../time/time.ts';
import type { IngestRequest, IngestTools } from './tools.ts';

/**
 * Once a week, reads what the platform lists as dimensions and resource types of costs, records it, and logs what this
 * version does not know. `alert` reports it from the books.
 */
export async function checkPlatformLists(
  account: string,
  client: Client,
  { runNumber }: IngestRequest,
  { warehouse, effects, signal, redact }: IngestTools,
): Promise<void> {
  const now = effects.now();
  if (!(await warehouse.arePlatformListsDue(account, now))) return;
  const lists = await readPlatformLists(client, account, floorHour(now), signal);
  const dimensions = lists.dimensions?.map(redact);
  const resourceTypes = lists.resourceTypes?.map(redact);
  const readAt = await warehouse.seenAt(effects.now());
  await warehouse.recordPlatformLists({ account, runNumber, readAt, dimensions, resourceTypes });
  const differences = listDifferences({ dimensions, resourceTypes });
  if (Object.values(differences).every((names) => names.length === 0)) return;
  effects.log.warn('platform.lists_differ', "The platform's lists of values differ from its interface", {
    account,
    ...differences,
  });
}
