import { restName } from '../charts/index.ts';
import { decimalOfWhole, wholeOfDecimal } from '../decimals.ts';
import { usdDecimals } from '../money.ts';
import { csvChunks } from '../reports/index.ts';
import { addCalendarMonths, dayMs, floorMonth, formatInstant, hourMs, type Instant } from '../time.ts';
import { readSql } from '../warehouse/index.ts';
import { named } from './layout.ts';
import { shownSql } from './shown-sql.ts';
import type { BooksView } from './snapshots.ts';

export const steps = ['hour', 'day', 'week', 'month'] as const;
export type Step = (typeof steps)[number];

export const dimensions = ['workspace', 'resource_type', 'resource_name', 'billing_dimension', 'account'] as const;
export type Dimension = (typeof dimensions)[number];

/** Only costs with these values; '' is the value of costs without one. */
export type Filters = Readonly<Partial<Record<Dimension, string>>>;

export interface ExploreQuestion {
  readonly from: Instant;
  readonly to: Instant;
  readonly step: Step;
  readonly groupBy: Dimension;
  /** How many values are shown by name; the rest is one series. */
  readonly top: number;
  readonly filters: Filters;
}

export interface ExploredSeries {
  readonly name: string;
  /** The value as stored; undefined for the rest. */
  readonly key: string | undefined;
  readonly isRest: boolean;
  /** USD as exact decimal text, one per bucket; undefined where there is no cost. */
  readonly costs: readonly (string | undefined)[];
  readonly usages: readonly (string | undefined)[];
  readonly unit: string | undefined;
  /** USD for drawing. */
  readonly values: readonly (number | null)[];
  /** USD as exact decimal text. */
  readonly total: string;
}

export interface Explored {
  /** The start of each bucket, as `2026-10-04T00:00:00Z`. */
  readonly labels: readonly string[];
  /** The largest first, the rest last. */
  readonly series: readonly ExploredSeries[];
  /** USD as exact decimal text. */
  readonly total: string;
  /** The question as a person can run it. */
  readonly sql: string;
}

/** Cost and usage by bucket and one dimension. */
export async function readExplored(view: BooksView, question: ExploreQuestion): Promise<Explored> {
  const { from, to, step, groupBy, filters } = question;
  const rows = await view.rows('explore', valuesOf(question));
  const labels = bucketsOf(from, to, step).map((start) => formatInstant(start));
  const places = new Map(labels.map((label, index) => [label, index]));
  const byPlace = new Map<
    number,
    {
      key: string | undefined;
      isRest: boolean;
      unit: string | undefined;
      costs: (string | undefined)[];
      usages: (string | undefined)[];
    }
  >();
  for (const row of rows) {
    const place = Number(row['place']);
    const isRest = row['is_rest'] === true;
    const found = byPlace.get(place) ?? {
      key: typeof row['key'] === 'string' ? row['key'] : undefined,
      ...{ isRest, unit: typeof row['unit'] === 'string' ? row['unit'] : undefined, costs: [], usages: [] },
    };
    const index = places.get(String(row['bucket']));
    if (index === undefined) continue;
    found.costs[index] = String(row['cost']);
    if (row['usage'] !== null) found.usages[index] = String(row['usage']);
    byPlace.set(place, found);
  }
  const series = [...byPlace.values()].map(({ key, isRest, unit, costs, usages }) => ({
    name: isRest ? restName : named(key, `no ${groupBy.replace('_', ' ')}`),
    ...{ key, isRest, unit, usages },
    costs: labels.map((_, index) => costs[index]),
    values: labels.map((_, index) => (costs[index] === undefined ? null : Number(costs[index]))),
    total: sum(costs),
  }));
  const sql = await shownSql('shown_explore', {
    ...{ from: formatInstant(from), to: formatInstant(to), step, group_by: { column: groupBy } },
    ...Object.fromEntries(dimensions.map((dimension) => [dimension, filters[dimension] ?? null])),
  });
  return { sql, labels, series, total: sum(series.map(({ total }) => total)) };
}

/** The same rows as CSV, as `costbook sql --format csv` writes them: exact decimals, no cell that a spreadsheet runs. */
export function exploredCsv(view: BooksView, question: ExploreQuestion): Promise<string> {
  const values = valuesOf(question);
  return view.once(`csv ${JSON.stringify(values)}`, async (connection) => {
    const chunks = csvChunks(await connection.stream(await readSql('serve', 'explore'), values), { raw: false });
    const parts: string[] = [];
    for await (const chunk of chunks) parts.push(chunk);
    return parts.join('');
  });
}

/** The values that the statement binds. */
function valuesOf({ from, to, step, groupBy, top, filters }: ExploreQuestion): Record<string, string | number | null> {
  return {
    ...{ from: formatInstant(from), to: formatInstant(to), step, group_by: groupBy, top },
    ...Object.fromEntries(dimensions.map((dimension) => [dimension, filters[dimension] ?? null])),
  };
}

/** The exact sum of USD amounts. */
export function sum(costs: readonly (string | undefined)[]): string {
  let whole = 0n;
  for (const cost of costs) if (cost !== undefined) whole += wholeOfDecimal(cost, usdDecimals);
  return decimalOfWhole(whole, usdDecimals);
}

/** The starts of the buckets that a window touches. Weeks start on Monday. */
export function bucketsOf(from: Instant, to: Instant, step: Step): Instant[] {
  const starts: Instant[] = [];
  for (let start = floorTo(from, step); start < to; start = nextOf(start, step)) starts.push(start);
  return starts;
}

// 1970-01-05 was a Monday.
const firstMonday = 4 * dayMs;

export function floorTo(at: Instant, step: Step): Instant {
  if (step === 'month') return floorMonth(at);
  if (step === 'week') return Math.floor((at - firstMonday) / (7 * dayMs)) * 7 * dayMs + firstMonday;
  const length = step === 'hour' ? hourMs : dayMs;
  return Math.floor(at / length) * length;
}

export function nextOf(start: Instant, step: Step): Instant {
  if (step === 'month') return addCalendarMonths(start, 1);
  return start + (step === 'week' ? 7 * dayMs : step === 'day' ? dayMs : hourMs);
}
