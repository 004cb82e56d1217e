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
export { type Listing, type ListingReader, listings, openListings, type RawResource } from './listings.ts';
export { CursorRefusedError, pages } from './paging.ts';
export { proxiesOf } from './proxy.ts';
export { readPlatformLists } from './read-enums.ts';
export { isCertainlyNotDone } from './retry.ts';
export { readWorkspaceNames } from './workspaces.ts';
