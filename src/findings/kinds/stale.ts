import { act, type NextStep } from '../../base/next-step.ts';
import { throughWords } from '../../text/through.ts';
import { isOlder } from '../../time/time.ts';
import { lastFetch } from '../../warehouse/ledger/index.ts';
import { type Finding, findingOf } from '../finding.ts';
import { type DataKind, isRead, outOfDateIn } from '../kind.ts';
import { missingCostWords } from '../usual-costs.ts';
import { isIngestFailed } from './run.ts';

type LastFetch = Awaited<ReturnType<typeof lastFetch>>;

/** The books of an account are out of date. */
export interface StaleFact extends Finding<'stale'>, Partial<LastFetch> {
  readonly freshnessHours: number;
  /** What a day usually costs, USD as decimal text. */
  readonly usualDaily?: string | undefined;
  /** Whole hours since it was complete. */
  readonly missingHours?: number | undefined;
  /** Whether no run has begun to fetch for longer than the limit. */
  readonly isIdle?: boolean;
}

/** What to do about numbers that are too old although no run failed. Pure. */
export function staleStep({ command = 'ingest', isIdle = false }: Pick<StaleFact, 'command' | 'isIdle'>): NextStep {
  const start = isIdle ? 'start the scheduler (cron or "costbook schedule") again. Then run' : 'run';
  return act(`${start} "costbook ${command}".`, command);
}

/** Since when no run has fetched, as a clause. Pure. */
export function idleWords({ fetchedAt = null, isIdle = false }: Pick<StaleFact, 'fetchedAt' | 'isIdle'>): string[] {
  return isIdle && fetchedAt !== null ? [`no run has fetched costs since ${fetchedAt}`] : [];
}

export const stale: DataKind<StaleFact, LastFetch> = {
  name: 'stale',
  read: async (connection) => [await lastFetch(connection)],
  findings: ([fetch], world) =>
    outOfDateIn(world).map(({ account, completeThrough, usualDaily, missingHours }) => ({
      ...findingOf('stale', [account], { account, severity: 'critical', completeThrough }),
      freshnessHours: world.freshnessHours,
      ...{ usualDaily, missingHours },
      ...(fetch === undefined ? {} : { ...fetch, isIdle: isOlder(fetch.fetchedAt, world.now, world.freshnessHours) }),
    })),
  follows: (_, others) => others.some(isIngestFailed),
  isLookedFor: isRead,
  words: ({ account, completeThrough, freshnessHours, usualDaily, missingHours, ...fact }) => ({
    title: `The books of ${account} are out of date`,
    sentences: [
      completeThrough === null
        ? 'They have no complete hour yet: costs are missing, not zero; their amount is unknown until they are loaded.'
        : `They are ${throughWords(completeThrough)}, more than ${freshnessHours} hours ago: later costs ${missingCostWords(usualDaily, completeThrough, missingHours)}.`,
      ...idleWords(fact).map((words) => `N${words.slice(1)}.`),
    ],
  }),
  over: ({ account }) => ({ title: `the books of ${account} are up to date again`, sentences: [] }),
  step: staleStep,
  isRefreshed: true,
};
