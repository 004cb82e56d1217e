import { LockedError } from '../base/errors.ts';
import type { CommandContext } from './command.ts';

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
  { effects, signal, progress }: CommandContext,
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
