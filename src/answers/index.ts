export { showBudgets } from './budgets.ts';
export { backtestAnomalyRules, backtestOne } from './budgets-backtest.ts';
export type {
  Answer,
  BooksContext,
  ChildCommandAnswer,
  ChildCommandRequest,
  ChildEvent,
  ChildName,
} from './context.ts';
export { differenceLines } from './difference-lines.ts';
export { forecastOfBooks } from './forecast-of-books.ts';
export { checkQuestion } from './report-answer.ts';
