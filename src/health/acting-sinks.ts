import { clientOf } from '../alerts/index.ts';
import { PlatformError } from '../base/errors.ts';
import type { LocalConfig } from '../config/index.ts';
import { type Listing, listings, openListings } from '../platform/index.ts';
import type { ActingSettings } from '../sinks/index.ts';
import type { HealthContext } from './context.ts';

/** What a listing says about the agent, job or model of a sink. */
export type SinkOnPlatform =
  | { readonly state: 'found' }
  | { readonly state: 'missing' | 'disabled' | 'unknown'; readonly reason: string };

/** A person waits for it. */
const limitMs = 30_000;

/**
 * Looks for the agent, job or model of a sink in its listing. Calls none of them. Throws as the client does, and UsageError
 * if the account has no address or token.
 */
export async function findOnPlatform(
  settings: ActingSettings,
  config: LocalConfig,
  context: HealthContext,
): Promise<SinkOnPlatform> {
  const { type, workspace } = settings;
  const name = nameOf(settings);
  const listing = listings.find(({ kind }) => kind === type) as Listing;
  const client = clientOf(settings, config, context);
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(limitMs)]);
  const reader = openListings(client, context.effects.log);
  try {
    for await (const { items } of reader.pages(
      { ...listing, filters: { q: name } },
      `workspace ${workspace}`,
      signal,
    )) {
      const found = items.find(
        ({ metadata }) => metadata.name === name && (metadata['workspace'] ?? workspace) === workspace,
      );
      if (found === undefined) continue;
      const { enabled } = (found['spec'] ?? {}) as { readonly enabled?: unknown };
      return enabled === false
        ? { state: 'disabled', reason: `${type} ${name} of workspace ${workspace} is switched off` }
        : { state: 'found' };
    }
    // A token may list another workspace only.
    for await (const { items } of reader.pages({ ...listing, filters: {} }, `workspace ${workspace}`, signal)) {
      if (items.some(({ metadata }) => metadata['workspace'] === workspace)) {
        return { state: 'missing', reason: `workspace ${workspace} has no ${type} ${name}` };
      }
    }
  } catch (error) {
    context.signal.throwIfAborted();
    if (signal.aborted) return { state: 'unknown', reason: `the listing took longer than ${limitMs / 1000} s` };
    // A token that may call an agent need not be allowed to list agents.
    if (error instanceof PlatformError && error.status === 403) return { state: 'unknown', reason: error.message };
    throw error;
  }
  return { state: 'unknown', reason: `the token lists no ${type} of workspace ${workspace}` };
}

function nameOf(settings: ActingSettings): string {
  if (settings.type === 'agent') return settings.agent;
  return settings.type === 'job' ? settings.job : settings.model;
}
