/** Exit codes of the process; docs/cli.md explains them. */
export const exitCodes = {
  done: 0,
  bug: 1,
  usage: 2,
  platform: 3,
  unproven: 4,
  locked: 5,
  overBudget: 6,
  machine: 7,
  undelivered: 8,
} as const;

/** Where several hold, the first of these is told: what stops everything comes before what stops one thing. */
const precedence: readonly number[] = [1, 2, 5, 7, 3, 4, 8, 6];

/**
 * The one exit code of a process in which several things happened.
 * Codes of 128 and above (ended by a signal) beat all others; none means done.
 */
export function worstExitCode(codes: Iterable<number>): number {
  const seen = new Set(codes);
  for (const code of seen) if (code > 128) return code;
  seen.delete(exitCodes.done);
  return precedence.find((code) => seen.has(code)) ?? (seen.size === 0 ? exitCodes.done : exitCodes.bug);
}

/**
 * An expected failure: its message is written for the person on call and says what was found, what was expected
 * and what to do next. Anything thrown that is not one of these is a bug of ours and is shown with its stack.
 */
export abstract class CostbookError extends Error {
  abstract readonly exitCode: number;
  override get name(): string {
    return this.constructor.name;
  }
}

/** The command line, the configuration or an SQL file is wrong; the message lists every problem found. */
export class UsageError extends CostbookError {
  override readonly exitCode = exitCodes.usage;
}

/** There are no books to read yet, or not here. */
export class NoBooksError extends UsageError {
  constructor(file: string) {
    super(`${file} does not exist yet: run "costbook ingest" first`);
  }
}

/** The platform refused a request or could not be reached. */
export class PlatformError extends CostbookError {
  override readonly exitCode = exitCodes.platform;
  /** HTTP status of the answer; undefined when there was none. */
  readonly status: number | undefined;
  /** The `error` field of the platform's error body (2.14). */
  readonly code: string | undefined;
  /** True where the same request may succeed later without anybody changing anything. */
  readonly retryable: boolean;
  /** What the platform asked us to wait (Retry-After), in milliseconds. */
  readonly retryAfterMs: number | undefined;
  constructor(
    message: string,
    details: {
      status?: number | undefined;
      code?: string | undefined;
      retryable?: boolean;
      retryAfterMs?: number | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: details.cause });
    this.status = details.status;
    this.code = details.code;
    this.retryable = details.retryable ?? false;
    this.retryAfterMs = details.retryAfterMs;
  }
}

/**
 * The platform answered 200 with something that was not asked for or cannot be understood.
 * Deliberately not a PlatformError: the transport worked, the data did not, so asking the same page again is pointless.
 */
export class RefusedAnswerError extends CostbookError {
  override readonly exitCode = exitCodes.unproven;
}

/** Data did not prove, a check failed, or completeness was required and is not given. */
export class UnprovenError extends CostbookError {
  override readonly exitCode = exitCodes.unproven;
}

/** A file of the books is missing, is an older copy, or was changed by another program: no number of it is used. */
export class ChangedFileError extends UnprovenError {}

/** Another process holds the warehouse. */
export class LockedError extends CostbookError {
  override readonly exitCode = exitCodes.locked;
  /** `process 4711 (/usr/bin/node)`, as far as it can be seen from here. */
  readonly holder: string;
  constructor(file: string, holder: string, details: { cause?: unknown; advice?: string } = {}) {
    super(
      `${file} is held by ${holder}: ${details.advice ?? 'wait until it ends, then run this again, or let it wait with --wait 10m'}`,
      details,
    );
    this.holder = holder;
  }
}

/** This machine failed us: disk full, permission denied, out of memory. */
export class MachineError extends CostbookError {
  override readonly exitCode = exitCodes.machine;
}

/** A file of the books cannot be read: the disk has damaged it, or something else was put in its place. */
export class DamagedFileError extends MachineError {
  readonly file: string;
  readonly found: string;
  constructor(file: string, found: string, advice: string, details: { cause?: unknown } = {}) {
    super(`${file} is damaged (${found}): ${advice}`, details);
    this.file = file;
    this.found = found;
  }
}

/** Whoever read our output has gone (`| head`): no failure of ours, and nothing to tell anybody. */
export class ClosedPipeError extends CostbookError {
  override readonly exitCode = 141; // what a shell makes of SIGPIPE
}

/** Ended by a signal, in order; the exit code is 128 + its number, as shells count. */
export class InterruptedError extends CostbookError {
  override readonly exitCode: number;
  constructor(signal: 'SIGINT' | 'SIGTERM') {
    super(`ended by ${signal}`);
    this.exitCode = 128 + (signal === 'SIGINT' ? 2 : 15);
  }
}

/** The exit code of anything thrown: an error of ours has its own, one of the operating system is this machine's. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CostbookError) return error.exitCode;
  return isSystemError(error) ? exitCodes.machine : exitCodes.bug;
}

function isSystemError(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  return typeof syscall === 'string' && typeof code === 'string';
}

/** In the words of Node and of DuckDB. */
const diskFull = /ENOSPC|No space left on device/;

/** Whether a file of the books is missing, changed or damaged, so that "costbook repair" is what heals it. */
export function isForRepair(error: unknown): error is DamagedFileError | ChangedFileError {
  return error instanceof DamagedFileError || error instanceof ChangedFileError;
}

/** Whether words of a failure say that a disk is full. */
export function isDiskFull(words: string): boolean {
  return diskFull.test(words);
}

/**
 * What a person is told of an expected failure, or of one of the operating system: lines that can be told from what
 * else a log holds, each by itself.
 */
export function wordsOf(error: unknown): readonly string[] {
  const words = error instanceof CostbookError ? error.message : `this machine failed: ${messageOf(error)}`;
  const lines = words.split('\n').filter((line) => line.trim() !== '');
  if (isDiskFull(words)) {
    lines.push('the disk is full: make room on it and run this again; what was loaded before stands');
  }
  return lines.map((line) => `costbook: ${line}`);
}

/** The text of anything thrown, for a sentence of ours. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * What an error says first: its first sentence, without the advice after it. Where the first line only introduces a list
 * it is joined with the first item, and the others are counted: `2026-10 cannot be closed: acc_one: … (and 2 more)`. Pure.
 */
export function firstSentence(error: string): string {
  const lines = error.split('\n').filter((line) => line.trim() !== '');
  const end = lines.findIndex((line) => !line.trimEnd().endsWith(':'));
  if (end <= 0) return (lines[0] ?? error).replace(/(?<=[^.])\. +(?=[A-Z"]).*$/, '');
  const sentence = lines.slice(0, end + 1).map((line) => line.trim().replace(/^- /, ''));
  const more = lines.slice(end + 1).filter((line) => line.startsWith('- ')).length;
  return `${sentence.join(' ')}${more === 0 ? '' : ` (and ${more} more)`}`;
}

/**
 * The beginning of a text from outside, for a message. It is cut between words: secrets are made unprintable by
 * their whole value, and half a token in the platform's words would pass.
 */
export function excerpt(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const end = text.slice(0, maxLength + 1).search(/\s\S*$/);
  return `${text.slice(0, Math.max(0, end))}…`;
}
