import { readableAlertingConfig } from '../alerts/index.ts';
import { idleWords } from '../findings/index.ts';
import { hourMs, isOlder } from '../time/time.ts';
import type { Warehouse } from '../warehouse/index.ts';
import type { RunContext } from './context.ts';

/** The commands that fetch; what "alert" finds is a message. */
const scheduled: readonly string[] = ['run', 'ingest'];

/** Says that the run before this one was killed, and that no run has fetched for longer than the books may be old. */
export async function tellBeforeRun(command: string, warehouse: Warehouse, context: RunContext): Promise<void> {
  if (!scheduled.includes(command)) return;
  const { killed, fetchedAt } = await warehouse.beforeRun();
  if (killed !== undefined) {
    const where = killed.step === null ? '' : ` in its step ${killed.step}`;
    context.tell(
      `warning: run ${killed.runNumber} (${killed.command}) of ${killed.startedAt} was killed${where}. The books are intact: the next run loads what it missed`,
    );
  }
  const now = context.effects.now();
  if (fetchedAt === null || Date.parse(fetchedAt) > now - hourMs) return;
  const { freshnessHours } = readableAlertingConfig(context).config;
  for (const words of idleWords({ fetchedAt, isIdle: isOlder(fetchedAt, now, freshnessHours) }))
    context.tell(`warning: ${words}`);
}
