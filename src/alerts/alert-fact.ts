import type { AnomalyFact } from '../anomalies/index.ts';
import type { Severity } from '../base/severity.ts';
import type { BudgetFact, Driver } from '../budgets/index.ts';
import type { MonthToClose, Reopening } from '../warehouse/index.ts';

/** What an open alert has reported so far, and what is new. */
export interface Reported {
  /** Every cause that was reported since the alert was raised: `3 answered 401`. Oldest first. */
  readonly causes?: readonly string[] | undefined;
  /** What was reported before, in one sentence; only if the cause is new. */
  readonly changedFrom?: string | undefined;
  /** Changes with each report. An open alert is reported again if it differs. */
  readonly revision?: string | undefined;
}

/** The fields that every fact about the data has. */
interface DataFactHead extends Reported {
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

/** The books of an account are out of date. */
export interface StaleFact extends DataFactHead {
  readonly kind: 'stale';
  readonly freshnessHours: number;
}

/** This machine's clock was ahead of the platform's at the last fetch of the account, or behind: then negative. */
export interface ClockFact extends DataFactHead {
  readonly kind: 'clock';
  readonly aheadSeconds: number;
  readonly platformAt: string;
  readonly localAt: string;
}

/** Hours of an account do not add up to the platform's own totals. */
export interface UnprovenFact extends DataFactHead {
  readonly kind: 'unproven';
  /** Months that the windows touch, newest first. */
  readonly months: readonly string[];
  /** The largest cost difference, USD, decimal text; null if only usage differs. */
  readonly difference: string | null;
  /** Number of windows. */
  readonly count: number;
  /** The newest windows. */
  readonly windows: readonly {
    readonly start: string;
    readonly end: string;
    readonly reason: string;
    /** On how many days it has failed since its hours were last proven. */
    readonly nights?: number;
  }[];
  readonly outOfDate: OutOfDate;
}

/** Accounts whose books are out of date for the same reason. */
export type OutOfDate = readonly { readonly account: string; readonly completeThrough: string | null }[];

/** A check found rows, or failed. */
export interface CheckFact extends DataFactHead {
  readonly kind: 'check';
  readonly check: string;
  readonly about: string;
  /** Rows found; null if it could not run. */
  readonly offenders: number | null;
  readonly error: string | null;
  /** Why it could not run: its SQL is wrong, or the machine failed. */
  readonly errorCode: 'sql' | 'machine' | null;
}

/** The last run of a command failed. */
export interface RunFact extends DataFactHead {
  readonly kind: 'run';
  readonly command: string;
  readonly runNumber: number;
  readonly outcome: string;
  readonly exitCode: number | null;
  readonly error: string | null;
  /** Code of the error: `answered_401`. Null or missing if it has none. */
  readonly errorCode?: string | null;
  /** What the error says to do, as it was printed: `Act: …`. Null or missing if it follows from the exit code. */
  readonly nextStep?: string | null;
  readonly endedAt: string | null;
  /** End of the first failure since the last success, UTC. */
  readonly failingSince?: string | null;
  /** The command that its user started: `run nightly` if the command was a step of it. */
  readonly startedAs?: string | null | undefined;
  /** Only for `ingest`. */
  readonly outOfDate: OutOfDate;
}

/** The warehouse cannot be written: it is missing, damaged or not permitted. Nothing is loaded until this is fixed. */
export interface BooksFact extends DataFactHead {
  readonly kind: 'books';
  readonly command: string;
  readonly exitCode: number;
  readonly error: string;
  /** What the error says to do, as it was printed: `Act: …`. Null or missing if it says nothing. */
  readonly nextStep?: string | null;
  readonly foundAt: string;
  /** Whether "costbook repair" fixes it. */
  readonly isForRepair: boolean;
  /** Content of the published snapshot: rows, and USD as decimal text; null if part of it cannot be read. */
  readonly snapshot: { readonly rows: number; readonly cost: string; readonly publishedAt: string } | null;
}

/** Listings of resources that were not read in full: names, owners and states become out of date. */
export interface ListingsFact extends DataFactHead {
  readonly kind: 'listings';
  /** Those that the token may not read first, then shrunken ones. */
  readonly listings: readonly {
    readonly resourceType: string;
    /** Workspace of the token that read it; null for the account's own token. */
    readonly workspace: string | null;
    readonly outcome: string;
    readonly reason: string | null;
    /** What to do, as it was printed: `Act: …`. */
    readonly nextStep: string | null;
  }[];
}

/** The costs of a closed month changed: the platform changed them, or the books lost what was closed. */
export interface ClosedMonthFact extends DataFactHead {
  readonly kind: 'closed_month';
  readonly month: string;
  /** Change since the close, USD, decimal text. Negative if the month costs less. */
  readonly cost: string;
  readonly corrections: number;
  /** The months that bill the corrections. */
  readonly deliveredIn: readonly string[];
  /** The change that each of these months bills, oldest first, USD as decimal text. Missing with `differs`, as the next two. */
  readonly billed?: readonly { readonly month: string; readonly cost: string }[] | undefined;
  /** The closed months from this one on, oldest first: reopened, the month itself can bill the change. */
  readonly reopen?: readonly string[] | undefined;
  /** The months to close after that, with the invoices of their last close. */
  readonly close?: readonly MonthToClose[] | undefined;
  readonly drivers: readonly Driver[];
  /** Undefined while the month still has the numbers of its close, so that corrections bill the change. */
  readonly differs?: (Reopening & { readonly closedCost: string; readonly cost: string }) | undefined;
}

/** Costs in a billing dimension that the platform does not list. */
export interface DimensionFact extends DataFactHead {
  readonly kind: 'dimension';
  readonly dimension: string;
  readonly firstHour: string;
  /** USD so far, decimal text. */
  readonly cost: string;
}

/** A name on the platform's lists that this version does not know, or one that it needs and is not on them. */
export interface InterfaceFact extends DataFactHead {
  readonly kind: 'interface';
  readonly list: 'dimensions' | 'resource_types';
  readonly name: string;
  /** Whether the platform no longer lists it; otherwise it is new. */
  readonly isMissing: boolean;
}

/** A threshold of a budget. */
export type BudgetAlertFact = Omit<BudgetFact, 'state'> & {
  readonly state: BudgetFact['state'] | 'withdrawn';
  readonly revision?: string | undefined;
  /** Reported anomalies in the spend, or in what its forecast is made from, the largest first; missing if there are none. */
  readonly unusual?: readonly UnusualCost[] | undefined;
  /** Where its period ends; undefined if that is unknown, or if it is over. */
  readonly end?: BudgetEnd | undefined;
  /** The period before, if this one has just begun. */
  readonly previous?: PreviousPeriod | undefined;
  /** The part of `value` in hours that are not complete yet, which may grow; missing if there is none. Decimal text. */
  readonly incomplete?: string | undefined;
  /** Budgets that are a part of this one and are expected to be exceeded too: what is saved there is saved here. */
  readonly contains?: readonly string[] | undefined;
  /** How many more of these there are; left out if none. */
  readonly containsMore?: number | undefined;
};

/** What the period before a forecast cost. Amounts are in the budget's unit, decimal text. */
export interface PreviousPeriod {
  readonly period: string;
  readonly value: string;
  /** What of it was unusual, USD; null if nothing is known to be. */
  readonly unusual: string | null;
  /** Its length in days; missing if unknown. */
  readonly days?: number;
  /** The resources of its unusual costs, which have ended. */
  readonly ended?: readonly string[];
  /** Its most expensive resources, in descending order. */
  readonly drivers: readonly Driver[];
}

/** Where a period of a budget ends: an estimate. Amounts are in the budget's unit, decimal text. */
export interface BudgetEnd {
  /** If everything goes on, including what is unusual now. */
  readonly expected: string;
  /** If the anomalies that go on stop now; null if none goes on. */
  readonly stopped: string | null;
  /** The day on which the amount will be spent, in the budget's time zone; null if it is spent, or stays below. */
  readonly spentOn: string | null;
}

/** An anomaly in the spend of a budget. */
export interface UnusualCost {
  /** The key of its alert. */
  readonly key: string;
  /** The keys of the anomalies of its cause; left out if it is the only one. */
  readonly parts?: readonly string[];
  readonly subject: string;
  readonly firstDay: string;
  readonly lastDay: string;
  readonly isOver: boolean;
  /** Difference from the usual cost in USD, decimal text. */
  readonly impact: string;
  /** What a whole day of it costs more, USD as decimal text, an estimate; null if it has ended or its pace is unknown. */
  readonly daily: string | null;
}

/** Parses a fact from the ledger. */
export function parseFact(json: string): AlertFact {
  return JSON.parse(json) as AlertFact;
}

export type DataFact =
  | StaleFact
  | ClockFact
  | UnprovenFact
  | CheckFact
  | RunFact
  | BooksFact
  | ListingsFact
  | ClosedMonthFact
  | DimensionFact
  | InterfaceFact;
export type AlertFact = DataFact | BudgetAlertFact | AnomalyFact;
export type AlertKind = AlertFact['kind'];
