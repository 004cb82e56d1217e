import type { Instant } from '../time.ts';

/** The instants at which the writer records what it sees: each is after all that earlier runs saw, and none goes back. */
export interface WriteClock {
  /** The given instant, or a later one where the clock was moved back. */
  seenAt(now: Instant): Instant;
  /** The instant of a close; whatever is seen next is after it, so that the close does not hold it. */
  closedAt(now: Instant): Instant;
  /** Goes back to now after false instants were corrected; `last` is the last of those that stay. */
  correct(correction: {
    readonly now: Instant;
    readonly isCorrected: boolean;
    readonly last: Instant | undefined;
  }): void;
}

/**
 * A clock for one writer; `last` is the last instant in the books. A clock that was moved back must not let two runs see
 * at one instant: as of it, either would be an answer.
 */
export function openWriteClock(last: Instant | undefined): WriteClock {
  const firstSeen = (last ?? -1) + 1;
  let lastSeen = firstSeen;
  function seenAt(now: Instant): Instant {
    lastSeen = Math.max(now, lastSeen);
    return lastSeen;
  }
  return {
    seenAt,
    closedAt(now) {
      const closedAt = seenAt(now);
      lastSeen = closedAt + 1;
      return closedAt;
    },
    correct({ now, isCorrected, last }) {
      // Where nothing was corrected, what this run saw before stays at its instant.
      lastSeen = isCorrected ? (last ?? -1) + 1 : Math.max(firstSeen, Math.min(lastSeen, now));
    },
  };
}
