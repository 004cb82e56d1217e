export {
  type Forecast,
  type ForecastOptions,
  forecastSeries,
  type History,
  type NoForecast,
  type SeriesForecast,
} from './forecast.ts';
export type { Range } from './ranges.ts';
export { describeStep, type GivenSeries, readSeriesFile } from './read-series.ts';
export type { Backtest } from './scores.ts';
export { type Step, stepsAfter } from './step.ts';
