export { clusterAnswerQuery, readClusterAnswer } from './cluster-answer.ts';
export { lakeTables } from './lake-relations.ts';
export { type ClusterOptions, withClusterAnswer } from './run-cluster.ts';
export { isRemote, lakeFolder, sparkScript } from './spark-script.ts';
export { type SparkStatement, toSpark } from './to-spark.ts';
export type { Bound } from './writing.ts';
