import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AlertFact } from '../alerts/index.ts';
import { exitCodes, isDiskFull, messageOf } from '../errors.ts';
import { formatSecond } from '../time.ts';
import type { CommandContext } from './command.ts';
import { loadTellingConfig } from './telling.ts';
import { deliverWithoutBooks } from './without-books.ts';

/** An empty file that says that the sinks were notified: it takes a name and no block of a full disk. */
function markerOf(dir: string): string {
  return join(dir, 'data', '.disk-full');
}

/**
 * Notifies the sinks that a run failed because the disk is full; does nothing for any other failure. The ledger cannot
 * be written then, so the message is sent before anything is stored and is marked as a possible repeat. A marker keeps
 * the next run from sending it again; where not even that can be made, each run sends it. Never throws.
 */
export async function alertFullDisk(command: string, error: string, context: CommandContext): Promise<void> {
  if (!isDiskFull(error)) return;
  const { dir, effects } = context;
  try {
    const marker = markerOf(dir);
    if (await exists(marker)) return;
    const config = loadTellingConfig(context);
    const now = effects.now();
    const key = 'run/disk';
    const fact: AlertFact = {
      ...{ kind: 'run', key, account: null, severity: 'critical', notify: [], state: 'raised', completeThrough: null },
      ...{ command, runNumber: 0, outcome: 'failed', exitCode: exitCodes.machine, endedAt: formatSecond(now) },
      outOfDate: [],
      error: context.redact(
        `the disk with ${dir} is full, and nothing can be loaded or stored until there is room on it. ${error}`,
      ),
    };
    const deliveries = await deliverWithoutBooks(
      {
        entry: { key, occurrence: 1, transition: 'raised', fact },
        sinks: config.alerts.notify,
        state: { at: formatSecond(now), completeThrough: null, settledThrough: null },
        queuedAt: now,
        mayBeRepeat: () => true,
      },
      config,
      context,
    );
    const delivered = deliveries.filter(({ outcome }) => outcome === 'delivered').length;
    if (delivered > 0) await writeFile(marker, '', { flag: 'wx' });
    context.tell(`the disk is full: ${delivered} of ${deliveries.length} sinks were notified of it, without the books`);
  } catch (further) {
    effects.log.warn('the sinks were not notified of the full disk', { because: messageOf(further) });
  }
}

/** Forgets that the disk was full: the next time is another one. For a run that has published. */
export async function forgetFullDisk(dir: string): Promise<void> {
  await rm(markerOf(dir), { force: true });
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
