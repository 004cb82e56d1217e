export { bucketsOf } from './buckets.ts';
export {
  dailyWindows,
  daysQueries,
  everyDay,
  monthsQueries,
  type PastWindow,
  recordedSeriesQueries,
  seriesQueries,
  settledDays,
  settledUntil,
  wholeMonths,
} from './plan-verification.ts';
export { coverWindows, type PlannedWindow, planWindows } from './plan-windows.ts';
export {
  controlQuery,
  daysQuery,
  describeQuery,
  detailQuery,
  type Purpose,
  type Query,
  queryParameters,
  repairQuery,
  residualQuery,
  seriesQuery,
  typesQuery,
} from './queries.ts';
