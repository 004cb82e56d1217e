import type { Instant, Window } from '../time/time.ts';

// What fetch hands to the warehouse, and what the warehouse tells it of the past: each form once.

/** What the token may see: grouping and filtering by workspace need an account admin (5.7). */
export type Role = 'admin' | 'member';

/** One group of a page. A missing dimension (absent, null or empty) is undefined. */
export interface PageEntry {
  readonly workspace: string | undefined;
  readonly resourceType: string | undefined;
  readonly resourceName: string | undefined;
  readonly resourceUuid: string | undefined;
  readonly billingDimension: string | undefined;
  /** The group's own totals as decimal text: USD, and its unit. */
  readonly cost: string;
  readonly usage: string;
}

/** The buckets that are not all zero, as columns: row i is bucket `bucket[i]` of entry `entry[i]`. */
export interface PagePoints {
  readonly count: number;
  /** Index into the page's entries. */
  readonly entry: Int32Array;
  /** Position of the bucket within the window: hours (days, months) since its start. */
  readonly bucket: Int32Array;
  /** USD × 10^12. */
  readonly cost: BigInt64Array;
  /** Unit × 10^6. */
  readonly usage: BigInt64Array;
}

/** One decoded page of a query. */
export interface Page {
  /** `summary.totalCost` of the whole query, plain decimal text in USD. */
  readonly totalCost: string;
  /** The most decimals in any cost total and any usage total of this page. */
  readonly costDecimals: number;
  readonly usageDecimals: number;
  readonly entries: readonly PageEntry[];
  readonly points: PagePoints;
}

/** Receives the pages of one query, in order. */
export interface PageSink<P extends Page = Page> {
  page(page: P): void | Promise<void>;
  /** The query restarts: discards its pages so far. */
  restart(): void | Promise<void>;
}

/** A range of hours in the books, and how they got there. */
export interface CoveredWindow extends Window {
  /** Hours from this instant on were too young to count as complete when they were fetched. */
  readonly claimedEnd: Instant;
  /** When they were fetched. */
  readonly seenAt: Instant;
}

/** A comparison with the platform's totals; cost and usage are decimal text. */
export interface Reconciliation {
  readonly checkCode: string;
  readonly measure: string;
  readonly billingDimension?: string | undefined;
  /** How many of our rows are in the sum; a whole number as text. */
  readonly rowCount: string;
  readonly ours: string;
  readonly theirs: string;
  readonly difference: string;
  readonly tolerance: number;
  readonly proven: boolean;
}

/** How many series of a billing dimension have a given first and last day. */
export interface SeriesLife {
  /** Undefined for series without a billing dimension. */
  readonly billingDimension: string | undefined;
  /** Start of a UTC day. */
  readonly day: Instant;
  readonly began: number;
  readonly ended: number;
  /** Whether the billing dimension has any rows without UUID. */
  readonly hasRowsWithoutUuid: boolean;
}

/** How series are identified: by UUID, or by name to include rows without UUID. */
export type SeriesQuestion = 'series' | 'names';

/** When the series of a billing dimension (undefined: all together) were last verified from an instant on. */
export interface SeriesVerified {
  readonly question: SeriesQuestion;
  readonly billingDimension: string | undefined;
  readonly from: Instant;
  readonly at: Instant;
}

/** A query whose answer is recorded as a contradiction. */
export interface ContradictedQuestion {
  readonly purpose: 'days' | 'months' | SeriesQuestion;
  readonly unit: 'day' | 'month';
  /** Undefined if it covers all of them. */
  readonly billingDimension: string | undefined;
  readonly window: Window;
}

/** The stored state of a resource. Fields that are not listed here are never stored, secrets least of all. */
export interface ResourceState {
  readonly name: string;
  /** Undefined if the listing does not name the owner. */
  readonly workspace: string | undefined;
  readonly uuid: string | undefined;
  /** Instants as `2026-10-01T00:00:00Z`. */
  readonly createdAt: string | undefined;
  readonly updatedAt: string | undefined;
  readonly displayName: string | undefined;
  readonly externalId: string | undefined;
  /** A JSON object with text values and sorted keys; undefined if there are none. */
  readonly labels: string | undefined;
  readonly region: string | undefined;
  readonly memoryMb: number | undefined;
  readonly generation: string | undefined;
  readonly status: string | undefined;
  readonly isEnabled: boolean | undefined;
  readonly plan: string | undefined;
  readonly createdBy: string | undefined;
  /** A sorted JSON array of names; undefined if there are none. */
  readonly integrationConnections: string | undefined;
  /** A sorted JSON array of names; `[]` if it mounts none, undefined if its type mounts no volumes. */
  readonly volumes: string | undefined;
  /** The kind of provider behind a model or a connection. */
  readonly provider: string | undefined;
  /** Of an image, or of a volume. */
  readonly sizeBytes: number | undefined;
  /** What a volume is attached to, as `sandbox:name`; the sandbox of a snapshot. */
  readonly attachedTo: string | undefined;
}

/** What a listing says about the use of a resource. It changes often, so it is no part of the state. */
export interface ResourceUse {
  /** The runtime state of a sandbox. */
  readonly runtimeState: string | undefined;
  readonly lastUsedAt: string | undefined;
  readonly expiresAt: string | undefined;
  /** A duration, as the platform writes it. */
  readonly timeToLive: string | undefined;
  /** A JSON array of objects with the texts `action`, `type` and `value`; undefined if there are none. */
  readonly expirationPolicies: string | undefined;
  /** Instances that are always warm. */
  readonly minScale: number | undefined;
}

/** A listed resource of a workspace, ready for the books. */
export interface ListedResource extends ResourceState {
  readonly workspace: string;
  /** Only the newest values are stored, so changes make no new state. */
  readonly use: ResourceUse;
  /**
   * Of listings whose items lack columns: whether this one does, so that known values stay; and the update of the item whose
   * columns were read in full, as `2026-10-01T00:00:00Z`.
   */
  readonly isLite?: boolean;
  readonly detailsOf?: string | undefined;
}

/** An entry of a resource's deployment history (2.3); texts are cut to a bounded length. */
export interface ResourceEvent {
  /** As `2026-10-01T00:00:00Z`. */
  readonly time: string;
  readonly type: string | undefined;
  readonly status: string | undefined;
  readonly message: string | undefined;
  readonly revision: string | undefined;
  readonly canaryRevision: string | undefined;
}

/** What a resource runs. Undefined where the listing does not name it. */
export interface ResourceRuntime {
  readonly image: string | undefined;
  /** The active revision. */
  readonly revision: string | undefined;
  /** Instances that are always warm. */
  readonly minScale: number | undefined;
  readonly maxScale: number | undefined;
}

/** The deployments of a listed resource, ready for the books. */
export interface ListedDeployments extends Pick<ListedResource, 'workspace' | 'name' | 'createdAt' | 'updatedAt'> {
  readonly events: readonly ResourceEvent[];
  readonly runtime: ResourceRuntime;
}
