export type { Chart, ChartKey, ChartSeries } from './chart.ts';
export { costOverTime, keysOf, restName, type TimeShape, timeShapes } from './cost-over-time.ts';
export { type ExpectedBand, expectedBand, expectedBandKeys } from './expected-band.ts';
export { type MonthSoFar, monthKeys, monthSoFar } from './month-so-far.ts';
export { rankedBars } from './ranked-bars.ts';
export { chartToSvg } from './svg.ts';
export { lightTheme, pageTheme, type Theme } from './theme.ts';
