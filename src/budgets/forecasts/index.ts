export {
  type AnomalyShares,
  isOfResources,
  isPlaceIn,
  noShares,
  partInBudget,
  readAnomalyShares,
} from './anomaly-shares.ts';
export { dailyRate } from './daily-rate.ts';
export { exceedsOnOf, forecastRow, type ScopeForecast } from './forecast-rows.ts';
export { aboutDay, forecastSentence, ordinal, perWords } from './forecast-words.ts';
export { readRunaways } from './known-anomalies.ts';
export { mainDriverOf } from './main-driver.ts';
export { readForecasts, withForecasts } from './scope-forecasts.ts';
export {
  type BudgetWithStored,
  type BurnStep,
  burnUpRows,
  readBudgetsWithStored,
  readBurnUp,
  readPastPeriods,
} from './stored-forecasts.ts';
export { isPartOf } from './without-anomalies.ts';
