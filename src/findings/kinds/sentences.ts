import { asSentence } from '../../base/next-step.ts';
import type { OutOfDate } from '../finding.ts';

/** What the open alert reported before its cause changed. */
export function changeWords({ changedFrom }: { readonly changedFrom?: string | undefined }): string[] {
  return changedFrom === undefined ? [] : [`Reported before: ${asSentence(changedFrom)}`];
}

/** Which costs are not in the books; empty if nothing is out of date. */
export function missingWords({ outOfDate }: { readonly outOfDate: OutOfDate }): string[] {
  if (outOfDate.length === 0) return [];
  const costs = outOfDate.map(({ account, completeThrough }) =>
    completeThrough === null ? `all costs of ${account}` : `costs of ${account} after ${completeThrough}`,
  );
  const text = costs.join(', ');
  return [
    `${text.slice(0, 1).toUpperCase()}${text.slice(1)} are missing, not zero. The next run that succeeds fetches them.`,
  ];
}
