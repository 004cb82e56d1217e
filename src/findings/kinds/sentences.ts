import { throughWords } from '../../text/through.ts';
import type { OutOfDate } from '../finding.ts';

/** What the open alert reported before its cause changed. */
export function changeWords({ changedFrom }: { readonly changedFrom?: string | undefined }): string[] {
  return changedFrom === undefined ? [] : [`Reported before: ${asSentence(changedFrom)}`];
}

export function outOfDateWords({ outOfDate }: { readonly outOfDate: OutOfDate }): string[] {
  return outOfDate.map(
    ({ account, completeThrough }) => `The books of ${account} are out of date: ${throughWords(completeThrough)}.`,
  );
}

/** An error with a full stop, so that the next sentence can follow. */
export function asSentence(error: string): string {
  return /[.!?…]$/.test(error) ? error : `${error}.`;
}
