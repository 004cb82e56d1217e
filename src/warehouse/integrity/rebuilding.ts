import { chmod, copyFile, link, open, readdir, rename, rm, stat, truncate, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { LockedError, UsageError } from '../../base/errors.ts';
import { act } from '../../base/next-step.ts';
import { endFault, eventWriter, journalFolder, lastApplied, missing, readJournal } from '../journal/journal.ts';
import { lastNumberOf } from '../journal/journal-events.ts';
import { appliedInRebuild, firstUnrestored } from '../journal/restored-rows.ts';
import { openStage, type Stage } from '../load/stage.ts';
import { readSql } from '../sql/sql-files.ts';
import { openDatabase } from '../store/database.ts';
import { migrateTables } from '../store/migrate.ts';
import { factsOf } from './contents.ts';
import type { SnapshotFacts } from './seal.ts';
import { newFileMode } from './snapshot.ts';

/** A warehouse that is rebuilt next to the present one. */
export interface RebuildingWarehouse {
  /** Load in turns. */
  readonly stages: readonly Stage[];
  /** Its last load and its last journal event so far. */
  knows(): Promise<Knowledge>;
  /** Gives the file its name once it is complete and closed. Throws UsageError if the name is taken. */
  finish(): Promise<void>;
  /** Removes everything written so far. */
  discard(): Promise<void>;
}

/** How far a rebuilt warehouse reaches. */
export interface Knowledge extends Pick<SnapshotFacts, 'loadNumber' | 'lastEvent'> {
  /** Windows that its runs loaded, by the journal alone. */
  readonly windows: number;
}

/** Journal events per transaction. */
const eventsAtOnce = 1000;

/** A snapshot that a rebuild starts from: it adds what landing folder and journal have beyond it. */
export interface RebuildingBase {
  readonly file: string;
  /** The part of it that belongs to DuckDB, in bytes. */
  readonly bytes: number;
}

/**
 * Starts a warehouse of this program's schema in a new file and writes the events of the project's journal into it, all
 * or up to the given one. With `base`, it starts as a copy of that. The file gets its name only when it is finished.
 * Throws LockedError if another process is creating the same file.
 */
export async function openRebuildingWarehouse(
  dir: string,
  file: string,
  options: {
    readonly throughEvent: number | undefined;
    readonly base?: RebuildingBase | undefined;
    /** The last journal event that present books have: a repair can restore it. 0 for none. */
    readonly inBooks: number;
    /** The last load in the landing folder: the journal must have its run, unless there is a base. */
    readonly lastLoad?: { readonly loadNumber: number; readonly runNumber: number } | undefined;
    /** Whether to continue without events that a repair recorded as lost, if it did not restore their rows. */
    readonly acceptsGaps: boolean;
    readonly signal: AbortSignal;
  },
): Promise<RebuildingWarehouse> {
  const part = `${file}.part`;
  for (const path of [part, `${part}.wal`]) {
    if ((await stat(path).catch(() => undefined))?.isDirectory()) {
      throw new UsageError(`${path} is a folder, expected no file or one of a killed rebuild`, {
        next: act('move it away.'),
      });
    }
  }
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
    // The rebuild reads no views: they are created during the first loads.
    views = makeViews(await database.connect(options.signal));
    views.catch(() => undefined); // awaited at the end
    const folder = journalFolder(dir);
    const after = await lastApplied(connection);
    const inBooks = Math.max(after, options.inBooks);
    const events = await readJournal(folder, after, options.throughEvent, inBooks);
    const gap = options.acceptsGaps ? undefined : firstUnrestored(events);
    if (gap !== undefined) throw missing(folder, gap.number, lastNumberOf(gap), inBooks);
    const end = options.base === undefined ? endFault(folder, events, options.lastLoad) : undefined;
    if (end !== undefined) throw end;
    const write = await eventWriter(connection, { isApplied: appliedInRebuild(events), folder });
    for (let from = 0; from < events.length; from += eventsAtOnce) {
      await write(events.slice(from, from + eventsAtOnce));
    }
    async function stage(): Promise<Stage> {
      return openStage(await database.connect(options.signal), {
        async record({ event }) {
          throw new Error(`a rebuild must not write ${event} of its own`);
        },
      });
    }
    return {
      async knows() {
        const [row] = await connection.rows(await readSql('ledger', 'windows_loaded'));
        return { ...(await factsOf(connection, 'wh')), windows: Number(row?.['windows']) };
      },
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

/** Renames a file to a name that is not taken. Renames an orphaned write-ahead log of that name. */
async function giveName(part: string, file: string): Promise<void> {
  const log = `${file}.wal`;
  await rename(log, `${log}.old`).catch(ignoring('ENOENT'));
  try {
    await link(part, file);
    await unlink(part);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new UsageError(`${file} already exists: another process created it in the meantime`);
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(code)) throw error;
    await rename(part, file); // file system without hard links
  }
}

/**
 * Removes what killed rebuilds of the same file left. Throws LockedError if one of them is still running: it holds
 * DuckDB's lock on its file.
 */
async function removeDeadParts(file: string): Promise<void> {
  const folder = dirname(file);
  const names = await readdir(folder).catch(() => []); // opening the database reports what is wrong with the folder
  for (const name of names) {
    const middle = name.startsWith(`${basename(file)}.`) ? name.slice(basename(file).length) : '';
    if (!/^(\.\d+)?\.part$/.test(middle)) continue;
    const part = join(folder, name);
    try {
      (await openDatabase(part, { readOnly: true })).close();
    } catch (error) {
      if (error instanceof LockedError) throw error; // anything else is an incomplete file
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
