import type { EChartsCoreOption } from 'echarts/core';

/** A chart as data: drawn as SVG on the server, drawn again in the browser, or as a picture in a mail. */
export interface Chart {
  /** Unique on its page; part of the ids of its SVG. */
  readonly id: string;
  /** What the chart shows, as a finding: "October is 12.4 % above September". */
  readonly title: string;
  /** What the chart shows for people who do not see it: its kind, its range and its largest values. */
  readonly description: string;
  /** The SQL that its numbers come from. */
  readonly sql: string;
  /** Its numbers are complete through this instant; null if nothing is complete yet. */
  readonly completeThrough: string | null;
  /** Which color stands for what; empty if there is only one series. */
  readonly keys: readonly ChartKey[];
  /** An ECharts option without functions, so that it travels as JSON. */
  readonly option: EChartsCoreOption;
}

/** An entry of a legend. */
export interface ChartKey {
  readonly name: string;
  /** `series-1` to `series-7`, `rest`, or `forecast` and `before`, which are dashed. */
  readonly look: string;
}

/** A named series of a chart: one value per category, in USD or a unit; null where there is none. */
export interface ChartSeries {
  readonly name: string;
  readonly values: readonly (number | null)[];
  /** Whether it is what is not among the largest: drawn in gray. */
  readonly isRest?: boolean;
}
