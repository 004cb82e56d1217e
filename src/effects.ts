import type { Instant } from './time.ts';

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

/**
 * The outside world as one parameter, so that a command can be run in another one.
 * `now` is the instant that the books call now (`--now` fixes it); waiting and timeouts always take real time.
 */
export interface Effects {
  now(): Instant;
  log: Log;
  random(): number;
  /** Rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}
