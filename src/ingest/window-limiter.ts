/** Runs jobs, a few at a time. */
export interface WindowLimiter {
  /** Runs `work` when it is its turn, and returns its result. Among those that wait, the lowest `rank` is next. */
  run<T>(rank: number, work: () => Promise<T>): Promise<T>;
}

/**
 * Runs at most `slots` jobs at once, by rank. If windows shared the sockets equally, all would finish at the same time,
 * and the warehouse would have to load them all at once while the sockets wait.
 */
export function openWindowLimiter(slots: number): WindowLimiter {
  const waiting: { readonly rank: number; begin(): void }[] = [];
  let free = slots;

  function beginNext(): void {
    const lowest = Math.min(...waiting.map(({ rank }) => rank));
    const [next] = waiting.splice(
      waiting.findIndex(({ rank }) => rank === lowest),
      1,
    );
    next?.begin();
  }

  return {
    async run(rank, work) {
      if (free > 0) free -= 1;
      else await new Promise<void>((begin) => waiting.push({ rank, begin }));
      try {
        return await work();
      } finally {
        // Pass the slot on to the next one; it is free only if nobody waits.
        if (waiting.length > 0) beginNext();
        else free += 1;
      }
    },
  };
}
