export { archiveLoads, proveLoad } from './archive.ts';
export { type LeaseTimes, leaseName } from './lease.ts';
export type { ExportToMirror } from './mirror.ts';
export { openStore, type StorePlace } from './open-store.ts';
export { openS3Store, shaLabel } from './s3-store.ts';
export { sendExports } from './send-exports.ts';
export type { ObjectStore } from './store.ts';
export { landingHere, type VerifiedArchive, verifyArchive } from './verify-archive.ts';
export { type VerifiedCopy, verifyCopies } from './verify-copy.ts';
