export { archiveLoads, proveLoad, type StoredLoadFolder, type VerifiedArchive, verifyArchive } from './archive.ts';
export { type LeaseTimes, leaseName } from './lease.ts';
export { type ExportToMirror, type Mirrored, mirrorExport } from './mirror.ts';
export { type ExportContent, type NamedFile, planMirror, type RemoteState } from './mirror-plan.ts';
export { openS3Store, shaLabel } from './s3-store.ts';
export { StorageError } from './storage-error.ts';
export { ConditionError, keyIn, type ObjectStore } from './store.ts';
export { type CopyFacts, hashOf, type VerifiedCopy, verifyCopies } from './verify-copy.ts';
