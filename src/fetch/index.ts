export { askQuery, type PageSink } from './ask.ts';
export { type AskedResolution, bucketsOf, splitAtMidnight } from './buckets.ts';
export type { DecodedEntry, DecodedPage, DecodedPoints } from './decode.ts';
export { costScale, usageScale } from './decode.ts';
export { prepareDecoding } from './decoding.ts';
export * from './grain.ts';
export {
  DamagedPageError,
  damagedPages,
  describeLoad,
  type LandedAnswers,
  type LandedLoad,
  type LandedLoss,
  missingPages,
  openLandedAnswers,
  parseWindow,
  readLandedLoads,
} from './landed.ts';
export { type Landing, type LandingFolder, type LoadRecord, openLanding } from './landing.ts';
export * from './plan.ts';
export { type DecodedResource, decodeResource, type ResourceState } from './resource.ts';
export * from './verify-plan.ts';
