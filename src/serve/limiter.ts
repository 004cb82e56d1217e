import { CostbookError } from '../errors.ts';

/** Everything is in use: the same request may succeed later. */
export class BusyError extends CostbookError {
  override readonly exitCode = 2;
}

export interface JobLimits {
  /** How many jobs run at the same time; others wait in order. */
  readonly atOnce: number;
  /** How many may wait. */
  readonly maxWaiting: number;
  /** How long one may wait; as long as it takes by default. */
  readonly maxWaitMs?: number;
  /** Why a job is refused that may not wait, or has waited too long. */
  readonly busy: string;
}

/** Runs jobs within the limits. Throws BusyError instead of running one that may not wait any longer. */
export function openLimiter({
  atOnce,
  maxWaiting,
  maxWaitMs,
  busy,
}: JobLimits): <T>(job: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];

  function turn(): Promise<void> {
    if (running < atOnce) {
      running += 1;
      return Promise.resolve();
    }
    if (waiting.length >= maxWaiting) return Promise.reject(new BusyError(busy));
    return new Promise((resolve, reject) => {
      const timer =
        maxWaitMs === undefined
          ? undefined
          : setTimeout(() => {
              waiting.splice(waiting.indexOf(start), 1);
              reject(new BusyError(busy));
            }, maxWaitMs);
      function start(): void {
        clearTimeout(timer);
        resolve();
      }
      waiting.push(start);
    });
  }

  return async (job) => {
    await turn();
    try {
      return await job();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
