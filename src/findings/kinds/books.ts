import { firstSentence } from '../../base/errors.ts';
import { act, parseNextStep, thenAgain } from '../../base/next-step.ts';
import { usd } from '../../money/money.ts';
import { throughWords } from '../../text/through.ts';
import { causeOf } from '../causes.ts';
import type { Finding } from '../finding.ts';
import type { DataKind } from '../kind.ts';
import { changeWords } from './sentences.ts';

/** The warehouse cannot be written: it is missing, damaged or not permitted. Nothing is loaded until this is fixed. */
export interface BooksFact extends Finding<'books'> {
  readonly command: string;
  readonly exitCode: number;
  readonly error: string;
  /** What the error says to do, as it was printed: `Act: …`. Null or missing if it says nothing. */
  readonly nextStep?: string | null;
  readonly foundAt: string;
  /** Whether "costbook repair" fixes it. */
  readonly isForRepair: boolean;
  /** Content of the published snapshot: rows, and USD as decimal text; null if part of it cannot be read. */
  readonly snapshot: { readonly rows: number; readonly cost: string; readonly publishedAt: string } | null;
}

/** The run that cannot write the books reports it, without them. */
export const books: DataKind<BooksFact, never> = {
  name: 'books',
  findings: () => [],
  causes: ({ snapshot, isForRepair, exitCode, error }) => [
    snapshot === null ? 'no snapshot' : 'whole snapshot',
    isForRepair ? 'repair' : causeOf(exitCode, error),
  ],
  // The rest lists what was intact then, which may be lost by now.
  causeWords: ({ error }) => firstSentence(error).split(/ \(|: /)[0] ?? '',
  /** Says first which numbers can still be trusted, then what failed. */
  words: (fact) => {
    const { command, error, snapshot, completeThrough, changedFrom } = fact;
    const until = 'Until this is fixed, no other alert is evaluated.';
    return {
      title: `${snapshot === null ? 'The books cannot be read or written' : 'The books cannot be written: no new costs are loaded'}${changedFrom === undefined ? '' : ', now for another reason'}`,
      sentences: [
        snapshot === null
          ? `Neither the warehouse nor the published snapshot can be used. ${until}`
          : `The published numbers are still correct: ${usd(snapshot.cost)}, ${throughWords(completeThrough)}. ${until}`,
        `${command} failed: ${error}`,
        ...changeWords(fact),
      ],
      hasNoHours: snapshot === null,
    };
  },
  over: () => ({
    title: 'the books can be written again',
    sentences: ['Costbook loads costs and evaluates alerts again.'],
  }),
  step: ({ nextStep, command, isForRepair }) =>
    thenAgain(parseNextStep(nextStep) ?? act(isForRepair ? 'run "costbook repair".' : 'fix this.'), command),
};
