/** Codes of comparisons and their meaning; a code may be followed by `.` and the name of a query. */
const words: Readonly<Record<string, string>> = {
  pages_match_total: 'rows of the pages add up to the total of the answer',
  all_rows_match_total: 'all rows, including those missing from the pages, add up to the total',
  hours_match_group: 'hours of a group add up to the group',
  buckets_match_group: 'days or months of a group add up to the group',
  hours_match_control: "hours by billing dimension equal the platform's",
  rows_match_control: "all rows add up to the platform's total",
  groups_are_unique: 'each group occurs once',
  usage_is_not_negative: 'usage without resource is not negative',
  days_match_platform: "days equal the platform's days",
  series_match_platform: "series equal the platform's series",
  names_match_platform: "resources equal the platform's resources",
  month_dimension_matches_platform: "the month of a billing dimension equals the platform's",
  month_matches_platform: "the month equals the platform's total",
};

/**
 * A check code (`ledger.reconciliation.check_code`) in words for people: `pages_match_total.detail` is
 * `rows of the pages add up to the total of the answer (detail)`. Unknown codes are returned unchanged. Pure.
 */
export function checkWords(code: string): string {
  const [check = '', ...about] = code.split('.');
  const known = Object.hasOwn(words, check) ? words[check] : undefined;
  if (known === undefined) return code;
  return about.length === 0 ? known : `${known} (${about.join(', ').replaceAll('_', ' ')})`;
}
