import { chmod, copyFile, link, open, readdir, rename, rm, truncate, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { LockedError, UsageError } from '../errors.ts';
import { openDatabase } from './database.ts';
import { eventWriter, journalFolder, lastApplied, readJournal } from './journal.ts';
import { openStage, type Stage } from './load.ts';
import { migrateTables } from './migrate.ts';
import type { SnapshotFacts } from './seal.ts';
import { factsOf, newFileMode } from './snapshot.ts';

/** A warehouse that is being made anew beside the present one. */
export interface RebuildingWarehouse {
  /** Take the loads in turn. */
  readonly stages: readonly Stage[];
  /** The last load and the last journal event that are in it by now. */
  knows(): Promise<Pick<SnapshotFacts, 'loadNumber' | 'lastEvent'>>;
  /** The file gets its name: it is whole and closed. Throws UsageError where the name is taken. */
  finish(): Promise<void>;
  /** Removes what was made so far. */
  discard(): Promise<void>;
}

/** Events of a journal written in one transaction. */
const eventsAtOnce = 1000;

/** A snapshot on which a warehouse is made anew: what landing folder and journal have beyond it is added. */
export interface RebuildingBase {
  readonly file: string;
  /** Bytes of it that are DuckDB's. */
  readonly bytes: number;
}

/**
 * Begins a warehouse of this program's schema in a new file and writes into it the events of the project's journal,
 * all or as far as the given one. With `base` it begins as a copy of that. The file has its name only when it is
 * finished. Throws LockedError where another process is making the same file.
 */
export async function openRebuildingWarehouse(
  dir: string,
  file: string,
  options: {
    readonly throughEvent: number | undefined;
    readonly base?: RebuildingBase | undefined;
    readonly signal: AbortSignal;
  },
): Promise<RebuildingWarehouse> {
  const part = `${file}.part`;
  async function removePart(): Promise<void> {
    await rm(part, { force: true });
    await rm(`${part}.wal`, { force: true });
  }
  await removeDeadParts(file);
  if (options.base !== undefined) {
    await copyFile(options.base.file, part);
    await chmod(part, await newFileMode(file));
    await truncate(part, options.base.bytes);
  }
  const database = await openDatabase(part, { readOnly: false, unlogged: true });
  let isOpen = true;
  function close(): void {
    if (isOpen) database.close();
    isOpen = false;
  }
  let views = Promise.resolve();
  async function discard(): Promise<void> {
    await views.catch(() => undefined);
    close();
    await removePart();
  }
  try {
    const connection = await database.connect(options.signal);
    const { makeViews } = await migrateTables(connection);
    // Nothing that is written now is read from a view: they are made beside the first loads.
    views = makeViews(await database.connect(options.signal));
    views.catch(() => undefined); // it is told when all else is done
    const write = await eventWriter(connection);
    const events = await readJournal(journalFolder(dir), await lastApplied(connection), options.throughEvent);
    for (let from = 0; from < events.length; from += eventsAtOnce) {
      await write(events.slice(from, from + eventsAtOnce));
    }
    async function stage(): Promise<Stage> {
      return openStage(await database.connect(options.signal), {
        async record({ event }) {
          throw new Error(`rebuilding writes no ${event} of its own`);
        },
      });
    }
    return {
      knows: () => factsOf(connection, 'wh'),
      stages: [await stage(), await stage(), await stage(), await stage()],
      async finish() {
        await views;
        await connection.checkpoint();
        close();
        const handle = await open(part, 'r+');
        try {
          await handle.sync();
        } finally {
          await handle.close();
        }
        await giveName(part, file);
      },
      discard,
    };
  } catch (error) {
    await discard();
    throw error;
  }
}

/** Renames a file to a name that is not taken. A write-ahead log of that name is of a file that is gone; it is renamed. */
async function giveName(part: string, file: string): Promise<void> {
  const log = `${file}.wal`;
  await rename(log, `${log}.old`).catch(ignoring('ENOENT'));
  try {
    await link(part, file);
    await unlink(part);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new UsageError(`${file} exists already: another process has made it meanwhile`);
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(code)) throw error;
    await rename(part, file); // a file system without hard links
  }
}

/**
 * Removes what rebuilds of the same file left when they were killed. Throws LockedError where one of them is alive: then
 * DuckDB's lock on its part is held.
 */
async function removeDeadParts(file: string): Promise<void> {
  const folder = dirname(file);
  const names = await readdir(folder).catch(() => []); // opening the database says what is wrong with the folder
  for (const name of names) {
    const middle = name.startsWith(`${basename(file)}.`) ? name.slice(basename(file).length) : '';
    if (!/^(\.\d+)?\.part$/.test(middle)) continue;
    const part = join(folder, name);
    try {
      (await openDatabase(part, { readOnly: true })).close();
    } catch (error) {
      if (error instanceof LockedError) throw error; // anything else is half a file
    }
    await rm(part, { force: true });
    await rm(`${part}.wal`, { force: true });
  }
}

function ignoring(code: string): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    if (error.code !== code) throw error;
  };
}
