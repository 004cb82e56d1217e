import { asSentence } from '../../base/next-step.ts';
import { inBooksIfMatching, throughWords } from '../../text/through.ts';
import type { OutOfDate } from '../finding.ts';
import { missingCostWords } from '../usual-costs.ts';

/** What the open alert reported before its cause changed. */
export function changeWords({ changedFrom }: { readonly changedFrom?: string | undefined }): string[] {
  return changedFrom === undefined ? [] : [`Reported before: ${asSentence(changedFrom)}`];
}

/** What the books have of the time after the first hour that differs; empty if nothing is out of date. */
export function partlyLateWords({ outOfDate }: { readonly outOfDate: OutOfDate }): string[] {
  return outOfDate.map(
    ({ account, completeThrough }) => `${account}: ${throughWords(completeThrough)}; later costs ${inBooksIfMatching}.`,
  );
}

/** Which costs are not in the books; empty if nothing is out of date. */
export function missingWords({ outOfDate = [] }: { readonly outOfDate?: OutOfDate }): string[] {
  if (outOfDate.length === 0) return [];
  const costs = outOfDate.map(({ account, completeThrough, usualDaily, missingHours }) =>
    completeThrough === null
      ? `All costs of ${account} are missing.`
      : `Costs of ${account} since ${completeThrough} ${missingCostWords(usualDaily, completeThrough, missingHours)}.`,
  );
  return [costs.join(' ')];
}
