import { decimalOfWhole } from '../decimals.ts';
import { usdDecimals } from '../money.ts';
import type { Severity } from '../severity.ts';
import type { PeriodKind } from '../time.ts';

/** Decimals of a percentage. */
export const percentDecimals = 4;

export const thresholdSubjects = ['spent', 'forecast'] as const;

/** A threshold of a budget: reached when this much is spent, or is forecast for the end of the period. */
export interface Threshold {
  /** Compared with spend, or with the forecast of the period. */
  readonly of: (typeof thresholdSubjects)[number];
  /** `80%` or `4500 USD`: identifies it within its budget and in the key of its alert. */
  readonly code: string;
  /** Ten-thousandths of a percent of the budget's amount, or trillionths of a USD. */
  readonly at: { readonly percent: bigint } | { readonly usd: bigint };
  readonly severity: Severity;
  /** Names of sinks: its own, or else the budget's. */
  readonly notify: readonly string[];
}

/** The costs that a budget covers. A cost must match every key; a key matches with any of its values. */
export interface BudgetScope {
  readonly account?: readonly string[];
  readonly workspace?: readonly string[];
  readonly resource_type?: readonly string[];
  /** Patterns: `*` matches any characters. */
  readonly resource_name?: readonly string[];
  readonly billing_dimension?: readonly string[];
  /** Owners by dimension of the allocation, such as team. */
  readonly owner?: Readonly<Record<string, readonly string[]>>;
  /** Labels of the resource, by key. */
  readonly label?: Readonly<Record<string, readonly string[]>>;
}

/** A limit on the spend of each period. */
export interface Budget {
  readonly name: string;
  /** Its position: `jobs/budgets.yaml:2:5`. */
  readonly where: string;
  /** Includes the scopes of its parents: a child covers a part of its parent. */
  readonly scope: BudgetScope;
  readonly period: PeriodKind;
  /** The time zone of its periods, which differs from UTC by whole hours. */
  readonly timeZone: string;
  /** Trillionths of a USD, above 0. */
  readonly amount: bigint;
  /** Amounts of single periods by name; they override `amount`. */
  readonly limits: ReadonlyMap<string, bigint>;
  readonly parent: string | undefined;
  /** At least one, in the order of the file. */
  readonly thresholds: readonly Threshold[];
}

/** The amount of a period, in trillionths of a USD; without a name, the usual amount. */
export function amountIn({ amount, limits }: Budget, period: string | undefined): bigint {
  return (period === undefined ? undefined : limits.get(period)) ?? amount;
}

/** `5000 USD`. */
export function usdText(whole: bigint): string {
  return `${shortest(whole, usdDecimals)} USD`;
}

/** A decimal without trailing zeros: `82.5`, `5000`. */
export function shortest(whole: bigint, decimals: number): string {
  return decimalOfWhole(whole, decimals).replace(/\.?0+$/, '');
}
