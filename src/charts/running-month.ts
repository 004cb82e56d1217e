import { amount, relative } from '../money/money.ts';
import { addCalendarMonths, dayMs, formatInstant, hourMs, type Instant, monthName } from '../time/time.ts';
import { type ExactNumbers, exactTotals, forecastTexts } from './exact-numbers.ts';
import type { MonthSoFar } from './month-so-far.ts';
import type { DrawnRows } from './picture.ts';

/** A month so far, and the month before. Amounts are USD, decimal text. */
export interface RunningMonth {
  /** The first instant of the month. */
  readonly start: Instant;
  /** The costs before this instant are complete. */
  readonly through: Instant;
  readonly spent: string;
  /** The month before, up to the same hour; undefined if it is not in the books. */
  readonly before: string | undefined;
  /** Cost by day: `2026-10-04`. */
  readonly days: ReadonlyMap<string, string>;
  readonly daysBefore: ReadonlyMap<string, string>;
  readonly forecast:
    | { readonly mean: string; readonly low: string; readonly high: string; readonly amount: string | null }
    | undefined;
}

/** A month as a running total against the month before, with its forecast and its budget, if there are any. Pure. */
export function runningMonth(month: RunningMonth): DrawnRows<MonthSoFar> {
  const { start, through, spent, before, forecast } = month;
  const { end, name, beforeName, count, lastDay, running, earlier } = totalsOf(month);
  const labels = Array.from({ length: count }, (_, index) => String(index + 1));
  const now = Number(running[lastDay] ?? 0);
  // The forecast of the rest, spread evenly over the hours that are left.
  const spread = (to: string) =>
    labels.map((_, day) => {
      if (day < lastDay) return null;
      const at = Math.min(start + (day + 1) * dayMs, end);
      const share = day === lastDay ? 0 : (at - through) / (end - through);
      return now + (Number(to) - now) * share;
    });
  const isWhole = through >= end;
  return {
    title: titleOf(month, name, isWhole),
    description: `Running total by day. ${name}: ${amount(spent)} USD through ${formatInstant(through)}.${
      before === undefined ? '' : ` ${beforeName}${isWhole ? '' : ' at the same hour'}: ${amount(before)} USD.`
    }`,
    rows: {
      labels,
      name,
      spent: running.map(drawn),
      before: before === undefined ? undefined : { name: beforeName, values: earlier.map(drawn) },
      forecast: forecast && { mean: spread(forecast.mean), low: spread(forecast.low), high: spread(forecast.high) },
      limit: forecast?.amount
        ? { name: `budget ${amount(forecast.amount)}`, value: Number(forecast.amount) }
        : undefined,
    },
  };
}

/** What `runningMonth` draws, exactly. Pure. */
export function exactMonth(month: RunningMonth): ExactNumbers {
  const { start, before } = month;
  const { name, beforeName, count, running, earlier } = totalsOf(month);
  const { forecast } = runningMonth(month).rows;
  return {
    head: 'Day',
    names: Array.from({ length: count }, (_, day) => formatInstant(start + day * dayMs).slice(0, 10)),
    series: [
      { id: 'spent', name, texts: running },
      ...(before === undefined ? [] : [{ id: 'before', name: beforeName, texts: earlier }]),
      ...(forecast === undefined ? [] : forecastTexts(forecast)),
    ],
  };
}

function totalsOf({ start, through, days, daysBefore }: RunningMonth) {
  const end = addCalendarMonths(start, 1);
  const beforeStart = addCalendarMonths(start, -1);
  const count = Math.max(Math.round((end - start) / dayMs), 28);
  const lastDay = Math.floor((through - hourMs - start) / dayMs);
  return {
    ...{ end, name: monthName(start), beforeName: monthName(beforeStart), count, lastDay },
    running: totals(days, start, count, lastDay),
    earlier: totals(daysBefore, beforeStart, count, Math.round((start - beforeStart) / dayMs) - 1),
  };
}

function titleOf({ spent, before, forecast }: RunningMonth, name: string, isWhole: boolean): string {
  const change = before === undefined ? undefined : relative(spent, before);
  const compared = change === undefined ? '' : `, ${change} against the month before`;
  if (isWhole) return `${name} cost ${amount(spent)} USD${compared}`;
  if (forecast === undefined) return `${name} has cost ${amount(spent)} USD so far${compared}`;
  return `${name} heads for ${amount(forecast.mean)} USD; ${amount(spent)} is spent`;
}

/** The running total at the end of each day; null after the last one. */
function totals(
  days: ReadonlyMap<string, string>,
  start: Instant,
  count: number,
  lastDay: number,
): readonly (string | null)[] {
  const names = Array.from({ length: count }, (_, day) => formatInstant(start + day * dayMs).slice(0, 10));
  return exactTotals(
    names.map((name) => days.get(name)),
    lastDay,
  );
}

function drawn(text: string | null): number | null {
  return text === null ? null : Number(text);
}
