export { clusterAnswerQuery, readClusterAnswer } from './cluster-answer.ts';
export { withClusterAnswer } from './run-cluster.ts';
export { lakeFolder, sparkScript } from './spark-script.ts';
export { type SparkStatement, toSpark } from './to-spark.ts';
export type { Bound } from './writing.ts';
