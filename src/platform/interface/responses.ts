import * as z from 'zod/mini';

// The shapes of 2.14 and 2.15 as documented. Loose: an unknown field is no error; it stays in the stored body and is
// reported.

const point = z.looseObject({ timestamp: z.string(), cost: z.number(), usage: z.optional(z.number()) });

const metricsEntry = z.looseObject({
  workspace: z.nullish(z.string()),
  resourceType: z.nullish(z.string()),
  resourceName: z.nullish(z.string()),
  resourceUuid: z.nullish(z.string()),
  billingDimension: z.nullish(z.string()),
  summary: z.looseObject({ cost: z.number(), usage: z.optional(z.number()) }),
  timeseries: z.array(point),
});

/** AccountMetricsResponse (2.15). */
export const metricsResponse = z.looseObject({
  startTime: z.string(),
  endTime: z.string(),
  resolution: z.string(),
  summary: z.looseObject({ totalCost: z.number(), totalUsage: z.optional(z.number()) }),
  data: z.array(metricsEntry),
  meta: z.looseObject({ hasMore: z.boolean(), nextCursor: z.nullish(z.string()) }),
});
export type MetricsResponse = z.infer<typeof metricsResponse>;

/** A metrics response without grouping, as far as finding the first month with any cost needs it. */
export const monthlyTotals = z.looseObject({
  startTime: z.string(),
  endTime: z.string(),
  resolution: z.string(),
  // Some JSON encoders write an empty list as null or omit it.
  data: z.nullish(z.array(z.looseObject({ timeseries: z.array(point) }))),
  meta: z.looseObject({ hasMore: z.boolean(), nextCursor: z.nullish(z.string()) }),
});

/** Pagination meta of the listings (2.13). */
const listingMeta = z.looseObject({
  hasMore: z.nullish(z.boolean()),
  nextCursor: z.nullish(z.string()),
  total: z.nullish(z.number()),
  totalIsPartial: z.nullish(z.boolean()),
});

/**
 * A listing (4.1): paged from version 2026-04-28 on, before that all items at once. The public description requires none of
 * the fields of `meta`.
 */
export function listingOfItems<Item extends z.ZodMiniType>(item: Item) {
  return z.union([z.looseObject({ data: z.array(item), meta: z.nullish(listingMeta) }), z.array(item)]);
}

/** Enum discovery (4.6). */
export const enumResponse = z.looseObject({ values: z.array(z.string()) });

/** `GET /v0/accounts`, whose shape is not documented (4.6): anything is valid. */
export const accountsResponse = z.unknown();
