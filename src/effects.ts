import { clockStep } from './next-step.ts';
import { describeSpan, formatInstant, hourMs, type Instant } from './time.ts';

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

/** A clock without a correction. */
export function openClock(read: () => Instant, { isChosen = false } = {}): Clock {
  let behindMs = 0;
  let isAdvised = false;
  return {
    now: () => read() - behindMs,
    clockNow: () => read(),
    isChosen,
    setBack(ms) {
      behindMs = ms;
    },
    advice() {
      if (isAdvised) return undefined;
      isAdvised = true;
      return clockStep.words;
    },
  };
}

/** A smaller lead over the platform's clock does not matter. */
export const clockToleranceMs = hourMs;

/** A clock that the last ingest found ahead of the platform's. */
export interface FastClock {
  /** Milliseconds ahead of the platform's clock. */
  readonly aheadMs: number;
  /** The time by our clock then. */
  readonly localAt: Instant;
  /** When the books were last written. */
  readonly lastSeen: Instant;
}

/**
 * How many milliseconds our clock, at `clockNow`, is ahead of the platform's; 0 if it was right at the last ingest or was
 * corrected since. It was corrected if it shows an earlier time than it did then, or if the books have since been
 * written at times that it would not have reached. Pure.
 */
export function aheadNow(found: FastClock | undefined, clockNow: Instant): number {
  if (found === undefined || clockNow < found.localAt - clockToleranceMs) return 0;
  return found.lastSeen > clockNow - found.aheadMs + clockToleranceMs ? 0 : found.aheadMs;
}

/**
 * Corrects a command's clock if the last ingest found it ahead and it still is, so that the command uses the platform's
 * time. Warns about a correction unless `isReported` is set.
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
