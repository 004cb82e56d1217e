import { isPlainToOthers } from '../base/addresses.ts';
import type { ProjectContext } from '../base/project-context.ts';
import type { Destination, StorageSettings } from '../config/index.ts';
import { openS3Store } from './s3-store.ts';
import type { ObjectStore } from './store.ts';

/** A place in an object store, and how it is reached. */
export interface StorePlace {
  readonly destination: Destination;
  readonly settings: StorageSettings;
}

/** What a store is opened with. */
export type StoringContext = Pick<ProjectContext, 'effects' | 'signal' | 'keepSecret'>;

/** Opens a store. Warns if everything sent to it can be read on the way. */
export async function openStore(
  { destination, settings }: StorePlace,
  { signal, effects, keepSecret }: StoringContext,
): Promise<ObjectStore> {
  const { endpoint } = settings;
  if (endpoint !== undefined && isPlainToOthers(endpoint)) {
    effects.log.warn(
      'storage.sent_unencrypted',
      'Costs are sent unencrypted: use https in storage.endpoint, unless you own the network to this host',
      { host: new URL(endpoint).host },
    );
  }
  return openS3Store({ destination, settings, signal, keepSecret });
}
