export { type EndOfBudget, endOfBudget } from './budget-end.ts';
export { withCarried } from './carried.ts';
export { type KnownCoverage, reachedAt, readKnown } from './coverage-known.ts';
export { groupGaps } from './gap-words.ts';
export { costsOf, namesNotFound, readSpends, type SpendNow, type SpendsAsked, watchedSpends } from './spend.ts';
export {
  type BudgetFact,
  type Driver,
  dayIn,
  evaluateBudgets,
  isAskedBy,
  isReached,
  limitOf,
  type PartSpend,
  shareOf,
  stateOf,
  thresholdKey,
} from './thresholds.ts';
