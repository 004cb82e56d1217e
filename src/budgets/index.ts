export { type AnomalyShares, noShares, partInBudget, readAnomalyShares } from './anomaly-shares.ts';
export { type BudgetBacktest, backtestBudget } from './backtest.ts';
export {
  amountIn,
  type Budget,
  budgetCalendar,
  carriedIn,
  type PlannedChange,
  plannedIn,
  type Threshold,
  unitOf,
} from './budget.ts';
export { type EndOfBudget, endOfBudget } from './budget-end.ts';
export { withCarried } from './carried.ts';
export { staleCounts } from './counts.ts';
export { type KnownCoverage, reachedAt, readKnown } from './coverage-known.ts';
export { dailyRate } from './daily-rate.ts';
export { budgetsFile, loadBudgets, sinkParser } from './file.ts';
export { topRule } from './file-keys.ts';
export { exceedsOnOf, forecastRow, type ScopeForecast } from './forecast-rows.ts';
export { aboutDay, forecastSentence, ordinal, perWords } from './forecast-words.ts';
export { groupGaps } from './gap-words.ts';
export { mainDriverOf } from './main-driver.ts';
export { ownerBudgets } from './owner-budgets.ts';
export { type Forecaster, forecastLevel, reachedOn } from './period-forecast.ts';
export { parseUsd } from './read-amount.ts';
export { parseChange } from './read-changes.ts';
export { readNames, refuse } from './read-scope.ts';
export { readForecasts, withForecasts } from './scope-forecasts.ts';
export { backtestToJson, dayOf, describeBacktest, wasRecorded } from './show-backtest.ts';
export { describeForecasts, forecastsToJson } from './show-forecasts.ts';
export {
  type BudgetNow,
  budgetsToJson,
  type CompleteThrough,
  describeBudgets,
  notBegun,
  othersOf,
} from './show-now.ts';
export { namesNotFound, readSpends, type SpendNow, type SpendsAsked, watchedSpends } from './spend.ts';
export {
  type BudgetWithStored,
  type BurnStep,
  burnUpRows,
  readBudgetsWithStored,
  readBurnUp,
  type StoredForecast,
} from './stored-forecasts.ts';
export {
  type BudgetFact,
  type BudgetState,
  type Driver,
  dayIn,
  evaluateBudgets,
  isAskedBy,
  isForecastAsked,
  isReached,
  limitOf,
  type PartSpend,
  type Spend,
  shareOf,
  stateOf,
  thresholdKey,
} from './thresholds.ts';
export { isPartOf } from './without-anomalies.ts';
