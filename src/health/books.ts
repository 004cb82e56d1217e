import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { aboveWords, countWords } from '../alerts/index.ts';
import type { Effects } from '../base/effects.ts';
import { exitCodes, UsageError } from '../base/errors.ts';
import { faultAndStep, firstOf } from '../base/failure.ts';
import { act, clockStep, repair, wait } from '../base/next-step.ts';
import { budgetsFile, loadBudgets, staleCounts } from '../budgets/rules/index.ts';
import type { LocalConfig } from '../config/index.ts';
import { openLandingWriter } from '../fetch/index.ts';
import { isRefusedClose, keyOfFinding, type OpenAlert } from '../findings/index.ts';
import { checkLanding } from '../ingest/index.ts';
import { counted } from '../text/counted.ts';
import { clockToleranceMs } from '../time/clock.ts';
import { describeSpan, formatSecond, type Instant } from '../time/time.ts';
import {
  type Books,
  findTraces,
  loadsOfSnapshot,
  openBooks,
  readAllTables,
  readSeal,
  snapshotFile,
  warehouseBytes,
  warehouseFault,
} from '../warehouse/integrity/index.ts';
import { completeness, lastClocks } from '../warehouse/ledger/index.ts';
import { readSql } from '../warehouse/sql/index.ts';
import type { Connection } from '../warehouse/store/index.ts';
import type { HealthContext } from './context.ts';
import { type Found, fail, ok, type Seen, warn } from './found.ts';
import { earliest } from './platform.ts';
import { keysOf } from './problem.ts';
import type { Status } from './status-types.ts';

/** Whether anything was published. */
export async function hasBooks(dir: string): Promise<boolean> {
  return (await stat(snapshotFile(dir)).catch(() => undefined)) !== undefined;
}

/** A project without a published snapshot: its first ingest has not ended, or the file is lost. */
async function withoutBooks(dir: string): Promise<readonly Found[]> {
  const file = snapshotFile(dir);
  const isBegun = (await warehouseBytes(dir)) !== undefined;
  const { newestStored, hasJournal } = await findTraces(
    dir,
    await openLandingWriter(join(dir, 'data', 'landing')).newestLoad(),
  );
  if (!isBegun && newestStored === 0 && !hasJournal)
    return [warn(`there are no books yet in ${dirname(file)}`, act('run "costbook ingest".', 'ingest'))];
  const fault = await warehouseFault(dir);
  return [
    fail(
      exitCodes.unproven,
      `${file} is missing${fault === undefined ? '' : `, and data/warehouse.duckdb ${fault}`}`,
      repair(', unless the first "costbook ingest" is still running'),
    ),
  ];
}

/**
 * What is right about the books, and what is no problem of the status. Reads the snapshot, not the warehouse: an open
 * warehouse keeps writers out.
 */
export async function books(
  config: LocalConfig | undefined,
  { dir, effects, signal }: HealthContext,
  wrongNow: ReadonlyMap<string, number>,
  status: Status | undefined,
): Promise<readonly Found[]> {
  if (!(await hasBooks(dir))) return withoutBooks(dir);
  const snapshot = await openBooks(dir, { lockedDown: true, signal });
  const found: Found[] = [];
  try {
    const { connection } = snapshot;
    const [row] = await connection.rows(await readSql('status', 'hours'));
    found.push(
      Number(row?.['last'] ?? 0) <= Number(row?.['loads'] ?? 0)
        ? ok(
            `${join('data', 'costbook.duckdb')} can be read and has the present format, with ${row?.['hours']} rows of hourly costs`,
          )
        : fail(exitCodes.unproven, 'the books have hours that belong to no known load', repair()),
    );
    await readAllTables(connection, 'wh');
    if (status?.begun) found.push(ok(`these books began at ${status.begun}, with their first run`));
    for (const { account, completeThrough, isTooOld, isConfigured } of status?.accounts ?? []) {
      if (isConfigured && !isTooOld) found.push(ok(`account ${account} is complete through ${completeThrough}`));
    }
    const configured = (config?.accounts ?? []).flatMap(({ id }) => id ?? []);
    found.push(...(await executionsFound(connection)));
    found.push(...countsFound(dir, effects.now(), earliest(await completeness(connection), configured)));
    for (const { account, aheadSeconds, platformAt, localAt } of await lastClocks(connection)) {
      // A difference to the platform's present clock is reported already.
      if (Math.abs(aheadSeconds) * 1000 <= clockToleranceMs || wrongNow.has(account)) continue;
      found.push(
        warn(
          `this machine's clock was ${describeSpan(Math.abs(aheadSeconds) * 1000)} ${aheadSeconds > 0 ? 'ahead' : 'behind'} in the last ingest of ${account}: it showed ` +
            `${formatSecond(localAt)}, the platform's ${formatSecond(platformAt)}`,
          clockStep,
        ),
      );
    }
    if (status?.unended === null && status.unstored.length === 0) {
      const loads = await unpublishedLoads(dir, snapshot);
      if (loads !== undefined)
        found.push(warn(loads, wait('until it ends. If none is active, run "costbook ingest".')));
    }
  } finally {
    snapshot.close();
  }
  return found;
}

const jobsShown = 5;

/** What executions explain of the compute of jobs: a difference is worth knowing, and no fault. */
async function executionsFound(connection: Connection): Promise<readonly Found[]> {
  return (await connection.rows(await readSql('status', 'job_executions'))).flatMap(
    ({ account, day, jobs, different }) => {
      const others = JSON.parse(String(different ?? '[]')) as Record<string, string>[];
      // A platform that shows no executions explains nothing.
      if (others.length === Number(jobs) && others.every(({ difference, billed }) => difference === billed)) return [];
      const words = others.slice(0, jobsShown).map(({ workspace, job, difference, billed }) => {
        const found = difference?.startsWith('-')
          ? `${difference.slice(1)} GB-seconds of tasks more than`
          : `${difference} in no task of`;
        return `; ${workspace}/${job}: ${found} ${billed} billed`;
      });
      const more = others.length > jobsShown ? `; and ${others.length - jobsShown} more` : '';
      return ok(
        `account ${account}: executions explain the compute of ${Number(jobs) - others.length} of ${counted(Number(jobs), 'job')} on ${day}${words.join('')}${more}`,
      );
    },
  );
}

/** How the last run ended, if it is no problem of the status. */
export function lastRun({ lastRun: run, problems }: Status): readonly Found[] {
  if (run === null) return [];
  const [command, outcome] = [String(run['command']), String(run['outcome'])];
  if (isRefusedClose({ command, outcome, exitCode: Number(run['exitCode']) }))
    return [ok(`the last run (${command}) was refused and changed nothing: ${firstOf(run.failures)}`)];
  // A run that could not open the books has no row in them.
  const isAll = outcome === 'done' && problems.every(({ isFailure, subject }) => !isFailure && subject !== 'runs');
  return isAll ? [ok(`the last run in the books (${command}) succeeded`)] : [];
}

/**
 * Whether the books can be rebuilt from the landing folder: each load's description and pages exist and, with `isDeep`,
 * have not changed since they were stored.
 */
export async function landing(
  config: LocalConfig | undefined,
  { dir, signal }: HealthContext,
  isDeep: boolean,
): Promise<readonly Found[]> {
  const sealed = await readSeal(snapshotFile(dir)).catch(() => undefined);
  if (sealed?.state !== 'intact') return []; // there are no books, or they are reported already
  const { fault, complete } = await checkLanding(
    {
      landingRoot: join(dir, 'data', 'landing'),
      afterLoad: 0,
      throughLoad: sealed.seal.loadNumber,
      loadsInBooks: () => loadsOfSnapshot(dir, signal),
      arePagesRemoved: config?.landing.keepDays !== undefined,
    },
    { isDeep },
  );
  if (fault !== undefined) {
    if (fault.isMovable) return [fail(exitCodes.unproven, fault.lost, repair(', which moves them'))];
    const { found, next } = faultAndStep(fault);
    return [
      fail(
        exitCodes.unproven,
        `the books are right, but cannot be rebuilt from nothing: ${found}`,
        next ?? act('restore data/landing from a backup.'),
      ),
    ];
  }
  const words = `${counted(complete, 'load')} with all pages`;
  return [ok(isDeep ? `${words}, unchanged since they were stored` : `${words}; "costbook doctor --deep" reads them`)];
}

const alertsShown = 5;

/** The open alerts that no problem above reports. */
export function alerts(
  { alerts: { list }, problems }: Status,
  wrongNow: ReadonlyMap<string, number>,
  { alertKeys }: Seen,
): readonly Found[] {
  // What nobody was notified of yet is no alert, and all the more to be told.
  if (list.length === 0) return problems.some(({ isFailure }) => isFailure) ? [] : [ok('no open alerts')];
  const above = new Set([
    ...keysOf(problems),
    ...alertKeys,
    ...[...wrongNow.keys()].map((account) => keyOfFinding('clock', account)),
  ]);
  const open = list.filter(({ key }: OpenAlert) => !above.has(key));
  const countAbove = list.length - open.length;
  if (open.length === 0) return [];
  const shown = open.slice(0, alertsShown);
  const more = open.length - shown.length;
  const lines = [
    `${countWords(list)}${aboveWords(list.length, countAbove)}`,
    ...shown.map(({ icon, title }) => `${icon} ${title}`),
    ...(more === 0 ? [] : [`and ${more} more`]),
  ];
  const text = lines.join('\n');
  return [open.every(({ needsNothing }) => needsNothing) ? ok(text) : warn(text, act('see "costbook alerts --open".'))];
}

/** The platforms' times, for accounts whose platform shows another time than the clock in use. */
export function platformTimes(effects: Effects, wrongNow: ReadonlyMap<string, number>): Instant[] {
  return [...wrongNow.values()].map((aheadMs) => effects.clockNow() - aheadMs);
}

/** The budgets for a cost per unit whose counts are far behind the costs. */
function countsFound(dir: string, now: Instant, costsThrough: Instant | undefined): readonly Found[] {
  try {
    const behind = (loadBudgets(budgetsFile(dir), { now }) ?? []).flatMap(
      (budget) => staleCounts(budget, costsThrough) ?? [],
    );
    return behind.map((words) => warn(words, act('continue the file of its counts.')));
  } catch (error) {
    if (error instanceof UsageError) return []; // reported with the other files
    throw error;
  }
}

/** Loads in the landing folder that the snapshot does not have; undefined if there are none. */
async function unpublishedLoads(dir: string, { published: seal }: Books): Promise<string | undefined> {
  const newest = await openLandingWriter(join(dir, 'data', 'landing')).newestLoad();
  if (newest <= seal.loadNumber + 1) return undefined;
  return `the landing folder has loads up to ${newest}, the snapshot up to ${seal.loadNumber}: a run is active or was killed`;
}
