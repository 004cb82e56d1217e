export { bucketsOf, splitAtMidnight } from './buckets.ts';
export type { DecodedPage } from './decode.ts';
export { prepareDecoding } from './decode-elsewhere.ts';
export { landingPlaces, loadNumberOf } from './landing-places.ts';
export {
  DamagedPageError,
  damagedPages,
  describeLoad,
  type LostLoad,
  missingPages,
  openLandingReader,
  parseWindow,
  readStoredLoads,
  type StoredLoad,
} from './landing-reader.ts';
export { type LandingFolder, type LandingWriter, openLandingWriter, storeLostLoad } from './landing-writer.ts';
export {
  daysQueries,
  everyDay,
  monthsQueries,
  type PastWindow,
  recordedSeriesQueries,
  seriesQueries,
  settledDays,
  settledUntil,
  wholeMonths,
} from './plan-verification.ts';
export { coverWindows, type PlannedWindow, planWindows } from './plan-windows.ts';
export {
  controlQuery,
  daysQuery,
  describeQuery,
  detailQuery,
  type Purpose,
  type Query,
  queryParameters,
  repairQuery,
  residualQuery,
  seriesQuery,
  typesQuery,
} from './queries.ts';
export { askQuery } from './query-pages.ts';
export { decodeResource } from './resource.ts';
export { decodeDeployments } from './resource-events.ts';
