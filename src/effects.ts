import { describeSpan, formatInstant, hourMs, type Instant } from './time.ts';

/** One thing that happened, on one line; `fields` go out as JSON in machine logs. Values are redacted by the writer. */
/** `event` is a stable code, `noun.verb`, that machines search for; `message` is a sentence for people. */
export interface Log {
  info(event: string, message: string, fields?: Record<string, unknown>): void;
  warn(event: string, message: string, fields?: Record<string, unknown>): void;
}

/** What is sent over HTTP: one request, without a body because every operation so far is a GET. */
export interface HttpRequest {
  readonly method: 'GET';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A longer body of an answer is refused. */
  readonly maxBodyMib: number;
  readonly signal: AbortSignal;
}

/** What came back, the body exactly as it came (still compressed where `content-encoding` says so). */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Sends one request once. Rejects where no whole answer came: refused, reset, cut short, timed out, aborted. */
export type HttpSend = (request: HttpRequest) => Promise<HttpResponse>;

/** What time it is: by this machine's clock (`--now` fixes it), and for the books. */
export interface Clock {
  /** The instant that the books call now: what the clock says, less what it was found to be ahead of the platform's. */
  now(): Instant;
  /** What the clock itself says. */
  clockNow(): Instant;
  /** From here on `now` is so many milliseconds behind the clock. */
  setBack(ms: number): void;
  /** What to do about a clock that is ahead. It answers once, so that a person reads the advice once. */
  advice(): string | undefined;
}

/** A clock that is taken to be right until somebody sets it back. */
export function openClock(read: () => Instant): Clock {
  let behindMs = 0;
  let isAdvised = false;
  return {
    now: () => read() - behindMs,
    clockNow: () => read(),
    setBack(ms) {
      behindMs = ms;
    },
    advice() {
      if (isAdvised) return undefined;
      isAdvised = true;
      return clockRemedy(read());
    },
  };
}

/** A clock may be ahead of the platform's by so much before that matters. */
export const clockToleranceMs = hourMs;

/** What the last ingest found of a clock that was ahead of the platform's. */
export interface FastClock {
  /** Milliseconds ahead of the platform's clock. */
  readonly aheadMs: number;
  /** What our clock said then. */
  readonly localAt: Instant;
  /** The last instant at which the books were written to. */
  readonly lastSeen: Instant;
}

/**
 * Milliseconds that our clock, which says `clockNow`, is ahead of the platform's; 0 where it was right at the last ingest,
 * or was corrected since. It was corrected where it says an earlier instant than it did then, and where the books were
 * written to since at instants that it would not have reached. Pure.
 */
export function aheadNow(found: FastClock | undefined, clockNow: Instant): number {
  if (found === undefined || clockNow < found.localAt - clockToleranceMs) return 0;
  return found.lastSeen > clockNow - found.aheadMs + clockToleranceMs ? 0 : found.aheadMs;
}

/**
 * Sets the clock of a command back where the last ingest found it ahead and it still is, so that the command works by the
 * platform's time. Warns where that changes anything and `isReported` is not set.
 */
export function correctClock(
  effects: Clock & { readonly log: Log },
  found: FastClock | undefined,
  { isReported = false }: { readonly isReported?: boolean } = {},
): void {
  const aheadMs = aheadNow(found, effects.clockNow());
  if (effects.clockNow() - effects.now() === aheadMs) return;
  effects.setBack(aheadMs);
  if (aheadMs === 0 || isReported) return;
  effects.log.warn(
    'clock.replaced',
    "This clock was ahead of the platform's at the last ingest; using the platform's time",
    {
      ahead: describeSpan(aheadMs),
      clock: formatInstant(effects.clockNow()),
      now: formatInstant(effects.now()),
      next: effects.advice(),
    },
  );
}

/** What to do about a clock that is ahead, by whether it is this machine's own or one that `--now` names. */
export function clockRemedy(clockNow: Instant): string {
  const isMachines = Math.abs(Date.now() - clockNow) < hourMs;
  return isMachines ? "set this machine's clock (NTP)" : 'leave out --now, or name an instant that has come';
}

/**
 * The outside world as one parameter, so that a command can be run in another one. Waiting and timeouts always take real
 * time, whatever the clock says.
 */
export interface Effects extends Clock {
  log: Log;
  random(): number;
  /** Rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}
