export {
  amountIn,
  type Budget,
  type BudgetScope,
  budgetCalendar,
  carriedIn,
  type PlannedChange,
  scopeWords,
  type Threshold,
  unitOf,
} from './budget.ts';
export { staleCounts } from './counts.ts';
export { budgetsFile, loadBudgets, sinkParser } from './file.ts';
export { exclusionRule, topRule } from './file-keys.ts';
export { ownerBudgets } from './owner-budgets.ts';
export { parseDay } from './planned-change.ts';
export { parseUsd } from './read-amount.ts';
export { parseChange } from './read-changes.ts';
export { readNames, readScope, refuse } from './read-scope.ts';
export { unitOfDimension } from './usage-unit.ts';
