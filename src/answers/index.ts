export { showBudgets } from './budgets.ts';
export { backtestAnomalyRules, backtestOne } from './budgets-backtest.ts';
export {
  type Answer,
  type BooksContext,
  type ChildCommandAnswer,
  type ChildCommandRequest,
  type ChildContext,
  type ChildEvent,
  type ChildName,
  type PublishedPlace,
  printedAnswer,
} from './context.ts';
export { differenceLines } from './difference-lines.ts';
export { forecastOfBooks } from './forecast-of-books.ts';
export { checkQuestion } from './report-answer.ts';
