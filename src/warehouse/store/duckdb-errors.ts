import { dirname } from 'node:path';
import {
  CostbookError,
  DamagedFileError,
  firstLineOf,
  LockedError,
  MachineError,
  messageOf,
  UsageError,
} from '../../base/errors.ts';
import { memoryLimitMb } from '../../base/memory.ts';
import { act } from '../../base/next-step.ts';
import { type OpenOptions, SqlError } from './connection.ts';

/** Throws our own error for a failure of DuckDB. */
export type Fail = (error: unknown) => never;

/**
 * DuckDB's own messages for a machine without enough resources; similar text in user data appears under other error
 * kinds. A file that SQL reads, and that is shorter than it claims, is none.
 */
const machineFailure =
  /^(IO|FATAL|TransactionContext) Error.*(No space left on device|File too large|Disk quota exceeded|Read-only file system|Permission denied|Could not (write|read(?! enough)|open|set lock)|Cannot open file)/is;
const fullDisks: readonly (readonly [RegExp, string])[] = [
  [/No space left on device/, 'disk_full'],
  [/Disk quota exceeded/i, 'quota_full'],
  [/File too large/i, 'file_too_large'],
];
const notPermitted = /Permission denied|Read-only file system|^E(ACCES|PERM|ROFS)\b/;

/** DuckDB's own messages for a file that cannot be opened as a database. */
const damageAtOpening =
  /^(IO|FATAL|INTERNAL|Serialization|TransactionContext) Error.*(not a valid DuckDB database file|Could not read enough bytes|Failure while replaying WAL|Could not read from file .* Is a directory)/is;
/** The same for a block that is read later. What SQL quotes stands behind the first quotation mark, or under other kinds. */
const damageWhileReading =
  /^((IO|Serialization|TransactionContext) Error: [^"']*|(FATAL|INTERNAL) Error.*)Corrupt database file/is;
/** Errors of DuckDB when it reads garbage while opening a file. */
const nonsense = /^(INTERNAL|FATAL|Serialization) Error/;

/**
 * Translates DuckDB's failures: who holds the lock, what the machine is missing, which file is damaged, and SQL that it
 * refuses. Anything else (DuckDB's own bugs) keeps its message.
 */
export function asOurError(
  file: string,
  {
    readOnly,
    memoryMb = memoryLimitMb(readOnly),
    whenDamaged = act('restore it from a backup, or move it away.'),
  }: OpenOptions,
  state: { readonly isOpening: boolean; readonly path: string } = { isOpening: false, path: file },
): Fail {
  return (error) => {
    if (error instanceof CostbookError || error instanceof SqlError) throw error;
    const message = messageOf(error)
      .replace(/^Failed to extract statements: /, '')
      .replaceAll(state.path, file)
      .trim();
    const firstLine = withoutAdvice(message.split('\n')[0] ?? '');
    // A lock is met only while a file is opened; later, these are words that others wrote.
    const holder = state.isOpening && /Conflicting lock is held in (?:(.+?) \(PID (\d+)\))?/.exec(message);
    if (holder) {
      const [, program, pid] = holder;
      throw new LockedError(
        file,
        // Another container's process has no number here; nor has one that ended just now.
        pid === undefined ? 'a process that is not visible from here' : `process ${pid} (${program})`,
        { cause: error },
      );
    }
    if (/^Out of Memory Error/.test(message)) {
      throw new MachineError(
        `this needs more than the ${memoryMb} MB of memory, and the disk space beside the books, that one command ` +
          `may use. Query less at once (fewer rows or columns, sums instead of rows), or free memory and disk ` +
          `(${firstLine})`,
        { cause: error, code: 'out_of_memory' },
      );
    }
    const isCut = message.startsWith(`IO Error: Could not read enough bytes from file "${file}"`);
    const isUnreadable = state.isOpening && (damageAtOpening.test(message) || nonsense.test(message));
    if (isCut || isUnreadable || damageWhileReading.test(message)) {
      throw new DamagedFileError(file, firstLine, { next: whenDamaged, cause: error });
    }
    const isMachines = machineFailure.test(message);
    if (((isMachines && message.includes(dirname(file))) || isErrno(error)) && notPermitted.test(message)) {
      throw readOnly
        ? new MachineError(`${file} is not readable for this user (${firstLine}).`, {
            cause: error,
            code: 'not_readable',
            next: act('grant read access.'),
          })
        : new MachineError(`${dirname(file)} is not writable for this user (${firstLine}).`, {
            cause: error,
            code: 'not_writable',
            next: act('grant write access, or choose another project folder with --dir.'),
          });
    }
    if (isMachines) {
      const code = fullDiskIn(message);
      // Of a full disk, the step says what was found.
      const words = code === undefined ? `${file}: ${firstLine}` : `${file} cannot be written`;
      throw new MachineError(words, { cause: error, code });
    }
    if (/^(?!INTERNAL|FATAL)[A-Z][A-Za-z ]+ Error: /.test(message)) throw new SqlError(message, { cause: error });
    throw error;
  };
}

/** Why nothing more can be written, as the code of the failure; undefined if something else failed. */
function fullDiskIn(message: string): string | undefined {
  return fullDisks.find(([pattern]) => pattern.test(message))?.[1];
}

/** DuckDB's message without its own advice, which concerns its shell: `Detach and reattach the database to recover`. */
function withoutAdvice(message: string): string {
  return message.replace(/\s*(?:Detach and reattach|The database must be restarted)[^.]*\./g, '');
}

function isErrno(error: unknown): boolean {
  return typeof (error as NodeJS.ErrnoException).syscall === 'string';
}

/** DuckDB's message without the line that it shows. */
export function withoutLine(error: unknown): string {
  return messageOf(error).split('\n\nLINE ')[0] ?? '';
}

/** Whether SQL read a file that it may not. */
export function isFileAccess(error: unknown): boolean {
  return /^Permission Error: Cannot access file/.test(messageOf(error).trim());
}

/** Whether DuckDB refused a checkpoint only because statements of other connections run, and takes one once they ended. */
export function waitsForOthers(error: unknown): boolean {
  return /^TransactionContext Error: Cannot CHECKPOINT: there are other write transactions active/.test(
    messageOf(error).trim(),
  );
}

/**
 * A failure of DuckDB's parser. It quotes one byte of a letter that it does not expect, which is no text: Node then has a
 * message of its own.
 */
export function asParserError(error: unknown): unknown {
  if (/^\s*(Failed to extract statements: )?\w+ Error: /.test(messageOf(error))) return error;
  return new Error('Parser Error: expected SQL, found another letter or sign outside of quotes', { cause: error });
}

/**
 * A failure of SQL that a person typed: if the SQL is wrong, a UsageError; failures of the machine or of DuckDB are
 * not.
 */
export function asTyped(error: unknown): unknown {
  if (error instanceof SqlError) return new UsageError(error.message, { cause: error });
  if (/^(INTERNAL|FATAL) Error/.test(messageOf(error))) {
    return new MachineError(`DuckDB itself failed in this query; rephrase the query (${firstLineOf(error)})`, {
      cause: error,
    });
  }
  return error;
}
