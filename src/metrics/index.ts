export { expositionText } from './exposition.ts';
export { answersMetric, type EndedRun, readMetrics } from './metrics.ts';
