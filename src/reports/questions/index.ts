export { closeBeside, expectClosesHold, instantOf, resolveAsOf } from './as-of.ts';
export { besidesWords, readBilledBesides } from './billed-besides.ts';
export { builtInReport, invoiceLines } from './built-in.ts';
export {
  admitReport,
  blamingReport,
  checkReport,
  orderedQuery,
  type Report,
  readReports,
  reportOf,
  selectOf,
  topOf,
} from './catalogue.ts';
export { readEvaluated } from './evaluated.ts';
export {
  type FocusAsked,
  focusAsked,
  focusMetadata,
  namesOfFocus,
  newestLoad,
} from './focus.ts';
export {
  displayParameters,
  type GivenParameter,
  isForCommandLine,
  monthsOfRange,
  type ParameterValue,
  paramFlag,
  periodsOf,
  type ReadParameters,
  readParameters,
  settleParameters,
  sqlParameters,
  withDaysOfMonths,
  withDefaults,
} from './parameters.ts';
export { shape } from './shape.ts';
export { isOfOwners, refusalWords, unanswerable } from './unanswerable.ts';
