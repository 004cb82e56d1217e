import { asSentence } from '../../base/next-step.ts';
import type { OutOfDate } from '../finding.ts';
import { missingCostWords } from '../usual-costs.ts';

/** What the open alert reported before its cause changed. */
export function changeWords({ changedFrom }: { readonly changedFrom?: string | undefined }): string[] {
  return changedFrom === undefined ? [] : [`Reported before: ${asSentence(changedFrom)}`];
}

/** Which costs are not in the books; empty if nothing is out of date. */
export function missingWords({ outOfDate = [] }: { readonly outOfDate?: OutOfDate }): string[] {
  if (outOfDate.length === 0) return [];
  const costs = outOfDate.map(({ account, completeThrough, usualDaily }) =>
    completeThrough === null
      ? `All costs of ${account} are missing.`
      : `Costs of ${account} since ${completeThrough} ${missingCostWords(usualDaily)}.`,
  );
  return [`${costs.join(' ')} The next run that succeeds fetches them.`];
}
