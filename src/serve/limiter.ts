import { CostbookError } from '../base/errors.ts';

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

/**
 * Runs jobs within the limits. Throws BusyError instead of running one that may not wait any longer, and the signal's reason
 * if it is aborted while the job waits.
 */
export function openLimiter({
  atOnce,
  maxWaiting,
  maxWaitMs,
  busy,
}: JobLimits): <T>(job: () => Promise<T>, signal?: AbortSignal) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];

  async function turn(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (running < atOnce) {
      running += 1;
      return;
    }
    if (waiting.length >= maxWaiting) throw new BusyError(busy);
    await new Promise<void>((resolve, reject) => {
      const timer = maxWaitMs === undefined ? undefined : setTimeout(() => end(new BusyError(busy)), maxWaitMs);
      const leave = () => end(signal?.reason);
      signal?.addEventListener('abort', leave, { once: true });
      function stopWaiting(): void {
        clearTimeout(timer);
        signal?.removeEventListener('abort', leave);
      }
      function end(reason: unknown): void {
        stopWaiting();
        waiting.splice(waiting.indexOf(start), 1);
        reject(reason);
      }
      function start(): void {
        stopWaiting();
        resolve();
      }
      waiting.push(start);
    });
  }

  return async (job, signal) => {
    await turn(signal);
    try {
      return await job();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
