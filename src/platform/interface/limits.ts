import { dayMs } from '../../time/time.ts';

/** The names of headers on a platform that names them as the document does (4.7, 5.1, 9.1). */
export const usualHeaders = {
  authorization: 'Authorization',
  version: 'Service-Version',
  thread: 'X-Service-Thread-Id',
  workspace: 'X-Service-Workspace',
} as const;

/** Bucket sizes of the metrics API (4.6). */
export const resolutions = ['hourly', 'daily', 'weekly', 'monthly'] as const;
export type Resolution = (typeof resolutions)[number];

/** Longest window for an explicit resolution, in days (4.6); "1 year" means 365 days here, the stricter reading. */
export const maxWindowDays: Readonly<Record<Resolution, number>> = {
  hourly: 7,
  daily: 90,
  weekly: 365,
  monthly: Number.POSITIVE_INFINITY,
};

/** The resolution that the platform chooses by default: the first whose bound exceeds the window (4.6). */
export const defaultResolutions: readonly { readonly underDays: number; readonly resolution: Resolution }[] = [
  { underDays: 7, resolution: 'hourly' },
  { underDays: 90, resolution: 'daily' },
  { underDays: 365, resolution: 'weekly' },
  { underDays: Number.POSITIVE_INFINITY, resolution: 'monthly' },
];

/** The dimensions that metrics can be grouped by (4.6). */
export const groupByDimensions = [
  'workspace',
  'resource_type',
  'resource_name',
  'resource_uuid',
  'billing_dimension',
] as const;
export type GroupByDimension = (typeof groupByDimensions)[number];

/** Limits of the metrics API (8), as data that the planner and the emulator share. */
export const metricsLimits = {
  maxGroupByDimensions: 3,
  /** Larger values are silently clamped. */
  maxPageSize: 100,
  defaultPageSize: 100,
  maxHourlyWindowMs: maxWindowDays.hourly * dayMs,
  cursorLifetimeMs: dayMs,
} as const;

/** Limits of the listings (8). */
export const listingLimits = {
  /** Larger values clamp. */
  maxPageSize: 200,
  defaultPageSize: 50,
  maxSearchLength: 200,
  /** A shorter search text does not filter. */
  minSearchLength: 2,
  maxExternalIdLength: 64,
  cursorLifetimeMs: dayMs,
} as const;

/** The orders of a listing (4.1); the first is the default. */
export const listingSorts = ['createdAt:desc', 'createdAt:asc', 'name:asc', 'name:desc'] as const;
export type ListingSort = (typeof listingSorts)[number];

/** Deployment statuses (3). */
export const deploymentStatuses = [
  'DELETING',
  'TERMINATED',
  'FAILED',
  'DEACTIVATED',
  'DEACTIVATING',
  'UPLOADING',
  'BUILDING',
  'DEPLOYING',
  'DEPLOYED',
  'BUILT',
  'ARCHIVING',
  'ARCHIVED',
  'UNARCHIVING',
] as const;
export type DeploymentStatus = (typeof deploymentStatuses)[number];

/**
 * Limits for answers: the platform is not trusted. Each number is several times what an honest answer needs, and
 * together they keep the process below 1 GB for any answer (test/e2e/hostile-platform.test.ts measures it).
 */
export const answerLimits = {
  /** A page of 100 groups × 168 hours has 1.3 MiB, at most 5 with long names and white space. */
  metricsBodyMib: 16,
  /** 200 items of 10 KB are 2 MiB; a version without pages sends all items at once. */
  listingBodyMib: 32,
  /** The values of a list of names, or the accounts of a token. */
  otherBodyMib: 4,
  /** Metrics are nested 5 deep, a listed sandbox about 10; a resource may contain JSON of its own. */
  maxDepth: 64,
  /** A page of 16 MiB has at most 1.3 million values. */
  maxValues: 1_500_000,
  /** No object of the interface has a hundred; labels and a resource's own JSON may have more. */
  maxMembers: 10_000,

  /** Connecting takes a few round trips. */
  connectMs: 10_000,
  /**
   * Between sending and the first byte, and between two parts of a body: the platform computes long queries meanwhile.
   */
  silenceMs: 60_000,
  /** The same for an answer that a workload makes: an async trigger may run for 900 seconds (2.4). */
  streamSilenceMs: 16 * 60_000,
  /** All of one attempt; a page of 300 KB then needs 1 KB/s. */
  attemptMs: 5 * 60_000,
  /** All of an answer that a workload makes. */
  streamMs: 60 * 60_000,
  /**
   * The pace of a body is measured over intervals of this length, so that a link may stall for most of a minute; a body
   * that ends within the first one is never too slow.
   */
  paceMs: 60_000,
  /** A gzipped page (150 KB and more) that arrives more slowly would not be complete within an attempt. */
  minBytesPerSecond: 256,

  /** Most servers refuse a URL with a longer one (their headers end at 8 or 16 KB). */
  maxCursorLength: 8192,
  /**
   * A million groups in one window of at most 7 days, at 100 per page; tests with large accounts needed at most 200
   * pages.
   */
  maxMetricsPages: 10_000,
  /** An answer without groups has one entry with one bucket per month, over ten years. */
  maxHistoryPages: 121,
  /** A million resources of one kind, at 200 per page. */
  maxListingPages: 5_000,
  /**
   * After so many pages, a listing has more than one item on each, or would take hours: 200 are requested, and a platform
   * may filter after paging.
   */
  maxSparsePages: 100,
  /** Each has six listings, which are read one after the other. */
  maxWorkspaces: 1000,
  /** A platform may filter after paging; it does not send empty pages for long. */
  maxEmptyPages: 20,

  /**
   * Names of fields, types and dimensions that the interface does not list: how many are distinguished, and how many
   * shown.
   */
  maxUnknownNames: 1000,
  maxUnknownShown: 20,
  maxUnknownLength: 100,
} as const;

/** Which entry field each groupBy dimension fills by enrichment (table in 2.15). */
export const populatedBy: Readonly<
  Record<
    'workspace' | 'resourceType' | 'resourceName' | 'resourceUuid' | 'billingDimension',
    readonly GroupByDimension[]
  >
> = {
  workspace: ['workspace', 'resource_uuid', 'resource_name'],
  resourceType: ['resource_type', 'resource_uuid', 'resource_name', 'billing_dimension'],
  resourceName: ['resource_name', 'resource_uuid'],
  resourceUuid: ['resource_uuid'],
  billingDimension: ['billing_dimension'],
};

/** A billing dimension that the document lists (2.15). */
export interface BillingDimension {
  readonly name: string;
  readonly resourceType: string;
  readonly unit: string;
}

export const billingDimensions: readonly BillingDimension[] = [
  { name: 'sandbox_compute_runtime_gbs', resourceType: 'sandbox', unit: 'GB-seconds' },
  { name: 'sandbox_image_storage_gbs', resourceType: 'sandbox', unit: 'GB-seconds' },
  { name: 'sandbox_snapshot_storage_gbs', resourceType: 'sandbox', unit: 'GB-seconds' },
  { name: 'agent_compute_runtime_gbs', resourceType: 'agent', unit: 'GB-seconds' },
  { name: 'agent_image_storage_gbs', resourceType: 'agent', unit: 'GB-seconds' },
  { name: 'agent_async_requests_count', resourceType: 'agent', unit: 'count' },
  { name: 'job_compute_runtime_gbs', resourceType: 'job', unit: 'GB-seconds' },
  { name: 'job_image_storage_gbs', resourceType: 'job', unit: 'GB-seconds' },
  { name: 'mcp_server_compute_runtime_gbs', resourceType: 'mcp_server', unit: 'GB-seconds' },
  { name: 'mcp_server_image_storage_gbs', resourceType: 'mcp_server', unit: 'GB-seconds' },
  { name: 'volume_storage_gbs', resourceType: 'volume', unit: 'GB-seconds' },
  { name: 'custom_domain_active_time_hours', resourceType: 'custom_domain', unit: 'hours' },
];

/** Resource types that the document names (4.6); others are stored and reported. */
export const resourceTypes: readonly string[] = ['sandbox', 'agent', 'job', 'mcp_server', 'volume', 'custom_domain'];

/** Units of dimensions that the document does not list, derived from the suffix of the name. */
export const unitSuffixes: readonly { readonly suffix: string; readonly unit: string }[] = [
  { suffix: '_gbs', unit: 'GB-seconds' },
  { suffix: '_hours', unit: 'hours' },
  { suffix: '_count', unit: 'count' },
];

/** API versions (9): the platform uses the earliest stable one if the header is missing. */
export const earliestVersion = '2026-04-16';
/** From this version on, listings are paged envelopes (9.6). */
export const pagedListingsVersion = '2026-04-28';
/** From this version on images have pages, too: a public client asks for it. */
export const pagedImagesVersion = '2026-09-22';
