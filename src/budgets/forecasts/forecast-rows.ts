import { moneyText } from '../../money/money.ts';
import { type NoPeriodForecast, type PeriodForecast, reachedOn } from '../../outlook/index.ts';
import { type CalendarPeriod, formatInstant, type Instant, type PeriodKind } from '../../time/time.ts';
import type { ForecastRow, ForecastScopeRow } from '../../warehouse/watch/index.ts';
import type { Budget } from '../rules/budget.ts';
import { scopeForSql } from '../spend/spend.ts';
import { accountOf, dayIn } from '../spend/thresholds.ts';
import type { ForecastOrigin } from './cached-forecasts.ts';

/** The costs that a forecast covers: a budget, or one resource type in one workspace of an account. */
export type ForecastScope =
  | { readonly kind: 'budget'; readonly budget: Budget }
  | {
      readonly kind: 'workspace';
      readonly account: string;
      /** Null if the platform reports none. */
      readonly workspace: string | null;
      readonly resourceType: string | null;
    };

/** The forecast of a scope for the period of the first incomplete hour. Amounts are trillionths of a USD. */
export interface ScopeForecast {
  readonly scope: ForecastScope;
  readonly periodKind: PeriodKind;
  readonly period: CalendarPeriod;
  /** Undefined if no hour is complete in every account of the scope. */
  readonly completeThrough: Instant | undefined;
  /** In the complete hours of the period; undefined if unknown. */
  readonly spent: bigint | undefined;
  /** For a budget, its amount in the period. */
  readonly amount: bigint | undefined;
  readonly forecast: PeriodForecast | NoPeriodForecast;
  /** Whether a run has stored what the engine made of the history; undefined if it was not asked. */
  readonly origin?: ForecastOrigin | undefined;
  /** Costs of the last complete hours or days in USD, newest last; undefined if unknown. */
  readonly recent?: { readonly stepHours: 1 | 24; readonly values: readonly number[] } | undefined;
}

/** The scope of a forecast, as the ledger stores it. */
export function scopeRow(
  scope: ForecastScope,
  periodKind: PeriodKind,
  period: CalendarPeriod,
  completeThrough: Instant,
): ForecastScopeRow {
  const isBudget = scope.kind === 'budget';
  return {
    scope_kind: scope.kind,
    budget: isBudget ? scope.budget.name : null,
    account: isBudget ? accountOf(scope.budget) : scope.account,
    workspace: isBudget ? null : scope.workspace,
    resource_type: isBudget ? null : scope.resourceType,
    scope: isBudget ? JSON.stringify(scopeForSql(scope.budget.scope)) : null,
    period_kind: periodKind,
    period: period.name,
    complete_through: formatInstant(completeThrough),
  };
}

/** A forecast as the ledger stores it; undefined if there was no complete data to forecast from. */
export function forecastRow({
  scope,
  periodKind,
  period,
  completeThrough,
  spent,
  amount,
  forecast,
}: ScopeForecast): ForecastRow | undefined {
  if (completeThrough === undefined || spent === undefined) return undefined;
  const made = forecast.kind === 'forecast' ? forecast : undefined;
  const exceedsOn = exceedsOnOf({ scope, spent, amount, forecast });
  return {
    ...scopeRow(scope, periodKind, period, completeThrough),
    period_start: formatInstant(period.start),
    period_end: formatInstant(period.end),
    step: made === undefined ? null : made.stepHours === 1 ? 'hour' : 'day',
    history_start: made === undefined ? null : formatInstant(made.history.start),
    history_end: made === undefined ? null : formatInstant(made.history.end),
    observations: made?.observations ?? null,
    model: made === undefined ? null : modelName(made),
    transform: made?.transform ?? null,
    seasons: made === undefined ? null : JSON.stringify(made.seasons),
    spent: moneyText(spent),
    forecast: made === undefined ? null : moneyText(made.mean),
    low: made === undefined ? null : moneyText(made.low),
    high: made === undefined ? null : moneyText(made.high),
    folds: made?.backtest.folds ?? null,
    mase: made?.backtest.mase ?? null,
    smape: made?.backtest.smape ?? null,
    coverage: made?.backtest.sumCoverage ?? null,
    amount: amount === undefined ? null : moneyText(amount),
    exceeds_on: exceedsOn ?? null,
    reason: forecast.kind === 'none' ? forecast.reason : null,
  };
}

/** What follows the name of the model of a stored forecast that includes planned changes. */
export const plannedEnd = ', with planned changes';

/** What follows the name of the model of a stored forecast that includes anomalies that go on. */
export const goingOnEnd = ', with what goes on';

function modelName(made: PeriodForecast): string {
  const goesOn = made.anomalies?.some(({ added }) => added !== 0n) === true;
  return `${made.model}${goesOn ? goingOnEnd : ''}${isPlanned(made) ? plannedEnd : ''}`;
}

/** Whether a planned change has moved a forecast. */
export function isPlanned({ changes = [] }: PeriodForecast): boolean {
  return changes.some(({ added }) => added !== 0n);
}

/** The day on which the forecast reaches the budget's amount; undefined if it does not, or if it was reached already. */
export function exceedsOnOf({
  scope,
  spent,
  amount,
  forecast,
}: Pick<ScopeForecast, 'scope' | 'spent' | 'amount' | 'forecast'>): string | undefined {
  if (scope.kind !== 'budget' || forecast.kind !== 'forecast') return undefined;
  if (spent === undefined || amount === undefined || spent >= amount) return undefined;
  const at = reachedOn(forecast, amount);
  return at === undefined ? undefined : dayIn(scope.budget, at);
}
