export { type Forecast, type ForecastOptions, forecastSeries, type History, type SeriesForecast } from './forecast.ts';
export type { Range } from './ranges.ts';
export { describeStep, type GivenSeries, readSeriesFile } from './read-series.ts';
export type { Backtest } from './scores.ts';
export { stepsAfter } from './step.ts';
