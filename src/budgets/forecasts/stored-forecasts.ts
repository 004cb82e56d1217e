import { moneyOf, moneyText } from '../../money/money.ts';
import { notBelowSpent } from '../../outlook/index.ts';
import { type CalendarPeriod, calendarOf, formatInstant, hourMs, type Instant } from '../../time/time.ts';
import { readSql } from '../../warehouse/sql/index.ts';
import type { Connection } from '../../warehouse/store/index.ts';
import { amountIn, type Budget, budgetCalendar, noForecastOf, unitOf } from '../rules/budget.ts';
import { withCarried } from '../spend/carried.ts';
import { costsOf, readSpends, type SpendNow, type SpendsAsked, scopeForSql } from '../spend/spend.ts';
import { type BudgetState, stateOf } from '../spend/thresholds.ts';
import { goingOnEnd, plannedEnd } from './forecast-rows.ts';

/** A forecast that `costbook alert` stored. Amounts are trillionths of its budget's unit. */
export interface StoredForecast {
  readonly kind: 'forecast';
  readonly mean: bigint;
  readonly low: bigint;
  readonly high: bigint;
  /** The costs before this instant were known to it. */
  readonly completeThrough: Instant;
  /** The day on which the budget's present amount is reached; undefined if it is not, or was reached already. */
  readonly exceedsOn: string | undefined;
  /** Whether it includes planned changes. */
  readonly isPlanned: boolean;
  /** Whether it includes anomalies that go on. */
  readonly isGoingOn: boolean;
}

/** A budget in its present period, with the newest stored forecast: reading it takes no calculation. */
export interface BudgetWithStored {
  readonly budget: Budget;
  readonly spend: SpendNow;
  readonly forecast: StoredForecast | { readonly kind: 'none'; readonly reason: string };
  readonly state: BudgetState | undefined;
}

/** The present period of each budget, in order: its spend, and its newest stored forecast. */
export async function readBudgetsWithStored(
  connection: Connection,
  given: readonly Budget[],
  asked: SpendsAsked,
): Promise<BudgetWithStored[]> {
  if (given.length === 0) return [];
  const budgets = await withCarried(connection, given, asked);
  const periods = budgets.map((budget) => ({ budget, period: budgetCalendar(budget).periodAt(asked.now) }));
  const spends = await readSpends(connection, periods, asked);
  const rows = await connection.rows(await readSql('forecasts', 'of_budgets'), { from: formatInstant(asked.now) });
  return periods.flatMap(({ budget, period }, index): BudgetWithStored[] => {
    const spend = spends[index];
    if (spend === undefined) return [];
    const scope = JSON.stringify(scopeForSql(budget.scope));
    // A forecast of other costs under the same name is none of this budget.
    const row = rows.find(
      (each) =>
        each['budget'] === budget.name &&
        each['scope'] === scope &&
        each['period_kind'] === budget.period &&
        each['period'] === period.name,
    );
    const forecast = notBelowSpent(forecastOf(budget, period, row), spend.spent);
    return [{ budget, spend, forecast, state: stateOf(budget, period, spend, forecast) }];
  });
}

function forecastOf(
  budget: Budget,
  period: CalendarPeriod,
  row: Awaited<ReturnType<Connection['rows']>>[number] | undefined,
): BudgetWithStored['forecast'] {
  const reason = noForecastOf(budget);
  if (reason !== undefined) return { kind: 'none', reason };
  if (row === undefined) return { kind: 'none', reason: '"costbook alert" has stored none for this period' };
  if (row['forecast'] === null) return { kind: 'none', reason: String(row['reason'] ?? 'no reason is stored') };
  const amount = moneyText(amountIn(budget, period.name));
  const isOfAmount = row['amount'] !== null && String(row['amount']) === amount;
  return {
    kind: 'forecast',
    mean: moneyOf(String(row['forecast'])),
    low: moneyOf(String(row['low'])),
    high: moneyOf(String(row['high'])),
    completeThrough: Number(row['complete_through']),
    exceedsOn: isOfAmount && row['exceeds_on'] !== null ? String(row['exceeds_on']) : undefined,
    isPlanned: String(row['model'] ?? '').endsWith(plannedEnd),
    isGoingOn: String(row['model'] ?? '').includes(goingOnEnd),
  };
}

/** A day, or an hour of a daily budget, of a period. */
export interface BurnStep {
  /** In the budget's time zone: `2026-10-04`, or `14:00`. */
  readonly name: string;
  readonly start: Instant;
  readonly end: Instant;
  /** Trillionths of the budget's unit spent since the start of the period; undefined for steps that start later than `through`. */
  readonly spent: bigint | undefined;
}

/** What is spent of a budget at the end of each step of a period; the last known step may be incomplete. */
export async function readBurnUp(
  connection: Connection,
  budget: Budget,
  period: CalendarPeriod,
  through: Instant,
): Promise<BurnStep[]> {
  const steps = stepsOf(budget, period);
  const known = steps.filter(({ start }) => start < through);
  const windows = known.map(({ start, end }) => ({ budget, start, end }));
  const costs = windows.length === 0 ? [] : await costsOf(connection, windows);
  let total = 0n;
  return steps.map((step, index) => {
    if (index >= known.length) return { ...step, spent: undefined };
    total += costs[index]?.total ?? 0n;
    return { ...step, spent: total };
  });
}

/** What the periods before one cost, newest first: at most `count`, and none that began before the books. */
export async function readPastPeriods(
  connection: Connection,
  budget: Budget,
  { before, since, count }: { readonly before: Instant; readonly since: Instant; readonly count: number },
): Promise<{ readonly period: CalendarPeriod; readonly spent: bigint }[]> {
  const calendar = budgetCalendar(budget);
  const periods: CalendarPeriod[] = [];
  for (let at = before; periods.length < count; ) {
    const period = calendar.periodAt(at - 1);
    if (period.start < since) break;
    periods.push(period);
    at = period.start;
  }
  const windows = periods.map(({ start, end }) => ({ budget, start, end }));
  const costs = windows.length === 0 ? [] : await costsOf(connection, windows);
  return periods.map((period, place) => ({ period, spent: costs[place]?.total ?? 0n }));
}

function stepsOf(budget: Budget, { start, end }: CalendarPeriod): Omit<BurnStep, 'spent'>[] {
  const steps: Omit<BurnStep, 'spent'>[] = [];
  const days = calendarOf('daily', budget.timeZone);
  for (let at = start; at < end; ) {
    const isHourly = budget.period === 'daily';
    const next = isHourly ? at + hourMs : days.periodAt(at).end;
    const name = isHourly ? `${String((at - start) / hourMs).padStart(2, '0')}:00` : days.periodAt(at).name;
    steps.push({ name, start: at, end: next });
    at = next;
  }
  return steps;
}

/** The numbers of a budget's burn-up chart, as text. */
export function burnUpRows(
  budget: Budget,
  { period, spent, completeThrough }: Pick<SpendNow, 'period' | 'spent' | 'completeThrough'>,
  steps: readonly BurnStep[],
  forecast: Pick<StoredForecast, 'kind' | 'mean' | 'low' | 'high'> | { readonly kind: 'none' },
) {
  return {
    period,
    unit: unitOf(budget),
    steps: steps.map((step) => ({ ...step, spent: step.spent === undefined ? null : moneyText(step.spent) })),
    spent: spent === undefined ? undefined : moneyText(spent),
    limit: moneyText(amountIn(budget, period.name)),
    completeThrough,
    forecast:
      forecast.kind === 'none'
        ? undefined
        : { mean: moneyText(forecast.mean), low: moneyText(forecast.low), high: moneyText(forecast.high) },
  };
}
