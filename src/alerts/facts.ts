import {
  type AnomalyFact,
  type AnomalyRules,
  type AnomalyState,
  anomalyFacts,
  evaluateAnomalies,
} from '../anomalies/index.ts';
import {
  type Budget,
  type Driver,
  evaluateBudgets,
  type Forecaster,
  isAskedBy,
  isForecastAsked,
  readForecasts,
  type ScopeForecast,
  type SpendNow,
  watchedSpends,
  withForecasts,
} from '../budgets/index.ts';
import { UsageError } from '../errors.ts';
import { textOrNull } from '../optional-text.ts';
import { completenessOf } from '../reports/index.ts';
import { formatInstant, hourMs, type Instant } from '../time.ts';
import {
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
  type UnprovenWindow,
  unprovenWindows,
} from '../warehouse/index.ts';
import type { AlertFact, BudgetAlertFact } from './alert-facts.ts';
import { groupGaps } from './gap-words.ts';
import { alertRows } from './rows.ts';
import { type DataState, dataFacts, parseFact, type Severities, withWithdrawn } from './transitions.ts';

/** What facts are made of besides the books. */
export interface AlertFactsOptions {
  readonly now: Instant;
  readonly freshnessHours: number;
  /** How severe alerts about the data are, by kind, where it is not as usual. */
  readonly severities?: Severities;
  /** Accounts of the configuration, where it names any. */
  readonly configured: readonly string[];
  /** Undefined where nothing is known of them: alerts of budgets stay as they are. */
  readonly budgets: readonly Budget[] | undefined;
  /** Whether all is forecast, to be kept; otherwise only budgets that have a threshold of it. */
  readonly isForecastStored?: boolean;
  /** Undefined where nothing is known of them, as of budgets. */
  readonly anomalyRules?: AnomalyRules | undefined;
  /** What forecasts, in the place of the engine. */
  readonly forecaster?: Forecaster;
  /** The user's own `sql` folder. */
  readonly overlay: string;
  readonly signal: AbortSignal;
  /** Runs the checks, whose SQL may be the user's; by default on the connection that the facts are read from. */
  readonly runChecks?: (checks: readonly Check[]) => Promise<readonly CheckResult[]>;
  /** Told what is being looked at. */
  readonly onProgress?: ((words: string) => void) | undefined;
}

/** The facts, and what is wrong with budgets so that there are none of them. */
export interface AlertFacts {
  readonly facts: readonly AlertFact[];
  readonly problem: UsageError | undefined;
  /** Budgets of which nothing is known in a period, a sentence for each reason: there is no fact of them. */
  readonly missing: readonly string[];
  /** Those that are to be kept, and those that thresholds ask for. */
  readonly forecasts: readonly ScopeForecast[];
  /** What failed where nothing could be forecast: everything else is told before it is thrown. */
  readonly bug: unknown;
  /** What is spent on every budget in its watched periods. */
  readonly spends: readonly SpendNow[];
  /** What was found of anomalies: to be kept before anybody is told. */
  readonly anomalies: AnomalyState;
}

/** Reads from the books every fact that alerts are made of, beside the alerts that are known. */
export async function readAlertFacts(
  connection: Connection,
  known: readonly KnownAlert[],
  asked: AlertFactsOptions,
): Promise<AlertFacts> {
  const state = await readDataState(connection, asked);
  if (asked.anomalyRules?.isOn === true) asked.onProgress?.('anomalies');
  const anomalies =
    asked.anomalyRules?.isOn === true ? await evaluateAnomalies(connection, asked.anomalyRules) : nothingFound;
  const data = [
    ...dataFacts(state, known, asked.severities),
    ...factsOfAnomalies(anomalies, known, state, asked.anomalyRules),
  ];
  try {
    const { facts, ...others } = await readBudgetFacts(connection, known, asked);
    return { facts: [...facts, ...data], problem: undefined, ...others, anomalies };
  } catch (error) {
    // A budget that these books cannot answer must not keep what is wrong with the data from being told.
    if (!(error instanceof UsageError)) throw error;
    return { facts: data, problem: error, missing: [], forecasts: [], spends: [], bug: undefined, anomalies };
  }
}

const nothingFound: AnomalyState = { anomalies: [], accounts: [], present: [] };

/** The facts of anomalies; where nobody wants to know of any, open alerts of them are withdrawn. */
function factsOfAnomalies(
  { present }: AnomalyState,
  known: readonly KnownAlert[],
  { accounts }: DataState,
  rules: AnomalyRules | undefined,
): AnomalyFact[] {
  if (rules === undefined) return [];
  const told = known.flatMap(({ key, isOpen, fact: text }) => {
    const fact = key.startsWith('anomaly/') ? parseFact(text) : undefined;
    return fact?.kind === 'anomaly' ? [{ key, isOpen, fact }] : [];
  });
  if (!rules.isOn) {
    return told.filter(({ isOpen }) => isOpen).map(({ fact }) => ({ ...fact, state: 'withdrawn' }));
  }
  return anomalyFacts(present, new Map(told.map(({ key, isOpen, fact }) => [key, { isOpen, fact }])), {
    notify: rules.notify,
    completeThroughOf: (account) => accounts.find((row) => row.account === account)?.completeThrough ?? null,
  });
}

async function readBudgetFacts(
  connection: Connection,
  known: readonly KnownAlert[],
  {
    budgets,
    now,
    freshnessHours,
    configured,
    isForecastStored = false,
    signal,
    forecaster,
    onProgress,
  }: AlertFactsOptions,
): Promise<{
  facts: BudgetAlertFact[];
  missing: string[];
  forecasts: readonly ScopeForecast[];
  spends: SpendNow[];
  bug: unknown;
}> {
  if (budgets === undefined) return { facts: [], missing: [], forecasts: [], spends: [], bug: undefined };
  const open = known.flatMap((alert) => {
    const fact = alert.isOpen ? parseFact(alert.fact) : undefined;
    return fact?.kind === 'budget' ? [fact] : [];
  });
  const openPeriods = new Map<string, string[]>();
  for (const { budget, period } of open) openPeriods.set(budget, [...(openPeriods.get(budget) ?? []), period]);
  onProgress?.('budgets');
  const spends = await watchedSpends(connection, budgets, { now, freshnessHours, configured, open: openPeriods });
  onProgress?.('forecasts');
  let forecasts: readonly ScopeForecast[] = [];
  let bug: unknown;
  try {
    forecasts = await readForecasts(connection, {
      now,
      configured,
      budgets: isForecastStored ? budgets : budgets.filter(isForecastAsked),
      withWorkspaces: isForecastStored,
      withoutStored: isForecastStored,
      signal,
      ...(forecaster === undefined ? {} : { forecaster }),
    });
  } catch (error) {
    // A model that fails must not keep what is spent from being told.
    signal.throwIfAborted();
    bug = error;
  }
  const held = new Set(open.map(({ key }) => key));
  const facts = withWithdrawn(evaluateBudgets(budgets, withForecasts(spends, forecasts), held), known, (fact) =>
    budgets.some((budget) => isAskedBy(budget, fact)),
  );
  const unknown = spends.filter(({ spent }) => spent === undefined);
  const missing = groupGaps(unknown).map(({ of, sentence }) => `${of}: ${sentence}`);
  return { facts, missing, forecasts, spends, bug };
}

async function runAll(connection: Connection, checks: readonly Check[], signal: AbortSignal): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const check of checks) {
    results.push(await runCheck(connection, check));
    signal.throwIfAborted();
  }
  return results;
}

async function readDataState(
  connection: Connection,
  { now, freshnessHours, configured, overlay, signal, onProgress, runChecks }: AlertFactsOptions,
): Promise<DataState> {
  const accounts: DataState['accounts'][number][] = [];
  const clocks = await lastClocks(connection);
  for (const { account, completeThrough } of await completeness(connection)) {
    const windows = [...(await unprovenWindows(connection, account)), ...(await contradictions(connection, account))];
    accounts.push({
      account,
      isConfigured: configured.length === 0 || configured.includes(account),
      completeThrough: completeThrough === undefined ? null : formatInstant(completeThrough),
      isTooOld: completeThrough === undefined || completeThrough < now - freshnessHours * hourMs,
      clock: clockOf(clocks.find((clock) => clock.account === account)),
      // Young hours may still be changing: the next run asks for them.
      unproven: windows.filter(({ isYoung }) => !isYoung).map(toText),
    });
  }
  const checks: DataState['checks'][number][] = [];
  onProgress?.('checks');
  const ours = await readChecks(overlay);
  for (const { check, offenders, error } of await (runChecks?.(ours) ?? runAll(connection, ours, signal))) {
    const { name, about, severity } = check;
    checks.push({ name, about, severity, offenders: offenders ?? null, error: error?.message ?? null });
  }
  return {
    accounts,
    freshnessHours,
    completeThrough: (await completenessOf(connection)).completeThrough,
    checks,
    runs: (await alertRows(connection, 'last_runs')).map((row) => ({
      command: String(row['command']),
      runNumber: Number(row['run_number']),
      outcome: String(row['outcome']),
      exitCode: row['exit_code'] === null ? null : Number(row['exit_code']),
      error: textOrNull(row['error']),
      endedAt: textOrNull(row['ended_at']),
    })),
    closedMonths: (await alertRows(connection, 'closed_months')).map((row) => ({
      account: String(row['account']),
      month: String(row['month']),
      cost: String(row['cost']),
      corrections: Number(row['corrections']),
      deliveredIn: String(row['months']).split(','),
      drivers: JSON.parse(String(row['drivers'])) as Driver[],
    })),
    dimensions: (await alertRows(connection, 'unknown_dimensions')).map((row) => ({
      account: String(row['account']),
      dimension: String(row['dimension']),
      firstHour: String(row['first_hour']),
      cost: String(row['cost']),
    })),
  };
}

/** What the clocks said, where ours was ahead by more than an hour. */
function clockOf(read: ClockReading | undefined): DataState['accounts'][number]['clock'] {
  if (read === undefined || read.aheadSeconds * 1000 <= hourMs) return null;
  const { aheadSeconds, platformAt, localAt } = read;
  return { aheadSeconds, platformAt: formatInstant(platformAt), localAt: formatInstant(localAt) };
}

function toText({ window, reason, costDifference }: UnprovenWindow): DataState['accounts'][number]['unproven'][number] {
  return {
    start: formatInstant(window.start),
    end: formatInstant(window.end),
    reason,
    costDifference: costDifference ?? null,
  };
}
