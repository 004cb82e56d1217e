export { parseBytes, type RawBody, unpackBody, unpackingOf } from './body.ts';
export { type Answer, answerPages, type Call, callOnce, callStreamed } from './calls.ts';
export { type Client, type ClientSettings, type Clocks, expiryOf, openClient } from './client.ts';
export { type IssuedToken, issueToken } from './client-credentials.ts';
export { AccountsRefusedError, discoverAccounts, discoverHistoryStart, historyParameters } from './discover.ts';
export { type FairLimiter, openFairLimiter } from './fair-limiter.ts';
export { openHttp } from './http.ts';
export {
  type Listing,
  type ListingColumn,
  type ListingReader,
  listingPeriods,
  listings,
  openListings,
  otherListings,
  type RawResource,
} from './listings.ts';
export { CursorRefusedError, pages } from './paging.ts';
export { proxiesOf } from './proxy.ts';
export { readPlatformLists } from './read-enums.ts';
export { isCertainlyNotDone } from './retry.ts';
export { askableWorkspaces, type ResourceCounts, readResourceCounts, readWorkspaceNames } from './workspaces.ts';
