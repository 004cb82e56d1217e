import { chmod, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Budget, budgetsFile, loadBudgets, type SpendNow } from '../budgets/index.ts';
import { loadConfig } from '../config/index.ts';
import type { Effects } from '../effects.ts';
import { messageOf, UsageError } from '../errors.ts';
import { jobNames } from '../jobs/index.ts';
import { version } from '../version.ts';
import { openBooks, snapshotFile } from '../warehouse/index.ts';
import { expositionText, withSamples } from './exposition.ts';
import {
  answersMetric,
  type EndedRun,
  readMetrics,
  type UnpublishedRun,
  unpublishedRunMetrics,
  unrecordedRuns,
} from './metrics.ts';

/** What a run gives to write its metrics. */
export interface MetricsContext {
  readonly effects: Effects;
  /** The project folder, absolute. */
  readonly dir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The text with every secret replaced. */
  redact(text: string): string;
  /** How often the process was answered over HTTP with each status; `none` where no whole answer came. */
  httpAnswers(): ReadonlyMap<string, number>;
}

/** What is watched must not hold up what it watches. */
const limitMs = 10_000;

/** Where a run leaves its metrics, below the project folder. */
export function metricsFile(dir: string): string {
  return join(dir, 'data', 'metrics.prom');
}

/**
 * Writes what machines are told of the books after a run, from the published snapshot: whole or not at all, readable for
 * everybody. Called while the warehouse is held, so that two runs cannot write at once. That it could not be written is
 * only a warning.
 */
export async function writeMetrics(
  run: EndedRun,
  spends: readonly SpendNow[] | undefined,
  context: MetricsContext,
): Promise<void> {
  const { dir, effects } = context;
  try {
    const file = metricsFile(dir);
    const now = effects.now();
    const before = await readFile(file, 'utf8').catch(emptyWhereMissing);
    const answers = answersSoFar(before);
    for (const [status, count] of context.httpAnswers()) answers.set(status, (answers.get(status) ?? 0) + count);
    const signal = AbortSignal.timeout(limitMs); // a run that was told to end has the time for this
    const books = await openBooks(dir, { lockedDown: true, signal });
    try {
      const snapshotBytes = (await stat(snapshotFile(dir))).size;
      const asked = {
        now,
        version,
        run,
        answers,
        unrecorded: unrecordedRuns(before),
        spends,
        snapshotBytes,
        jobs: jobsOf(context),
        ...configured(context),
      };
      await replace(file, context.redact(expositionText(await readMetrics(books.connection, asked))));
    } finally {
      books.close();
    }
  } catch (error) {
    effects.log.warn('metrics.failed', 'Could not write the metrics of the run', { reason: messageOf(error) });
  }
}

/**
 * Writes into the metrics of the runs before how a run ended that the published books do not know of: all else in them
 * is as old as the books. That it could not be written is only a warning.
 */
export async function writeUnpublished(run: UnpublishedRun, { dir, effects }: MetricsContext): Promise<void> {
  try {
    const file = metricsFile(dir);
    const text = await readFile(file, 'utf8').catch(emptyWhereMissing);
    await replace(file, withSamples(text, unpublishedRunMetrics(run, text)));
  } catch (error) {
    effects.log.warn('metrics.failed', 'Could not write the metrics of the run', { reason: messageOf(error) });
  }
}

/** What of the configuration is told; nothing of what cannot be read: whoever needs it says so. */
function configured({ dir, env, effects }: MetricsContext): {
  readonly freshnessHours: number | undefined;
  readonly configured: readonly string[];
  readonly sinks: readonly string[];
  readonly budgets: readonly Budget[];
} {
  const now = effects.now();
  let freshnessHours: number | undefined;
  let accounts: readonly string[] = [];
  let sinks: readonly string[] = [];
  try {
    const config = loadConfig({ dir, env, now, requireAccounts: false });
    freshnessHours = config.freshnessHours;
    accounts = config.accounts.flatMap(({ id }) => id ?? []);
    sinks = config.sinks.map(({ name }) => name);
    return {
      freshnessHours,
      configured: accounts,
      sinks,
      budgets: loadBudgets(budgetsFile(dir), { now, sinks }) ?? [],
    };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    effects.log.warn('metrics.incomplete', 'Metrics were written without budgets', { reason: error.message });
    return { freshnessHours, configured: accounts, sinks, budgets: [] };
  }
}

/** The names of the jobs; none where a file of jobs/ has a name that no job can have: whoever runs one says so. */
function jobsOf({ dir }: MetricsContext): readonly string[] {
  try {
    return jobNames(dir);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return [];
  }
}

/** Answers that a platform may give, and that are counted from 0: the first of a kind then shows as an increase. */
const knownAnswers = ['200', '400', '401', '403', '404', '408', '429', '500', '502', '503', '504', 'none'];

/** How the platform answered in the runs before, by the text that the last one wrote. */
function answersSoFar(text: string): Map<string, number> {
  const samples = text.matchAll(new RegExp(`^${answersMetric}\\{status="(\\d{3}|none)"\\} (\\d{1,15})$`, 'gm'));
  return new Map([
    ...knownAnswers.map((status) => [status, 0] as const),
    ...[...samples].map(([, status = '', count]) => [status, Number(count)] as const),
  ]);
}

function emptyWhereMissing(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return '';
  throw error;
}

async function replace(file: string, text: string): Promise<void> {
  const part = `${file}.part`; // whoever holds the warehouse is alone; what a kill left is written over
  try {
    await writeFile(part, text);
    await chmod(part, 0o644); // whoever collects them is another user
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}
