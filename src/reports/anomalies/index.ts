export { type DailyCosts, learnBaseline } from './baseline.ts';
export { type AnomalyKind, anomalyKinds, type DetectionRules, type Episode, follow, quietDays } from './detect.ts';
export { type EvaluationOfScope, evaluateScope, firstTimeDays, type KeptEpisode, readDays } from './evaluate.ts';
export { type AnomalyDriver, type AnomalyFact, type AnomalyNotice, anomalyFacts, type KnownAnomaly } from './fact.ts';
export { type Notice, type NoticeReason, noticesOf } from './notices.ts';
export { type AnomalyState, evaluateAnomalies } from './read.ts';
export { type AnomalyReplay, type AnomalyReplayEvent, replayAnomalies } from './replay.ts';
export { type AnomalyRules, anomalyKeys, loadAnomalyRules, parseAnomalyRules, usualRules } from './rules.ts';
export { anomalyOverWords, anomalyWords } from './words.ts';
