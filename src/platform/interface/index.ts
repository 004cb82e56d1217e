export { accountIdFault } from './account-id.ts';
export {
  answerLimits,
  billingDimensions,
  type DeploymentStatus,
  defaultResolutions,
  deploymentStatuses,
  earliestVersion,
  type GroupByDimension,
  groupByDimensions,
  type ListingSort,
  listingLimits,
  maxWindowDays,
  metricsLimits,
  pagedImagesVersion,
  pagedListingsVersion,
  populatedBy,
  type Resolution,
  resourceTypes,
  unitSuffixes,
  usualHeaders,
} from './limits.ts';
export { listDifferences, type PlatformDifferences } from './list-differences.ts';
export { allOperations, inWorkspace, type Operation, type OperationName, operations } from './operations.ts';
export { checkParameter, type Parameter, type ParameterType } from './parameters.ts';
export { baseUrl, headerOfParameter, requestPath } from './request.ts';
export { firstDifference, schemaOf } from './schema.ts';
export { withoutSecrets } from './without-secrets.ts';
