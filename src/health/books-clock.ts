import type { Effects } from '../base/effects.ts';
import { act, asClause, type NextStep } from '../base/next-step.ts';
import { clockToleranceMs } from '../time/clock.ts';
import { formatSecond, type Instant } from '../time/time.ts';
import { openBooks } from '../warehouse/integrity/index.ts';
import { lastInstants } from '../warehouse/ledger/index.ts';
import type { Connection } from '../warehouse/store/index.ts';
import type { HealthContext } from './context.ts';

/** What is wrong with a clock, and what to do. */
export interface ClockFault {
  readonly found: string;
  readonly next: NextStep;
}

/** What dates in the future mean for the books; undefined if there are none. */
export async function futureInstants(connection: Connection, now: Instant): Promise<ClockFault | undefined> {
  const { lastAfter } = await lastInstants(connection, now + clockToleranceMs);
  if (lastAfter === undefined) return undefined;
  return {
    found: `the books have entries dated up to ${formatSecond(lastAfter)}, but this clock shows ${formatSecond(now)}: it is behind, or it was ahead when they were written. Before ${formatSecond(lastAfter)}, --as-of returns older numbers`,
    next: act(
      'correct the clock and run "costbook ingest", which corrects these dates; then repeat the exports made since.',
      'ingest',
    ),
  };
}

/** Warns a reader of past books if the books have dates in the future: the answer may be too old. */
export async function warnOfFutureDates({
  dir,
  effects,
  signal,
  tell,
}: Pick<HealthContext, 'dir' | 'signal' | 'tell'> & {
  readonly effects: Pick<Effects, 'now'>;
}): Promise<void> {
  const books = await openBooks(dir, { lockedDown: true, signal });
  try {
    const future = await futureInstants(books.connection, effects.now());
    if (future !== undefined) tell(`warning: ${future.found}; ${asClause(future.next.words)}`);
  } finally {
    books.close();
  }
}
