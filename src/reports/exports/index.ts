export { type ContentOfExport, contentOfExport, copyFacts, filesOfManifest, isOfLaterBooks } from './export-content.ts';
export { monthFolder, parquetPartIn } from './export-names.ts';
export { readExportsJournal } from './exports-journal.ts';
export { exportsInOthers, findExports } from './find-exports.ts';
export { type Manifest, manifestName, readManifest, sha256OfText } from './manifest.ts';
export { type FileToWrite, filesOf, type Published, type PublishedPlace, publishFiles } from './publish.ts';
export { type RevokedClose, type RevokedExport, revokedCloses, revokedWords } from './revoked-closes.ts';
export {
  differingWords,
  earlierBooks,
  revokedExports,
  type ShownCloses,
  shownAmong,
} from './revoked-exports.ts';
export { type VerifiedExport, verifyExport } from './verify-exports.ts';
