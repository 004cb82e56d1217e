export { expositionText, withSamples } from './exposition.ts';
export {
  answersMetric,
  type EndedRun,
  readMetrics,
  type UnpublishedRun,
  unpublishedRunMetrics,
  unrecordedRuns,
} from './metrics.ts';
