/** Runs pieces of work, a few at a time. */
export interface WindowLimiter {
  /** Runs `work` when its turn has come, and returns what it returns. Of those that wait, the lowest `rank` is next. */
  run<T>(rank: number, work: () => Promise<T>): Promise<T>;
}

/**
 * At most `slots` pieces of work at once, by rank. Windows that share a few sockets fairly are all finished at the same
 * time, and then the warehouse has them all to load at once while the sockets wait.
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
        // The slot goes on to whoever waits; it is free only where nobody does.
        if (waiting.length > 0) beginNext();
        else free += 1;
      }
    },
  };
}
