import { groupByDimensions, resourceTypes } from './limits.ts';

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

/** Compares the platform's lists with the documented ones. A missing list has no differences. Pure. */
export function listDifferences({ dimensions, resourceTypes: types }: PlatformLists): PlatformDifferences {
  const known: readonly string[] = groupByDimensions;
  return {
    newDimensions: (dimensions ?? []).filter((name) => !known.includes(name)),
    missingDimensions: dimensions === undefined ? [] : known.filter((name) => !dimensions.includes(name)),
    newResourceTypes: (types ?? []).filter((name) => !resourceTypes.includes(name)),
  };
}
