import { PlatformError } from '../errors.ts';

/** Attempts at one request: about half a minute of our own waiting in all, against outages that pass. */
const maxAttempts = 8;
/** A host that is not there rarely appears within seconds; a person with a mistyped URL should not wait for minutes. */
const maxConnectAttempts = 4;
const baseDelayMs = 500;
const maxDelayMs = 15_000;
/** All waiting for one request together; a Retry-After beyond what is left of it gives up at once. */
export const waitBudgetMs = 15 * 60_000;

/** Where a request stands among its attempts. */
export interface Attempts {
  /** Attempts made so far, at least 1. */
  readonly made: number;
  /** Attempts so far that the platform put off with a Retry-After: they count against the budget, not as failures. */
  readonly putOff: number;
  /** Milliseconds waited so far. */
  readonly waitedMs: number;
}

/**
 * Milliseconds to wait before the next attempt, or undefined to give up.
 * The server's own Retry-After wins and is never jittered: it knows, we guess. Our own waits have full jitter, so
 * that many clients that failed together do not come back together.
 */
export function retryDelayMs(attempts: Attempts, failure: unknown, random: () => number): number | undefined {
  if (!(failure instanceof PlatformError) || !failure.retryable) return undefined; // a bug does not improve with time
  const left = waitBudgetMs - attempts.waitedMs;
  if (failure.retryAfterMs !== undefined) return failure.retryAfterMs <= left ? failure.retryAfterMs : undefined;
  const failed = attempts.made - attempts.putOff;
  if (failed >= (failure.code === 'unreachable' ? maxConnectAttempts : maxAttempts)) return undefined;
  const delay = Math.min(maxDelayMs, baseDelayMs * 2 ** (failed - 1)) * random();
  return delay <= left ? delay : undefined;
}

/**
 * What a Retry-After header (RFC 9110 10.2.3: seconds or an HTTP date) asks to wait, in milliseconds.
 * A date is taken against the answer's own Date where it has one, so that a skewed clock here does no harm.
 * Undefined where the header is absent or malformed: then our own back-off applies.
 */
export function parseRetryAfter(header: string | undefined, answerDate: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d+$/.test(header.trim())) return Number(header.trim()) * 1000;
  const until = Date.parse(header);
  if (Number.isNaN(until)) return undefined;
  const from = answerDate === undefined ? Number.NaN : Date.parse(answerDate);
  return Math.max(0, until - (Number.isNaN(from) ? Date.now() : from));
}
