export { type AnomalyBacktest, backtestAnomalies } from './backtest.ts';
export { quietDays } from './detect.ts';
export { evaluateScope, firstTimeDays } from './evaluate.ts';
export { type AnomalyFact, anomalyFacts } from './fact.ts';
export { noticesOf } from './notices.ts';
export { type AnomalyState, evaluateAnomalies } from './read.ts';
export { type AnomalyRules, loadAnomalyRules, usualRules } from './rules.ts';
export { anomaliesToJson, describeAnomalies } from './show-backtest.ts';
export { anomalyOverWords, anomalyWords } from './words.ts';
