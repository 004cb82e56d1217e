import type { EChartsCoreOption } from 'echarts/core';
import type { ChartKey } from './chart.ts';
import { categories, frame, usdAxis } from './cost-over-time.ts';
import type { Theme } from './theme.ts';

/** A month as running totals. Values are those at the end of each day; null where there is none. */
export interface MonthSoFar {
  /** USD by default. */
  readonly unit?: string;
  readonly labels: readonly string[];
  readonly name: string;
  readonly spent: readonly (number | null)[];
  readonly before: { readonly name: string; readonly values: readonly (number | null)[] } | undefined;
  /** From the last spent day to the end of the month. */
  readonly forecast:
    | {
        readonly mean: readonly (number | null)[];
        readonly low: readonly (number | null)[];
        readonly high: readonly (number | null)[];
      }
    | undefined;
  readonly limit: { readonly name: string; readonly value: number } | undefined;
}

/** A month's running total against the month before, with its forecast (dashed, with its band) and its budget (line). */
export function monthSoFar(month: MonthSoFar, theme: Theme, { hasLegend = false } = {}): EChartsCoreOption {
  const { labels, name, spent, before, forecast, limit } = month;
  const [own = theme.text, , , , , warm = theme.limit] = theme.series;
  const line = { type: 'line', showSymbol: false };
  const band = forecast && {
    low: {
      ...line,
      ...{ id: 'low', name: 'low', symbol: 'none' },
      stack: 'band',
      silent: true,
      lineStyle: { opacity: 0 },
      itemStyle: { color: own },
      data: [...forecast.low],
    },
    width: {
      ...line,
      ...{ id: 'band', name: 'forecast band', symbol: 'none' },
      stack: 'band',
      silent: true,
      lineStyle: { opacity: 0 },
      itemStyle: { color: own },
      areaStyle: { color: own, opacity: 0.16 },
      data: forecast.high.map((high, index) => (high === null ? null : high - (forecast.low[index] ?? 0))),
    },
  };
  return {
    ...frame(theme, hasLegend ? monthKeys(month).map((key) => key.name) : []),
    xAxis: { ...categories(labels, theme), boundaryGap: false },
    yAxis: usdAxis(theme),
    series: [
      ...(band ? [band.low, band.width] : []),
      ...(before
        ? [
            {
              ...line,
              ...{ id: 'before', name: before.name },
              itemStyle: { color: theme.rest },
              lineStyle: { color: theme.rest, width: 2 },
              data: [...before.values],
            },
          ]
        : []),
      ...(forecast
        ? [
            {
              ...line,
              ...{ id: 'forecast', name: 'forecast' },
              itemStyle: { color: own },
              lineStyle: { color: own, width: 2, type: 'dashed' },
              data: [...forecast.mean],
            },
          ]
        : []),
      {
        ...line,
        ...{ id: 'spent', name },
        itemStyle: { color: own },
        lineStyle: { color: own, width: 3 },
        data: [...spent],
        ...(limit
          ? {
              markLine: {
                silent: true,
                symbol: 'none',
                lineStyle: { color: warm, type: 'solid', width: 1.5 },
                label: { position: 'insideStartTop', formatter: limit.name, color: theme.text },
                data: [{ yAxis: limit.value }],
              },
            }
          : {}),
      },
    ],
  };
}

/** The keys of such a chart for a legend next to it. */
export function monthKeys({ name, before, forecast }: MonthSoFar): readonly ChartKey[] {
  return [
    { name, look: 'series-1' },
    ...(before ? [{ name: before.name, look: 'rest' }] : []),
    ...(forecast ? [{ name: 'forecast', look: 'forecast' }] : []),
  ];
}
