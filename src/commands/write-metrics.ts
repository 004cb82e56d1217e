import { readFile, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadConfig } from '../config.ts';
import { messageOf, UsageError } from '../errors.ts';
import { type Budget, budgetsFile, formatMetrics, loadBudgets, readMetrics, responsesIn } from '../reports/index.ts';
import { version } from '../version.ts';
import { openBooks } from '../warehouse/index.ts';
import type { CommandContext } from './command.ts';

/** Where what was measured lies for whoever collects it, below the project folder. */
export function metricsFile(dir: string): string {
  return join(dir, 'data', 'metrics.prom');
}

/**
 * Writes what the published books say of themselves, whole or not at all. A run is no worse for a failure of this: it
 * is told as a warning.
 */
export async function writeMetrics(context: CommandContext): Promise<void> {
  const { dir, effects, responses = new Map<string, number>(), signal } = context;
  if (signal.aborted) return; // whoever interrupts does not wait for more
  const file = metricsFile(dir);
  const part = `${file}.part`;
  try {
    const before = responsesIn(await readFile(file, 'utf8').catch(() => ''));
    const books = await openBooks(dir, { lockedDown: true, signal });
    try {
      const { bavail, bsize } = await statfs(dir);
      const asked = { ...readAsked(context), responses: sumOf(before, responses), diskFreeBytes: bavail * bsize };
      await writeFile(part, context.redact(formatMetrics(await readMetrics(books.connection, asked))));
    } finally {
      books.close();
    }
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true }).catch(() => undefined);
    if (!signal.aborted) effects.log.warn('the metrics could not be written', { file, because: messageOf(error) });
  }
}

/** What is configured; what is wrong with that is told by the command itself, and is left out here. */
function readAsked({ dir, env, effects }: CommandContext) {
  const now = effects.now();
  const asked = { version, now, freshnessHours: 26, configured: [] as readonly string[], budgets: undefined };
  try {
    const config = loadConfig({ dir, env, now, requireAccounts: false });
    const sinks = config.sinks.map(({ name }) => name);
    const budgets: readonly Budget[] | undefined = loadBudgets(budgetsFile(dir), { now, sinks });
    const configured = config.accounts.flatMap(({ id }) => id ?? []);
    return { ...asked, freshnessHours: config.freshnessHours, configured, budgets };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return asked;
  }
}

function sumOf(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): Map<string, number> {
  const sum = new Map(one);
  for (const [status, count] of other) sum.set(status, (sum.get(status) ?? 0) + count);
  return sum;
}
