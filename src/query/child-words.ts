import type { Readable } from 'node:stream';
import { CostbookError, exitCodes, MachineError } from '../base/errors.ts';
import { linesIn } from '../base/lines.ts';
import type { Failure } from './question.ts';
import { cutMessage } from './serve-parent.ts';

// What a child process says. SQL of users runs there, so only what it may say is believed.

/** All messages of a child together. */
const maxMessageBytes = 64 * 1024 * 1024;
/** One message: an answer of 8 MB, or an event. A longer one would take gigabytes to read. */
const maxLineLength = 10 * 1024 * 1024;

/** A child's messages: events, and finally its result. */
type Words<T> = { readonly event: unknown } | End<T>;
type End<T> = { readonly done: T } | { readonly failure: Failure };

/**
 * Reads messages to their end; undefined if the child died before it sent its result. Throws if the child says more than
 * its services do: SQL of users may have taken it over.
 */
export async function readWords<T>(words: Readable, onEvent: (event: unknown) => void): Promise<End<T> | undefined> {
  let end: End<T> | undefined;
  let bytes = 0;
  words.on('data', (chunk: string) => {
    bytes += Buffer.byteLength(chunk);
    if (bytes > maxMessageBytes) words.destroy(new MachineError('a child process sent more than it may'));
  });
  for await (const line of linesIn(words)) {
    if (line.length > maxLineLength) throw new MachineError('a child process sent more than it may');
    const read = wordsIn<T>(line);
    if ('event' in read) onEvent(read.event);
    else end ??= read;
  }
  return end;
}

/** One message of a child. Throws MachineError for anything else: SQL of users may have taken the child over. */
function wordsIn<T>(line: string): Words<T> {
  let read: unknown;
  try {
    read = JSON.parse(line);
  } catch (cause) {
    throw new MachineError('a child process sent something else than it may', { cause });
  }
  if (typeof read === 'object' && read !== null) {
    if ('event' in read && typeof read.event === 'object' && read.event !== null) return read as Words<T>;
    if ('done' in read) return read as Words<T>;
    if ('failure' in read && isFailure(read.failure)) return read as Words<T>;
  }
  throw new MachineError('a child process sent something else than it may');
}

function isFailure(failure: unknown): failure is Failure {
  const { exitCode, message } = (failure ?? {}) as Partial<Failure>;
  // A failure that ends as success would be none.
  return isExitCode(exitCode) && exitCode !== exitCodes.done && typeof message === 'string';
}

/** Whether a process can end with this. */
export function isExitCode(code: unknown): code is number {
  return Number.isInteger(code) && Number(code) >= 0 && Number(code) <= 255;
}

/** A failure of the child, as if thrown here. */
class ChildError extends CostbookError {
  override readonly exitCode: number;
  constructor({ exitCode, message, code, next }: Failure) {
    super(cutMessage(message), { code, next });
    this.exitCode = exitCode;
  }
}

/** A child's reported error as an error of this process. Throws the error of a bug. */
export function toError(failure: Failure): CostbookError {
  if (failure.exitCode !== exitCodes.bug) return new ChildError(failure);
  const bug = new Error(failure.message);
  if (failure.stack !== undefined) bug.stack = failure.stack;
  throw bug;
}
