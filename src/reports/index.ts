export * from './check.ts';
export * from './close.ts';
export { type CompletenessState, completenessOf, describeCompleteness } from './completeness.ts';
export { type ExportedFile, exportFile, exportFormats } from './export.ts';
export * from './focus.ts';
export { csvPieces } from './formats/csv.ts';
export { formatTable } from './formats/table.ts';
export * from './report.ts';
