import { usdDecimals } from '../../money/money.ts';
import { type CalendarPeriod, calendarOf, type Instant, isFiscal, type PeriodKind } from '../../time/time.ts';

/** Decimals of a percentage. */
export const percentDecimals = 4;
/** One hundred percent in the smallest unit of a percentage. */
export const hundredPercent = 100n * 10n ** BigInt(percentDecimals);

/** A share of an amount in ten-thousandths of a percent, or trillionths of the budget's unit. */
export type Share = { readonly percent: bigint } | { readonly amount: bigint };

/** A share of an amount, rounded up to a trillionth. */
export function shareOfAmount(share: Share, amount: bigint): bigint {
  if ('amount' in share) return share.amount;
  return (amount * share.percent + hundredPercent - 1n) / hundredPercent;
}

/** An amount that grows by a percentage every so many months, starting after the first period. */
export interface Growth {
  /** Ten-thousandths of a percent; negative if the amount shrinks. */
  readonly percent: bigint;
  readonly months: number;
  /** The name of the first period, which has the amount itself. */
  readonly from: string;
  /** Decimals to which the amount is rounded; 2 by default. */
  readonly decimals?: number | undefined;
}

/** From an instant on, periods have this amount, until the next step. */
export interface AmountStep {
  readonly from: Instant;
  /** Trillionths of the budget's unit. */
  readonly amount: bigint;
}

/** What is unspent at the end of a period is added to the next one. */
export interface Rollover {
  /** The start of the first period, which gets nothing. */
  readonly from: Instant;
  /** The most that a period gets; undefined for no limit. */
  readonly cap: Share | undefined;
}

/** The periods that amounts are for. */
export interface Periods {
  readonly period: PeriodKind;
  readonly timeZone: string;
  readonly fiscalYear?: Parameters<typeof calendarOf>[2];
}

/** The largest amount that a budget file can have, in trillionths of a USD. */
const largest = 10n ** BigInt(15 + usdDecimals) - 1n;

/** An amount after some growth, rounded to cents or finer, and at least that. Exact arithmetic. Pure. */
export function grown(
  amount: bigint,
  { percent, months, from, decimals = 2 }: Growth,
  period: CalendarPeriod,
  of: Periods,
): bigint {
  const cent = 10n ** BigInt(usdDecimals - decimals);
  const first = calendarOf(of.period, of.timeZone, of.fiscalYear).periodNamed(from);
  if (first === undefined || period.start <= first.start) return amount;
  const times = Math.floor((monthOf(period, of) - monthOf(first, of)) / months);
  const product = amount * (hundredPercent + percent) ** BigInt(times);
  const divisor = hundredPercent ** BigInt(times) * cent;
  const rounded = ((product + divisor / 2n) / divisor) * cent;
  return rounded < cent ? cent : rounded > largest ? largest : rounded;
}

/** The month in which a period starts, counted from year 0; for fiscal periods, in fiscal months. */
function monthOf({ name, start }: CalendarPeriod, { period, timeZone }: Periods): number {
  if (isFiscal(period)) {
    const [, year = 0, month = 1, quarter = 1] = /^FY(\d{4})(?:-P(\d\d)|-Q(\d))?$/.exec(name) ?? [];
    return Number(year) * 12 + (Number(month) - 1) + 3 * (Number(quarter) - 1);
  }
  const [year = 0, month = 1] = calendarOf('monthly', timeZone).periodAt(start).name.split('-').map(Number);
  return year * 12 + month - 1;
}

/** The amount of a period by steps in ascending order; before the first step, the first amount. */
export function steppedAmount(steps: readonly AmountStep[], { start }: CalendarPeriod): bigint | undefined {
  return (steps.findLast(({ from }) => from <= start) ?? steps[0])?.amount;
}
