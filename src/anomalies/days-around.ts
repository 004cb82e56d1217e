import { dayMs, formatInstant } from '../time/time.ts';
import type { SqlRow } from '../warehouse/store/index.ts';
import type { AnomalyRules } from './rules.ts';
import { usualBand } from './usual-band.ts';

/** Days before and after an anomaly that its chart shows. */
const daysBefore = 42;
const daysAfter = 14;
/** What a baseline is learned from at most. */
const historyDays = 400;

/** An anomaly's first and last day, `2026-10-03`, and the days that the books have. */
export interface DaysAsked {
  readonly firstDay: string;
  readonly lastDay: string;
  /** Instants as text; null where the books have none. */
  readonly historyStart: string | null;
  readonly completeThrough: string | null;
}

/** The days around an anomaly. Days are numbers since 1970-01-01, `to` is exclusive; costs are USD. */
export interface DaysAround {
  readonly firstDay: number;
  readonly lastDay: number;
  readonly from: number;
  readonly to: number;
  readonly costs: readonly number[];
  /** The same as exact decimal text. */
  readonly exactCosts: readonly string[];
  /** What each day was expected to cost; undefined where nothing could be expected. */
  usual(rules: Pick<AnomalyRules, 'minDays'>): ReturnType<typeof usualBand>;
}

/**
 * Reads the days that a chart of an anomaly shows. `read` returns the rows `day`, `cost` and `usage` of the anomaly's
 * account, workspace, resource type and billing dimension in a window.
 */
export async function daysAround(
  { firstDay, lastDay, historyStart, completeThrough }: DaysAsked,
  read: (window: { readonly from: string; readonly to: string }) => Promise<readonly SqlRow[]>,
): Promise<DaysAround> {
  const [first, last] = [dayNumber(firstDay), dayNumber(lastDay)];
  const booksEnd = completeThrough === null ? last + 1 : Math.floor(Date.parse(completeThrough) / dayMs);
  const booksStart = historyStart === null ? 0 : Math.ceil(Date.parse(historyStart) / dayMs);
  const from = Math.max(first - daysBefore, booksStart);
  const to = Math.max(last + 1, Math.min(last + 1 + daysAfter, booksEnd));
  const start = Math.max(booksStart, first - historyDays);
  const rows = await read({ from: formatInstant(start * dayMs), to: formatInstant(to * dayMs) });
  const days = new Map(rows.map((row) => [dayNumber(String(row['day'])), row]));
  const of = (field: string) =>
    Array.from({ length: to - start }, (_, index) => Number(days.get(start + index)?.[field] ?? 0));
  const series = { firstDay: start, costs: of('cost'), usages: of('usage') };
  return {
    ...{ firstDay: first, lastDay: last, from, to },
    costs: series.costs.slice(from - start),
    exactCosts: Array.from({ length: to - from }, (_, index) => String(days.get(from + index)?.['cost'] ?? '0')),
    usual: (rules) => usualBand(series, { firstDay: first, from, to }, rules),
  };
}

function dayNumber(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) / dayMs;
}
