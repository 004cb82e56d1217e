import pLimit from 'p-limit';
import { type FairLimiter, openFairLimiter } from '../platform/index.ts';
import type { Warehouse } from '../warehouse/index.ts';

/** Accounts in progress at once: each needs a connection to the warehouse and some memory. */
export const accountsAtOnce = 32;
/** Windows in progress beyond those with requests: while one is compared and loaded, another one fetches. */
const windowsAhead = 4;
/**
 * Windows that are compared at once, while another one is loaded: each query uses one of libuv's four threads; one stays
 * free for DNS and files.
 */
const comparedAtOnce = 2;
/** Windows that take longer give their place to those of other accounts. */
const slowWindowMs = 5_000;
/** Readers get the results of a long backfill at this interval, or less often if publishing itself takes long. */
const publishEveryMs = 30_000;

/** What the accounts of one ingest share. */
export interface SharedWork {
  /** How many windows are staged at once, whatever the number of accounts. */
  readonly windowLimiter: FairLimiter;
  /** Runs queries of one window's stage when it is their turn. */
  comparing<T>(queries: () => Promise<T>): Promise<T>;
  /** Publishes what is proven so far if the last time was long ago. Call it while nothing else uses the warehouse. */
  publishNowAndThen(): Promise<void>;
}

/** Opens what the accounts of one ingest share; `concurrency` is the limit of requests. */
export function openSharedWork(concurrency: number, warehouse: Pick<Warehouse, 'publish'>): SharedWork {
  let lastPublished = Date.now();
  let pauseMs = publishEveryMs;
  return {
    windowLimiter: openFairLimiter({
      slots: concurrency + windowsAhead, // requests have a limit of their own
      slowAfterMs: slowWindowMs,
      maxSlow: accountsAtOnce,
    }),
    comparing: pLimit(comparedAtOnce),
    async publishNowAndThen() {
      if (Date.now() - lastPublished < pauseMs) return;
      const begun = Date.now();
      await warehouse.publish();
      lastPublished = Date.now();
      pauseMs = Math.max(publishEveryMs, 20 * (lastPublished - begun));
    },
  };
}
