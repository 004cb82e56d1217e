import { open, rename, rm } from 'node:fs/promises';
import { openDatabase } from './connection.ts';
import { eventWriter, journalFolder, readJournal } from './journal.ts';
import { openStage, type Stage } from './load.ts';
import { migrateTables } from './migrate.ts';

/** A warehouse that is being made anew beside the present one. */
export interface RebuildingWarehouse {
  /** Take the loads in turn. */
  readonly stages: readonly Stage[];
  /** The file gets its name: it is whole and closed. */
  finish(): Promise<void>;
  /** Removes what was made so far. */
  discard(): Promise<void>;
}

/** Events of a journal written in one transaction. */
const eventsAtOnce = 1000;

/**
 * Begins a warehouse of this program's schema in a new file and writes into it the events of the project's journal,
 * all or as far as the given one. The file has its name only when it is finished.
 */
export async function openRebuildingWarehouse(
  dir: string,
  file: string,
  options: { readonly throughEvent: number | undefined; readonly signal: AbortSignal },
): Promise<RebuildingWarehouse> {
  const part = `${file}.${process.pid}.part`;
  async function removePart(): Promise<void> {
    await rm(part, { force: true });
    await rm(`${part}.wal`, { force: true });
  }
  await removePart();
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
    const all = await readJournal(journalFolder(dir));
    const events = all.filter(({ number }) => number <= (options.throughEvent ?? number));
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
        await rename(part, file);
      },
      discard,
    };
  } catch (error) {
    await discard();
    throw error;
  }
}
