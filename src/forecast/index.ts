export { engineVersion } from './engine-version.ts';
export {
  type CostHistory,
  type Forecast,
  type ForecastOptions,
  forecastSeries,
  type SeriesForecast,
} from './forecast.ts';
export { oddAsked, oddRuns } from './odd-steps.ts';
export type { Range } from './ranges.ts';
export { type GivenSeries, readSeriesFile } from './read-series.ts';
export type { Backtest } from './scores.ts';
export { type ForecastRequest, forecastsInOrder } from './side-by-side.ts';
export { describeStep, stepName, stepsAfter } from './step.ts';
