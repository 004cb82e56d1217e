import { clockToleranceMs, type Effects } from '../effects.ts';
import { formatSecond, type Instant } from '../time.ts';
import { type Connection, lastInstants, openBooks } from '../warehouse/index.ts';
import type { CommandContext } from './command.ts';

/** What is wrong with a clock, and what to do. */
export interface ClockFault {
  readonly found: string;
  readonly remedy: string;
}

/** What instants that have not come mean in the books; undefined where there are none. */
export async function futureInstants(connection: Connection, now: Instant): Promise<ClockFault | undefined> {
  const { lastAfter } = await lastInstants(connection, now + clockToleranceMs);
  if (lastAfter === undefined) return undefined;
  return {
    found: `the books hold entries dated up to ${formatSecond(lastAfter)}, and it is ${formatSecond(now)}: a fast clock wrote them, and until then --as-of gives older numbers`,
    remedy:
      'run "costbook ingest" with a right clock: it corrects these dates; then export again what was exported since',
  };
}

/** Warns whoever asks as of an instant where the books hold dates that have not come: the answer may be too old. */
export async function warnOfFutureDates({
  dir,
  effects,
  signal,
  tell,
}: Pick<CommandContext, 'dir' | 'signal' | 'tell'> & {
  readonly effects: Pick<Effects, 'now'>;
}): Promise<void> {
  const books = await openBooks(dir, { lockedDown: true, signal });
  try {
    const future = await futureInstants(books.connection, effects.now());
    if (future !== undefined) tell(`warning: ${future.found}; ${future.remedy}`);
  } finally {
    books.close();
  }
}
