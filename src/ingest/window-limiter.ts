/** Runs jobs of windows, a few at a time. */
export interface WindowLimiter {
  /** Runs `work` of the window of this rank when it is its turn, and returns its result. */
  run<T>(rank: number, work: () => Promise<T>): Promise<T>;
}

/**
 * Runs at most `slots` jobs at once. Among those that wait, the lowest rank is next, or the one that `next` chooses: it
 * receives the ranks that wait.
 */
export function openWindowLimiter(
  slots: number,
  next: (waiting: readonly number[]) => number = (waiting) => Math.min(...waiting),
): WindowLimiter {
  const waiting: { readonly rank: number; begin(): void }[] = [];
  let free = slots;

  function beginNext(): void {
    const chosen = next(waiting.map(({ rank }) => rank));
    const index = waiting.findIndex(({ rank }) => rank === chosen);
    const [first] = waiting.splice(Math.max(0, index), 1);
    first?.begin();
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

/**
 * Which of the waiting windows, given by rank, fetches its next page. The earliest: if windows shared the sockets
 * equally, all would finish at the same time, and the warehouse would have to load them all at once while the sockets
 * wait. But the pages of a window follow each other: if one has as many left as the sockets need for the pages of all
 * windows, it is next, or it would end alone. `pagesLeft` has every window that is not finished, by rank.
 */
export function nextWindow(
  waiting: readonly number[],
  pagesLeft: ReadonlyMap<number, number>,
  sockets: number,
): number {
  let all = 0;
  for (const pages of pagesLeft.values()) all += pages;
  const longest = Math.ceil(all / sockets);
  const late = waiting.filter((rank) => (pagesLeft.get(rank) ?? 0) >= longest);
  return Math.min(...(late.length > 0 ? late : waiting));
}
