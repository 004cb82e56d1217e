export { type Replay, replayBudget } from './backtest.ts';
export { type KnownCoverage, reachedAt, readKnown } from './coverage-known.ts';
export {
  amountIn,
  type Budget,
  budgetsFile,
  loadBudgets,
  parseUsd,
  readNames,
  refuse,
  sinkParser,
  type Threshold,
  topRule,
} from './file.ts';
export { aboutDay, forecastSentence, ordinal } from './forecast-words.ts';
export { ownerBudgets } from './owner-budgets.ts';
export { type Forecaster, forecastLevel } from './period-forecast.ts';
export { exceedsOnOf, forecastRow, readForecasts, type ScopeForecast, withForecasts } from './scope-forecasts.ts';
export { namesNotFound, readSpends, type SpendNow, type SpendsAsked, watchedSpends } from './spend.ts';
export {
  type BudgetFact,
  type BudgetState,
  budgetCalendar,
  type Driver,
  evaluateBudgets,
  isAskedBy,
  isForecastAsked,
  isReached,
  limitOf,
  type Spend,
  shareOf,
  stateOf,
  thresholdKey,
} from './thresholds.ts';
