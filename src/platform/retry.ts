import { PlatformError } from '../base/errors.ts';

/** Attempts at one request: about half a minute of our own waiting in total, for short outages. */
const maxAttempts = 8;
/** An unreachable host rarely appears within seconds; a user with a mistyped URL should not wait for minutes. */
const maxConnectAttempts = 4;
/** Each of these has already cost a minute or more. */
const maxSilentAttempts = 3;
const baseDelayMs = 500;
const maxDelayMs = 15_000;
/** All waiting for one request; a Retry-After beyond the rest of it gives up at once. */
export const waitBudgetMs = 15 * 60_000;
/** All waiting in vain for refusals that claim to pass, such as a 403 with `retryable`, in all requests of an account. */
const refusalBudgetMs = 60_000;

/** What the requests of an account have waited in vain for refusals: it grows. */
export interface Patience {
  wastedMs: number;
}

/** The attempts at a request so far. */
export interface Attempts {
  /** Attempts made so far, at least 1. */
  readonly made: number;
  /** Attempts that the platform postponed: they count against the waiting budget, not as failures. */
  readonly putOff: number;
  /** Milliseconds waited so far. */
  readonly waitedMs: number;
}

/**
 * Milliseconds to wait before the next attempt, or undefined to give up. The server's own Retry-After wins and is never
 * jittered: it knows, we guess. One of less than a second shortens no wait of ours. Our own waits have full jitter, so that
 * many clients that failed together do not return together.
 */
export function retryDelayMs(
  attempts: Attempts,
  failure: unknown,
  random: () => number,
  { wastedMs }: Patience = { wastedMs: 0 },
): number | undefined {
  if (!(failure instanceof PlatformError) || !failure.retryable) return undefined; // retrying does not fix a bug
  const left = (isRefusal(failure) ? refusalBudgetMs - wastedMs : waitBudgetMs) - attempts.waitedMs;
  const failed = attempts.made - attempts.putOff;
  if (failed >= attemptsFor(failure.fault)) return undefined;
  const { retryAfterMs = 0 } = failure;
  const own = isPutOff(failure) ? 0 : Math.min(maxDelayMs, baseDelayMs * 2 ** (failed - 1)) * random();
  const delay = Math.max(retryAfterMs, own);
  return delay <= left ? delay : undefined;
}

function attemptsFor(fault: string | undefined): number {
  if (fault === 'unreachable') return maxConnectAttempts;
  return fault === 'timeout' || fault === 'slow' ? maxSilentAttempts : maxAttempts;
}

/**
 * Whether the platform certainly did nothing: it was not reached, or refused the request unread. Only then may a request
 * that changes something be sent again.
 */
export function isCertainlyNotDone(failure: PlatformError): boolean {
  return failure.fault === 'unreachable' || failure.status === 429;
}

/** Whether the platform refuses this request, whatever it says of later: others can succeed meanwhile. */
export function isRefusal({ status = 0 }: PlatformError): boolean {
  return status >= 400 && status <= 499 && status !== 408 && status !== 429;
}

/** A shorter Retry-After does not postpone, because a platform that always says "at once" is failing. */
const shortestPutOffMs = 1000;

/** Whether a failure only asks to come back later. */
export function isPutOff(failure: PlatformError): boolean {
  return failure.retryAfterMs !== undefined && failure.retryAfterMs >= shortestPutOffMs;
}

/** The two HTTP date formats in use: `Sun, 06 Nov 1994 08:49:37 GMT`, and that of C's asctime. */
const httpDate = /^\w{3,9}, \d{2}[ -]\w{3}[ -]\d{2,4} \d{2}:\d{2}:\d{2} GMT$/;
const asctimeDate = /^\w{3} \w{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * How long a Retry-After header (RFC 9110 10.2.3: seconds or an HTTP date) asks to wait, in milliseconds. A date is
 * compared with the answer's own Date if it has one, so that a wrong clock here does no harm. Undefined if the header
 * is missing or malformed: then our own back-off applies.
 */
export function parseRetryAfter(header: string | undefined, answerDate: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d+$/.test(header.trim())) return Number(header.trim()) * 1000;
  const until = parseHttpDate(header.trim());
  if (Number.isNaN(until)) return undefined;
  const from = answerDate === undefined ? Number.NaN : parseHttpDate(answerDate);
  return Math.max(0, until - (Number.isNaN(from) ? Date.now() : from));
}

/** A clock that shows another time was never set, or lies. */
const [earliestDate, latestDate] = [Date.UTC(2020, 0, 1), Date.UTC(2200, 0, 1)];

/** The instant of a Date header; undefined if missing, malformed, or from a clock that cannot be right. */
export function parseDate(header: string | undefined): number | undefined {
  const instant = header === undefined ? Number.NaN : parseHttpDate(header.trim());
  return instant >= earliestDate && instant < latestDate ? instant : undefined;
}

/** Milliseconds since 1970, or NaN; both forms are UTC. */
function parseHttpDate(text: string): number {
  if (httpDate.test(text)) return Date.parse(text);
  return asctimeDate.test(text) ? Date.parse(`${text} GMT`) : Number.NaN;
}
