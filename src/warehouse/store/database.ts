import { rmSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { DamagedFileError, NoBooksError, UsageError } from '../../base/errors.ts';
import { memoryLimitMb } from '../../base/memory.ts';
import { act } from '../../base/next-step.ts';
import { noRegularFile } from '../../base/regular-file.ts';
import { attach, lockDownStatements, setMemoryLimit, useUtc, useWarehouse } from '../sql/statements.ts';
import type { Connection, Database, LazyViews, OpenOptions, Reachable } from './connection.ts';
import { DuckDBInstance } from './duckdb.ts';
import { asOurError, type Fail } from './duckdb-errors.ts';
import { Session } from './session.ts';
import {
  clearWritersSpill,
  maxSpillMb,
  readersSpillName,
  removeOldSpill,
  spillRoom,
  writersSpillName,
} from './spill.ts';

/** Answers from smaller files are short: a second thread costs them a tenth more CPU. */
const smallBytes = 64 * 1024 * 1024;

/** What a database that nobody queries keeps at most, in MB. */
const leastMemoryMb = 32;

// One owner per file and process: two instances in one process attach the same file without an error and lose rows.
const openFiles = new Set<string>();

/**
 * Opens a warehouse file: an in-memory instance with the file attached. Nothing is ever downloaded. Throws LockedError
 * if another process holds it, UsageError if a reader finds no file or the path has a "?", MachineError otherwise.
 */
export async function openDatabase(file: string, options: OpenOptions): Promise<Database> {
  if (options.readOnly) {
    await expectFile(file);
    return open(file, options, file);
  }
  // DuckDB takes what follows for options, and writes its log beside what precedes.
  const next = act('rename the folder.');
  if (file.includes('?')) throw new UsageError(`found ${file}, expected a path without "?", for DuckDB`, { next });
  // It would be waited for. It is not opened to look: closing it would end the locks that DuckDB has on it.
  if ((await stat(file).catch(() => undefined))?.isFile() === false) throw noRegularFile(file);
  if (openFiles.has(file)) throw new Error(`${file} is already open in this process`);
  openFiles.add(file); // before the first await: of two concurrent calls only one may find it free
  try {
    await mkdir(dirname(file), { recursive: true }).catch(asOurError(file, options));
    return await open(file, options, file);
  } catch (error) {
    openFiles.delete(file);
    throw error;
  }
}

/** Throws UsageError if a file to read does not exist. */
export async function expectFile(file: string): Promise<void> {
  if (!(await exists(file))) throw new NoBooksError(file);
}

/** Opens an empty in-memory database, to read files of other formats; it spills to `folder`. */
export function openScratch(folder: string): Promise<Database> {
  return open(join(folder, 'scratch'), { readOnly: true }, ':memory:');
}

/** Translates as `fail`, and notes damage. */
function noting(fail: Fail, note: (damage: DamagedFileError) => void): Fail {
  return (error) => {
    try {
      return fail(error);
    } catch (translated) {
      if (translated instanceof DamagedFileError) note(translated);
      throw translated;
    }
  };
}

async function open(file: string, options: OpenOptions, attached: string): Promise<Database> {
  const { readOnly } = options;
  const folder = dirname(file);
  const state = { isOpening: true, path: file };
  const memoryMb = options.memoryMb ?? memoryLimitMb(readOnly);
  let damage: DamagedFileError | undefined;
  const fail = noting(asOurError(file, options, state), (found) => {
    damage ??= found;
  });
  const isSmall = readOnly && ((await stat(attached).catch(() => undefined))?.size ?? smallBytes) < smallBytes;
  const threads = { alone: threadsFor(true), usual: options.threads ?? (isSmall ? 1 : threadsFor(readOnly)) };
  await removeOldSpill(folder);
  const spill = readOnly
    ? join(await spillRoom(folder), readersSpillName(options.reader))
    : join(folder, writersSpillName(basename(file)));
  const instance = await DuckDBInstance.create(':memory:', {
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    memory_limit: `${memoryMb}MB`,
    threads: String(threads.usual),
    temp_directory: spill,
    max_temp_directory_size: `${await maxSpillMb(dirname(spill))}MB`,
    preserve_insertion_order: 'true',
  }).catch(fail);
  const connections = new Set<Session>();
  function keep(connection: DuckDBConnection, signal?: AbortSignal, views?: LazyViews): Connection {
    const kept = new Session(connection, { fail, signal, views, onClose: () => connections.delete(kept), threads });
    connections.add(kept);
    return kept;
  }
  function close(): void {
    for (const connection of [...connections]) connection.close();
    instance.closeSync();
    rmSync(spill, { recursive: true, force: true });
  }
  try {
    const first = await instance.connect();
    const kept = keep(first);
    await first.run(useUtc);
    // An in-memory catalog is read-only to everybody.
    const access = readOnly && attached !== ':memory:' ? 'read' : options.unlogged ? 'write without log' : 'write';
    async function attachFile(path: string): Promise<void> {
      state.path = path;
      await first.run(attach(path, options.catalog ?? 'wh', access));
    }
    await (options.attachThrough?.(attachFile) ?? attachFile(attached));
    // The holder of the lock knows that every other writer of this file is dead.
    if (!readOnly) await clearWritersSpill(folder, basename(file), basename(spill));
    state.isOpening = false;
    await options.prepare?.(kept);
    if (options.lockedDown) {
      await lockDown(first, { files: options.writable === undefined ? [] : [options.writable] });
    }
  } catch (error) {
    close();
    return fail(error);
  }

  return {
    file,
    damage: () => damage,
    async connect(signal, views) {
      const connection = await instance.connect();
      const kept = keep(connection, signal, views);
      await connection.run(useWarehouse);
      return kept;
    },
    async lockDown(reachable = {}) {
      const connection = await instance.connect();
      try {
        await lockDown(connection, reachable).catch(fail);
      } finally {
        connection.closeSync();
      }
    },
    async dropBlocks() {
      const connection = await instance.connect();
      try {
        // DuckDB refuses a limit that it cannot keep to, and has dropped what it could.
        await connection.run(setMemoryLimit(Math.min(memoryMb, leastMemoryMb))).catch(() => undefined);
        await connection.run(setMemoryLimit(memoryMb)).catch(fail);
      } finally {
        connection.closeSync();
      }
    },
    close() {
      close();
      if (!readOnly) openFiles.delete(file);
    },
  };
}

async function lockDown(connection: DuckDBConnection, { files = [] }: Reachable): Promise<void> {
  for (const statement of lockDownStatements(files)) await connection.run(statement);
}

/**
 * A reader has the machine to itself. A writer also unpacks and decodes pages and runs another window's queries: DuckDB
 * threads without a task take CPU time from these (measured: a fifth of all CPU on two cores).
 */
function threadsFor(readOnly: boolean): number {
  const cores = availableParallelism();
  return Math.max(1, Math.min(4, readOnly ? cores : Math.floor(cores / 2)));
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return false;
      throw error;
    },
  );
}
