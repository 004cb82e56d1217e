/** Milliseconds since 1970-01-01T00:00:00Z. All of Costbook counts in UTC. */
export type Instant = number;

/**
 * One event on one line. `event` is a stable code, `noun.verb`, that machines search for; `message` is a sentence for
 * people; `fields` go out as JSON in machine logs. The writer redacts values.
 */
export interface Log {
  info(event: string, message: string, fields?: Record<string, unknown>): void;
  warn(event: string, message: string, fields?: Record<string, unknown>): void;
}

/** An HTTP request. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /**
   * Takes the body of a 2xx piece by piece as it comes, however long; the response then has an empty body. Such an
   * answer may take its time: a workload makes it.
   */
  readonly onChunk?: ((chunk: Buffer) => Promise<void>) | undefined;
  /** A longer response body is refused. */
  readonly maxBodyMib: number;
  readonly signal: AbortSignal;
}

/** An HTTP response; the body is unchanged (still compressed if `content-encoding` says so). */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Sends a request once. Rejects if no complete answer came: refused, reset, cut short, timed out, aborted. */
export type HttpSend = (request: HttpRequest) => Promise<HttpResponse>;

/** The current time: by this machine's clock (`--now` fixes it), and for the books. */
export interface Clock {
  /** The current time for the books: the clock, minus its known lead over the platform's. */
  now(): Instant;
  /** The time by the clock itself. */
  clockNow(): Instant;
  /** Whether the user chose the time with `--now`: it may be in the past on purpose. */
  readonly isChosen?: boolean | undefined;
  /** From here on, `now` is this many milliseconds behind the clock. */
  setBack(ms: number): void;
  /** The next step for a clock that is ahead. Returned once only, so that it is printed once. */
  advice(): string | undefined;
}

/**
 * The outside world as one parameter, so that tests can replace it. Waits and timeouts always use real time, also with
 * `--now`.
 */
export interface Effects extends Clock {
  log: Log;
  random(): number;
  /** Rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}
