import { rmSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { NoBooksError } from '../errors.ts';
import { memoryLimitMb } from '../memory.ts';
import { type Connection, type Database, literal, type OpenOptions, type Reachable } from './connection.ts';
import { asOurError } from './duckdb-errors.ts';
import { Session } from './session.ts';
import {
  clearWritersSpill,
  maxSpillMb,
  readersSpillName,
  removeOldSpill,
  spillRoom,
  writersSpillName,
} from './spill.ts';

// One owner a file and process: two instances in one process attach the same file without an error and lose rows.
const openFiles = new Set<string>();

/**
 * Opens a warehouse file: an instance in memory, the file attached. Nothing is ever downloaded.
 * Throws LockedError where another process holds it, UsageError where a reader finds no file, MachineError otherwise.
 */
export async function openDatabase(file: string, options: OpenOptions): Promise<Database> {
  if (options.readOnly) {
    await expectFile(file);
    return open(file, options, file);
  }
  if (openFiles.has(file)) throw new Error(`${file} is already open in this process`);
  openFiles.add(file); // before anything is waited for: two that open at once must not both find it free
  try {
    await mkdir(dirname(file), { recursive: true }).catch(asOurError(file, options));
    return await open(file, options, file);
  } catch (error) {
    openFiles.delete(file);
    throw error;
  }
}

/** Throws UsageError where a file to be read is not there. */
export async function expectFile(file: string): Promise<void> {
  if (!(await exists(file))) throw new NoBooksError(file);
}

/** Opens a database in memory that holds nothing, to read files of other formats with; what does not fit spills to `folder`. */
export function openScratch(folder: string): Promise<Database> {
  return open(join(folder, 'scratch'), { readOnly: true }, ':memory:');
}

async function open(file: string, options: OpenOptions, attached: string): Promise<Database> {
  const { readOnly } = options;
  const folder = dirname(file);
  const state = { isOpening: true, path: file };
  const fail = asOurError(file, options, state);
  await removeOldSpill(folder);
  const spill = readOnly
    ? join(await spillRoom(folder), readersSpillName(options.reader))
    : join(folder, writersSpillName(basename(file)));
  const instance = await DuckDBInstance.create(':memory:', {
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    memory_limit: `${memoryLimitMb(readOnly)}MB`,
    threads: String(threadsFor(readOnly)),
    temp_directory: spill,
    max_temp_directory_size: `${await maxSpillMb(dirname(spill))}MB`,
    preserve_insertion_order: 'true',
  }).catch(fail);
  const connections = new Set<Session>();
  const threads = { alone: threadsFor(true), usual: threadsFor(false) };
  function keep(connection: DuckDBConnection, signal?: AbortSignal): Connection {
    const kept = new Session(connection, { fail, signal, onClose: () => connections.delete(kept), threads });
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
    await first.run(`set global TimeZone = 'UTC'`);
    const access = readOnly ? ' (read_only)' : options.unlogged ? ' (recovery_mode no_wal_writes)' : '';
    // What is in memory alone is nobody's to change.
    const mode = attached === ':memory:' ? '' : access;
    // ATTACH takes no parameters.
    async function attach(path: string): Promise<void> {
      state.path = path;
      await first.run(`attach ${literal(path)} as ${options.catalog ?? 'wh'}${mode}`);
    }
    await (options.attachThrough?.(attach) ?? attach(attached));
    // Whoever holds the lock knows that every other writer of this file is dead.
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
    async connect(signal) {
      const connection = await instance.connect();
      const kept = keep(connection, signal);
      await connection.run('use wh');
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
    close() {
      close();
      if (!readOnly) openFiles.delete(file);
    },
  };
}

async function lockDown(connection: DuckDBConnection, { files = [], folders = [] }: Reachable): Promise<void> {
  await connection.run(`set allowed_paths = [${files.map(literal).join(', ')}]`);
  await connection.run(`set allowed_directories = [${folders.map(literal).join(', ')}]`);
  await connection.run('set enable_external_access = false');
  await connection.run('set lock_configuration = true');
}

/**
 * A reader has the machine to itself. Beside a writer's queries pages are unpacked and decoded, and another window's
 * queries run: threads of DuckDB that find no task take the time of those (measured: a fifth of all CPU on two cores).
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
