import type { AnomalyFact } from '../anomalies/index.ts';
import type { BudgetFact, Driver } from '../budgets/index.ts';
import type { Severity } from '../severity.ts';

/** What an open alert has already reported, and what of it is new. Facts of older versions have neither. */
export interface Reported {
  /** Every cause that was reported since the alert was raised: `3 answered 401`. Oldest first. */
  readonly causes?: readonly string[] | undefined;
  /** What was reported before, in one sentence; only where another cause is reported now. */
  readonly changedFrom?: string | undefined;
  /** Changes with each report: an open alert is reported again where it differs. */
  readonly revision?: string | undefined;
}

/** What every fact about the data tells. */
interface DataFactHead extends Reported {
  /** `stale/acc_main`: the same however often, and by whomever, it is evaluated. */
  readonly key: string;
  /** Null where it is about several accounts, or about none. */
  readonly account: string | null;
  readonly severity: Severity;
  /** Names of the sinks that are told; none where nobody else is named than everybody. */
  readonly notify: readonly string[];
  /** withdrawn: nobody asks for it any more, which is told to nobody. */
  readonly state: 'raised' | 'resolved' | 'withdrawn';
  /** Through when the books are complete: of the account, or of all. */
  readonly completeThrough: string | null;
}

/** The books of an account are complete through too long ago. */
export interface StaleFact extends DataFactHead {
  readonly kind: 'stale';
  readonly freshnessHours: number;
}

/** This machine's clock was ahead of the platform's when the account was read last. */
export interface ClockFact extends DataFactHead {
  readonly kind: 'clock';
  readonly aheadSeconds: number;
  readonly platformAt: string;
  readonly localAt: string;
}

/** Hours of an account differ from the platform's own totals: what it says of them contradicts itself. */
export interface UnprovenFact extends DataFactHead {
  readonly kind: 'unproven';
  /** Months that such windows touch, newest first. */
  readonly months: readonly string[];
  /** The largest difference in cost, USD, decimal text; null where only usage differs. Facts of older versions have none. */
  readonly difference?: string | null;
  /** How many windows. */
  readonly count: number;
  /** The newest of them. */
  readonly windows: readonly { readonly start: string; readonly end: string; readonly reason: string }[];
  readonly outOfDate: OutOfDate;
}

/** Accounts whose books are out of date for the same reason, with through when they are complete. */
export type OutOfDate = readonly { readonly account: string; readonly completeThrough: string | null }[];

/** A check returned what should not be in the books. */
export interface CheckFact extends DataFactHead {
  readonly kind: 'check';
  readonly check: string;
  readonly about: string;
  /** Null where its SQL is wrong. */
  readonly offenders: number | null;
  readonly error: string | null;
}

/** The last run of a command failed. */
export interface RunFact extends DataFactHead {
  readonly kind: 'run';
  readonly command: string;
  readonly runNumber: number;
  readonly outcome: string;
  readonly exitCode: number | null;
  readonly error: string | null;
  readonly endedAt: string | null;
  /** Only of an ingest. */
  readonly outOfDate: OutOfDate;
}

/** The warehouse cannot be written: it is missing, damaged or not permitted. Nothing is loaded until somebody acts. */
export interface BooksFact extends DataFactHead {
  readonly kind: 'books';
  readonly command: string;
  readonly exitCode: number;
  readonly error: string;
  readonly foundAt: string;
  /** Whether "costbook repair" mends it. */
  readonly isForRepair: boolean;
  /** What the published snapshot holds: rows, USD as decimal text; null where it cannot be read as a whole. */
  readonly snapshot: { readonly rows: number; readonly cost: string; readonly publishedAt: string } | null;
}

/** The platform tells something else of a closed month than when it was closed. */
export interface ClosedMonthFact extends DataFactHead {
  readonly kind: 'closed_month';
  readonly month: string;
  /** USD, decimal text: more than was closed, less where negative. */
  readonly cost: string;
  readonly corrections: number;
  readonly deliveredIn: readonly string[];
  readonly drivers: readonly Driver[];
}

/** Costs of a billing dimension that is not on the platform's own list. */
export interface DimensionFact extends DataFactHead {
  readonly kind: 'dimension';
  readonly dimension: string;
  readonly firstHour: string;
  /** USD so far, decimal text. */
  readonly cost: string;
}

/** A threshold of a budget. */
export type BudgetAlertFact = Omit<BudgetFact, 'state'> & {
  readonly state: BudgetFact['state'] | 'withdrawn';
  readonly revision?: string | undefined;
};

export type DataFact =
  | StaleFact
  | ClockFact
  | UnprovenFact
  | CheckFact
  | RunFact
  | BooksFact
  | ClosedMonthFact
  | DimensionFact;
export type AlertFact = DataFact | BudgetAlertFact | AnomalyFact;
export type AlertKind = AlertFact['kind'];
