import { AsyncLocalStorage } from 'node:async_hooks';

/** Runs work on the warehouse while no other such work runs. Work may contain more of it, which then runs at once. */
export type Exclusively = <T>(work: () => Promise<T>) => Promise<T>;

/** Opens a queue of work that runs one after another. */
export function openExclusively(): Exclusively {
  const inside = new AsyncLocalStorage<true>();
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    if (inside.getStore() === true) return work();
    const done = last.then(() => inside.run(true, work));
    last = done.catch(() => undefined);
    return done;
  };
}
