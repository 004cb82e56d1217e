import { dirname } from 'node:path';
import { act, type NextStep, stepSentence } from './next-step.ts';

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

/** If several apply, the first of these wins: failures that stop everything come before failures of one thing. */
const precedence: readonly number[] = [1, 2, 5, 7, 3, 4, 8, 6];

/**
 * The exit code of a process in which several things happened.
 * Codes of 128 and above (ended by a signal) beat all others; none means done.
 */
export function worstExitCode(codes: Iterable<number>): number {
  const seen = new Set(codes);
  for (const code of seen) if (code > 128) return code;
  seen.delete(exitCodes.done);
  return precedence.find((code) => seen.has(code)) ?? (seen.size === 0 ? exitCodes.done : exitCodes.bug);
}

/** What an error carries besides its sentence. */
export interface ErrorDetails {
  readonly cause?: unknown;
  readonly code?: string | undefined;
  readonly next?: NextStep | undefined;
}

/**
 * An expected failure. Its message is for the person on call: what was found, what was expected, what to do next.
 * Anything else that is thrown is a bug in Costbook and is shown with its stack.
 */
export abstract class CostbookError extends Error {
  abstract readonly exitCode: number;
  /** Stays the same however the words change: `reduced_access`. Undefined if its class says enough. */
  readonly failureCode: string | undefined;
  /** What was found, and what was expected: the message without the step. */
  readonly found: string;
  /** What to do; the message ends with it. Undefined if it follows from the exit code, or if each line of a list has its own. */
  readonly next: NextStep | undefined;
  /** The step of the run that this error ended, if it lists several mistakes without a step. Printed after them. */
  nextOfRun: NextStep | undefined;
  constructor(found: string, { code, next, ...options }: ErrorDetails = {}) {
    super(withStep(found, next), options);
    this.found = found;
    this.failureCode = code;
    this.next = next;
  }
  override get name(): string {
    return this.constructor.name;
  }
}

/** The command line, the configuration or an SQL file is wrong; the message lists every problem found. */
export class UsageError extends CostbookError {
  override readonly exitCode = exitCodes.usage;
}

/** Code of mistakes in the configuration or in variables of the environment. */
export const mistakenSettings = 'mistaken_settings';

/** There are no books to read, or not in this folder. */
export class NoBooksError extends UsageError {
  constructor(file: string) {
    super(`${file} does not exist yet`, { next: act('run "costbook ingest" first.') });
  }
}

/** The books are from before the first migration; `repair` and `rebuild` read their landing folder and journal. */
export class OlderBooksError extends UsageError {
  constructor(what: string, found: string, expected: string) {
    super(`${what} has an older schema: found ${found}, expected one that starts with ${expected}`, {
      next: act(
        'run "costbook repair": it rebuilds the books from data/landing and data/journal, and moves the old file aside.',
      ),
    });
  }
}

/** The platform refused a request or could not be reached. */
export class PlatformError extends CostbookError {
  override readonly exitCode = exitCodes.platform;
  /** HTTP status of the answer; undefined if there was no answer. */
  readonly status: number | undefined;
  /** The `error` field of the platform's error body (2.14), in its own words; without an answer, what kept it away. */
  readonly code: string | undefined;
  /** Whether the same request may succeed later without any change. */
  readonly retryable: boolean;
  /** How long the platform asks to wait (Retry-After), in milliseconds. */
  readonly retryAfterMs: number | undefined;
  constructor(
    message: string,
    details: {
      status?: number | undefined;
      code?: string | undefined;
      retryable?: boolean;
      retryAfterMs?: number | undefined;
      cause?: unknown;
      next?: NextStep | undefined;
    } = {},
  ) {
    super(message, { cause: details.cause, next: details.next });
    this.status = details.status;
    this.code = details.code;
    this.retryable = details.retryable ?? false;
    this.retryAfterMs = details.retryAfterMs;
  }
  /** What kept an answer away: `unreachable`, `timeout`. Undefined if there was one: the platform may say the same. */
  get fault(): string | undefined {
    return this.status === undefined ? this.code : undefined;
  }
}

/**
 * The platform answered 200 with data that was not requested or cannot be understood.
 * Deliberately not a PlatformError: the transport worked, so fetching the same page again is pointless.
 */
export class RefusedAnswerError extends CostbookError {
  override readonly exitCode = exitCodes.unproven;
}

/** Data did not reconcile, a check failed, required data is incomplete, or a file of the books is not as it must be. */
export class UnprovenError extends CostbookError {
  override readonly exitCode = exitCodes.unproven;
}

/** A file of the books is missing, is an older copy, or was changed by another program: its numbers are not used. */
export class ChangedFileError extends UnprovenError {}

/** Another process holds the warehouse. */
export class LockedError extends CostbookError {
  override readonly exitCode = exitCodes.locked;
  /** `process 4711 (/usr/bin/node)`, as far as this process can see. */
  readonly holder: string;
  constructor(file: string, holder: string, details: { cause?: unknown; advice?: string } = {}) {
    super(
      `${file} is held by ${holder}: ${details.advice ?? 'wait until it ends and run this again, or use --wait 10m'}`,
      details,
    );
    this.holder = holder;
  }
}

/** This machine failed: disk full, permission denied, out of memory. */
export class MachineError extends CostbookError {
  override readonly exitCode = exitCodes.machine;
}

/** A file of the books cannot be read: it is damaged, or something else replaced it. */
export class DamagedFileError extends UnprovenError {
  readonly file: string;
  readonly damage: string;
  /** `intact` names what is whole beside it. */
  constructor(
    file: string,
    damage: string,
    { intact, ...details }: { next: NextStep; cause?: unknown; intact?: string | undefined },
  ) {
    super(`${file} is damaged (${damage})${intact === undefined ? '' : `. Intact: ${intact}`}`, details);
    this.file = file;
    this.damage = damage;
  }
}

/** The reader of the output has gone (`| head`): not a failure, and nothing to report. */
export class ClosedPipeError extends CostbookError {
  override readonly exitCode = 141; // as a shell reports SIGPIPE
}

/** Ended gracefully by a signal; the exit code is 128 + its number, as in shells. */
export class InterruptedError extends CostbookError {
  override readonly exitCode: number;
  constructor(signal: 'SIGINT' | 'SIGTERM') {
    super(`ended by ${signal}`);
    this.exitCode = 128 + (signal === 'SIGINT' ? 2 : 15);
  }
}

/** The exit code of anything thrown: Costbook's errors have their own, errors of the operating system mean this machine. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CostbookError) return error.exitCode;
  return isSystemError(error) ? exitCodes.machine : exitCodes.bug;
}

/** Whether the operating system reported the error. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  return typeof syscall === 'string' && typeof code === 'string';
}

/** How Node and DuckDB report a full disk. */
const diskFull = /ENOSPC|No space left on device/;

/** How they report a file beyond a limit (`ulimit -f`), or a used-up quota. */
const fileTooLarge = /EFBIG|File too large/i;
const overQuota = /EDQUOT|Disk quota exceeded/i;

/** Whether a file of the books is missing, changed or damaged, so that "costbook repair" fixes it. */
export function isForRepair(error: unknown): error is DamagedFileError | ChangedFileError {
  return error instanceof DamagedFileError || error instanceof ChangedFileError;
}

/**
 * Whether an error says that this machine can write nothing more: a full disk, a used-up quota, or a limit of file sizes.
 * The platform and names may have the same words: only errors of the machine are read.
 */
export function isDiskFull(error: unknown): boolean {
  if (error instanceof CostbookError && error.exitCode !== exitCodes.machine) return false;
  return [diskFull, overQuota, fileTooLarge].some((pattern) => pattern.test(messageOf(error)));
}

/** What prevents writing, for the words of an error that `isDiskFull` accepts. */
interface FullDiskWords {
  /** For a title. */
  readonly found: string;
  /** An imperative. */
  readonly remedy: string;
  /** The title once it is over. */
  readonly over: string;
}

/** What prevents writing, how to end it, and what to say once it is over. */
export function fullDiskWords(words: string): FullDiskWords {
  if (fileTooLarge.test(words))
    return {
      found: 'a file reached the file size limit of this process (ulimit -f)',
      remedy: 'raise the limit (ulimit -f unlimited)',
      over: 'files are within the file size limit again',
    };
  if (overQuota.test(words))
    return {
      found: 'the disk quota of this user is used up',
      remedy: 'raise it or free space',
      over: 'the disk quota has room again',
    };
  return { found: 'the disk is full', remedy: 'free some space', over: 'the disk has free space again' };
}

/**
 * The lines printed for an expected failure, or one of the operating system. Each starts with `costbook: `, so that it
 * can be found in a log.
 */
export function wordsOf(error: unknown): readonly string[] {
  const words = error instanceof CostbookError ? error.message : `this machine failed: ${systemWords(error)}`;
  const lines = words.split('\n').filter((line) => line.trim() !== '');
  const advice = adviceOf(error);
  if (advice !== undefined) lines.push(advice);
  if (error instanceof CostbookError && error.nextOfRun !== undefined) lines.push(stepSentence(error.nextOfRun));
  return lines.map((line) => `costbook: ${line}`);
}

const systemActions: Readonly<Record<string, string>> = {
  mkdir: 'cannot create the folder',
  open: 'cannot open',
  rename: 'cannot rename',
  rm: 'cannot remove',
  unlink: 'cannot remove',
  rmdir: 'cannot remove',
  scandir: 'cannot list',
  write: 'cannot write to',
};
const systemFaults: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EROFS: 'the disk is read-only',
  ENOENT: 'no such file or folder',
};

/** An error of the operating system in words: `cannot create the folder /srv/exports: permission denied (EACCES)`. */
export function systemWords(error: unknown): string {
  const { code = '', syscall = '', path, dest } = (error ?? {}) as NodeJS.ErrnoException & { readonly dest?: string };
  const [action, fault] = [systemActions[syscall], systemFaults[code]];
  if (action === undefined || fault === undefined || path === undefined) return messageOf(error);
  return `${action} ${path}${dest === undefined ? '' : ` to ${dest}`}: ${fault} (${code})`;
}

/** What to do about an error of the operating system, as far as it is always the same. */
export function adviceOf(error: unknown): string | undefined {
  if (isDiskFull(error)) {
    const { found, remedy } = fullDiskWords(messageOf(error));
    return `${found}: ${remedy} and run this again; nothing that was loaded before is lost`;
  }
  if (!isSystemError(error)) return undefined;
  const { code, path, syscall } = error;
  if (code === 'EROFS') return `${path ?? 'the disk'} is read-only: make it writable`;
  if ((code === 'EACCES' || code === 'EPERM') && path !== undefined) {
    return `give the user that runs Costbook access to ${accessTo(error)}`;
  }
  const where = path === undefined ? 'is in the place of' : `at or above ${path} is in the place of`;
  if (code === 'ENOTDIR' || (code === 'EEXIST' && syscall === 'mkdir'))
    return `a file ${where} a folder: move it away, then ${repairing}`;
  return code === 'EISDIR' ? `a folder ${where} a file: move it away, then ${repairing}` : undefined;
}

/** What must be writable: for a new name, the folders that have or get it. */
function accessTo({ path = '', syscall, dest }: NodeJS.ErrnoException & { readonly dest?: string }): string {
  if (dest !== undefined) return [...new Set([dirname(path), dirname(dest)])].join(' and ');
  return syscall === 'mkdir' ? dirname(path) : path;
}

const repairing = 'run "costbook repair"';

/** What was found, with its step as the sentence after it, or as the line after a list. Pure. */
export function withStep(found: string, next: NextStep | undefined): string {
  if (next === undefined) return found;
  if (found.includes('\n')) return `${found}\n${stepSentence(next)}`;
  return `${/[.!?…]$/.test(found) ? found : `${found}.`} ${stepSentence(next)}`;
}

/** What an error found, without its step. */
export function foundIn(error: unknown): string {
  return error instanceof CostbookError ? error.found : messageOf(error);
}

/** The step that an error carries. */
export function nextOf(error: unknown): NextStep | undefined {
  return error instanceof CostbookError ? error.next : undefined;
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * The first sentence of an error, without the advice after it. If the first line introduces a list, it is joined with the
 * first item, and the others are counted: `2026-10 cannot be closed: acc_one: … (and 2 more)`. Pure.
 */
export function firstSentence(error: string): string {
  const lines = error.split('\n').filter((line) => line.trim() !== '');
  const end = lines.findIndex((line) => !line.trimEnd().endsWith(':'));
  if (end <= 0) return (lines[0] ?? error).replace(/(?<=[^.])\. +(?=[A-Z"]).*$/, '');
  const sentence = lines.slice(0, end + 1).map((line) => line.trim().replace(/^- /, ''));
  const more = lines.slice(end + 1).filter((line) => line.startsWith('- ')).length;
  return `${sentence.join(' ')}${more === 0 ? '' : ` (and ${more} more)`}`;
}

/** The first sentence of each line of an error, as one text; lines of a list are counted. Pure. */
export function firstSentences(error: string): string {
  const lines = error.split('\n').filter((line) => line.trim() !== '');
  if (lines.length < 2 || lines[0]?.trimEnd().endsWith(':') === true) return firstSentence(error);
  return lines.map((line) => firstSentence(line).trim().replace(/\.$/, '')).join('; ');
}

/**
 * The start of a text from outside, for a message. It is cut between words, because secrets are only recognized whole:
 * half a token would be printed.
 */
export function excerpt(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const end = text.slice(0, maxLength + 1).search(/\s\S*$/);
  return `${text.slice(0, Math.max(0, end))}…`;
}
