export { firstTimeDays } from './evaluate.ts';
export { type AnomalyFact, anomalyFacts } from './fact.ts';
export { type AnomalyState, evaluateAnomalies } from './read.ts';
export { type AnomalyReplay, replayAnomalies } from './replay.ts';
export { type AnomalyRules, loadAnomalyRules } from './rules.ts';
export { anomalyOverWords, anomalyWords } from './words.ts';
