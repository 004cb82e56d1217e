import { exitCodeOf, exitCodes } from '../base/errors.ts';
import { failuresOf } from '../base/failure.ts';
import { causeInMisplaced } from '../base/misplaced.ts';
import { type LocalConfig, usualFreshnessHours } from '../config/index.ts';
import type { Job } from '../jobs/index.ts';
import type { Instant } from '../time/time.ts';
import { openBooks } from '../warehouse/integrity/index.ts';
import { alerts, books, hasBooks, landing, lastRun, platformTimes } from './books.ts';
import type { HealthContext } from './context.ts';
import {
  type Diagnosis,
  diagnosisOf,
  explains,
  type Found,
  faultsIn,
  foundOf,
  isSameFault,
  type Look,
  nothingSeen,
  type Seen,
  withProblem,
} from './found.ts';
import { disk, fileModes, memory, misplaced, program } from './machine.ts';
import { platform, token } from './platform.ts';
import { configuration, currency, jobs, local, sqlFiles } from './settings.ts';
import { examineSinks } from './sinks.ts';
import { readStatus, statusSettings } from './status.ts';
import type { JobFileFaults, Status } from './status-types.ts';

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
  /** The purposes of the project's files that have mistakes. */
  jobFilesOf(config: LocalConfig): Promise<readonly JobFileFaults[]>;
  /** Called with each diagnosis as it is found. */
  onFound(diagnosis: Diagnosis): Promise<void>;
}

/**
 * Checks everything that a nightly run needs, and reports the problems of the status. A fault that several checks meet is
 * reported once; what follows from it is named with it.
 */
export async function examine(examination: Examination, context: HealthContext): Promise<readonly Diagnosis[]> {
  const { isOffline, isDeep, isNowGiven, readJobs } = examination;
  const report = openReport(examination, context);
  const { look, all } = report;
  await look('program', program);
  let read: LocalConfig | undefined;
  await look('configuration', () => {
    read = local(context);
    return configuration(context);
  });
  const config = read as LocalConfig | undefined; // assigned in a closure that the compiler does not see
  await report.readProblems(config, context.effects.now());
  await look('jobs', () => jobs(config, context, readJobs, report.status()?.alerts.list ?? []));
  if (config?.currency !== undefined) await look('currency', () => currency(config, context));
  await look('sql', () => sqlFiles(context));
  const seen = nothingSeen();
  const wrongNow = new Map<string, number>(); // how far the clock in use is ahead of the platform's, if it is wrong
  for (const account of config?.accounts ?? []) {
    const of = account.id === undefined ? '' : ` ${account.id}`;
    const asked = config === undefined || isOffline ? undefined : { config, isNowGiven, wrongNow, seen };
    await lookAtAccess(account, of, asked, { context, look, seen });
  }
  await look('disk', () => disk(context));
  await look('memory', memory);
  await look('files', () => misplaced(context));
  await look('files', () => fileModes(config, context));
  // The books are as old as the platform's clock says; a wrong clock of ours is reported already.
  const now = Math.max(...platformTimes(context.effects, wrongNow));
  const status = wrongNow.size === 0 ? report.status() : await report.readProblems(config, now);
  await look('books', () => books(config, context, wrongNow, status));
  const waiting = (status?.alerts.waiting ?? []).map(({ sink }) => sink);
  if (config !== undefined) await examineSinks(config, { isOffline, waiting }, context, look);
  await report.showProblems();
  if (status !== undefined) await look('books', () => lastRun(status));
  await look('landing', () => landing(config, context, isDeep));
  if (status !== undefined) await look('alerts', () => alerts(status, wrongNow, seen));
  context.progress('');
  return all;
}

/** Looks at an account's token and platform: a token that the platform refuses is not called fine. */
async function lookAtAccess(
  account: LocalConfig['accounts'][number],
  of: string,
  asked: (Parameters<typeof platform>[3] & { readonly config: LocalConfig }) | undefined,
  { context, look, seen }: { readonly context: HealthContext; readonly look: Look; readonly seen: Seen },
): Promise<void> {
  let answer: Promise<readonly Found[]> | undefined;
  await look(`token${of}`, async () => {
    const found = await token(account, context, seen);
    if (asked === undefined || found.some(({ state }) => state !== 'ok')) return found;
    answer = platform(account, asked.config, context, asked);
    const isRefused = await answer.then(
      (all) => all.some(({ cause }) => typeof cause === 'object' && cause.code === 'answered_401'),
      (error) => failuresOf(error).some(({ code }) => code === 'answered_401'),
    );
    return isRefused ? [] : found;
  });
  if (asked !== undefined) await look(`platform${of}`, () => answer ?? platform(account, asked.config, context, asked));
}

/** Collects and shows what is found. */
function openReport({ onFound, jobFilesOf }: Examination, context: HealthContext) {
  const { dir, signal } = context;
  const all: Diagnosis[] = [];
  const shown = new Set<string>();
  let status: Status | undefined;
  async function show(subject: string, seen: Found): Promise<void> {
    // Several checks may meet the same fault; it is reported once.
    if (seen.state !== 'ok' && all.some((before) => isSameFault(before, context.redact(seen.found)))) return;
    const problem = status?.problems.find((one) => !shown.has(one.key) && explains(seen, one));
    if (problem !== undefined) shown.add(problem.key);
    const found = problem === undefined ? seen : withProblem(seen, problem);
    const words = context
      .redact(found.found)
      .replace(/^account ([^,:]+): /, (prefix, id) => (subject.endsWith(` ${id}`) ? '' : prefix));
    const diagnosis = diagnosisOf(subject, { ...found, found: words });
    all.push(diagnosis);
    await onFound(diagnosis);
  }
  async function look(subject: string, work: () => Promise<readonly Found[]> | readonly Found[]): Promise<void> {
    context.progress(`checking ${subject}`);
    signal.throwIfAborted();
    let found: readonly Found[];
    try {
      found = await work();
    } catch (error) {
      signal.throwIfAborted();
      if (causeInMisplaced(error, dir).length > 0) return; // reported with the files
      // What cannot be checked counts as failed; bugs are thrown on.
      if (exitCodeOf(error) === exitCodes.bug) throw error;
      found = faultsIn(error);
    }
    for (const one of found) await show(subject, one);
  }
  return {
    all,
    look,
    status: () => status,
    /** Reads the status, if there are books that can be read: they are reported when they are looked at. */
    async readProblems(config: LocalConfig | undefined, now: Instant): Promise<Status | undefined> {
      context.progress('checking books');
      if (!(await hasBooks(dir))) return undefined;
      status = await statusNow(config, now).catch((error: unknown) => {
        signal.throwIfAborted();
        if (exitCodeOf(error) === exitCodes.bug) throw error;
        return undefined;
      });
      return status;
    },
    async showProblems(): Promise<void> {
      for (const problem of status?.problems ?? []) {
        if (!shown.has(problem.key)) await show(problem.subject, foundOf(problem));
      }
    },
  };
  async function statusNow(config: LocalConfig | undefined, now: Instant): Promise<Status> {
    const opened = await openBooks(dir, { lockedDown: true, signal });
    try {
      const jobFiles = config === undefined ? [] : await jobFilesOf(config);
      const settings = statusSettings(config ?? { freshnessHours: usualFreshnessHours, accounts: [] });
      return await readStatus(opened, { ...{ dir, now, signal, ...settings, jobFiles }, isThorough: true });
    } finally {
      opened.close();
    }
  }
}
