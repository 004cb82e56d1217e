export { type MetricsContext, metricsText, writeMetrics, writeUnpublished } from './file.ts';
export type { EndedRun, UnpublishedRun } from './metrics.ts';
