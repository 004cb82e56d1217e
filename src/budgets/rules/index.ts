export {
  amountIn,
  type Budget,
  budgetCalendar,
  carriedIn,
  type PlannedChange,
  type Threshold,
  unitOf,
} from './budget.ts';
export { staleCounts } from './counts.ts';
export { budgetsFile, loadBudgets, sinkParser } from './file.ts';
export { topRule } from './file-keys.ts';
export { ownerBudgets } from './owner-budgets.ts';
export { type Forecaster, forecastLevel } from './period-forecast.ts';
export { parseUsd } from './read-amount.ts';
export { parseChange } from './read-changes.ts';
export { readNames, refuse } from './read-scope.ts';
