import type { Severity } from '../../base/severity.ts';
import { decimalOfWhole, usdUnit } from '../../money/money.ts';
import { maxNameLength, oneLine } from '../../text/safe-text.ts';
import type { FiscalYear } from '../../time/fiscal-year.ts';
import {
  type Calendar,
  type CalendarPeriod,
  calendarOf,
  type Instant,
  type PeriodKind,
  type Window,
} from '../../time/time.ts';
import { type AmountStep, type Growth, grown, type Rollover, type Share, steppedAmount } from './planned-amount.ts';

export const thresholdSubjects = ['spent', 'forecast'] as const;

/** A threshold of a budget: reached when this much is spent, or is forecast for the end of the period. */
export interface Threshold {
  /** Compared with spend, or with the forecast of the period. */
  readonly of: (typeof thresholdSubjects)[number];
  /** `80%`, `4500 USD` or `4500 GB-seconds`: identifies it within its budget and in the key of its alert. */
  readonly code: string;
  readonly at: Share;
  readonly severity: Severity;
  /** Of spend below the amount, and the file sets no severity: it is `info` while the period keeps to its amount. */
  readonly isUsualSeverity?: true;
  /** Names of sinks: its own, or else the budget's. */
  readonly notify: readonly string[];
  /** A command to run once when it is crossed, as a list of arguments. */
  readonly run?: { readonly argv: readonly string[]; readonly timeLimitSeconds: number } | undefined;
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
  /** Of a budget in a unit of usage: only usage in this unit counts, instead of costs. */
  readonly unit?: string;
}

/** What a period gets from the one before. */
export interface Carried {
  /** Trillionths of the budget's unit. */
  readonly amount: bigint;
  /** Whether all hours of the earlier periods are complete; otherwise the amount may still change. */
  readonly isFinal: boolean;
}

/** A part of a shared budget, which has no amount of its own. */
export interface BudgetPart {
  readonly name: string;
  /** Includes the scope of the budget. No cost is in two parts. */
  readonly scope: BudgetScope;
}

/** What a change adds: a share of the costs in its scope, or USD on its day or on every day from then on. */
export type ChangeEffect = { readonly percent: bigint } | { readonly usd: bigint; readonly every: 'once' | 'daily' };

/** A launch, shut-down or commitment that costs cannot show yet. */
export interface PlannedChange {
  readonly name: string;
  /** The start of its first day in UTC. */
  readonly on: Instant;
  readonly effect: ChangeEffect;
  /** `+30%`, as it was written. */
  readonly effectText: string;
  /** Without resource names. */
  readonly scope: BudgetScope;
}

/** A day or a month, and its count. */
export interface CountedSpan extends Window {
  /** `2026-11-20` or `2026-11`, in the budget's time zone. */
  readonly name: string;
  /** Trillionths; may be 0. */
  readonly count: bigint;
}

/** What the costs of a budget are divided by. */
export interface CostPer {
  /** `order`. */
  readonly name: string;
  /** In order of time; none overlap. */
  readonly spans: readonly CountedSpan[];
}

/** A limit on the spend of each period. */
export interface Budget {
  readonly name: string;
  /** Its position: `jobs/budgets.yaml:2:5`. */
  readonly where: string;
  /** The CSV file with its amounts, `jobs/finance.csv`; undefined if they are in the budget file. */
  readonly amountFile?: string | undefined;
  /** Includes the scopes of its parents: a child covers a part of its parent. */
  readonly scope: BudgetScope;
  readonly period: PeriodKind;
  /** Undefined unless the period is fiscal. */
  readonly fiscalYear?: FiscalYear | undefined;
  /** The time zone of its periods, which differs from UTC by whole hours. */
  readonly timeZone: string;
  /** Trillionths of its unit (see `unitOf`), above 0. With `steps`, the first of them. */
  readonly amount: bigint;
  /** Amounts from a period on, in ascending order; they override `amount`. */
  readonly steps?: readonly AmountStep[] | undefined;
  /** Of a budget for a cost per unit: its amounts are USD for one of them. */
  readonly per?: CostPer | undefined;
  readonly growth?: Growth | undefined;
  /** Amounts of single periods by name; they override all others. */
  readonly limits: ReadonlyMap<string, bigint>;
  readonly rollover?: Rollover | undefined;
  /** What each period got from the one before, by name; see `withCarried`. */
  readonly carried?: ReadonlyMap<string, Carried> | undefined;
  readonly parts?: readonly BudgetPart[] | undefined;
  /** The planned changes of the file, which forecasts add as far as they concern this budget. */
  readonly changes?: readonly PlannedChange[] | undefined;
  readonly parent: string | undefined;
  /** At least one, in the order of the file. */
  readonly thresholds: readonly Threshold[];
}

/** `workspace production`, with names as a line can show them. Pure. */
export function scopeWords({ unit, ...scope }: BudgetScope): string {
  const entries = Object.entries(scope).filter(([, value]) => value !== undefined);
  if (entries.length === 0) return unit === undefined ? 'All costs' : 'All usage';
  const named = (name: string, empty: string) => (name === '' ? empty : oneLine(name, maxNameLength));
  const words = (value: unknown): string =>
    Array.isArray(value)
      ? value.map((each) => named(String(each), 'none')).join(' or ')
      : Object.entries(value as object)
          .map(([key, each]) => `${named(key, '')} ${words(each)}`)
          .join(', ');
  return entries.map(([key, value]) => `${key.replace('_', ' ')} ${words(value)}`).join('; ');
}

/** The unit of a budget's amounts: USD, a unit of usage, or `USD per order`. */
export function unitOf({ scope, per }: Pick<Budget, 'scope' | 'per'>): string {
  return per === undefined ? (scope.unit ?? usdUnit) : `USD per ${per.name}`;
}

/** The amount of a period, in trillionths of the budget's unit, including what is left of earlier periods. */
export function amountIn(budget: Budget, period: string): bigint {
  return plannedIn(budget, period) + carriedIn(budget, period);
}

/** What a period got from the one before, in trillionths of the budget's unit. */
export function carriedIn({ carried }: Budget, period: string): bigint {
  return carried?.get(period)?.amount ?? 0n;
}

/** The amount of a period by the budget file alone, in trillionths of the budget's unit; a known period is not looked up. */
export function plannedIn(budget: Budget, name: string, known?: CalendarPeriod): bigint {
  const { amount, limits, steps, growth } = budget;
  const own = limits.get(name);
  if (own !== undefined || (steps === undefined && growth === undefined)) return own ?? amount;
  const period = known ?? budgetCalendar(budget).periodNamed(name);
  if (period === undefined) return amount;
  if (steps !== undefined) return steppedAmount(steps, period) ?? amount;
  return growth === undefined ? amount : grown(amount, growth, period, budget);
}

/** The calendar of a budget's periods. */
export function budgetCalendar({
  period,
  timeZone,
  fiscalYear,
}: Pick<Budget, 'period' | 'timeZone' | 'fiscalYear'>): Calendar {
  return calendarOf(period, timeZone, fiscalYear);
}

/** Why a budget has no forecast; a cost per unit has only the ratio so far, because future counts are unknown. */
export function noForecastOf({ per }: Pick<Budget, 'per'>): string | undefined {
  return per && `a cost per ${per.name} is the ratio so far, which has no forecast`;
}

/** A decimal without trailing zeros: `82.5`, `5000`. */
export function shortest(whole: bigint, decimals: number): string {
  return decimalOfWhole(whole, decimals).replace(/\.?0+$/, '');
}
