export { type AskedResolution, bucketsOf, splitAtMidnight } from './buckets.ts';
export type { DecodedEntry, DecodedPage, DecodedPoints } from './decode.ts';
export { costScale, usageScale } from './decode.ts';
export { prepareDecoding } from './decode-elsewhere.ts';
export { landingPlaces, loadNumberOf } from './landing-places.ts';
export {
  DamagedPageError,
  damagedPages,
  describeLoad,
  type LandingReader,
  type LostLoad,
  missingPages,
  openLandingReader,
  parseWindow,
  readStoredLoads,
  type StoredLoad,
} from './landing-reader.ts';
export {
  type LandingFolder,
  type LandingWriter,
  type LoadRecord,
  openLandingWriter,
  placeOf,
  storeLostLoad,
} from './landing-writer.ts';
export * from './plan-verification.ts';
export * from './plan-windows.ts';
export * from './queries.ts';
export { askQuery, type PageSink } from './query-pages.ts';
export { type DecodedResource, decodeResource, type ResourceState } from './resource.ts';
export { decodeDeployments } from './resource-events.ts';
