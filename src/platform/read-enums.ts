import { PlatformError } from '../base/errors.ts';
import { dayMs, formatInstant, type Instant } from '../time/time.ts';
import { callOnce } from './calls.ts';
import type { Client } from './client.ts';
import type { PlatformLists } from './interface/list-differences.ts';
import { type Operation, operations } from './interface/operations.ts';

/** How far back types of resources are looked for. */
const typesDays = 30;
/** The platform's own words are untrusted: a list is cut after this many names, and so is a name. */
const maxNames = 100;
const maxNameLength = 100;

/** Reads both lists, the types of the 30 days before `now`. A refused or malformed list is undefined. */
export async function readPlatformLists(
  client: Client,
  accountId: string,
  now: Instant,
  signal: AbortSignal,
): Promise<PlatformLists> {
  const window = { startTime: formatInstant(now - typesDays * dayMs), endTime: formatInstant(now) };
  return {
    dimensions: await valuesOf(client, operations.groupByEnum, { accountId }, signal),
    resourceTypes: await valuesOf(client, operations.resourceTypesEnum, { accountId, ...window }, signal),
  };
}

async function valuesOf(
  client: Client,
  operation: Operation,
  values: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  try {
    const { value, deviation } = await callOnce(client, { operation, values }, signal);
    if (deviation !== undefined) return undefined;
    const names = (value as { readonly values: readonly string[] }).values;
    return [...new Set(names.slice(0, maxNames).map((name) => name.slice(0, maxNameLength)))];
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof PlatformError) return undefined;
    throw error;
  }
}
