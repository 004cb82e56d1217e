import { setImmediate } from 'node:timers/promises';
import {
  type Forecaster,
  forecastByEngine,
  forecastPeriod,
  historyDays,
  notBelowSpent,
  type PeriodAsked,
} from '../../outlook/index.ts';
import { calendarOf, dayMs, type Holidays, type Instant, type Window } from '../../time/time.ts';
import { completeness } from '../../warehouse/ledger/index.ts';
import type { AnswerCache, Connection } from '../../warehouse/store/index.ts';
import { amountIn, type Budget, budgetCalendar, noForecastOf, type PlannedChange } from '../rules/budget.ts';
import { type ChangePart, withChanges } from '../rules/planned-change.ts';
import { costsOf, expectedOf, unanswerableOf } from '../spend/spend.ts';
import type { Spend } from '../spend/thresholds.ts';
import { readAnomalyShares } from './anomaly-shares.ts';
import { forecastAtPace } from './at-pace.ts';
import { cachingForecaster, type ForecastOrigin } from './cached-forecasts.ts';
import { changeParts, changePartsOf } from './change-shares.ts';
import {
  cutsOf,
  type ForecastWindow,
  forecastWindowOf,
  readHistories,
  type ScopeHistory,
} from './forecast-histories.ts';
import type { ScopeForecast } from './forecast-rows.ts';
import { withGoingOn } from './going-on.ts';
import { type KnownAnomaly, type NewEvaluation, readAnomaliesKnown } from './known-anomalies.ts';

export interface ForecastsAsked {
  readonly now: Instant;
  /** Accounts that the configuration names; empty means all. No new data is expected for others. */
  readonly configured: readonly string[];
  /** Dates on which days may cost more or less than usual. */
  readonly holidays?: Holidays;
  readonly budgets: readonly Budget[];
  /** Whether to also forecast every workspace and resource type with recent costs, by month. */
  readonly withWorkspaces: boolean;
  /** Only these workspaces, if any are named. */
  readonly workspaces?: readonly string[];
  readonly signal?: AbortSignal;
  /** Called with the name of each forecast. */
  readonly progress?: ((text: string) => void) | undefined;
  readonly forecaster?: Forecaster;
  /** An evaluation of anomalies that the books do not have yet. */
  readonly newAnomalies?: NewEvaluation | undefined;
  /** Changes to add to forecasts of workspaces: by default those of the budget file. A budget has its own. */
  readonly changes?: readonly PlannedChange[];
  /** Answers that are known already, such as forecasts that a run has stored, and to which new ones are added. */
  readonly cache?: AnswerCache | undefined;
}

/** The number of latest steps that a forecast includes. */
const recentSteps = 14;
/**
 * Forecasts every scope from the complete hours of the books: budgets in the given order, then workspaces. Daily budgets
 * are forecast from hours, the others from days that start at the hour at which the period ends. Histories end before
 * the first unproven hour, so that it never counts as 0.
 */
export async function readForecasts(connection: Connection, asked: ForecastsAsked): Promise<ScopeForecast[]> {
  const { budgets, workspaces = [], signal, progress, cache } = asked;
  const { holidays = new Set(), changes = budgets[0]?.changes ?? [] } = asked;
  const { ofBudgets, ofAccounts } = await windowsAsked(connection, asked);
  const spent = await spentOf(connection, ofBudgets, cache);
  const anomalies = await readAnomaliesKnown(connection, asked.now - historyDays[24] * dayMs, asked.newAnomalies);
  const shares = await readAnomalyShares(connection, budgets, { rows: anomalies.rows, now: asked.now, cache });
  const unusual = { anomalies, shares, holidays };
  const histories: ScopeHistory[] = [];
  for (const cut of cutsOf([...ofBudgets, ...ofAccounts])) {
    histories.push(...(await readHistories(connection, cut, ofBudgets, ofAccounts, unusual, cache)));
  }

  const made = maker(asked);
  /** Lets signals be handled between two forecasts. */
  async function pause(): Promise<void> {
    progress?.(`forecast ${forecasts.length}`);
    await setImmediate();
    signal?.throwIfAborted();
  }
  const forecasts: ScopeForecast[] = [];
  for (const line of ofBudgets) {
    const { budget, reason = 'no hour of it is complete yet', period, completeThrough, historyStart } = line;
    const scope = { kind: 'budget', budget } as const;
    const own = spent.get(budget);
    const history = histories.find(({ scope }) => scope.kind === 'budget' && scope.budget === budget);
    const { forecast: found, ...others } =
      completeThrough === undefined || own === undefined || history === undefined
        ? { forecast: { kind: 'none', reason } as const }
        : await made(
            { period, completeThrough, spent: own, steps: history.steps, timeZone: budget.timeZone },
            history.anomalies,
            (through) => changeParts(connection, budget, budget.changes ?? [], through, cache),
            budget.scope.unit,
          );
    const amount = amountIn(budget, period.name);
    const pace =
      found.kind === 'forecast' || completeThrough === undefined || own === undefined || history === undefined
        ? undefined
        : { period, completeThrough, historyStart, spent: own, history };
    const forecast =
      pace === undefined ? found : { ...found, atPace: await forecastAtPace(connection, budget, pace, cache) };
    forecasts.push({
      scope,
      periodKind: budget.period,
      period,
      completeThrough,
      spent: own,
      amount,
      forecast,
      ...others,
      recent: history && { stepHours: history.steps.stepHours, values: history.values.slice(-recentSteps) },
    });
    await pause();
  }
  for (const { scope, steps, anomalies: leftOut, spentFrom } of histories) {
    if (scope.kind === 'budget') continue;
    if (workspaces.length > 0 && (scope.workspace === null || !workspaces.includes(scope.workspace))) continue;
    const window = ofAccounts.find(({ account }) => account === scope.account);
    if (window?.completeThrough === undefined) continue;
    const { period, completeThrough } = window;
    const own = spentFrom(period.start);
    const found = await made({ period, completeThrough, spent: own, steps }, leftOut, (through) =>
      changePartsOf(connection, scope, changes, through, cache),
    );
    const known = { period, completeThrough, spent: own, amount: undefined };
    forecasts.push({ scope, periodKind: 'monthly', ...known, ...found });
    await pause();
  }
  return forecasts;
}

/** Makes the forecast of a scope from its history: what the engine makes of it or made before, changed by plans and anomalies. */
function maker({ holidays = new Set(), cache, forecaster: given }: ForecastsAsked) {
  let origin: ForecastOrigin | undefined;
  function onMade(of: ForecastOrigin): void {
    origin = of;
  }
  const forecaster =
    given ?? (cache === undefined ? forecastByEngine : cachingForecaster(cache, forecastByEngine, onMade));
  return async (
    input: PeriodAsked,
    unusual: readonly KnownAnomaly[],
    partsAt: (completeThrough: Instant) => Promise<readonly ChangePart[]>,
    unit?: string,
  ): Promise<Pick<ScopeForecast, 'forecast' | 'origin'>> => {
    const { period, completeThrough, spent } = input;
    origin = undefined;
    const forecast = await forecastPeriod({ timeZone: 'UTC', holidays, ...input }, forecaster);
    if (forecast.kind === 'none') return { forecast, origin };
    const { end } = period;
    const planned = withChanges(forecast, await partsAt(completeThrough), { spent, completeThrough, end, unit });
    return { forecast: withGoingOn(planned, unusual, { since: forecast.history.start, completeThrough, end }), origin };
  };
}

/** What to forecast of each budget and account: its period, and why it has no forecast if that is known already. */
async function windowsAsked(
  connection: Connection,
  { budgets, configured, withWorkspaces, now, cache }: ForecastsAsked,
): Promise<{
  readonly ofBudgets: (ForecastWindow & { readonly budget: Budget; readonly reason: string | undefined })[];
  readonly ofAccounts: (ForecastWindow & { readonly account: string })[];
}> {
  const accounts = await completeness(connection, cache);
  const unanswerable = await unanswerableOf(connection, budgets, cache);
  const ofBudgets = budgets.map((budget) => {
    const reason = noForecastOf(budget) ?? unanswerable.get(budget)?.[0];
    const ours = expectedOf(budget, accounts, configured);
    return { budget, reason, ...forecastWindowOf(budget.period, budgetCalendar(budget), ours, now) };
  });
  const expected = accounts.filter(({ account }) => configured.length === 0 || configured.includes(account));
  const ofAccounts = (withWorkspaces ? expected : []).map((account) => ({
    account: account.account,
    ...forecastWindowOf('monthly', calendarOf('monthly'), [account], now),
  }));
  return { ofBudgets, ofAccounts };
}

/** Adds to each spend the forecast of the same budget and period. */
export function withForecasts<T extends Spend>(spends: readonly T[], forecasts: readonly ScopeForecast[]): T[] {
  return spends.map((spend) => {
    const own = forecasts.find(
      ({ scope, period }) =>
        scope.kind === 'budget' && scope.budget.name === spend.budget && period.start === spend.period.start,
    );
    return own === undefined ? spend : { ...spend, forecast: notBelowSpent(own.forecast, spend.spent) };
  });
}

/** Spend of each budget in the complete hours of its period; budgets that cannot be evaluated are left out. */
async function spentOf(
  connection: Connection,
  lines: readonly (ForecastWindow & { readonly budget: Budget; readonly reason: string | undefined })[],
  cache: AnswerCache | undefined,
): Promise<ReadonlyMap<Budget, bigint>> {
  const asked = lines.flatMap(({ budget, reason, period, completeThrough }) =>
    completeThrough === undefined || reason !== undefined
      ? []
      : [{ budget, start: period.start, end: completeThrough } satisfies Window & { budget: Budget }],
  );
  const begun = asked.filter(({ start, end }) => start < end);
  const costs = begun.length === 0 ? [] : await costsOf(connection, begun, cache);
  return new Map(asked.map((line) => [line.budget, costs[begun.indexOf(line)]?.total ?? 0n]));
}
