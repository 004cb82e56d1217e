import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  ClosedPipeError,
  CostbookError,
  DamagedFileError,
  exitCodeOf,
  exitCodes,
  fullDiskWords,
  InterruptedError,
  isDiskFull,
  LockedError,
  MachineError,
  messageOf,
  PlatformError,
  RefusedAnswerError,
  UnprovenError,
  UsageError,
  wordsOf,
  worstExitCode,
} from '../../src/base/errors.ts';
import { failuresOf, shortly } from '../../src/base/failure.ts';
import { act } from '../../src/base/next-step.ts';
import { fullDiskRemedy } from '../../src/text/full-disk.ts';
import { SqlError } from '../../src/warehouse/store/connection.ts';
import { asOurError } from '../../src/warehouse/store/duckdb-errors.ts';
import fc from '../support/fast-check.ts';

describe('exit codes', () => {
  test.each([
    [new UsageError('x'), 2],
    [new PlatformError('x'), 3],
    [new RefusedAnswerError('x'), 4],
    [new DamagedFileError('x.duckdb', 'it is empty', { next: act('run "costbook repair".') }), 4],
    [new UnprovenError('x'), 4],
    [new LockedError('warehouse.duckdb', 'process 1 (node)'), 5],
    [new MachineError('x'), 7],
    [new InterruptedError('SIGINT'), 130],
    [new InterruptedError('SIGTERM'), 143],
  ])('%s ends with %i', (error, code) => {
    expect(error).toBeInstanceOf(CostbookError);
    expect(error.exitCode).toBe(code);
  });

  test('are those of docs/cli.md', () => {
    expect(exitCodes).toEqual({
      done: 0,
      bug: 1,
      usage: 2,
      platform: 3,
      unproven: 4,
      locked: 5,
      overBudget: 6,
      machine: 7,
      undelivered: 8,
    });
  });
});

describe('exitCodeOf(error)', () => {
  test.each([
    [new UsageError('x'), 2],
    [new InterruptedError('SIGINT'), 130],
    [new ClosedPipeError('x'), 141],
    [new Error('x'), 1],
    [Object.assign(new Error('x'), { code: 'ERR_INVALID_ARG_TYPE' }), 1],
    ['x', 1],
    [undefined, 1],
    [null, 1],
  ])('%s: %i', (error, code) => {
    expect(exitCodeOf(error)).toBe(code);
  });

  test('treats file system errors as failures of this machine', async () => {
    const refused = await readFile('/no/such/file').catch((error: unknown) => error);
    expect(exitCodeOf(refused)).toBe(7);
  });

  test('a file in the place of a folder, and a folder in the place of a file, come with what to do', async () => {
    const here = import.meta.filename;
    const failures = await Promise.all(
      [readdir(here), readFile(join(here, 'x')), readFile(dirname(here))].map((work) =>
        (work as Promise<unknown>).catch((error: unknown) => error),
      ),
    );
    const advice = failures.map((failure) => wordsOf(failure).at(-1));
    expect(advice).toEqual([
      `costbook: move ${here} away ("mv ${here} ${here}.old"): a folder must be in its place`,
      `costbook: move ${here} away ("mv ${here} ${here}.old"): a folder must be in its place`,
      expect.stringContaining('a file must be in its place'),
    ]);
    const forbidden = Object.assign(new Error('EPERM'), { code: 'EPERM', syscall: 'open', path: '/x' });
    expect(wordsOf(forbidden).at(-1)).toContain('read and write /x');
  });
});

describe('worstExitCode', () => {
  test('is done if nothing happened', () => {
    expect(worstExitCode([])).toBe(0);
    expect(worstExitCode([0, 0])).toBe(0);
  });

  test('prefers a bug, then 2, 5, 7, 3, 4, 8, 6', () => {
    const order = [1, 2, 5, 7, 3, 4, 8, 6, 0];
    for (const [index, code] of order.entries()) {
      const rest = order.slice(index);
      expect(worstExitCode(rest)).toBe(code);
      expect(worstExitCode(rest.reverse())).toBe(code);
    }
  });

  test('prefers a signal to everything', () => {
    expect(worstExitCode([1, 2, 143, 0])).toBe(143);
    expect(worstExitCode([130])).toBe(130);
  });

  test('is done only if nothing happened, in any order', () => {
    const anyCode = fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 7, 8, 130, 143);
    fc.assert(
      fc.property(fc.array(anyCode), (codes) => {
        const worst = worstExitCode(codes);
        expect(worst === 0).toBe(codes.every((code) => code === 0));
        expect([0, ...codes]).toContain(worst);
      }),
    );
  });
});

describe('errors', () => {
  test('carry their class as name', () => {
    expect(new UsageError('x').name).toBe('UsageError');
    expect(String(new PlatformError('503'))).toBe('PlatformError: 503');
  });

  test('a platform error is not retryable unless it says so, and keeps its cause', () => {
    const cause = new Error('reset');
    expect(new PlatformError('x')).toMatchObject({ retryable: false, status: undefined, retryAfterMs: undefined });
    expect(
      new PlatformError('x', { status: 503, code: 'busy', retryable: true, retryAfterMs: 5, cause }),
    ).toMatchObject({ status: 503, code: 'busy', retryable: true, retryAfterMs: 5, cause });
  });

  test('an answer that cannot be understood is no platform error, because fetching it again is pointless', () => {
    expect(new RefusedAnswerError('x')).not.toBeInstanceOf(PlatformError);
  });

  test('anything thrown has a message', () => {
    expect(messageOf(new Error('broken'))).toBe('broken');
    expect(messageOf('broken')).toBe('broken');
    expect(messageOf(undefined)).toBe('undefined');
    expect(messageOf({ toString: () => 'odd' })).toBe('odd');
  });
});

describe('a disk that cannot be written', () => {
  const ofDuckDB = (words: string) => {
    try {
      asOurError('w.duckdb', { readOnly: false })(new Error(`IO Error: Could not write file "w.duckdb": ${words}`));
    } catch (error) {
      return error;
    }
    return undefined;
  };
  const ofSystem = (code: string) => Object.assign(new Error(`${code}: it failed, write`), { code, syscall: 'write' });

  test.each([
    ['disk_full', ofSystem('ENOSPC'), /the disk is full: free some space/],
    ['disk_full', ofDuckDB('No space left on device'), /the disk is full: free some space/],
    ['disk_full', new MachineError('not published', { cause: ofSystem('ENOSPC') }), /the disk is full/],
    ['file_too_large', ofSystem('EFBIG'), /file size limit of this process \(ulimit -f\): raise the limit/],
    ['file_too_large', ofDuckDB('File too large'), /file size limit of this process \(ulimit -f\)/],
    ['quota_full', ofSystem('EDQUOT'), /disk quota of this user is used up: raise it or free space/],
  ])('is named %s with its step', (code, error, words) => {
    expect(wordsOf(error).join('\n')).toMatch(words);
    expect(wordsOf(error).join('\n')).toContain('run this again');
    expect(isDiskFull(code)).toBe(true);
    expect(failuresOf(error)).toMatchObject([{ code }]);
    const { found, remedy } = fullDiskWords(code);
    expect(`${found}: ${remedy}`).toMatch(words);
  });

  test('says how much to free, and what not to delete', () => {
    const [free, needed] = [1024 ** 2, 205 * 1024 ** 2];
    expect(fullDiskRemedy({ free, needed })).toMatch(/204 MB.*data\/.*: 1 MB is free, .* 205 MB$/);
    expect(fullDiskRemedy({ free: needed, needed })).toMatch(/^free some space .*data\//);
    expect(fullDiskRemedy({ free, needed }, 'file_too_large')).toMatch(/ulimit/);
  });

  test.each([
    new PlatformError('413: File too large', { status: 413 }),
    new UnprovenError('check quota found the resource "No space left on device"', { cause: ofSystem('ENOSPC') }),
    new UsageError('Conversion Error: Could not convert string "Disk quota exceeded" to INT32'),
  ])('is not what others say: $message', (error) => {
    expect(wordsOf(error).join('\n')).not.toContain('run this again');
    expect(isDiskFull(failuresOf(error)[0]?.code)).toBe(false);
  });
});

test('an error of DuckDB on a full disk is in our words, without the advice for its own shell', () => {
  const words =
    'IO Error: Could not write file "/books/data/warehouse.duckdb.wal": No space left on device. ' +
    'Detach and reattach the database to recover.';
  const fail = asOurError('/books/data/warehouse.duckdb', { readOnly: false });
  expect(() => fail(new Error(words))).toThrow(/^\/books\/data\/warehouse\.duckdb cannot be written$/);
});

const books = '/books/data/costbook.duckdb';

test('a file that is shorter than it claims is a fault of the SQL that reads it, not of the machine', () => {
  const fail = asOurError(books, { readOnly: true });
  const words =
    'IO Error: Could not read enough bytes from file "/x.parquet": attempted to read 9 bytes from location 2';
  expect(() => fail(new Error(words))).toThrow(SqlError);
});

const ownWords = [
  'Conflicting lock is held in /bin/x (PID 1)',
  `Could not read enough bytes from file "${books}"`,
  'Corrupt database file',
  'The file exists, but it is not a valid DuckDB database file!',
  'Failure while replaying WAL',
  'Out of Memory Error: x',
  `IO Error: Could not write file "${books}": No space left on device`,
  'FATAL Error: x',
];

test.each(ownWords)('a query that quotes the words "%s" is a fault of that query alone', (words) => {
  const fail = asOurError(books, { readOnly: true });
  for (const message of [
    `Conversion Error: Could not convert string '${words}' to INT32`,
    `Invalid Input Error: ${words}`,
    `Binder Error: Referenced column "${words}" not found in FROM clause!`,
    `Permission Error: Cannot access file "${words}" - file system operations are disabled by configuration`,
  ]) {
    expect(() => fail(new Error(message))).toThrow(SqlError);
  }
});

test.each([
  [`IO Error: Could not set lock on file "${books}": Conflicting lock is held in /bin/x (PID 1).`, true, LockedError],
  [`IO Error: Could not read enough bytes from file "${books}": attempted to read 4096 bytes`, false, DamagedFileError],
  ['IO Error: Corrupt database file: computed checksum 1 does not match stored checksum 2', false, DamagedFileError],
  [
    'FATAL Error: Failed: database has been invalidated. Original error: "IO Error: Corrupt database file"',
    false,
    DamagedFileError,
  ],
  [`IO Error: The file "${books}" exists, but it is not a valid DuckDB database file!`, true, DamagedFileError],
  ['Serialization Error: Failed to deserialize', true, DamagedFileError],
  ['Out of Memory Error: could not allocate block', false, MachineError],
])('%s is known for what it is', (message, isOpening, kind) => {
  const fail = asOurError(books, { readOnly: true }, { isOpening, path: books });
  expect(() => fail(new Error(message))).toThrow(kind);
});

test('several failures are joined to one sentence, without full stops between them', () => {
  const failures = ['Nothing was changed.', 'The disk is full.'].flatMap((words) => failuresOf(new UsageError(words)));
  expect(shortly(failures)).toBe('Nothing was changed; The disk is full.');
  expect(shortly([...failures, ...failures])).toBe('Nothing was changed; The disk is full.');
});
