import { join } from 'node:path';
import { LockedError } from '../base/errors.ts';
import type { ProjectContext } from '../base/project-context.ts';
import { expectProject } from '../base/project-folder.ts';
import { openLandingWriter } from '../fetch/index.ts';
import { correctClock } from '../time/clock.ts';
import { openWarehouse, type Warehouse } from '../warehouse/index.ts';

/** Every writer waits this long for commands that only look (doctor) and hold the warehouse for a moment. */
const momentMs = 400;
const lookAgainSoonMs = 100;

/** How often the warehouse is tried. */
const lookAgainMs = 500;

/**
 * Opens a file that another process may hold, retrying until the time limit; logs the holder once. Throws the last
 * LockedError when the time is over, and the signal's reason if aborted.
 */
export async function openWhenFree<T>(
  open: () => Promise<T>,
  waitMs: number,
  { effects, signal, progress }: ProjectContext,
): Promise<T> {
  // Real time, also with `--now`.
  const waitUntil = performance.now() + waitMs;
  const momentUntil = performance.now() + momentMs;
  let isNotified = false;
  for (;;) {
    signal.throwIfAborted();
    try {
      return await open();
    } catch (error) {
      const leftMs = waitUntil - performance.now();
      if (!(error instanceof LockedError)) throw error;
      if (performance.now() < momentUntil) {
        await effects.sleep(lookAgainSoonMs, signal);
        continue;
      }
      if (leftMs <= 0) throw error;
      if (!isNotified) {
        effects.log.info('warehouse.waiting', 'Waiting for the warehouse', {
          heldBy: error.holder,
          atMostSeconds: Math.round(waitMs / 1000),
        });
        progress(`waiting for the warehouse, held by ${error.holder}`);
      }
      isNotified = true;
      await effects.sleep(Math.min(lookAgainMs, leftMs), signal);
    }
  }
}

/**
 * Opens the project's warehouse when no other process holds it. Corrects the clock once more, because a killed run may
 * have found a fast clock without publishing it. Throws what `openWarehouse` throws, and UsageError if there is no project.
 */
export async function openProjectWarehouse(
  waitMs: number,
  context: ProjectContext,
  options: Parameters<typeof openWarehouse>[4] = {},
): Promise<Warehouse> {
  expectProject(context);
  const { dir, signal, effects } = context;
  const landing = openLandingWriter(join(dir, 'data', 'landing'));
  async function newestStored(): Promise<number> {
    return landing.newestLoad().catch((error: NodeJS.ErrnoException) => {
      // A fault of the folder is reported when pages are written.
      if (error.code === 'EACCES' || error.code === 'ENOTDIR') return 0;
      throw error;
    });
  }
  const open = () => openWarehouse(dir, signal, effects.log, newestStored, options);
  const warehouse = await openWhenFree(open, waitMs, context);
  try {
    correctClock(effects, await warehouse.fastClock());
    return warehouse;
  } catch (error) {
    await warehouse.views.catch(() => undefined);
    warehouse.close();
    throw error;
  }
}
