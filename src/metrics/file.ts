import { chmod, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../base/errors.ts';
import { messageWithMisplaced } from '../base/misplaced.ts';
import type { ProjectContext } from '../base/project-context.ts';
import { bytesOf } from '../base/regular-file.ts';
import { version } from '../base/version.ts';
import { type Budget, budgetsFile, loadBudgets } from '../budgets/rules/index.ts';
import type { SpendNow } from '../budgets/spend/index.ts';
import { alertSinksOf, loadConfig } from '../config/index.ts';
import { jobNames } from '../jobs/index.ts';
import { openBooks, snapshotFile } from '../warehouse/integrity/index.ts';
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
export interface MetricsContext extends Pick<ProjectContext, 'effects' | 'dir' | 'env' | 'redact'> {
  /** Number of HTTP answers of this process by status; `none` counts requests without a complete answer. */
  httpAnswers(): ReadonlyMap<string, number>;
}

/** The metrics of the last run as text; empty if there are none yet. */
export async function metricsText(dir: string): Promise<string> {
  const text = await bytesOf(metricsFile(dir)).then(String, emptyWhereMissing);
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

/** Writing metrics must not delay the run that they are about. */
const limitMs = 10_000;

/** The file with a run's metrics, below the project folder. */
export function metricsFile(dir: string): string {
  return join(dir, 'data', 'metrics.prom');
}

/**
 * Writes the metrics file after a run, from the published snapshot: whole or not at all, readable by everybody. Called
 * while the warehouse is held, so that two runs cannot write at once. A failed write is only a warning.
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
    const before = await bytesOf(file).then(String, emptyWhereMissing);
    const answers = answersSoFar(before);
    for (const [status, count] of context.httpAnswers()) answers.set(status, (answers.get(status) ?? 0) + count);
    const signal = AbortSignal.timeout(limitMs); // an interrupted run has time for this
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
    effects.log.warn('metrics.failed', 'Could not write the metrics of the run', {
      reason: messageWithMisplaced(error, dir),
    });
  }
}

/**
 * Adds the outcome of a run that the published books do not know to the metrics file; all other metrics stay as they
 * are. A failed write is only a warning.
 */
export async function writeUnpublished(run: UnpublishedRun, { dir, effects }: MetricsContext): Promise<void> {
  try {
    const file = metricsFile(dir);
    const text = await bytesOf(file).then(String, emptyWhereMissing);
    await replace(file, withSamples(text, unpublishedRunMetrics(run, text)));
  } catch (error) {
    effects.log.warn('metrics.failed', 'Could not write the metrics of the run', {
      reason: messageWithMisplaced(error, dir),
    });
  }
}

/** The metrics of the configuration; none if it cannot be read, which other commands report. */
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
      budgets: loadBudgets(budgetsFile(dir), { now, sinks: alertSinksOf(config.sinks) }) ?? [],
    };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    effects.log.warn('metrics.incomplete', 'Metrics were written without budgets', { reason: error.message });
    return { freshnessHours, configured: accounts, sinks, budgets: [] };
  }
}

/** The names of the jobs; none if a file in jobs/ has an invalid name, which other commands report. */
function jobsOf({ dir }: MetricsContext): readonly string[] {
  try {
    return jobNames(dir);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return [];
  }
}

/** Statuses that are counted from 0, so that the first answer of a kind shows as an increase. */
const knownAnswers = ['200', '400', '401', '403', '404', '408', '429', '500', '502', '503', '504', 'none'];

/** The platform's answers in earlier runs, from the text of the metrics file. */
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
  const part = `${file}.part`; // only one process holds the warehouse; a killed run's part is overwritten
  try {
    await writeFile(part, text);
    await chmod(part, 0o644); // the collector is another user
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}
