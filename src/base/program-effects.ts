import type { Readable, Writable } from 'node:stream';
import type { HttpSend, Instant } from './effects.ts';

export type EndSignal = 'SIGINT' | 'SIGTERM';
export type Environment = Readonly<Record<string, string | undefined>>;

/** An HTTP client of some connections; `close` ends them all. */
export interface HttpClient {
  readonly send: HttpSend;
  close(): Promise<void>;
}

/**
 * What the command line takes from the process that runs it. `main` uses nothing else of the process, besides files and the
 * children that it starts.
 */
export interface ProgramEffects {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly env: Environment;
  /** The folder that relative paths start from, absolute. */
  readonly folder: string;
  /** Sets the mode of new files. It stays after the command line has ended. */
  setUmask(mask: number): void;
  /** Calls `take` for each signal that asks the program to end. */
  onSignal(take: (signal: EndSignal) => void): void;
  /** Calls `take` for a rejection that nothing handled. */
  onUnhandledRejection(take: (error: unknown) => void): void;
  /** Ends the process at once, as this signal would by default. */
  endBySignal(signal: EndSignal): void;
  /** Sends this process the signal of a Ctrl-C. */
  interrupt(): void;
  /** The machine's clock, in milliseconds since 1970. */
  clock(): Instant;
  /** Real time that has passed, in milliseconds. */
  elapsed(): number;
  random(): number;
  /** Rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Calls `action` after this time, unless the program has ended by then. */
  later(ms: number, action: () => void): void;
  /** Calls `action` at every full minute until it is stopped. */
  everyMinute(action: () => void): Promise<{ stop(): void }>;
  openHttp(connections: number): Promise<HttpClient>;
}
