export { type AsOf, closeBeside, expectClosesHold, instantOf, resolveAsOf } from './as-of.ts';
export { type BilledBesides, besidesWords, readBilledBesides } from './billed-besides.ts';
export {
  admitReport,
  blamingReport,
  checkReport,
  orderedQuery,
  type Report,
  readReports,
  reportOf,
  selectOf,
  sparklineQuery,
  topOf,
} from './catalogue.ts';
export { columnsOf } from './columns.ts';
export { type CompletenessState, completenessOf, describeCompleteness, incompleteness } from './completeness.ts';
export { type CurrencyOfAnswer, currencyWords } from './currency-words.ts';
export { type Evaluated, readEvaluated } from './evaluated.ts';
export { exportFormats, factsOf, loadArrow, writeAnswer } from './export.ts';
export { type ContentOfExport, contentOfExport, filesOfManifest, isManifestName } from './export-content.ts';
export { parquetPartIn } from './export-names.ts';
export { costColumnOf, type Figures, type FileReader, figuresOfQuery, fileReader } from './figures.ts';
export {
  type FocusAsked,
  focusAsked,
  focusGrains,
  focusMetadata,
  focusVersions,
  namesOfFocus,
  newestLoad,
} from './focus.ts';
export { csvChunks } from './formats/csv.ts';
export { headerOf, ownerText } from './formats/excel.ts';
export type { FormatOptions, Question } from './formats/format.ts';
export { jsonLines, jsonRows } from './formats/json.ts';
export { writeParquet } from './formats/parquet.ts';
export { signsOf } from './formats/spreadsheet.ts';
export { aboutSheet, type CellColumn, cellColumn, widthOf, writeWorkbook } from './formats/xlsx.ts';
export { inCurrency, isConvertible } from './in-currency.ts';
export { described, listOf } from './list.ts';
export { type Manifest, manifestName, readManifest, sha256OfText } from './manifest.ts';
export {
  displayParameters,
  type GivenParameter,
  isForCommandLine,
  monthsOfRange,
  type ParameterValue,
  parameterOption,
  periodsOf,
  type ReadParameters,
  readParameters,
  settleParameters,
  sqlParameters,
  withDaysOfMonths,
  withDefaults,
} from './parameters.ts';
export { type FileToWrite, filesOf, type Published, publishFiles } from './publish.ts';
export { filesNamed, isPartitioned, placeOf, publishReport, totalsOf } from './publish-report.ts';
export { openExportVerifier } from './requery.ts';
export {
  type RevokedClose,
  type RevokedExport,
  revokedCloses,
  revokedExports,
  revokedWords,
  type ShownCloses,
  shownAmong,
} from './revoked-exports.ts';
export { shape } from './shape.ts';
export { type Answer, shortestPath, wholeAnswer, writeJson, writeTable } from './show.ts';
export { isOfOwners, refusalWords, unanswerable } from './unanswerable.ts';
export { findExports, type VerifiedExport, verifyExport } from './verify-exports.ts';
