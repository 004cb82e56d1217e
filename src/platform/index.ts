export { accountIdFault } from './account-id.ts';
export { type Answer, type AnswerPage, answerPages, type Call, callOnce, callStreamed } from './calls.ts';
export {
  type Client,
  type ClientSettings,
  type Clocks,
  expiryOf,
  openClient,
  parseBody,
  parseBytes,
  type RawBody,
  type Sending,
  unpackBody,
  unpackingOf,
} from './client.ts';
export { accountIds, discoverAccounts, discoverHistoryStart, historyParameters } from './discover.ts';
export { type FairLimiter, type Limiter, openFairLimiter } from './fair-limiter.ts';
export { openHttp } from './http.ts';
export * from './limits.ts';
export { listDifferences, type PlatformDifferences, type PlatformLists } from './list-differences.ts';
export {
  type Listing,
  type ListingPage,
  type ListingReader,
  listings,
  openListings,
  type RawResource,
  readListingPage,
} from './listings.ts';
export * from './operations.ts';
export { CursorRefusedError, type Page, pages } from './paging.ts';
export * from './parameters.ts';
export { proxiesOf } from './proxy.ts';
export { readPlatformLists } from './read-lists.ts';
export { baseUrl, type Endpoint, headerOfParameter, requestHeaders, requestPath } from './request.ts';
export * from './responses.ts';
export { isCertainlyNotDone } from './retry.ts';
export { firstDifference, schemaOf } from './schema.ts';
export { withoutSecrets } from './without-secrets.ts';
