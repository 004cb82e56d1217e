import { clockStep } from '../../base/next-step.ts';
import { describeSpan } from '../../time/time.ts';
import { type Finding, findingOf } from '../finding.ts';
import { type AccountState, type DataKind, isRead } from '../kind.ts';

/** This machine's clock was ahead of the platform's at the last fetch of the account, or behind: then negative. */
export type ClockFact = Finding<'clock'> & NonNullable<AccountState['clock']>;

export const clock: DataKind<ClockFact, never> = {
  name: 'clock',
  findings: (_, { accounts }) =>
    accounts.flatMap(({ account, clock: both, completeThrough, isConfigured }) =>
      both === null || !isConfigured
        ? []
        : [{ ...findingOf('clock', [account], { account, severity: 'warning', completeThrough }), ...both }],
    ),
  isLookedFor: isRead,
  words: ({ account, aheadSeconds, localAt, platformAt }) => ({
    title: `This machine's clock is ${describeSpan(Math.abs(aheadSeconds) * 1000)} ${aheadSeconds > 0 ? 'ahead of' : 'behind'} the platform's`,
    sentences: [
      `This machine showed ${localAt} when the platform of ${account} showed ${platformAt}.`,
      aheadSeconds > 0
        ? "Costbook uses the platform's clock instead, so the numbers are right."
        : 'Until it is correct, newer hours are not fetched, and budgets and anomalies are not those of today.',
    ],
  }),
  over: ({ account }) => ({ title: `this machine's clock matches the platform of ${account} again`, sentences: [] }),
  step: () => clockStep,
  isRefreshed: true,
};
