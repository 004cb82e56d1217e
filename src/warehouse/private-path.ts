import { link, mkdir, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { UnprovenError } from '../errors.ts';

/** Where a reader opens the snapshot, and where it may put what does not fit into memory. */
export interface ReadersPath {
  readonly path: string;
  readonly spill: string;
  /** False where DuckDB may find a write-ahead log beside `path`. */
  readonly isPrivate: boolean;
}

/**
 * Makes another name of the snapshot in a new folder of its own, as a hard link. DuckDB looks for a write-ahead log
 * beside the path it is given and applies what it finds, so a log that another program left beside the snapshot cannot
 * reach this reader; and a path that is gone again after opening cannot be written through. Where the folder or its file
 * system permits no link, the snapshot's own path serves, and the spill folder goes to the system's temporary folder.
 */
export async function makeReadersPath(file: string, spillName: string): Promise<ReadersPath> {
  const spill = join(dirname(file), spillName);
  const path = join(spill, basename(file));
  try {
    await mkdir(spill, { mode: 0o700 });
    await link(file, path);
    return { path, spill, isPrivate: true };
  } catch (error) {
    await rm(spill, { recursive: true, force: true }).catch(() => undefined);
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!cannotLink.includes(code)) throw error;
    return { path: file, spill: join(tmpdir(), `costbook${spillName}`), isPrivate: false };
  }
}

/** No right to write there, a file of another user, or a file system without hard links. */
const cannotLink = [
  'EACCES',
  'EPERM',
  'EROFS',
  'EXDEV',
  'EMLINK',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'ENOSPC',
  'EDQUOT',
];

/** The names of write-ahead logs beside a DuckDB file. */
export async function logsBeside(file: string): Promise<string[]> {
  const names = await readdir(dirname(file)).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter((name) => name.startsWith(`${basename(file)}.wal`)).map((name) => join(dirname(file), name));
}

/** Throws UnprovenError where DuckDB would apply another program's log to a file that only Costbook writes. */
export async function refuseLogsBeside(file: string): Promise<void> {
  const [log] = await logsBeside(file);
  if (log === undefined) return;
  throw new UnprovenError(
    `${log} was left by another program that opened the snapshot for writing, and would change its numbers: ` +
      'run "costbook repair", which removes it',
  );
}
