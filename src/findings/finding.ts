import type { Severity } from '../base/severity.ts';

/** What an open alert has reported so far, and what is new. */
export interface Reported {
  /** Every cause that was reported since the alert was raised: `3 answered 401`. Oldest first. */
  readonly causes?: readonly string[] | undefined;
  /** What was reported before, in one sentence; only if the cause is new. */
  readonly changedFrom?: string | undefined;
  /** The amount that was reported last, USD as decimal text; left out before the second evaluation. */
  readonly reportedAmount?: string | undefined;
  /** Changes with each report. An open alert is reported again if it differs. */
  readonly revision?: string | undefined;
}

/** The fields that every finding about the data has. What it found is in the fields of its kind. */
export interface Finding<K extends string = string> extends Reported {
  readonly kind: K;
  /** `stale/acc_main`: the same in every evaluation. */
  readonly key: string;
  /** Null if it concerns several accounts, or none. */
  readonly account: string | null;
  readonly severity: Severity;
  /** Names of the sinks to notify; empty means the default sinks. */
  readonly notify: readonly string[];
  /** withdrawn: no longer evaluated. It ends without a notification. */
  readonly state: 'raised' | 'resolved' | 'withdrawn';
  /** Complete through, of the account or of all accounts. */
  readonly completeThrough: string | null;
}

/** Accounts whose books are out of date for the same reason. */
export type OutOfDate = readonly {
  readonly account: string;
  readonly completeThrough: string | null;
  /** Whole hours since then. */
  readonly missingHours?: number | undefined;
  /** What a day usually costs, USD as decimal text; left out if it is unknown. */
  readonly usualDaily?: string | undefined;
}[];

/** The key of the alert about a subject: made here and only here. Pure. */
export function keyOfFinding(kind: Finding['kind'], ...subject: readonly string[]): string {
  return [kind, ...subject].map((part) => encodeURIComponent(part)).join('/');
}

/** The finding of a kind about a subject, such as an account: what all findings have in common. */
export function findingOf<K extends string>(
  kind: K,
  subject: readonly string[],
  rest: Pick<Finding, 'account' | 'severity' | 'completeThrough'>,
): Finding<K> {
  return { key: keyOfFinding(kind, ...subject), kind, notify: [], state: 'raised', ...rest };
}
