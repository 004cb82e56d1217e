import type { AnomalyFact } from '../anomalies/index.ts';
import type { BudgetFact, Driver } from '../budgets/spend/index.ts';

/** A threshold of a budget. */
export type BudgetAlertFact = Omit<BudgetFact, 'state'> & {
  readonly state: BudgetFact['state'] | 'withdrawn';
  readonly revision?: string | undefined;
  /** Reported anomalies in the spend, or in what its forecast is made from, the largest first; missing if there are none. */
  readonly unusual?: readonly UnusualCost[] | undefined;
  /** Who owns what costs more than usual now, or else the costs of its scope: `team Data`; missing if nobody is known. */
  readonly owner?: string | undefined;
  /** Where its period ends; undefined if that is unknown, or if it is over. */
  readonly end?: BudgetEnd | undefined;
  /** The period before, if this one has just begun. */
  readonly previous?: PreviousPeriod | undefined;
  /** The part of `value` in hours that are not complete yet, which may grow; missing if there is none. Decimal text. */
  readonly incomplete?: string | undefined;
  /** Budgets that are a part of this one and are expected to be exceeded too. */
  readonly contains?: readonly string[] | undefined;
  /** How many more of these there are; left out if none. */
  readonly containsMore?: number | undefined;
  /** The key of an alert about the same budget and period that is shown in full beside it; only in lists and messages. */
  readonly shownIn?: string | undefined;
  /** The other thresholds of its budget and period that are shown with it; only in messages. */
  readonly also?: readonly Threshold[] | undefined;
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
  /** If unusual costs of one day continue, which `expected` leaves out; missing if there are none. */
  readonly continued?: string | undefined;
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
  /** Whether it is a price that has changed, which nobody can stop; left out if not. */
  readonly isPrice?: boolean;
  readonly firstDay: string;
  readonly lastDay: string;
  readonly isOver: boolean;
  /** Difference from the usual cost in USD, decimal text. */
  readonly impact: string;
  /** The exclusion because of which it raises no alert of its own; left out if there is none. */
  readonly excluded?: AnomalyFact['excluded'];
  /** What a whole day of it costs more, USD as decimal text, an estimate; null if it has ended or its pace is unknown. */
  readonly daily: string | null;
}

/** What tells the thresholds of a budget apart. */
export type Threshold = Pick<BudgetFact, 'key' | 'threshold' | 'limit' | 'of' | 'unit'>;
