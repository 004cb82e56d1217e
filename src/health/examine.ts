import { exitCodeOf, exitCodes } from '../base/errors.ts';
import { causeInMisplaced } from '../base/misplaced.ts';
import type { LocalConfig } from '../config/index.ts';
import type { Job } from '../jobs/index.ts';
import { alerts, books, landing, unstored } from './books.ts';
import type { HealthContext } from './context.ts';
import { type Diagnosis, type Found, faultsIn, isSameFault, nothingSeen } from './found.ts';
import { disk, fileModes, memory, misplaced, program } from './machine.ts';
import { platform, token } from './platform.ts';
import { configuration, currency, jobs, local, sqlFiles } from './settings.ts';
import { examineSinks } from './sinks.ts';

/** What is looked at, and how. */
export interface Examination {
  /** Neither the platform nor the sinks are contacted. */
  readonly isOffline: boolean;
  /** Every stored page is read and compared with its hash. */
  readonly isDeep: boolean;
  /** Whether the current time was chosen. */
  readonly isNowGiven: boolean;
  /** The jobs of the project, with the options of their steps checked. Throws UsageError that lists the mistakes. */
  readJobs(): Promise<readonly Job[]>;
  /** Called with each diagnosis as it is found. */
  onFound(diagnosis: Diagnosis): Promise<void>;
}

/** Checks everything that a nightly run needs. A fault that several checks meet is reported once. */
export async function examine(
  { isOffline, isDeep, isNowGiven, readJobs, onFound }: Examination,
  context: HealthContext,
): Promise<readonly Diagnosis[]> {
  const all: Diagnosis[] = [];
  async function look(subject: string, work: () => Promise<readonly Found[]> | readonly Found[]): Promise<void> {
    context.progress(`checking ${subject}`);
    context.signal.throwIfAborted();
    let found: readonly Found[];
    try {
      found = await work();
    } catch (error) {
      context.signal.throwIfAborted();
      if (causeInMisplaced(error, context.dir).length > 0) return; // reported with the files
      // What cannot be checked counts as failed; bugs are thrown on.
      if (exitCodeOf(error) === exitCodes.bug) throw error;
      found = faultsIn(error);
    }
    for (const { state, found: words, remedy, exitCode } of found) {
      // Several checks may meet the same fault; it is reported once.
      if (state !== 'ok' && all.some((before) => isSameFault(before, context.redact(words)))) continue;
      const own = context
        .redact(words)
        .replace(/^account ([^,:]+): /, (prefix, id) => (subject.endsWith(` ${id}`) ? '' : prefix));
      const diagnosis = { subject, state, found: own, remedy: remedy ?? null, exitCode };
      all.push(diagnosis);
      await onFound(diagnosis);
    }
  }

  await look('program', program);
  let read: LocalConfig | undefined;
  await look('configuration', () => {
    read = local(context);
    return configuration(context);
  });
  const config = read as LocalConfig | undefined; // assigned in a closure that the compiler does not see
  await look('jobs', () => jobs(config, context, readJobs));
  if (config?.currency !== undefined) await look('currency', () => currency(config, context));
  await look('sql', () => sqlFiles(context));
  const seen = nothingSeen();
  const wrongNow = new Map<string, number>(); // how far the clock in use is ahead of the platform's, if it is wrong
  for (const account of config?.accounts ?? []) {
    const of = account.id === undefined ? '' : ` ${account.id}`;
    await look(`token${of}`, () => token(account, context, seen));
    if (config !== undefined && !isOffline)
      await look(`platform${of}`, () => platform(account, config, context, { isNowGiven, wrongNow, seen }));
  }
  await look('disk', () => disk(context, seen));
  await look('memory', memory);
  await look('files', () => misplaced(context));
  await look('files', () => fileModes(config, context));
  await look('books', () => books(config, context, wrongNow, seen));
  await look('writing', () => unstored(context.dir, seen));
  await look('landing', () => landing(config, context, isDeep));
  await look('alerts', () => alerts(context, wrongNow, seen));
  if (config !== undefined) await examineSinks(config, isOffline, context, look);
  context.progress('');
  return all;
}
