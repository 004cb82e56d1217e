import type { Severity } from '../base/severity.ts';
import type { DeploymentBefore } from './deployments.ts';
import type { NoticeReason } from './notices.ts';

/** A resource and its share of an anomaly's days so far. */
export interface AnomalyDriver {
  /** Null if the platform reports none. */
  readonly resourceName: string | null;
  readonly resourceUuid: string | null;
  /** Cost of all its days so far in USD, decimal text. */
  readonly cost: string;
  /** Expected cost in USD, decimal text. */
  readonly expected: string;
  /** Its share of the whole difference in percent; negative if it went in the other direction. */
  readonly part: number;
}

/** A day of an anomaly after which a notification is sent. */
export interface AnomalyNotice {
  /** `2026-10-03`. */
  readonly day: string;
  readonly reason: NoticeReason;
  readonly severity: Severity;
  /** Difference of its days up to then from the expected cost in USD, decimal text. */
  readonly impact: string;
}

/** The hours of an anomaly that was found before its day was complete. */
export interface RunawayHours {
  /** `2026-10-03T14:00:00Z`. */
  readonly from: string;
  /** The end of its last hour so far. */
  readonly to: string;
  /** How many times the usual its first hours cost; null if nothing was usual. */
  readonly times: number | null;
  /** USD a day beyond the usual, decimal text. */
  readonly pace: string;
}

/** An exclusion, as it acts on an anomaly. */
export interface ExcludedBy {
  /** The last day on which it acts, UTC: `2026-12-31`; null if it has no end. */
  readonly until: string | null;
  readonly reason: string;
  /** If it has ended and acted on the first days: the difference of the days since, USD, decimal text. */
  readonly impactSince?: string | undefined;
}

/** The explanation of an anomaly, over all its days so far. */
export interface AnomalyDetail {
  /** Difference of each of its days from the expected cost in USD. */
  readonly impacts: readonly number[];
  /** Its days up to the bar that feedback raised, and those above it: `2026-10-03`. Undefined without a bar. */
  readonly heldDays?: readonly string[] | undefined;
  readonly aboveDays?: readonly string[] | undefined;
  /** Oldest first; missing if they were not evaluated. */
  readonly notices?: readonly AnomalyNotice[] | undefined;
  /** Cost of all its days so far in USD, decimal text; null if it is not reported. */
  readonly costSoFar?: string | null | undefined;
  /** Cost of its largest day so far in USD, decimal text; missing if it was not evaluated. */
  readonly largestDay?: string | undefined;
  /** The hour in which the difference started: `2026-10-03T14:00:00Z`. */
  readonly firstHour: string | null;
  /** USD a day at which it still ran at the end of its first day, decimal text; null if it did not. */
  readonly pace?: string | null | undefined;
  /** Whether the unit price or the usage changed, or both; null if unknown. */
  readonly moved: 'price' | 'usage' | 'both' | null;
  /** The effects of price and of usage on the difference in USD, decimal text; as in the report price_volume. */
  readonly priceEffect: string | null;
  readonly volumeEffect: string | null;
  /** USD for a unit of usage before and since, decimal text; left out unless the price changed alone. */
  readonly prices?: { readonly before: string; readonly since: string } | undefined;
  /** What the platform added to its days after they were first loaded: USD, decimal text; left out if it is a small part. */
  readonly corrected?: string | undefined;
  /** The largest changes first. */
  readonly drivers: readonly AnomalyDriver[];
  /** What was deployed or changed of its drivers in the 48 hours before, most relevant first; missing if they were not evaluated. */
  readonly deployments?: readonly DeploymentBefore[] | undefined;
  /** How many deployments there are; `deployments` may have fewer. */
  readonly deploymentCount?: number | undefined;
  /** Only until its first day is complete and evaluated. */
  readonly hours?: RunawayHours | undefined;
  /** When its hours were usual again, if that was reported before its first day was complete. */
  readonly endedHour?: string | undefined;
  /** Whether it ended because the role of the token changed: its costs are in another workspace, or in none. */
  readonly isByAccess?: boolean | undefined;
  /** The exclusion that covers it: it raises no alert. Undefined if none does. */
  readonly excluded?: ExcludedBy | undefined;
  /** The exclusion that covered its place and has ended: people may read of it why it costs more. */
  readonly formerlyExcluded?: ExcludedBy | undefined;
}

/** What explains an anomaly, without its days. */
export type Explanation = Omit<
  AnomalyDetail,
  'impacts' | 'heldDays' | 'aboveDays' | 'notices' | 'endedHour' | 'excluded' | 'formerlyExcluded'
>;
