import { decimalOfWhole } from '../decimals.ts';
import { usdDecimals } from '../money.ts';
import type { Severity } from '../severity.ts';
import type { PeriodKind } from '../time.ts';

/** Decimals of a percentage. */
export const percentDecimals = 4;

export const thresholdSubjects = ['spent', 'forecast'] as const;

/** A point on a budget: reached where at least so much is spent, or is forecast to be spent at the period's end. */
export interface Threshold {
  /** What is compared with it: what is spent, or what the period is forecast to come to. */
  readonly of: (typeof thresholdSubjects)[number];
  /** `80%` or `4500 USD`: what tells it from the others of its budget, in the key of its alert too. */
  readonly code: string;
  /** Ten-thousandths of a percent of the budget's amount, or trillionths of a USD. */
  readonly at: { readonly percent: bigint } | { readonly usd: bigint };
  readonly severity: Severity;
  /** Names of sinks: its own, or those of the budget. */
  readonly notify: readonly string[];
}

/** Of what costs a budget is. A row must fit every key that is there, and a key fits with any of its values. */
export interface BudgetScope {
  readonly account?: readonly string[];
  readonly workspace?: readonly string[];
  readonly resource_type?: readonly string[];
  /** Patterns: `*` stands for any characters. */
  readonly resource_name?: readonly string[];
  readonly billing_dimension?: readonly string[];
  /** Of the allocation: owners along its dimensions, such as team. */
  readonly owner?: Readonly<Record<string, readonly string[]>>;
  /** Labels of the resource, by key. */
  readonly label?: Readonly<Record<string, readonly string[]>>;
}

/** A limit on what may be spent in each period. */
export interface Budget {
  readonly name: string;
  /** Where it stands: `jobs/budgets.yaml:2:5`. */
  readonly where: string;
  /** With what its parents say of theirs: a child is a part of its parent. */
  readonly scope: BudgetScope;
  readonly period: PeriodKind;
  /** Whose clocks tell where a period begins; they differ from UTC by whole hours. */
  readonly timeZone: string;
  /** Trillionths of a USD, above 0. */
  readonly amount: bigint;
  /** Amounts of single periods by their names, in the place of `amount`. */
  readonly limits: ReadonlyMap<string, bigint>;
  readonly parent: string | undefined;
  /** At least one, in the order in which they stand in the file. */
  readonly thresholds: readonly Threshold[];
}

/** What may be spent in a period, in trillionths of a USD; without a name, in one that none is named for. */
export function amountIn({ amount, limits }: Budget, period: string | undefined): bigint {
  return (period === undefined ? undefined : limits.get(period)) ?? amount;
}

/** `5000 USD`. */
export function usdText(whole: bigint): string {
  return `${shortest(whole, usdDecimals)} USD`;
}

/** A decimal without zeros behind its last place: `82.5`, `5000`. */
export function shortest(whole: bigint, decimals: number): string {
  return decimalOfWhole(whole, decimals).replace(/\.?0+$/, '');
}
