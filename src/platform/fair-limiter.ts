import { setMaxListeners } from 'node:events';

/** Runs one piece of work of a party when it may run; rejects with the signal's reason if that aborts before. */
export type Limiter = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>;

/** Work of several parties within one limit. */
export interface FairLimiter {
  /** The limiter of one party, such as an account. */
  of(party: string): Limiter;
}

/** What a fair limiter allows. */
export interface FairLimiterOptions {
  /** How many pieces of work may be in progress, without slow ones. */
  readonly slots: number;
  /** Work that takes longer than this, in milliseconds of real time, is slow: it gives its slot to another party. */
  readonly slowAfterMs: number;
  /** How many slow pieces may be in progress besides. */
  readonly maxSlow: number;
}

/** Work in progress. */
interface Running {
  readonly party: string;
  isSlow: boolean;
}

interface Waiting {
  readonly party: string;
  begin(running: Running): void;
}

/**
 * Shares `slots` among parties: the next one is that with the fewest pieces in progress, then the one that has waited
 * longest. A party has at most `slots` pieces in progress. Slow work gives its slot away while another party waits, so
 * parties that crawl hold up nobody, until `maxSlow` pieces are slow.
 */
export function openFairLimiter(options: FairLimiterOptions): FairLimiter {
  const limits = new Limits(options);
  return { of: (party) => (work, signal) => limits.run(party, work, signal) };
}

class Limits {
  readonly #options: FairLimiterOptions;
  readonly #inProgress = new Map<string, number>();
  /** In the order of their arrival. */
  readonly #waiting = new Set<Waiting>();
  /** What has a slot, the oldest first. */
  readonly #holding = new Set<Running>();
  /** How many pieces have given their slot away. */
  #slow = 0;

  constructor(options: FairLimiterOptions) {
    this.#options = options;
  }

  async run<T>(party: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const running = await this.#slotFor(party, signal);
    const timer = setTimeout(() => {
      running.isSlow = true;
      this.#takeFromSlow();
    }, this.#options.slowAfterMs);
    timer.unref();
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      if (!this.#holding.delete(running)) this.#slow -= 1;
      this.#inProgress.set(party, this.#countOf(party) - 1);
      this.#beginNext();
      this.#takeFromSlow();
    }
  }

  #slotFor(party: string, signal: AbortSignal): Promise<Running> {
    return new Promise((begin, fail) => {
      signal.throwIfAborted();
      setMaxListeners(0, signal); // a long backfill has hundreds of windows waiting
      const onAbort = () => {
        this.#waiting.delete(waiting);
        fail(signal.reason);
      };
      const waiting: Waiting = {
        party,
        begin(running) {
          signal.removeEventListener('abort', onAbort);
          begin(running);
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(waiting);
      this.#beginNext();
      this.#takeFromSlow();
    });
  }

  #countOf(party: string): number {
    return this.#inProgress.get(party) ?? 0;
  }

  /** Gives free slots to those who wait. */
  #beginNext(): void {
    while (this.#holding.size < this.#options.slots) {
      const next = this.#next();
      if (next === undefined) return;
      const running = { party: next.party, isSlow: false };
      this.#waiting.delete(next);
      this.#holding.add(running);
      this.#inProgress.set(next.party, this.#countOf(next.party) + 1);
      next.begin(running);
    }
  }

  /** Who is next; never one of `except`. */
  #next(except?: string): Waiting | undefined {
    let next: Waiting | undefined;
    for (const one of this.#waiting) {
      const count = this.#countOf(one.party);
      if (one.party === except || count >= this.#options.slots) continue;
      if (next === undefined || count < this.#countOf(next.party)) next = one;
    }
    return next;
  }

  /** Takes slots from slow work, as long as other parties wait. */
  #takeFromSlow(): void {
    for (const running of this.#holding) {
      if (this.#slow >= this.#options.maxSlow) return;
      if (!running.isSlow || this.#next(running.party) === undefined) continue;
      this.#holding.delete(running);
      this.#slow += 1;
      this.#beginNext();
    }
  }
}
