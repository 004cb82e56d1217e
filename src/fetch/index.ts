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
export { askQuery } from './query-pages.ts';
export { type Decoder, decoderOf } from './resource.ts';
export { decodeDeployments } from './resource-events.ts';
