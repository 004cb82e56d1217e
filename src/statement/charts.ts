import {
  type Chart,
  type ChartSeries,
  costOverTime,
  keysOf,
  lightTheme,
  type MonthSoFar,
  monthKeys,
  monthSoFar,
  restName,
} from '../charts/index.ts';
import { amount, relative } from '../money/money.ts';
import { addCalendarMonths, dayMs, formatInstant, type Instant, monthName } from '../time/time.ts';
import { readSql } from '../warehouse/sql/index.ts';
import type { StatementData } from './data.ts';
import { shownName } from './words.ts';

/** Workspaces with a color of their own; the others are added up. */
const seriesShown = 6;

/** The charts of a statement: the month against the month before, and its days by workspace. */
export async function statementCharts(data: StatementData): Promise<readonly Chart[]> {
  const sql = await readSql('statement', 'days');
  return [runningChart(data, sql), dayChart(data, sql)];
}

/** Numbers for drawing; the amounts themselves stay exact decimals. */
function byDay(data: StatementData, start: Instant, end: Instant, isOf: (workspace: unknown) => boolean): number[] {
  const days = Array.from({ length: Math.round((end - start) / dayMs) }, () => 0);
  for (const row of data.days) {
    const place = Math.round((Date.parse(`${row['day']}T00:00:00Z`) - start) / dayMs);
    if (place >= 0 && place < days.length && isOf(row['workspace']))
      days[place] = (days[place] ?? 0) + Number(row['cost']);
  }
  return days;
}

/** The first day of the month, counted from 0, that is not complete. */
function firstOpenDay({ month, state }: StatementData): number {
  return state.completeThrough === null
    ? 0
    : Math.max(0, Math.floor((Date.parse(state.completeThrough) - month) / dayMs));
}

function runningChart(data: StatementData, sql: string): Chart {
  const { month, cost, costBefore, state } = data;
  const end = addCalendarMonths(month, 1);
  const start = addCalendarMonths(month, -1);
  const own = running(byDay(data, month, end, () => true)).map((value, day) =>
    day < firstOpenDay(data) ? value : null,
  );
  const before = running(byDay(data, start, month, () => true));
  const count = Math.max(own.length, before.length);
  const drawn: MonthSoFar = {
    labels: Array.from({ length: count }, (_, day) => String(day + 1)),
    name: monthName(month),
    spent: own,
    before: costBefore === null ? undefined : { name: monthName(start), values: before },
    forecast: undefined,
    limit: undefined,
  };
  const change = costBefore === null ? undefined : relative(cost, costBefore);
  return {
    id: 'running',
    title: `${monthName(month)} cost ${amount(cost)} USD${change === undefined ? '' : `, ${change} against ${monthName(start)}`}`,
    description: `Running total by day. ${monthName(month)}: ${amount(cost)} USD.${costBefore === null ? '' : ` ${monthName(start)}: ${amount(costBefore)} USD.`}`,
    sql,
    completeThrough: state.completeThrough,
    keys: monthKeys(drawn),
    option: monthSoFar(drawn, lightTheme),
  };
}

function running(days: readonly number[]): number[] {
  let sum = 0;
  return days.map((day) => {
    sum += day;
    return sum;
  });
}

function dayChart(data: StatementData, sql: string): Chart {
  const { month, workspaces, cost, state } = data;
  const end = addCalendarMonths(month, 1);
  const names = [...new Set(workspaces.map((row) => row['workspace'] ?? null))];
  const largest = names.slice(0, names.length > seriesShown + 1 ? seriesShown : names.length);
  const series: ChartSeries[] = largest.map((name) => ({
    name: name === null ? 'no workspace' : shownName(String(name)),
    values: byDay(data, month, end, (workspace) => (workspace ?? null) === name),
  }));
  if (largest.length < names.length) {
    series.push({
      name: restName,
      values: byDay(data, month, end, (workspace) => !largest.includes((workspace ?? null) as never)),
    });
  }
  const [first] = workspaces;
  const name = first?.['workspace'] === null ? 'What has no workspace' : shownName(String(first?.['workspace'] ?? ''));
  return {
    id: 'days',
    title:
      first === undefined
        ? 'Nothing was spent'
        : `${name} cost most: ${amount(String(first['cost']))} of ${amount(cost)} USD`,
    description: `Cost by day and workspace. ${workspaces
      .slice(0, seriesShown)
      .map(
        (row) =>
          `${row['workspace'] === null ? 'no workspace' : shownName(String(row['workspace']))}: ${amount(String(row['cost']))} USD`,
      )
      .join('. ')}.`,
    sql,
    completeThrough: state.completeThrough,
    keys: keysOf(series),
    option: costOverTime(
      {
        labels: Array.from({ length: Math.round((end - month) / dayMs) }, (_, day) =>
          formatInstant(month + day * dayMs).slice(8, 10),
        ),
        series,
        shape: 'bars',
        incompleteFrom: firstOpenDay(data),
      },
      lightTheme,
    ),
  };
}
