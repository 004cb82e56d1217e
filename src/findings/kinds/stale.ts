import type { NextStep } from '../../base/next-step.ts';
import { throughWords } from '../../text/through.ts';
import { type Finding, findingOf } from '../finding.ts';
import { type DataKind, outOfDateIn } from '../kind.ts';
import { missingCostWords } from '../usual-costs.ts';
import { isIngestFailed } from './run.ts';

/** The books of an account are out of date. */
export interface StaleFact extends Finding<'stale'> {
  readonly freshnessHours: number;
  /** What a day usually costs, USD as decimal text. */
  readonly usualDaily?: string | undefined;
}

/** What to do about numbers that are too old. */
export const staleStep: NextStep = {
  who: 'Act',
  words: 'check that the nightly run still starts, then run "costbook ingest". "costbook doctor" checks the setup.',
};

export const stale: DataKind<StaleFact, never> = {
  name: 'stale',
  findings: (_, world) =>
    outOfDateIn(world).map(({ account, completeThrough, usualDaily }) => ({
      ...findingOf('stale', [account], { account, severity: 'critical', completeThrough }),
      freshnessHours: world.freshnessHours,
      usualDaily,
    })),
  follows: (_, others) => others.some(isIngestFailed),
  isLookedFor: ({ account }, { accounts }) => accounts.some((one) => one.account === account && one.isConfigured),
  words: ({ account, completeThrough, freshnessHours, usualDaily }) => ({
    title: `The books of ${account} are out of date`,
    sentences: [
      completeThrough === null
        ? 'They have no complete hour yet: costs are missing, not zero.'
        : `They are ${throughWords(completeThrough)}, more than ${freshnessHours} hours ago: later costs ${missingCostWords(usualDaily)}.`,
    ],
  }),
  over: ({ account }) => ({ title: `the books of ${account} are up to date again`, sentences: [] }),
  step: () => staleStep,
  isRefreshed: true,
};
