import type { EChartsCoreOption } from 'echarts/core';
import type { ChartKey, ChartSeries } from './chart.ts';
import { seriesColors, type Theme } from './theme.ts';

/** How series are drawn over time. */
export const timeShapes = ['bars', 'lines', 'cumulative'] as const;
export type TimeShape = (typeof timeShapes)[number];

export interface TimeChart {
  /** One label per bucket, in order. */
  readonly labels: readonly string[];
  /** The largest first; the rest is drawn in gray. */
  readonly series: readonly ChartSeries[];
  readonly shape: TimeShape;
  /** Buckets from this index on are not complete: hatched or dashed. */
  readonly incompleteFrom?: number | undefined;
  /** The totals of an earlier window, bucket by bucket: a dashed line. */
  readonly before?: ChartSeries | undefined;
  /** A line across the chart, such as a budget per bucket. */
  readonly limit?: { readonly name: string; readonly value: number } | undefined;
  /** Buckets with something to look at, such as an anomaly. */
  readonly marks?: readonly { readonly index: number; readonly name: string }[] | undefined;
}

/** The name of what is not among the largest. */
export const restName = 'all others';

/** Costs by bucket as stacked bars, lines or running totals: a pure function from rows to an ECharts option. */
export function costOverTime(chart: TimeChart, theme: Theme, { hasLegend = false } = {}): EChartsCoreOption {
  const { labels, shape, incompleteFrom = labels.length, limit, marks = [] } = chart;
  const series = chart.series.map((one, place) => {
    const color = colorOf(one, place, theme);
    const drawn = shape === 'cumulative' ? runningTotals(one.values) : one.values;
    const id = `series-${place}`;
    return shape === 'bars'
      ? bars({ id, name: one.name }, drawn, color, incompleteFrom)
      : line({ id, name: one.name }, drawn, color, incompleteFrom);
  });
  const markLine = limit && { ...lineOf(limit.name, limit.value, theme) };
  const flat = [
    ...series,
    ...(chart.before === undefined ? [] : [lineBefore(chart.before, shape, theme)]),
    ...(marks.length > 0 ? [markSeries(marks, chart, theme)] : []),
  ].flat();
  const [first, ...others] = flat;
  return {
    ...frame(theme, hasLegend ? chart.series.map(({ name }) => name) : []),
    xAxis: categories(labels, theme),
    yAxis: usdAxis(theme),
    series: first === undefined ? [] : [markLine ? { ...first, markLine } : first, ...others],
  };
}

/** The color of the series at a place, counted from 0. */
function colorOf(series: ChartSeries, place: number, theme: Theme): string {
  return isRest(series) ? theme.rest : (theme.series[place % theme.series.length] ?? theme.rest);
}

function isRest(series: ChartSeries): boolean {
  return series.isRest ?? series.name === restName;
}

/** The keys of such a chart for a legend next to it: which color stands for what. */
export function keysOf(series: readonly ChartSeries[]): readonly ChartKey[] {
  return series.map((one, place) => ({
    name: one.name,
    look: isRest(one) ? 'rest' : `series-${(place % seriesColors) + 1}`,
  }));
}

type Drawn = Record<string, unknown>;

/** The identity of a series in its chart, and its name. */
interface Named {
  readonly id: string;
  readonly name: string;
}

function bars(named: Named, values: readonly (number | null)[], color: string, incompleteFrom: number): Drawn {
  return {
    type: 'bar',
    ...named,
    stack: 'all',
    barMaxWidth: 44,
    itemStyle: { color },
    data: values.map((value, index) =>
      index < incompleteFrom ? value : { value, itemStyle: { color, opacity: 0.75, decal: hatch } },
    ),
  };
}

/** What is not complete yet: thin slanted lines. */
const hatch = {
  symbol: 'rect',
  rotation: Math.PI / 4,
  dashArrayX: [1, 0],
  dashArrayY: [2, 4],
  color: 'rgba(255,255,255,0.65)',
};

/** A line; its incomplete end is dashed, and starts at the last complete value. */
function line(
  named: Named,
  values: readonly (number | null)[],
  color: string,
  incompleteFrom: number,
): Drawn | Drawn[] {
  const style = { type: 'line', ...named, showSymbol: values.length === 1, itemStyle: { color } };
  const whole = {
    ...style,
    lineStyle: { color, width: 2 },
    data: values.map((value, i) => (i < incompleteFrom ? value : null)),
  };
  if (incompleteFrom >= values.length) return whole;
  const open = values.map((value, index) => (index >= incompleteFrom - 1 ? value : null));
  return [whole, { ...style, id: `${named.id}-open`, lineStyle: { color, width: 2, type: 'dashed' }, data: open }];
}

function lineBefore({ name, values }: ChartSeries, shape: TimeShape, theme: Theme): Drawn {
  return {
    ...{ type: 'line', id: 'before', name, z: 5, showSymbol: values.length === 1, symbolSize: 6 },
    itemStyle: { color: theme.muted },
    lineStyle: { color: theme.muted, width: 2, type: 'dashed' },
    data: shape === 'cumulative' ? runningTotals(values) : values,
  };
}

/** The sum of all values up to each. Drawing only: the amounts themselves stay exact decimals. */
export function runningTotals(values: readonly (number | null)[]): (number | null)[] {
  let total = 0;
  return values.map((value) => {
    if (value === null) return null;
    total += value;
    return total;
  });
}

function lineOf(name: string, value: number, theme: Theme): Drawn {
  return {
    silent: true,
    symbol: 'none',
    lineStyle: { color: theme.limit, type: 'solid', width: 1.5 },
    label: { position: 'insideEndTop', formatter: name, color: theme.limit },
    data: [{ yAxis: value }],
  };
}

function markSeries(
  marks: readonly { readonly index: number; readonly name: string }[],
  { labels, series, shape }: TimeChart,
  theme: Theme,
): Drawn {
  // Bars stand on each other, lines do not.
  const heights = labels.map((_, index) => {
    const values = series.map((one) => (shape === 'cumulative' ? runningTotals(one.values) : one.values)[index] ?? 0);
    return shape === 'bars' ? values.reduce((sum, value) => sum + value, 0) : Math.max(0, ...values);
  });
  return {
    type: 'scatter',
    id: 'marks',
    name: 'marks',
    z: 6,
    symbol: 'triangle',
    symbolRotate: 180,
    symbolSize: 11,
    symbolOffset: [0, -9],
    itemStyle: { color: theme.limit },
    data: marks.map(({ index, name }) => ({ name, value: [index, heights[index] ?? 0] })),
  };
}

/** The parts that every chart over time shares. */
export function frame(theme: Theme, names: readonly string[]): EChartsCoreOption {
  const hasLegend = names.length > 0;
  return {
    animation: false,
    textStyle: { fontFamily: 'system-ui, sans-serif', color: theme.text },
    grid: {
      ...{ left: 8, right: 12, top: 16, bottom: hasLegend ? 36 : 8 },
      ...{ outerBoundsMode: 'same', outerBoundsContain: 'axisLabel' },
    },
    legend: {
      ...{ show: hasLegend, type: 'plain', bottom: 0, left: 0, itemWidth: 14, itemHeight: 10, itemGap: 14 },
      ...{ textStyle: { color: theme.text }, data: [...names] },
    },
    tooltip: {
      ...{ trigger: 'axis', renderMode: 'richText', confine: true },
      ...{ backgroundColor: theme.background, borderColor: theme.muted, textStyle: { color: theme.text } },
    },
  };
}

export function categories(labels: readonly string[], theme: Theme): Drawn {
  return {
    type: 'category',
    data: [...labels],
    axisLabel: { color: theme.muted, hideOverlap: true },
    axisLine: { lineStyle: { color: theme.muted } },
    axisTick: { show: false },
  };
}

export function usdAxis(theme: Theme): Drawn {
  return {
    type: 'value',
    axisLabel: { color: theme.muted },
    splitLine: { lineStyle: { color: theme.grid } },
  };
}
