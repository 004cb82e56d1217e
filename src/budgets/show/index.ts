export { backtestBudget } from './backtest.ts';
export { backtestToJson, dayOf, describeBacktest, wasRecorded } from './show-backtest.ts';
export { describeForecasts, forecastsToJson } from './show-forecasts.ts';
export {
  type BudgetNow,
  budgetsToJson,
  type CompleteThrough,
  daysLeft,
  describeBudgets,
  notBegun,
  othersOf,
} from './show-now.ts';
