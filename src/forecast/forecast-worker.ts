// A worker thread of `side-by-side.ts`: makes forecasts one after the other.
import { parentPort } from 'node:worker_threads';
import { type Forecast, forecastSeries } from './forecast.ts';
import type { ForecastRequest } from './side-by-side.ts';

parentPort?.on('message', ({ history, horizon, options }: ForecastRequest) => {
  // Without an answer, the thread that asked makes the forecast itself, and gets the reason.
  const answer = (forecast: Forecast | undefined) => parentPort?.postMessage(forecast);
  void forecastSeries(history, horizon, options).then(answer, () => answer(undefined));
});
