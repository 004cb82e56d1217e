export * from './check.ts';
export * from './close.ts';
export { type CompletenessState, completenessOf, describeCompleteness, lastCompleteMonth } from './completeness.ts';
export { type ExportedFile, exportFile, exportFormats } from './export.ts';
export { csvPieces } from './formats/csv.ts';
export { formatTable } from './formats/table.ts';
export * from './parameters.ts';
export * from './report.ts';
