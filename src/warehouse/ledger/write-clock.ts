import type { Instant } from '../../time/time.ts';

/** The instants that the writer records: each is after everything that earlier runs recorded, and none goes back. */
export interface WriteClock {
  /** The given instant, or a later one if the clock was set back. */
  seenAt(now: Instant): Instant;
  /** The instant of a close; everything recorded next is after it, so that the close does not include it. */
  closedAt(now: Instant): Instant;
  /**
   * Returns to now after false instants were corrected, but not to before `lastLoad`; `last` is the last of those that stay.
   */
  correct(correction: {
    readonly now: Instant;
    readonly isCorrected: boolean;
    readonly last: Instant | undefined;
    readonly lastLoad: Instant | undefined;
  }): void;
}

/**
 * A clock for one writer; `last` is the last instant in the books. If a clock is set back, two runs must not record at
 * the same instant: as of it, the answer would be ambiguous.
 */
export function openWriteClock(last: Instant | undefined): WriteClock {
  let firstSeen = (last ?? -1) + 1;
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
    correct({ now, isCorrected, last, lastLoad = -1 }) {
      // For the next account of this run, the books end here, too.
      if (isCorrected) firstSeen = (last ?? -1) + 1;
      // If nothing was corrected, instants that this run recorded before stay.
      lastSeen = isCorrected ? firstSeen : Math.max(firstSeen, Math.min(lastSeen, now));
      // Loads of another account of this run stay in order.
      lastSeen = Math.max(lastSeen, lastLoad);
    },
  };
}
