export {
  type Backtest,
  type Forecast,
  type ForecastOptions,
  forecastSeries,
  type History,
  type NoForecast,
  type Range,
  type SeriesForecast,
} from './forecast.ts';
export { describeStep, type GivenSeries, readSeriesFile } from './read-series.ts';
export { type Step, stepsAfter } from './step.ts';
