import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { allOpenAlerts, countWords, unstoredStill } from '../alerts/index.ts';
import type { Effects } from '../base/effects.ts';
import { CostbookError, exitCodes, isForRepair, UsageError } from '../base/errors.ts';
import { failuresIn, faultAndStep, firstOf, textOf, unprovenWindowCode } from '../base/failure.ts';
import { act, clockStep, isRepair, type NextStep, nextWords, wait } from '../base/next-step.ts';
import { budgetsFile, loadBudgets, staleCounts } from '../budgets/rules/index.ts';
import type { LocalConfig } from '../config/index.ts';
import { openLandingWriter } from '../fetch/index.ts';
import {
  alertRows,
  diskKey,
  endedRunOf,
  isRefusedClose,
  isSameCause,
  type OpenAlert,
  stepAfterRun,
} from '../findings/index.ts';
import { checkLanding } from '../ingest/index.ts';
import { counted } from '../text/counted.ts';
import { clockToleranceMs } from '../time/clock.ts';
import { describeSpan, formatInstant, formatSecond, hourMs, type Instant } from '../time/time.ts';
import {
  type Books,
  findTraces,
  loadsOfSnapshot,
  openBooks,
  readAllTables,
  readSeal,
  snapshotFile,
  type UnendedRun,
  unendedRun,
  warehouseBytes,
  warehouseFault,
} from '../warehouse/integrity/index.ts';
import { completeness, lastClocks } from '../warehouse/ledger/index.ts';
import { readSql } from '../warehouse/sql/index.ts';
import type { Connection, SqlRow } from '../warehouse/store/index.ts';
import { futureInstants } from './books-clock.ts';
import type { HealthContext } from './context.ts';
import { faultsOfFiles, unpublishedLoads } from './files-of-books.ts';
import { type Found, fail, ok, type Seen, warn } from './found.ts';
import { earliest } from './platform.ts';
import { undelivered } from './undelivered.ts';
import { unendedWords } from './unended-words.ts';

/** Reads the snapshot, not the warehouse: an open warehouse keeps writers out. */
export async function books(
  config: LocalConfig | undefined,
  { dir, effects, signal }: HealthContext,
  wrongNow: ReadonlyMap<string, number>,
  seen: Seen,
): Promise<readonly Found[]> {
  const file = snapshotFile(dir);
  const published = await stat(file).catch(() => undefined);
  if (published === undefined) {
    const isBegun = (await warehouseBytes(dir)) !== undefined;
    const { newestStored, hasJournal } = await findTraces(
      dir,
      await openLandingWriter(join(dir, 'data', 'landing')).newestLoad(),
    );
    const fault = await warehouseFault(dir);
    seen.isForRepair = isBegun || newestStored > 0 || hasJournal;
    return [
      seen.isForRepair
        ? fail(
            exitCodes.unproven,
            `${file} is missing${fault === undefined ? '' : `, and data/warehouse.duckdb ${fault}`}`,
            'run "costbook repair", unless the first "costbook ingest" is still running',
          )
        : warn(`there are no books yet in ${dirname(file)}`, 'run "costbook ingest"'),
    ];
  }
  const snapshot = await openBooks(dir, { lockedDown: true, signal }).catch((error: unknown) => {
    seen.isForRepair = isForRepair(error);
    throw error;
  });
  const found: Found[] = [];
  try {
    const [row] = await snapshot.connection.rows(await readSql('status', 'hours'));
    found.push(
      Number(row?.['last'] ?? 0) <= Number(row?.['loads'] ?? 0)
        ? ok(`${join('data', 'costbook.duckdb')} is readable and current, with ${row?.['hours']} rows of hourly costs`)
        : fail(exitCodes.unproven, 'the books have hours that belong to no known load', 'run "costbook repair"'),
    );
    await readAllTables(snapshot.connection, 'wh');
    const faults = await faultsOfFiles(dir, snapshot, signal, { isThorough: true });
    for (const { found: words, remedy } of faults) found.push(fail(exitCodes.unproven, words, remedy));
    seen.isForRepair = faults.length > 0;
    const unended = await unendedRun(dir, snapshot);
    found.push(...(await unendedFound(unended, dir, snapshot, seen)));
    const failures = (await alertRows(snapshot.connection, 'last_runs')).filter((row) => row['outcome'] !== 'done');
    const ingest = failures.find((row) => row['command'] === 'ingest');
    const [unstoredAlert] = await unstoredStill(dir);
    const step = unstoredAlert?.step ?? (ingest === undefined ? undefined : stepAfterRun(endedRunOf(ingest)));
    const isHealed = faults.length > 0 && (ingest === undefined || isRepair(step));
    const ofFailure = step === undefined ? 'run "costbook ingest"' : nextWords(step);
    const remedy = isHealed ? afterRepair : ofFailure;
    const now = effects.now();
    // The books are as old as the platform's clock says; a wrong clock of ours is reported already.
    function nowOf(account: string): Instant {
      const aheadMs = wrongNow.get(account);
      return aheadMs === undefined ? now : effects.clockNow() - aheadMs;
    }
    const freshnessHours = config?.freshnessHours ?? 26;
    const configured = (config?.accounts ?? []).flatMap(({ id }) => id ?? []);
    for (const { account, completeThrough } of await completeness(snapshot.connection)) {
      if (configured.length > 0 && !configured.includes(account)) continue;
      const through = completeThrough === undefined ? 'nothing yet' : formatInstant(completeThrough);
      const words = `account ${account} is complete through ${through}`;
      const isOld = completeThrough === undefined || completeThrough < nowOf(account) - freshnessHours * hourMs;
      found.push(isOld ? fail(exitCodes.unproven, `${words}: older than ${freshnessHours} h`, remedy) : ok(words));
    }
    found.push(...countsFound(dir, now, earliest(await completeness(snapshot.connection), configured)));
    for (const { account, aheadSeconds, platformAt, localAt } of await lastClocks(snapshot.connection)) {
      // A difference to the platform's present clock is reported already.
      if (Math.abs(aheadSeconds) * 1000 <= clockToleranceMs || wrongNow.has(account)) continue;
      found.push(
        warn(
          `this machine's clock was ${describeSpan(Math.abs(aheadSeconds) * 1000)} ${aheadSeconds > 0 ? 'ahead' : 'behind'} in the last ingest of ${account}: it showed ` +
            `${formatSecond(localAt)}, the platform's ${formatSecond(platformAt)}`,
          nextWords(clockStep),
        ),
      );
    }
    const future = await futureInstants(
      snapshot.connection,
      Math.max(now, ...platformTimes(effects, wrongNow)), // dates after a slow clock are no fault
    );
    if (future !== undefined) found.push(warn(future.found, future.remedy));
    if (unended === undefined)
      found.push(...(await lastRunFound(snapshot.connection, { failures, now, dir, signal, seen })));
  } finally {
    snapshot.close();
  }
  return found;
}

/** A run that was killed or is active, and loads that it did not publish. */
async function unendedFound(
  unended: UnendedRun | undefined,
  dir: string,
  snapshot: Books,
  { isForRepair }: Seen,
): Promise<readonly Found[]> {
  if (unended === undefined) {
    const loads = await unpublishedLoads(dir, snapshot);
    return loads === undefined ? [] : [warn(loads, 'if no run is active, run "costbook ingest"')];
  }
  // What a run found and could not store explains why it has no end.
  if (!unended.isActive && (await unstoredStill(dir)).length > 0) return [];
  const { found, next } = unendedWords(unended);
  if (next === undefined) return [ok(found)];
  return [warn(found, isForRepair ? afterRepair : nextWords(next))];
}

const afterRepair = 'after the repair, run "costbook ingest"';

/** How the last run ended; nothing if an open alert has the same fact with its amount. */
async function lastRunFound(
  connection: Connection,
  {
    failures,
    now,
    dir,
    signal,
    seen,
  }: {
    readonly failures: readonly SqlRow[];
    readonly now: Instant;
    readonly dir: string;
    readonly signal: AbortSignal;
    readonly seen: Seen;
  },
): Promise<readonly Found[]> {
  const [last] = await connection.rows(await readSql('status', 'last_ended_run'));
  if (last === undefined) return [];
  // A step of a job has the same next step as its alert.
  const failedStep = failures.find((row) => row['run_number'] === last['run_number']);
  if (failedStep?.['error_code'] === unprovenWindowCode) {
    const open = await allOpenAlerts(connection, now, { dir, signal });
    if (open.some(({ key }) => key.startsWith('unproven/'))) return [];
  }
  if (failedStep !== undefined) seen.alertKeys.add(`run/${encodeURIComponent(String(failedStep['command']))}`);
  return [lastRun(last, failedStep, seen)];
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
    if (fault.isMovable) return [fail(exitCodes.unproven, fault.lost, 'run "costbook repair", which moves them')];
    const { found, next } = faultAndStep(fault);
    return [
      fail(
        exitCodes.unproven,
        `the books are right, but cannot be rebuilt from nothing: ${found}`,
        next === undefined ? 'restore data/landing from a backup' : nextWords(next),
      ),
    ];
  }
  const words = `${counted(complete, 'load')} with all pages`;
  return [ok(isDeep ? `${words}, unchanged since they were stored` : `${words}; "costbook doctor --deep" reads them`)];
}

/** How the last run ended, with the first line of each failed step. */
function lastRun(row: SqlRow, failedStep: SqlRow | undefined, { platformFaults, isForRepair }: Seen): Found {
  const [command, outcome] = [String(row['command']), String(row['outcome'])];
  const exitCode = row['exit_code'] === null ? null : Number(row['exit_code']);
  const failures = failuresIn(row['failures']);
  const reason = textOf(failures) ?? 'no reason is stored';
  if (outcome === 'done') return ok(`the last run in the books (${command}) succeeded`);
  if (isRefusedClose({ command, outcome, exitCode })) {
    return ok(`the last run (${command}) was refused and changed nothing: ${firstOf(failures)}`);
  }
  const step = stepAfterRun(endedRunOf(failedStep ?? row));
  // The findings about alerts and sinks have the reason and the step.
  if (exitCode === exitCodes.undelivered) {
    return warn(`the last run (${command}) ${outcome}: it could not deliver every message`, 'see the sinks below');
  }
  // The finding about the files has the reason and the step.
  if (isForRepair && isRepair(step))
    return warn(
      `the last run (${command}) ${outcome} for the same reason`,
      `after that, run "costbook ${command}" again`,
    );
  // The platform's own finding has the reason and the step.
  if (platformFaults.some((fault) => failures.some((failure) => isSameCause(fault, failure)))) {
    return warn(
      `the last run (${command}) ${outcome} for the same reason`,
      step.who === 'Act' ? `after that, run "costbook ${command}" again` : nextWords(step),
    );
  }
  return warn(`the last run (${command}) ${outcome}: ${reason}`, nextWords(step));
}

const alertsShown = 5;

/** The open alerts; nothing if there are no books. */
export async function alerts(
  { dir, effects, signal }: HealthContext,
  wrongNow: ReadonlyMap<string, number>,
  { alertKeys }: Seen,
): Promise<readonly Found[]> {
  if ((await stat(snapshotFile(dir)).catch(() => undefined)) === undefined) return [];
  const now = wrongNow.size === 0 ? effects.now() : Math.max(...platformTimes(effects, wrongNow));
  const isReported = ({ key }: OpenAlert) =>
    alertKeys.has(key) || [...wrongNow.keys()].some((account) => key === `clock/${account}`);
  return openAlertsOf(dir, now, isReported, signal).catch((error: unknown) => {
    if (error instanceof CostbookError) return []; // reported with the books
    throw error;
  });
}

/** The platforms' times, for accounts whose platform shows another time than the clock in use. */
function platformTimes(effects: Effects, wrongNow: ReadonlyMap<string, number>): Instant[] {
  return [...wrongNow.values()].map((aheadMs) => effects.clockNow() - aheadMs);
}

/** What a run found and the books could not store. */
export async function unstored(dir: string, { isForRepair, lacksSpace }: Seen): Promise<readonly Found[]> {
  // The fault of the files is reported with the books.
  const others = (await unstoredStill(dir)).filter(({ step }) => !(isForRepair && isRepair(step)));
  return others.map(({ key, title, detail, step, at }) =>
    fail(
      exitCodes.machine,
      `${title}${detail === undefined ? '' : `. ${detail}`} (a run found it at ${at})`,
      // The finding about the disk says what to do first.
      lacksSpace && key === diskKey ? afterSpace(step) : nextWords(step),
    ),
  );
}

/** The step after a full disk without its first part, which the finding about the disk has. */
function afterSpace({ runs: [command] = [] }: NextStep): string {
  return command === undefined
    ? nextWords(wait('the next run then loads what is missing.'))
    : nextWords(act(`after that, run "costbook ${command}" again.`));
}

async function openAlertsOf(
  dir: string,
  now: Instant,
  isReported: (alert: OpenAlert) => boolean,
  signal: AbortSignal,
): Promise<readonly Found[]> {
  const snapshot = await openBooks(dir, { lockedDown: true, signal });
  try {
    const all = await allOpenAlerts(snapshot.connection, now, { dir, signal });
    const waiting = (await undelivered(snapshot.connection)).map(({ found, remedy }) => warn(found, remedy));
    if (all.length === 0) return [ok('no open alerts'), ...waiting];
    const unstored = (await unstoredStill(dir)).map(({ key }) => key);
    const open = all.filter((alert) => !isReported(alert) && !unstored.includes(alert.key));
    const shown = open.slice(0, alertsShown);
    const above = all.length - open.length;
    const where = above === 0 ? '' : `, ${open.length === 0 ? '' : `${above} of them `}shown above`;
    const more = open.length - shown.length;
    const lines = [
      `${countWords(all)}${where}`,
      ...shown.map(({ icon, title }) => `${icon} ${title}`),
      ...(more === 0 ? [] : [`and ${more} more`]),
    ];
    return [warn(lines.join('\n'), 'see "costbook alerts --open"'), ...waiting];
  } finally {
    snapshot.close();
  }
}

/** The budgets for a cost per unit whose counts are far behind the costs. */
function countsFound(dir: string, now: Instant, costsThrough: Instant | undefined): readonly Found[] {
  try {
    const behind = (loadBudgets(budgetsFile(dir), { now }) ?? []).flatMap(
      (budget) => staleCounts(budget, costsThrough) ?? [],
    );
    return behind.map((words) => warn(words, 'continue the file of its counts'));
  } catch (error) {
    if (error instanceof UsageError) return []; // reported with the other files
    throw error;
  }
}
