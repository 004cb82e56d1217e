export { type AnomalyBacktest, backtestAnomalies } from './backtest.ts';
export { quietDays } from './detect.ts';
export { type AnomalyState, evaluateAnomalies } from './evaluate-books.ts';
export { evaluateScope, firstTimeDays } from './evaluate-scope.ts';
export { type AnomalyFact, anomalyFacts } from './fact.ts';
export { noticesOf } from './notices.ts';
export { type AnomalyRules, loadAnomalyRules, usualRules } from './rules.ts';
export { anomaliesToJson, describeAnomalies } from './show-backtest.ts';
export { anomalyOverWords, anomalyWords } from './words.ts';
