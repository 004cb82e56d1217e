import { PlatformError } from '../errors.ts';
import { dayMs, formatInstant, type Instant } from '../time.ts';
import { callOnce } from './calls.ts';
import type { Client } from './client.ts';
import { groupByDimensions, resourceTypes } from './limits.ts';
import { type Operation, operations } from './operations.ts';

/** What the platform lists as dimensions and resource types of costs (4.6). A list that it does not serve is undefined. */
export interface PlatformLists {
  readonly dimensions: readonly string[] | undefined;
  readonly resourceTypes: readonly string[] | undefined;
}

/** Differences between the values that the platform lists and the documented ones (4.6). */
export interface PlatformDifferences {
  /** Dimensions that costs can be grouped by, and Costbook does not use. */
  readonly newDimensions: readonly string[];
  /** Dimensions that Costbook needs, and the platform does not list. */
  readonly missingDimensions: readonly string[];
  /** Types of resources that have costs, and no document names. */
  readonly newResourceTypes: readonly string[];
}

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

/** Compares the platform's lists with the documented ones. A missing list has no differences. Pure. */
export function listDifferences({ dimensions, resourceTypes: types }: PlatformLists): PlatformDifferences {
  const known: readonly string[] = groupByDimensions;
  return {
    newDimensions: (dimensions ?? []).filter((name) => !known.includes(name)),
    missingDimensions: dimensions === undefined ? [] : known.filter((name) => !dimensions.includes(name)),
    newResourceTypes: (types ?? []).filter((name) => !resourceTypes.includes(name)),
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
