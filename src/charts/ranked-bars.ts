import type { EChartsCoreOption } from 'echarts/core';
import type { ChartSeries } from './chart.ts';
import { categories, frame, usdAxis } from './cost-over-time.ts';
import type { Theme } from './theme.ts';

/** Things by their cost, the largest first, as horizontal bars; several series are stacked. */
export function rankedBars(
  { labels, series }: { readonly labels: readonly string[]; readonly series: readonly ChartSeries[] },
  theme: Theme,
): EChartsCoreOption {
  const axis = categories(labels, theme);
  return {
    ...frame(theme, []),
    xAxis: usdAxis(theme),
    yAxis: { ...axis, inverse: true, axisLabel: { color: theme.text, width: 150, overflow: 'truncate' } },
    series: series.map(({ name, values }, place) => ({
      ...{ type: 'bar', id: `series-${place}`, name, stack: 'all', barMaxWidth: 26 },
      itemStyle: { color: theme.series[place % theme.series.length] },
      data: [...values],
    })),
  };
}
