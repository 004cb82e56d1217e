import type { Check, CheckResult } from '../warehouse/ledger/index.ts';
import { isBuiltIn } from '../warehouse/sql/index.ts';
import type { AnswerCache } from '../warehouse/store/index.ts';
import type { HoursToCheck } from './hours-to-check.ts';

/**
 * The results of checks. Built-in ones that found something out about the same books and hours are not run again; those of a
 * project always are, as their SQL may read the clock. A known result has the number of rows without the rows.
 */
export async function withKnownChecks(
  checks: readonly Check[],
  hours: HoursToCheck | undefined,
  cache: AnswerCache | undefined,
  run: (checks: readonly Check[], hours: HoursToCheck | undefined) => Promise<readonly CheckResult[]>,
): Promise<readonly CheckResult[]> {
  const fromOf = ({ isByMonth, name }: Check) =>
    isByMonth !== true || hours === undefined || hours.whole.includes(name) ? null : hours.from;
  async function knownOf(check: Check): Promise<number | undefined> {
    if (!isBuiltIn(check.file)) return undefined;
    const found = await cache?.find('check', [check.file.text, fromOf(check)]);
    if (found !== undefined) return Number(found.answer);
    // Where all hours are right, some of them are.
    const ofAll = await cache?.find('check', [check.file.text, null]);
    return ofAll?.answer === 0 ? 0 : undefined;
  }
  const known = new Map<Check, number>();
  for (const check of checks) {
    const offenders = await knownOf(check);
    if (offenders !== undefined) known.set(check, offenders);
  }
  const missing = checks.filter((check) => !known.has(check));
  const found = missing.length === 0 ? [] : await run(missing, hours);
  for (const { check, offenders, error } of found) {
    if (isBuiltIn(check.file) && error === undefined && offenders !== undefined)
      cache?.add('check', [check.file.text, fromOf(check)], offenders);
  }
  return checks.flatMap((check): CheckResult[] => {
    const offenders = known.get(check);
    if (offenders !== undefined) return [{ check, offenders, columns: [], cells: [], rows: [], error: undefined }];
    return found.filter((result) => result.check.name === check.name);
  });
}
