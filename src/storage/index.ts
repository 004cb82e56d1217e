export { archiveLoads, proveLoad } from './archive.ts';
export { type LeaseTimes, leaseName } from './lease.ts';
export { type ExportToMirror, type Mirrored, mirrorExport } from './mirror.ts';
export { openS3Store, shaLabel } from './s3-store.ts';
export type { ObjectStore } from './store.ts';
export { landingHere, type VerifiedArchive, verifyArchive } from './verify-archive.ts';
export { type VerifiedCopy, verifyCopies } from './verify-copy.ts';
