import { randomUUID } from 'node:crypto';
import { link, lstat, mkdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { LockedError, UsageError } from '../../base/errors.ts';
import { openDatabase } from './database.ts';

const retryMs = 100;

/**
 * Locks a folder, by a file beside it that no reader of the folder meets, for this process until `release` is called or the process ends: the operating system's own lock on an
 * empty DuckDB file, as for the warehouse, so nothing needs cleaning up after a crash. Waits up to `patienceMs` for
 * another process that has it, then throws LockedError with its name.
 */
export async function holdFolder(
  folder: string,
  { patienceMs, signal }: { patienceMs: number; signal?: AbortSignal },
): Promise<{ release(): void }> {
  const file = join(dirname(folder), `.${basename(folder)}.lock`);
  await mkdir(folder, { recursive: true });
  if (!(await isThere(file))) await makeLock(file);
  await expectRegular(file);
  // Earlier versions had the lock in the folder.
  await rm(join(folder, '.lock'), { force: true }).catch(() => undefined);
  const until = Date.now() + patienceMs;
  for (;;) {
    signal?.throwIfAborted();
    try {
      const database = await openDatabase(file, { readOnly: false });
      return { release: () => database.close() };
    } catch (error) {
      if (!(error instanceof LockedError) || Date.now() >= until) throw error;
    }
    await sleepFor(retryMs);
  }
}

/** Created under another name: if the process dies meanwhile, no half-written file remains that nobody can open. */
async function makeLock(file: string): Promise<void> {
  const part = `${file}-${randomUUID()}.part`;
  try {
    await rm(part, { force: true });
    (await openDatabase(part, { readOnly: false })).close();
    await link(part, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error; // another process was faster
    });
  } finally {
    await rm(part, { force: true });
  }
}

/** DuckDB would wait for a pipe, and lock or make the file that a link names: in a shared folder, others may put one there. */
async function expectRegular(file: string): Promise<void> {
  if ((await lstat(file)).isFile()) return;
  throw new UsageError(`found ${file}, which is no regular file, expected the lock of the folder: move it away`);
}

function isThere(file: string): Promise<boolean> {
  return lstat(file).then(
    () => true,
    () => false,
  );
}
