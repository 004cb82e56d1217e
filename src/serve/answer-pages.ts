import type { TableAnswer } from '../query/index.ts';
import { anomalyAddress, anyName, budgetAddress, resourceAddress } from '../text/dashboard-address.ts';
import { addCalendarMonths, dayMs, hourMs, type Instant } from '../time/time.ts';
import { isDimension, isOverTime, only } from './dimensions.ts';
import { costsAddress } from './explore-question.ts';
import type { Step } from './explored.ts';

type Row = TableAnswer['rows'][number];

/** The columns of an answer that stand for something with a page, by their names in the books. */
const windows: Readonly<Record<string, Step>> = {
  ...{ bucket_start: 'hour', hour: 'hour', day: 'day', usage_date: 'day', date: 'day' },
  ...{ month: 'month', usage_month: 'month' },
};

/**
 * The page of what one cell of an answer stands for: a resource, a budget, an anomaly, the costs of a day or month, or those
 * of one value of a dimension. Undefined if its column has no such name, or the value is none.
 */
export function cellPage({ completeThrough }: TableAnswer, row: Row, column: string): string | undefined {
  const value = row[column];
  if (typeof value !== 'string' || value === '' || completeThrough === null) return undefined;
  if (column === 'anomaly_key') return anomalyAddress(value);
  if (column === 'budget') return budgetAddress(value);
  if (column === 'resource_name') return resourceAddress(textOf(row, 'resource_type'), textOf(row, 'workspace'), value);
  const through = Date.parse(completeThrough);
  const step = windows[column];
  if (step !== undefined) {
    const window = windowOf(value, step, through);
    const finer = step === 'month' ? 'day' : 'hour';
    return window && costsAddress({ window, through, step: finer, groupBy: 'workspace' });
  }
  if (!isDimension(column) || isOverTime(column)) return undefined;
  const [window] = Object.entries(windows).flatMap(([name, each]) => windowOf(row[name], each, through) ?? []);
  const usual = { from: addCalendarMonths(through, -1), to: through };
  const from = Math.floor(usual.from / dayMs) * dayMs;
  return costsAddress({
    ...{ window: window ?? { ...usual, from }, through, step: 'day', groupBy: 'resource_name' },
    filters: only(filtersOf(row)),
  });
}

/** The names of a resource that a row does not have may be any. */
function textOf(row: Row, column: string): string | typeof anyName {
  const value = row[column];
  return typeof value === 'string' ? value : anyName;
}

function filtersOf(row: Row): Record<string, string> {
  const names = Object.entries(row).filter(([name]) => isDimension(name) && !isOverTime(name) && name !== 'unit');
  return Object.fromEntries(
    names.flatMap(([name, value]) => (typeof value === 'string' || value === null ? [[name, value ?? '']] : [])),
  );
}

/** The hour, day or month that starts at a time; undefined for other values, and for those after the complete hours. */
function windowOf(value: unknown, step: Step, through: Instant): { from: Instant; to: Instant } | undefined {
  const from =
    typeof value === 'string' && /^\d{4}-\d{2}-\d{2}(T[\d:]+Z)?$/.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(from) || from >= through || from % hourMs !== 0) return undefined;
  if (step === 'month') return { from, to: addCalendarMonths(from, 1) };
  return { from, to: from + (step === 'day' ? dayMs : hourMs) };
}
