export * from './check.ts';
export { type CompletenessState, completenessOf, describeCompleteness } from './completeness.ts';
export { type ExportedFile, exportFile, exportFormats } from './export.ts';
export { csvPieces } from './formats/csv.ts';
export { formatTable } from './formats/table.ts';
export type { Manifest, ManifestFile } from './manifest.ts';
export { filesOf, type Published } from './publish.ts';
export { publishReport } from './publish-report.ts';
export * from './report.ts';
