import { LockedError } from '../errors.ts';
import type { CommandContext } from './command.ts';

/** Of every command that needs the warehouse while nobody else writes it. */
export const waitOption = {
  flags: '--wait <duration>',
  summary: 'wait so long for another process that holds the warehouse, such as 90s, 10m or 2h (default: not at all)',
} as const;

/** A command that only looks (doctor) holds the warehouse for a moment; every writer waits so long for it. */
const momentMs = 400;
const lookAgainSoonMs = 100;

/** How often it is looked whether the warehouse is free. */
const lookAgainMs = 500;

/**
 * Opens what another process may hold; where it does, again and again for as long as may be waited, and says once for
 * whom. Throws the last LockedError when the time is over, and the signal's reason where it is aborted.
 */
export async function openWhenFree<T>(
  open: () => Promise<T>,
  waitMs: number,
  { effects, signal, progress }: CommandContext,
): Promise<T> {
  // Real time: `--now` stops no waiting.
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
