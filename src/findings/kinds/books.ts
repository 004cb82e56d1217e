import { type Failure, shortly } from '../../base/failure.ts';
import { act, repair, thenAgain } from '../../base/next-step.ts';
import { usd } from '../../money/money.ts';
import { throughWords } from '../../text/through.ts';
import { causeOf } from '../causes.ts';
import type { Finding, OutOfDate } from '../finding.ts';
import type { DataKind } from '../kind.ts';
import { changeWords, missingWords } from './sentences.ts';

/** The warehouse cannot be written: it is missing, damaged or not permitted. Nothing is loaded until this is fixed. */
export interface BooksFact extends Finding<'books'> {
  readonly command: string;
  readonly exitCode: number;
  readonly failures: readonly Failure[];
  /** The same as text, for receivers of messages. */
  readonly error: string | null;
  readonly nextStep: string | null;
  readonly foundAt: string;
  /** Whether "costbook repair" fixes it. */
  readonly isForRepair: boolean;
  readonly outOfDate?: OutOfDate;
  /** Content of the published snapshot: rows, and USD as decimal text; null if part of it cannot be read. */
  readonly snapshot: { readonly rows: number; readonly cost: string; readonly publishedAt: string } | null;
}

/** A fault without what was intact then, which may be lost by now. */
const faults: Readonly<Record<string, string>> = {
  damaged_file: 'is damaged',
  changed_file: 'is missing, or another program has changed it',
};

/** The run that cannot write the books reports it, without them. */
export const books: DataKind<BooksFact, never> = {
  name: 'books',
  findings: () => [],
  causes: ({ snapshot, isForRepair, exitCode, failures }) => [
    snapshot === null ? 'no snapshot' : 'whole snapshot',
    ...(isForRepair ? ['repair'] : failures.map((failure) => causeOf(exitCode, failure))),
  ],
  causeWords: ({ failures: [first] }) => {
    if (first === undefined) return '';
    const fault = faults[first.code];
    return first.subject === null || fault === undefined ? first.found : `${first.subject} ${fault}`;
  },
  /** Says first which numbers can still be trusted, then what failed. */
  words: (fact) => {
    const { command, failures, snapshot, completeThrough, changedFrom } = fact;
    const until = 'Until this is fixed, no other alert is evaluated.';
    return {
      title: `${snapshot === null ? 'The books cannot be read or written' : 'The books cannot be written: no new costs are loaded'}${changedFrom === undefined ? '' : ', now for another reason'}`,
      sentences: [
        snapshot === null
          ? `Neither the warehouse nor the published snapshot can be used. ${until}`
          : `The published numbers are still correct: ${usd(snapshot.cost)} in all, ${throughWords(completeThrough)}. ${until}`,
        `${command} failed: ${shortly(failures)}`,
        ...changeWords(fact),
        ...missingWords(fact),
      ],
      hasNoHours: snapshot === null,
    };
  },
  over: () => ({
    title: 'the books can be written again',
    sentences: ['Costbook loads costs and evaluates alerts again.'],
  }),
  step: ({ failures: [first], command, isForRepair }) =>
    thenAgain(first?.next ?? (isForRepair ? repair() : act('fix this.')), command),
};
