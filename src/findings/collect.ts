import {
  type AnomalyFact,
  type AnomalyRules,
  type AnomalyState,
  anomalyFacts,
  evaluateAnomalies,
} from '../anomalies/index.ts';
import { asOneError, exitCodes, UsageError } from '../base/errors.ts';
import { factsOfFailures, failuresOf } from '../base/failure.ts';
import { readAnomalyShares, readForecasts, type ScopeForecast, withForecasts } from '../budgets/forecasts/index.ts';
import type { Budget } from '../budgets/rules/index.ts';
import {
  evaluateBudgets,
  groupGaps,
  isAskedBy,
  type SpendNow,
  watchedSpends,
  withCarried,
} from '../budgets/spend/index.ts';
import type { Forecaster } from '../outlook/index.ts';
import { completenessOf } from '../reports/formats/index.ts';
import { formatInstant, formatSecond, type Holidays, hourMs, type Instant } from '../time/time.ts';
import { type Check, type CheckResult, readChecks, runCheck } from '../warehouse/ledger/index.ts';
import type { AnswerCache, Connection } from '../warehouse/store/index.ts';
import type { KnownAlert } from '../warehouse/watch/index.ts';
import type { BudgetAlertFact } from './budget-fact.ts';
import { checkState, readAccounts } from './current.ts';
import { dataFacts, readRows, type Severities } from './held.ts';
import { type HoursToCheck, hoursToCheck } from './hours-to-check.ts';
import { throughOf, type World } from './kind.ts';
import { type AlertFact, parseFact } from './kinds/index.ts';
import type { LastRun } from './kinds/run.ts';
import { withKnownChecks } from './known-checks.ts';
import { listedCosts } from './owner-sources.ts';
import { withOwners } from './owners.ts';
import { withWithdrawn } from './transitions.ts';
import { namedAnomalies, withBudgetNews, withPressedBudgets, withUnusualCosts } from './unusual-costs.ts';
import { withUsualCosts } from './usual-costs.ts';

/** Everything that facts depend on besides the books. */
export interface AlertFactsOptions {
  readonly now: Instant;
  /** The project folder, whose disk is looked at. */
  readonly dir?: string | undefined;
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
  // `status` shows it; a run keeps the answer.
  if (given.cache !== undefined) await listedCosts(connection, given.cache);
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
    ...withBudgetNews(withUnusualCosts(budgets.facts, asRead, spends, { named, shares }), known),
    ...dataFacts(withMistakes, world, known, asked.severities),
    // What is excluded is a cause of what budgets report, and no alert of its own.
    ...withPressedBudgets(unusual.filter(isToTell), asRead, spends, shares),
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
  const reported = runs.filter(({ outcome }) => outcome === 'failed').flatMap(({ failures }) => failures);
  const isReported = (error: UsageError) =>
    failuresOf(error).every(({ found }) => reported.some((failure) => failure.found === found));
  const problems = given.flatMap((problem) => (problem === undefined || isReported(problem) ? [] : [problem]));
  const [first] = problems;
  if (first === undefined) return [];
  const run = { command: 'alert', runNumber, outcome: 'failed', exitCode: exitCodes.usage, endedAt: formatSecond(now) };
  const failures = failuresOf(asOneError(problems, { code: first.failureCode }));
  return [{ ...run, ...factsOfFailures(failures) }];
}

const nothingFound: AnomalyState = { anomalies: [], accounts: [], present: [], feedback: [] };

/** The last facts of alerts about anomalies that have ended. */
function endedAnomalies(known: readonly KnownAlert[]): AnomalyFact[] {
  return known.flatMap(({ key, isOpen, isNotified, fact: text }) => {
    const fact = !isOpen && isNotified && key.startsWith('anomaly/') ? parseFact(text) : undefined;
    return fact?.kind === 'anomaly' ? [fact] : [];
  });
}

function isToTell({ excluded, state }: AnomalyFact): boolean {
  return excluded === undefined || state === 'withdrawn';
}

/** The facts about anomalies. Open alerts are withdrawn if detection is off, or no run reads their account. */
function factsOfAnomalies(
  { present, feedback }: AnomalyState,
  known: readonly KnownAlert[],
  world: World,
  rules: AnomalyRules | undefined,
): AnomalyFact[] {
  if (rules === undefined) return [];
  const alerts = known.flatMap(({ key, isOpen, isWithdrawn, fact: text }) => {
    const fact = key.startsWith('anomaly/') ? parseFact(text) : undefined;
    return fact?.kind === 'anomaly' ? [{ key, isOpen, isWithdrawn, fact }] : [];
  });
  const ended = world.accounts.filter(({ isConfigured }) => !isConfigured).map(({ account }) => account);
  const gone = alerts.filter(({ isOpen, fact }) => isOpen && (!rules.isOn || ended.includes(fact.account)));
  const withdrawn = gone.map(({ fact }) => ({ ...fact, state: 'withdrawn' as const }));
  if (!rules.isOn) return withdrawn;
  const read = present.filter(({ account }) => !ended.includes(account));
  const found = anomalyFacts(read, new Map(alerts.map((alert) => [alert.key, alert])), {
    ...{ notify: rules.notify, rules, feedback },
    completeThroughOf: (account) => throughOf(world, account),
  });
  return [...found, ...withdrawn];
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

async function readWorld(
  connection: Connection,
  known: readonly KnownAlert[],
  {
    now,
    dir,
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
  const read = await readAccounts(connection, { now, freshnessHours, configured, cache });
  const accounts = await withUsualCosts(connection, read, now, cache);
  onProgress?.('checks');
  const ours = await readChecks(overlay);
  const hours = await hoursToCheck(connection, known);
  const runThem = run ?? ((checks: readonly Check[]) => runAll(connection, checks, signal));
  const results = await withKnownChecks(ours, hours, areChecksRun ? undefined : cache, runThem);
  const { completeThrough } = await completenessOf(connection);
  const checked = results.map(checkState);
  return { now, dir, accounts, freshnessHours, invoiceDays, completeThrough, checks: checked, hours, known };
}
