export { expositionText, withSamples } from './exposition.ts';
export { metricsFile, metricsText, writeMetrics, writeUnpublished } from './file.ts';
export {
  answersMetric,
  type EndedRun,
  readMetrics,
  type UnpublishedRun,
  unpublishedRunMetrics,
  unrecordedRuns,
} from './metrics.ts';
