export { accountIdFault } from './account-id.ts';
export { type Answer, answerPages, type Call, callOnce, callStreamed } from './calls.ts';
export {
  type Client,
  type ClientSettings,
  type Clocks,
  expiryOf,
  openClient,
  parseBytes,
  type RawBody,
  unpackBody,
  unpackingOf,
} from './client.ts';
export { discoverAccounts, discoverHistoryStart, historyParameters } from './discover.ts';
export { type FairLimiter, openFairLimiter } from './fair-limiter.ts';
export { openHttp } from './http.ts';
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
  pagedListingsVersion,
  populatedBy,
  type Resolution,
  resourceTypes,
  unitSuffixes,
  usualHeaders,
} from './limits.ts';
export { listDifferences, type PlatformDifferences } from './list-differences.ts';
export { type Listing, type ListingReader, listings, openListings, type RawResource } from './listings.ts';
export { allOperations, type Operation, type OperationName, operations } from './operations.ts';
export { CursorRefusedError, pages } from './paging.ts';
export { checkParameter, type Parameter, type ParameterType } from './parameters.ts';
export { proxiesOf } from './proxy.ts';
export { readPlatformLists } from './read-enums.ts';
export { baseUrl, headerOfParameter, requestPath } from './request.ts';
export { isCertainlyNotDone } from './retry.ts';
export { firstDifference, schemaOf } from './schema.ts';
export { withoutSecrets } from './without-secrets.ts';
