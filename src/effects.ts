import { hourMs, type Instant } from './time.ts';

/** One thing that happened, on one line; `fields` go out as JSON in machine logs. Values are redacted by the writer. */
export interface Log {
  info(event: string, fields?: Record<string, unknown>): void;
  warn(event: string, fields?: Record<string, unknown>): void;
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
}

/** A clock that is taken to be right until somebody sets it back. */
export function openClock(read: () => Instant): Clock {
  let behindMs = 0;
  return {
    now: () => read() - behindMs,
    clockNow: () => read(),
    setBack(ms) {
      behindMs = ms;
    },
  };
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
