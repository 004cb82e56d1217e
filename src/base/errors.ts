import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { linesOf } from './lines.ts';
import { act, asClause, asSentence, type NextStep, repair, stepSentence } from './next-step.ts';

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

/** One of the mistakes that an error lists. */
export interface Mistake {
  /** What was found and expected, in a line. It ends with a step of its own if it has one. */
  readonly found: string;
  /** What it is about, the same while its line moves: the file or variable, and what is wrong there. */
  readonly subject?: string | undefined;
  /** The file that has it, if it is one in a file, and the line. */
  readonly file?: string | undefined;
  readonly line?: number | undefined;
}

/** What an error carries besides its sentence. */
export interface ErrorDetails {
  readonly cause?: unknown;
  readonly code?: string | undefined;
  readonly next?: NextStep | undefined;
  /** What it is about: a file, a host. */
  readonly subject?: string | undefined;
  /** What it lists, each as a sentence that needs no other, if the message shows them otherwise. */
  readonly mistakes?: readonly Mistake[] | undefined;
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
  /** The same as data: each mistake of a list, or one. */
  readonly mistakes: readonly Mistake[];
  /** What to do; the message ends with it. Undefined if it follows from the exit code, or if each line of a list has its own. */
  readonly next: NextStep | undefined;
  /** The step of the run that this error ended, if it lists several mistakes without a step. Printed after them. */
  nextOfRun: NextStep | undefined;
  /** With a list, each of its mistakes is a line of the message. */
  constructor(
    message: string | readonly (string | Mistake)[],
    { code, next, subject, mistakes, cause }: ErrorDetails = {},
  ) {
    const list =
      typeof message === 'string' ? [] : message.map((one) => (typeof one === 'string' ? { found: one } : one));
    const found = typeof message === 'string' ? message : list.map((one) => one.found).join('\n');
    super(list.length > 1 && next !== undefined ? `${found}\n${stepSentence(next)}` : withStep(found, next), { cause });
    this.found = found;
    this.mistakes = mistakes ?? (list.length > 0 ? list : [{ found, subject }]);
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

/** The mistakes of an error, for a list with others: each keeps its step as its last sentence. */
export function mistakesIn({ mistakes, next }: UsageError): readonly Mistake[] {
  return mistakes.length > 1 ? mistakes : mistakes.map((one) => ({ ...one, found: withStep(one.found, next) }));
}

/** Several errors of mistakes as one. */
export function asOneError(errors: readonly UsageError[], details: ErrorDetails = {}): UsageError {
  const [first, ...others] = errors;
  return first !== undefined && others.length === 0 ? first : new UsageError(errors.flatMap(mistakesIn), details);
}

/** Code of mistakes in the configuration or in variables of the environment. */
export const mistakenSettings = 'mistaken_settings';

/** There are no books to read, or not in this folder. */
export class NoBooksError extends UsageError {
  constructor(file: string) {
    super(`${file} does not exist yet`, { next: act('run "costbook ingest" first.', 'ingest') });
  }
}

/** The books are from before the first migration; `repair` and `rebuild` read their landing folder and journal. */
export class OlderBooksError extends UsageError {
  constructor(what: string, found: string, expected: string) {
    super(`${what} has an older schema: found ${found}, expected one that starts with ${expected}`, {
      next: repair(': it rebuilds the books from data/landing and data/journal, and moves the old file aside'),
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
  /** `api.example.com:443`; undefined if the error is not of one host. */
  readonly host: string | undefined;
  constructor(
    message: string,
    details: {
      status?: number | undefined;
      host?: string | undefined;
      code?: string | undefined;
      retryable?: boolean;
      retryAfterMs?: number | undefined;
      cause?: unknown;
      next?: NextStep | undefined;
    } = {},
  ) {
    super(message, { cause: details.cause, next: details.next, subject: details.host });
    this.status = details.status;
    this.host = details.host;
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
  /** What was found, for who names its place: the account and the window. */
  readonly detail: string;
  constructor(detail: string, { place, ...details }: ErrorDetails & { readonly place?: string } = {}) {
    super(place === undefined ? detail : `${place}, ${detail}`, details);
    this.detail = detail;
  }
  /** The same error with its place. */
  at(place: string): RefusedAnswerError {
    return new RefusedAnswerError(this.detail, { place, cause: this.cause, code: this.failureCode, next: this.next });
  }
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
    super(`${file} is damaged (${damage})${intact === undefined ? '' : `. Intact: ${intact}`}`, {
      ...details,
      subject: file,
    });
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

/** Whether a file of the books is missing, changed or damaged, so that "costbook repair" fixes it. */
export function isForRepair(error: unknown): error is DamagedFileError | ChangedFileError {
  return error instanceof DamagedFileError || error instanceof ChangedFileError;
}

/** What prevents writing, by the code of the failure. */
interface FullDiskWords {
  /** For a title. */
  readonly found: string;
  /** An imperative. */
  readonly remedy: string;
  /** The title once it is over. */
  readonly over: string;
}

const full: FullDiskWords = {
  found: 'the disk is full',
  remedy: 'free some space (delete nothing in data/)',
  over: 'the disk has free space again',
};
const fullDisks: Readonly<Record<string, FullDiskWords>> = {
  disk_full: full,
  quota_full: {
    found: 'the disk quota of this user is used up',
    remedy: 'raise it or free space (delete nothing in data/)',
    over: 'the disk quota has room again',
  },
  file_too_large: {
    found: 'a file reached the file size limit of this process (ulimit -f)',
    remedy: 'raise the limit (ulimit -f unlimited)',
    over: 'files are within the file size limit again',
  },
};

/** What prevents writing, how to end it, and what to say once it is over. */
export function fullDiskWords(code: string | undefined): FullDiskWords {
  return fullDisks[code ?? ''] ?? full;
}

/** Whether the code of a failure says that nothing more can be written. */
export function isDiskFull(code: string | undefined): code is string {
  return Object.hasOwn(fullDisks, code ?? '');
}

const codesOfFullDisks: Readonly<Record<string, string>> = {
  ENOSPC: 'disk_full',
  EDQUOT: 'quota_full',
  EFBIG: 'file_too_large',
};

/**
 * Why this machine can write nothing more, as a code: what the operating system or DuckDB reported, also as the cause of
 * an error of the machine. Undefined otherwise.
 */
export function fullDiskOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof CostbookError && error.exitCode !== exitCodes.machine) return undefined;
  const code = error instanceof CostbookError ? error.failureCode : (error as NodeJS.ErrnoException).code;
  return isDiskFull(code) ? code : (codesOfFullDisks[code ?? ''] ?? fullDiskOf(error.cause));
}

/**
 * The lines printed for an expected failure, or one of the operating system. Each starts with `costbook: `, so that it
 * can be found in a log.
 */
export function wordsOf(error: unknown): readonly string[] {
  const words = error instanceof CostbookError ? error.message : `this machine failed: ${systemWords(error)}`;
  const lines = linesOf(words).filter((line) => line.trim() !== '');
  const advice = adviceOf(error);
  if (advice !== undefined) lines.push(asClause(advice.words));
  if (error instanceof CostbookError && error.nextOfRun !== undefined) lines.push(stepSentence(error.nextOfRun));
  return lines.map((line) => `costbook: ${line}`);
}

const systemActions: Readonly<Record<string, string>> = {
  mkdir: 'cannot create the folder',
  open: 'cannot open',
  realpath: 'cannot open',
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
  ENOTDIR: 'is a file in the place of a folder',
};

/** An error of the operating system in words: `cannot create the folder /srv/exports: permission denied (EACCES)`. */
export function systemWords(error: unknown): string {
  const { code = '', syscall = '', path, dest } = (error ?? {}) as NodeJS.ErrnoException & { readonly dest?: string };
  const [action, fault] = [systemActions[syscall], systemFaults[code]];
  if (action === undefined || fault === undefined || path === undefined) return messageOf(error);
  const where = code === 'ENOTDIR' ? `${fileAbove(path)} ` : '';
  return `${action} ${path}${dest === undefined ? '' : ` to ${dest}`}: ${where}${fault} (${code})`;
}

/** What to do about an error of the operating system, as far as it is always the same. */
export function adviceOf(error: unknown): NextStep | undefined {
  const full = fullDiskOf(error);
  if (full !== undefined) {
    const { found, remedy } = fullDiskWords(full);
    return act(`${found}: ${remedy} and run this again; nothing that was loaded before is lost.`);
  }
  if (!isSystemError(error)) return undefined;
  const { code, path, syscall } = error;
  if (code === 'EROFS') return act(`${path ?? 'the disk'} is read-only: make it writable.`);
  if ((code === 'EACCES' || code === 'EPERM') && path !== undefined) {
    return act(`let the user who runs Costbook${userWords()} read and write ${accessTo(error)}.`);
  }
  if (code === 'ENOTDIR' || (code === 'EEXIST' && syscall === 'mkdir')) return moveAway(fileAbove(path), 'folder');
  return code === 'EISDIR' ? moveAway(path, 'file') : undefined;
}

/** `move /books/exports away ("mv …"): a folder must be in its place.` */
function moveAway(path: string | undefined, expected: 'file' | 'folder'): NextStep {
  const how = path === undefined ? 'it away' : `${path} away ("mv ${path} ${path}.old")`;
  return act(`move ${how}: a ${expected} must be in its place.`);
}

/** The file that is in the place of a folder: the path, or what it is below. */
function fileAbove(path: string | undefined): string | undefined {
  for (let at = path; at !== undefined && at !== dirname(at); at = dirname(at)) if (isFile(at)) return at;
  return path;
}

function isFile(path: string): boolean {
  try {
    return !statSync(path).isDirectory();
  } catch {
    return false; // missing, or below a file
  }
}

/** ` (id 1000)`; empty where users have no ids. */
function userWords(): string {
  const id = process.getuid?.();
  return id === undefined ? '' : ` (id ${id})`;
}

/** What must be writable: for a new name, the folders that have or get it. */
function accessTo({ path = '', syscall, dest }: NodeJS.ErrnoException & { readonly dest?: string }): string {
  if (dest !== undefined) return [...new Set([dirname(path), dirname(dest)])].join(' and ');
  return syscall === 'mkdir' ? dirname(path) : path;
}

/** What was found, with its step as the sentence after it. Pure. */
export function withStep(found: string, next: NextStep | undefined): string {
  return next === undefined ? found : `${asSentence(found)} ${stepSentence(next)}`;
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

/** The first line of anything thrown: the SQL of users fails with more, which shows that SQL. */
export function firstLineOf(error: unknown): string {
  return linesOf(messageOf(error))[0] ?? '';
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
