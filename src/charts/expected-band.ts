import type { EChartsCoreOption } from 'echarts/core';
import type { ChartKey } from './chart.ts';
import { categories, frame, usdAxis } from './cost-over-time.ts';
import type { Theme } from './theme.ts';

/** Costs by day against what was expected. Values are USD; null where there is none. */
export interface ExpectedBand {
  readonly labels: readonly string[];
  readonly cost: readonly (number | null)[];
  readonly expected: readonly (number | null)[];
  readonly low: readonly (number | null)[];
  readonly high: readonly (number | null)[];
  /** The unusual days, as indexes. */
  readonly unusual: readonly number[];
}

/** Costs as a line within the band of what is usual, a step a day, as it decides; unusual days are marked. */
export function expectedBand(chart: ExpectedBand, theme: Theme): EChartsCoreOption {
  const { labels, cost, expected, low, high, unusual } = chart;
  const [own = theme.text] = theme.series;
  const quiet = { type: 'line', step: 'middle', symbol: 'none', silent: true, itemStyle: { color: theme.rest } };
  return {
    ...frame(theme, []),
    xAxis: { ...categories(labels, theme), boundaryGap: false },
    yAxis: usdAxis(theme),
    series: [
      { ...quiet, id: 'low', name: 'usual low', stack: 'band', lineStyle: { opacity: 0 }, data: [...low] },
      {
        ...quiet,
        ...{ id: 'band', name: 'usual range', stack: 'band', lineStyle: { opacity: 0 } },
        areaStyle: { color: theme.rest, opacity: 0.3 },
        data: high.map((value, index) => (value === null ? null : value - (low[index] ?? 0))),
      },
      {
        ...quiet,
        ...{ id: 'expected', name: 'expected' },
        lineStyle: { color: theme.rest, width: 2, type: 'dashed' },
        data: [...expected],
      },
      {
        ...{ type: 'line', id: 'cost', name: 'cost', showSymbol: false, itemStyle: { color: own } },
        lineStyle: { color: own, width: 2.5 },
        data: [...cost],
      },
      {
        ...{ type: 'scatter', id: 'unusual', name: 'unusual day', symbol: 'circle', symbolSize: 9, z: 5 },
        itemStyle: { color: theme.limit, opacity: 1 },
        data: unusual.map((index) => [index, cost[index] ?? 0]),
      },
    ],
  };
}

/** The keys of such a chart for a legend next to it. */
export const expectedBandKeys: readonly ChartKey[] = [
  { name: 'cost', look: 'series-1' },
  { name: 'expected', look: 'before' },
  { name: 'usual range', look: 'band' },
  { name: 'unusual day', look: 'mark' },
];
