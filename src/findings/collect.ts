import { join } from 'node:path';
import {
  type AnomalyFact,
  type AnomalyRules,
  type AnomalyState,
  anomalyFacts,
  evaluateAnomalies,
  readFeedback,
  readKnownAnomalies,
} from '../anomalies/index.ts';
import { exitCodes, MachineError, UsageError } from '../base/errors.ts';
import { nextWords } from '../base/next-step.ts';
import {
  type Budget,
  evaluateBudgets,
  type Forecaster,
  groupGaps,
  isAskedBy,
  readAnomalyShares,
  readForecasts,
  type ScopeForecast,
  type SpendNow,
  watchedSpends,
  withCarried,
  withForecasts,
} from '../budgets/index.ts';
import { runChecks } from '../query/index.ts';
import { completenessOf } from '../reports/index.ts';
import { formatInstant, formatSecond, type Holidays, hourMs, type Instant } from '../time/time.ts';
import {
  type AnswerCache,
  type Check,
  type CheckResult,
  type ClockReading,
  type Connection,
  completeness,
  contradictions,
  type KnownAlert,
  lastClocks,
  readChecks,
  runCheck,
  unprovenText,
  unprovenWindows,
} from '../warehouse/index.ts';
import type { BudgetAlertFact } from './budget-fact.ts';
import { dataFacts, heldFacts, readRows, type Severities } from './held.ts';
import { type HoursToCheck, hoursToCheck } from './hours-to-check.ts';
import { type AccountState, type CheckState, throughOf, type World } from './kind.ts';
import { type AlertFact, dataKindOf, parseFact } from './kinds/index.ts';
import { alertKey, diskKey, type LastRun } from './kinds/run.ts';
import { withKnownChecks } from './known-checks.ts';
import { withOwners } from './owners.ts';
import { withWithdrawn } from './transitions.ts';
import { namedAnomalies, withPressedBudgets, withUnusualCosts } from './unusual-costs.ts';

/** Everything that facts depend on besides the books. */
export interface AlertFactsOptions {
  readonly now: Instant;
  readonly freshnessHours: number;
  /** Days after the end of a closed month in which its invoice comes; undefined: as earlier months had one. */
  readonly invoiceDays?: number | undefined;
  /** Whether `now` was chosen, maybe in the past on purpose. */
  readonly isNowChosen?: boolean | undefined;
  /** Severities of alerts about the data that differ from the defaults, by kind. */
  readonly severities?: Severities;
  /** Accounts that the configuration names; empty means all. */
  readonly configured: readonly string[];
  /** Dates on which days may cost more or less than usual. */
  readonly holidays?: Holidays;
  /** Undefined if budgets are unknown: alerts of budgets do not change. */
  readonly budgets: readonly Budget[] | undefined;
  /** Whether to forecast workspaces too, to store it. Budgets are forecast in any case: a message says where they end. */
  readonly isForecastStored?: boolean;
  /** Mistakes in the files of budgets and anomaly rules: an alert names them. */
  readonly problem?: UsageError | undefined;
  /** Number of the run that evaluates, for the alert about mistakes. */
  readonly runNumber?: number;
  /** Undefined if the rules are unknown: alerts of anomalies do not change. */
  readonly anomalyRules?: AnomalyRules | undefined;
  /** Replaces the forecast engine. */
  readonly forecaster?: Forecaster;
  /** The user's own `sql` folder. */
  readonly overlay: string;
  readonly signal: AbortSignal;
  /** Whether `runChecks` only gives what checks of this run have found: that counts, not what is cached. */
  readonly areChecksRun?: boolean;
  /** Runs the checks, whose SQL may be the user's; by default on the same connection. */
  readonly runChecks?: (checks: readonly Check[], hours: HoursToCheck | undefined) => Promise<readonly CheckResult[]>;
  /** Answers that are known already, and to which new ones are added. */
  readonly cache?: AnswerCache | undefined;
  /** Called with the name of each step. */
  readonly onProgress?: ((words: string) => void) | undefined;
}

/** The facts of an evaluation. */
export interface AlertFacts {
  readonly facts: readonly AlertFact[];
  /** Why budgets could not be evaluated: there are no facts about them. */
  readonly problem: UsageError | undefined;
  /** Budgets whose spend in a period is unknown, one sentence per reason. They have no facts. */
  readonly missing: readonly string[];
  /** Forecasts to store, and forecasts that thresholds need. */
  readonly forecasts: readonly ScopeForecast[];
  /** The error of a failed forecast. Throw it after everything else was reported. */
  readonly bug: unknown;
  /** Spend of every budget in its watched periods. */
  readonly spends: readonly SpendNow[];
  /** Anomalies found. Store them before sending notifications. */
  readonly anomalies: AnomalyState;
}

/** Reads every fact that alerts need from the books, and compares it with the known alerts. */
export async function readAlertFacts(
  connection: Connection,
  known: readonly KnownAlert[],
  given: AlertFactsOptions,
): Promise<AlertFacts> {
  const { world, isClockBehind } = withSlowClock(await readWorld(connection, known, given), given);
  const rows = await readRows(connection, world);
  // By a clock that is behind, budgets and days would be those of the past.
  const asked = isClockBehind ? { ...given, budgets: undefined, anomalyRules: undefined } : given;
  if (asked.anomalyRules?.isOn === true) asked.onProgress?.('anomalies');
  const anomalies =
    asked.anomalyRules?.isOn === true ? await evaluateAnomalies(connection, asked.anomalyRules) : nothingFound;
  const budgets = await readBudgetFacts(connection, known, asked, anomalies).catch((error: unknown) => {
    // A budget that cannot be evaluated must not hide alerts about the data.
    if (!(error instanceof UsageError)) throw error;
    return { facts: [], problem: error, missing: [], forecasts: [], budgets: [], spends: [], bug: undefined };
  });
  const runs = (rows.run ?? []) as readonly LastRun[];
  const withMistakes = { ...rows, run: [...runs, ...mistakesRun([asked.problem, budgets.problem], runs, asked)] };
  const unusual = await withOwners(
    connection,
    factsOfAnomalies(anomalies, known, world, asked.anomalyRules),
    asked.cache,
  );
  const { budgets: asRead, spends } = budgets;
  const named = namedAnomalies(unusual, endedAnomalies(known), anomalies.present);
  const shares = await readAnomalyShares(connection, asRead, {
    ...{ rows: anomalies.present, now: asked.now, cache: asked.cache },
  });
  const facts = [
    ...withUnusualCosts(budgets.facts, asRead, spends, { named, shares }),
    ...dataFacts(withMistakes, world, known, asked.severities),
    ...withPressedBudgets(unusual, asRead, spends, shares),
  ];
  return { ...budgets, facts, anomalies };
}

/** The world with the clock of each account whose books are complete beyond it: the platform's clock is later than that. */
function withSlowClock(world: World, { now, isNowChosen = false }: AlertFactsOptions) {
  const accounts = world.accounts.map((account) => {
    const through = account.completeThrough === null ? now : Date.parse(account.completeThrough);
    if (isNowChosen || through <= now + hourMs) return account;
    const [platformAt, localAt] = [formatInstant(through), formatSecond(now)];
    return { ...account, clock: { aheadSeconds: Math.round((now - through) / 1000), platformAt, localAt } };
  });
  const isClockBehind = accounts.some((account, index) => account !== world.accounts[index]);
  return { world: { ...world, accounts }, isClockBehind };
}

/** The run that evaluates, as a failed one if its files have mistakes that no other failed command reports. */
function mistakesRun(
  given: readonly (UsageError | undefined)[],
  runs: readonly LastRun[],
  { now, runNumber = 0 }: AlertFactsOptions,
): readonly LastRun[] {
  const reported = runs.flatMap(({ outcome, error }) => (outcome === 'failed' ? (error ?? []) : []));
  const problems = given.flatMap((problem) =>
    problem === undefined || reported.includes(problem.found) ? [] : [problem],
  );
  const [first, ...others] = problems;
  if (first === undefined) return [];
  // Of several mistakes, each line has its own step.
  const error = others.length === 0 ? first.found : problems.map(({ message }) => message).join('\n');
  const nextStep = others.length === 0 && first.next !== undefined ? nextWords(first.next) : null;
  const run = { command: 'alert', runNumber, outcome: 'failed', exitCode: exitCodes.usage, error, nextStep };
  return [{ ...run, errorCode: first.failureCode ?? null, endedAt: formatSecond(now) }];
}

const nothingFound: AnomalyState = { anomalies: [], accounts: [], present: [], feedback: [] };

/** The last facts of alerts about anomalies that have ended. */
function endedAnomalies(known: readonly KnownAlert[]): AnomalyFact[] {
  return known.flatMap(({ key, isOpen, isNotified, fact: text }) => {
    const fact = !isOpen && isNotified && key.startsWith('anomaly/') ? parseFact(text) : undefined;
    return fact?.kind === 'anomaly' ? [fact] : [];
  });
}

/** The facts about anomalies. If detection is off, open alerts are withdrawn. */
function factsOfAnomalies(
  { present, feedback }: AnomalyState,
  known: readonly KnownAlert[],
  world: World,
  rules: AnomalyRules | undefined,
): AnomalyFact[] {
  if (rules === undefined) return [];
  const alerts = known.flatMap(({ key, isOpen, fact: text }) => {
    const fact = key.startsWith('anomaly/') ? parseFact(text) : undefined;
    return fact?.kind === 'anomaly' ? [{ key, isOpen, fact }] : [];
  });
  if (!rules.isOn) {
    return alerts.filter(({ isOpen }) => isOpen).map(({ fact }) => ({ ...fact, state: 'withdrawn' }));
  }
  return anomalyFacts(present, new Map(alerts.map(({ key, isOpen, fact }) => [key, { isOpen, fact }])), {
    ...{ notify: rules.notify, rules, feedback },
    completeThroughOf: (account) => throughOf(world, account),
  });
}

async function readBudgetFacts(
  connection: Connection,
  known: readonly KnownAlert[],
  {
    budgets: given,
    now,
    freshnessHours,
    configured,
    holidays = new Set(),
    isForecastStored = false,
    signal,
    forecaster,
    onProgress,
    cache,
  }: AlertFactsOptions,
  newAnomalies: AnomalyState,
): Promise<{
  facts: BudgetAlertFact[];
  problem: undefined;
  missing: string[];
  forecasts: readonly ScopeForecast[];
  budgets: readonly Budget[];
  spends: SpendNow[];
  bug: unknown;
}> {
  if (given === undefined)
    return { facts: [], problem: undefined, missing: [], forecasts: [], budgets: [], spends: [], bug: undefined };
  const open = known.flatMap((alert) => {
    const fact = alert.isOpen ? parseFact(alert.fact) : undefined;
    return fact?.kind === 'budget' ? [fact] : [];
  });
  const openPeriods = new Map<string, string[]>();
  for (const { budget, period } of open) openPeriods.set(budget, [...(openPeriods.get(budget) ?? []), period]);
  onProgress?.('budgets');
  const budgets = await withCarried(connection, given, { now, freshnessHours, configured, cache });
  const spent = await watchedSpends(connection, budgets, { now, freshnessHours, configured, cache, open: openPeriods });
  onProgress?.('forecasts');
  let forecasts: readonly ScopeForecast[] = [];
  let bug: unknown;
  try {
    forecasts = await readForecasts(connection, {
      now,
      configured,
      holidays,
      budgets,
      withWorkspaces: isForecastStored,
      withoutStored: isForecastStored,
      newAnomalies,
      signal,
      cache,
      ...(forecaster === undefined ? {} : { forecaster }),
    });
  } catch (error) {
    // A failed forecast must not hide alerts about spend.
    signal.throwIfAborted();
    bug = error;
  }
  const held = new Set(open.map(({ key }) => key));
  const spends = withForecasts(spent, forecasts);
  const facts = withWithdrawn(evaluateBudgets(budgets, spends, held), known, (fact) =>
    budgets.some((budget) => isAskedBy(budget, fact)),
  );
  const unknown = spends.filter(({ spent }) => spent === undefined);
  const missing = groupGaps(unknown).map(({ of, sentence }) => `${of}: ${sentence}`);
  return { facts, problem: undefined, missing, forecasts, budgets, spends, bug };
}

async function runAll(connection: Connection, checks: readonly Check[], signal: AbortSignal): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const check of checks) {
    results.push(await runCheck(connection, check));
    signal.throwIfAborted();
  }
  return results;
}

/** What readAccounts needs to know besides the books. */
interface AccountsAsked {
  readonly now: Instant;
  readonly freshnessHours: number;
  readonly configured: readonly string[];
  readonly cache?: AnswerCache | undefined;
}

async function readAccounts(
  connection: Connection,
  { now, freshnessHours, configured, cache }: AccountsAsked,
): Promise<readonly AccountState[]> {
  const accounts: AccountState[] = [];
  const clocks = await lastClocks(connection);
  for (const { account, completeThrough } of await completeness(connection, cache)) {
    const windows = [...(await unprovenWindows(connection, account)), ...(await contradictions(connection, account))];
    accounts.push({
      account,
      isConfigured: configured.length === 0 || configured.includes(account),
      completeThrough: completeThrough === undefined ? null : formatInstant(completeThrough),
      isTooOld: completeThrough === undefined || completeThrough < now - freshnessHours * hourMs,
      clock: clockOf(clocks.find((clock) => clock.account === account)),
      // Young hours may still change; the next run fetches them again.
      unproven: windows.filter(({ isYoung }) => !isYoung).map(unprovenText),
    });
  }
  return accounts;
}

/** The project whose checks are run again: in a child process, as they may be the user's. */
export interface ProjectOfChecks {
  readonly dir: string;
  readonly signal: AbortSignal;
  /** How long a check may take, by default 20 seconds: if it takes longer, its alert stays open. */
  readonly timeoutMs?: number;
}

/** What the checks of open alerts find now. */
async function checkAgain(
  facts: readonly AlertFact[],
  { dir, signal, timeoutMs = 20_000 }: ProjectOfChecks,
): Promise<readonly CheckState[]> {
  const names = new Set(facts.flatMap((fact) => (fact.kind === 'check' ? [fact.check] : [])));
  if (names.size === 0) return [];
  const checks = (await readChecks(join(dir, 'sql'))).filter(({ name }) => names.has(name));
  return (await runChecks(dir, checks, { signal, timeoutMs })).map(checkState);
}

/** Open alerts compared with the books as they are now. */
export interface CurrentCauses {
  /** The keys of those whose cause is gone: the next evaluation ends them. */
  readonly ended: ReadonlySet<string>;
  /** What the next evaluation would report of an alert, where commands since may have made its words wrong. */
  readonly facts: ReadonlyMap<string, AlertFact>;
}

/**
 * Which open alerts have lost their cause: the command has succeeded since, the books are fresh or proven again, the
 * month was reopened, the check passes. And the present words of those about closed months and anomalies. Reads only
 * what these alerts need. Without a project, alerts of checks stay open.
 */
export async function currentCauses(
  connection: Connection,
  open: readonly AlertFact[],
  now: Instant,
  project?: ProjectOfChecks,
): Promise<CurrentCauses> {
  const facts = open
    .filter((fact) => dataKindOf(fact) !== undefined && !unrecordedKeys.includes(fact.key))
    .filter(({ kind }) => kind !== 'check' || project !== undefined);
  const limits = facts.flatMap((fact) => (fact.kind === 'stale' ? [fact.freshnessHours] : []));
  const freshnessHours = limits.length === 0 ? 0 : Math.min(...limits);
  const accounts = open.some(({ account }) => account !== null)
    ? await readAccounts(connection, { now, freshnessHours, configured: [] })
    : [];
  const checks = project === undefined ? [] : await checkAgain(facts, project);
  const invoiceDays = facts.flatMap((fact) => (fact.kind === 'invoice' ? (fact.days ?? []) : []))[0];
  const world = { now, accounts, freshnessHours, invoiceDays, completeThrough: null, checks };
  const rows = await readRows(connection, world, ({ name }) => facts.some(({ kind }) => kind === name));
  const held = heldFacts(rows, world);
  const heldKeys = new Set(held.map(({ key }) => key));
  const current = [
    ...held.filter(({ kind }) => kind === 'closed_month'),
    ...(open.some(({ kind }) => kind === 'anomaly') ? await anomaliesNow(connection, open, world) : []),
  ];
  return {
    ended: new Set(facts.flatMap(({ key }) => (heldKeys.has(key) ? [] : [key]))),
    facts: new Map(current.map((fact) => [fact.key, fact])),
  };
}

/** The anomalies of open alerts as the books have them now: an alert has the amount of its last message. */
async function anomaliesNow(
  connection: Connection,
  open: readonly AlertFact[],
  world: World,
): Promise<readonly AnomalyFact[]> {
  const known = new Map(
    open.flatMap((fact) => (fact.kind === 'anomaly' ? [[fact.key, { isOpen: true, fact }] as const] : [])),
  );
  const asked = new Set(
    [...known.values()].flatMap(({ fact }) => [fact.key, ...(fact.parts ?? []).map(({ key }) => key)]),
  );
  const rows = (await readKnownAnomalies(connection, '1970-01-01')).filter((row) => asked.has(row.anomaly_key));
  return anomalyFacts(rows, known, {
    ...{ notify: [], feedback: await readFeedback(connection) },
    completeThroughOf: (account) => throughOf(world, account),
  });
}

/** Alerts whose cause the books do not record: books that cannot be written, a full disk, files that "alert" could not read. */
const unrecordedKeys: readonly string[] = ['books', diskKey, alertKey];

async function readWorld(
  connection: Connection,
  known: readonly KnownAlert[],
  {
    now,
    freshnessHours,
    invoiceDays,
    configured,
    overlay,
    signal,
    onProgress,
    runChecks: run,
    areChecksRun,
    cache,
  }: AlertFactsOptions,
): Promise<World> {
  const accounts = await readAccounts(connection, { now, freshnessHours, configured, cache });
  onProgress?.('checks');
  const ours = await readChecks(overlay);
  const hours = await hoursToCheck(connection, known);
  const runThem = run ?? ((checks: readonly Check[]) => runAll(connection, checks, signal));
  const results = await withKnownChecks(ours, hours, areChecksRun ? undefined : cache, runThem);
  const { completeThrough } = await completenessOf(connection);
  const checked = results.map(checkState);
  return { now, accounts, freshnessHours, invoiceDays, completeThrough, checks: checked, hours, known };
}

function checkState({ check: { name, about, severity }, offenders, error }: CheckResult): CheckState {
  const errorCode = error === undefined ? null : error instanceof MachineError ? 'machine' : 'sql';
  return { name, about, severity, offenders: offenders ?? null, error: error?.message ?? null, errorCode };
}

/** Both clocks, if ours was more than an hour ahead or behind. */
function clockOf(read: ClockReading | undefined): AccountState['clock'] {
  if (read === undefined || Math.abs(read.aheadSeconds) * 1000 <= hourMs) return null;
  const { aheadSeconds, platformAt, localAt } = read;
  return { aheadSeconds, platformAt: formatInstant(platformAt), localAt: formatInstant(localAt) };
}
