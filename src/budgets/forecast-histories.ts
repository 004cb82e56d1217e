import { wholeOfDecimal } from '../decimals.ts';
import { usdDecimals } from '../money.ts';
import {
  type CalendarPeriod,
  type calendarOf,
  dayMs,
  formatInstant,
  hourMs,
  type Instant,
  type PeriodKind,
} from '../time.ts';
import { type Completeness, type Connection, readSql } from '../warehouse/index.ts';
import type { Budget } from './budget.ts';
import type { ForecastScope } from './forecast-rows.ts';
import { historyDays, type Steps, stepHoursOf } from './period-forecast.ts';
import { earliest, scopesForSql } from './spend.ts';
import { fromBooks } from './usage-unit.ts';

/** A workspace and resource type without costs for this long is no longer forecast. */
const activeDays = 35;
/**
 * The longest history of a workspace and resource type: there are many of them, and choosing a model takes longer the
 * longer the history.
 */
const workspaceHistoryDays = 210;
/** The most workspaces and resource types to forecast per account: those with the highest recent costs. */
export const mostWorkspaces = 500;
/** Days that show the usual course of a day. */
const usualDays = 28;

/** The period to forecast, and the steps of its history. */
export interface ForecastWindow {
  readonly period: CalendarPeriod;
  readonly completeThrough: Instant | undefined;
  /** Undefined if nothing is complete. */
  readonly cut: Cut | undefined;
  /** The start of the books over all of its accounts. */
  readonly historyStart: Instant;
}

/** The steps of a history, up to the last complete hour. */
interface Cut {
  readonly stepHours: 1 | 24;
  /** Hours after midnight at which a daily step starts. */
  readonly align: number;
  readonly completeThrough: Instant;
}

/** The period of the first incomplete hour, over accounts that still get data. */
export function forecastWindowOf(
  kind: PeriodKind,
  calendar: ReturnType<typeof calendarOf>,
  accounts: readonly Completeness[],
  now: Instant,
): ForecastWindow {
  const completeThrough = earliest(accounts);
  const period = calendar.periodAt(completeThrough ?? now);
  const historyStart = Math.max(0, ...accounts.flatMap((account) => account.historyStart ?? []));
  const stepHours = stepHoursOf(kind);
  const align = stepHours === 1 ? 0 : Math.round(period.end / hourMs) % 24;
  const cut = completeThrough === undefined ? undefined : ({ stepHours, align, completeThrough } as const);
  return { period, completeThrough, cut, historyStart };
}

export function cutsOf(windows: readonly ForecastWindow[]): Cut[] {
  const cuts = new Map(windows.flatMap(({ cut }) => (cut === undefined ? [] : [[JSON.stringify(cut), cut] as const])));
  return [...cuts.values()];
}

/** The end of the last complete step, and the complete hours after it. */
function endOf({ stepHours, align, completeThrough }: Cut): { readonly end: Instant; readonly hours: number } {
  const hours = (Math.floor(completeThrough / hourMs) - align) % stepHours;
  return { end: completeThrough - hours * hourMs, hours };
}

/** The cost of a scope by step, or its usage. */
export interface ScopeHistory {
  readonly scope: ForecastScope;
  readonly steps: Steps;
  /** Spend in the complete hours since the start of a step, trillionths of a USD. */
  spentFrom(start: Instant): bigint;
}

/** The histories of budgets and workspaces with the same steps, in one pass over the costs. */
export async function readHistories(
  connection: Connection,
  cut: Cut,
  ofBudgets: readonly (ForecastWindow & { readonly budget: Budget; readonly reason: string | undefined })[],
  ofAccounts: readonly (ForecastWindow & { readonly account: string })[],
): Promise<ScopeHistory[]> {
  const isOurs = (window: ForecastWindow) => JSON.stringify(window.cut) === JSON.stringify(cut);
  const budgets = ofBudgets.filter((line) => isOurs(line) && line.reason === undefined);
  const accounts = ofAccounts.filter(isOurs);
  if (budgets.length + accounts.length === 0) return [];
  const isUsage = (line: { readonly budget: Budget }) => line.budget.scope.unit !== undefined;
  const ofUsage = budgets.filter(isUsage);
  // Usage is added up in a pass of its own.
  if (ofUsage.length > 0 && ofUsage.length < budgets.length + accounts.length) {
    const others = budgets.filter((line) => !isUsage(line));
    return [
      ...(await readHistories(connection, cut, others, accounts)),
      ...(await readHistories(connection, cut, ofUsage, [])),
    ];
  }
  const { end, hours } = endOf(cut);
  const stepMs = cut.stepHours * hourMs;
  const from = end - (budgets.length > 0 ? historyDays[cut.stepHours] : workspaceHistoryDays) * dayMs;
  const rows = await connection.rows(await readSql('forecasts', 'steps'), {
    scopes: scopesForSql(budgets.map(({ budget }) => budget)),
    has_label: budgets.some(({ budget }) => budget.scope.label !== undefined),
    has_owner: budgets.some(({ budget }) => budget.scope.owner !== undefined),
    with_workspaces: accounts.length > 0,
    align: cut.align,
    step_hours: cut.stepHours,
    first_hours: hours,
    from: formatInstant(from),
    to: formatInstant(cut.completeThrough),
    active_from: formatInstant(end - activeDays * dayMs),
    most: mostWorkspaces,
    of_usage: ofUsage.length > 0,
  });
  const costs = new Map<string, StepCost[]>();
  for (const row of rows) {
    const key = JSON.stringify([row['scope'], row['account'], row['workspace'], row['resource_type']]);
    const own = costs.get(key) ?? [];
    if (own.length === 0) costs.set(key, own);
    const unit = row['scope'] === null ? undefined : budgets[Number(row['scope'])]?.budget.scope.unit;
    own.push({
      start: (Number(row['step']) * cut.stepHours + cut.align) * hourMs,
      cost: fromBooks(wholeOfDecimal(String(row['cost']), usdDecimals), unit),
      firstCost: fromBooks(wholeOfDecimal(String(row['first_cost']), usdDecimals), unit),
    });
  }
  function historyOf(scope: ForecastScope, own: readonly StepCost[], historyStart: Instant): ScopeHistory {
    const begin = scope.kind === 'budget' ? from : Math.max(from, end - workspaceHistoryDays * dayMs);
    // The first step whose hours are all in the books.
    const start = Math.max(begin, end - Math.floor(Math.max(0, end - historyStart) / stepMs) * stepMs);
    const values = new Array<number>(Math.round((end - start) / stepMs)).fill(0);
    for (const { start: at, cost } of own) {
      const place = Math.round((at - start) / stepMs);
      if (place >= 0 && place < values.length) values[place] = Number(cost) / 10 ** usdDecimals;
    }
    const usual = own.filter(({ start: at }) => at < end && at >= end - usualDays * dayMs);
    const beginning = { hours, share: hours === 0 ? 0 : shareOfFirst(usual, hours / cut.stepHours) };
    return {
      scope,
      steps: { start, end, stepHours: cut.stepHours, values, beginning },
      spentFrom: (since) => own.reduce((sum, { start: at, cost }) => (at >= since ? sum + cost : sum), 0n),
    };
  }
  const histories = budgets.map(({ budget, historyStart }, scope) =>
    historyOf({ kind: 'budget', budget }, costs.get(JSON.stringify([scope, null, null, null])) ?? [], historyStart),
  );
  for (const [key, own] of costs) {
    const [, name, workspace, resourceType] = JSON.parse(key) as [unknown, string | null, string | null, string | null];
    const account = accounts.find((line) => line.account === name);
    if (account === undefined) continue;
    const scope = { kind: 'workspace', account: account.account, workspace, resourceType } as const;
    histories.push(historyOf(scope, own, account.historyStart));
  }
  return histories;
}

interface StepCost {
  readonly start: Instant;
  /** Trillionths of the scope's unit, like the next field. */
  readonly cost: bigint;
  readonly firstCost: bigint;
}

/** The share of the steps' cost in their first hours; `otherwise` if they cost nothing. */
function shareOfFirst(steps: readonly StepCost[], otherwise: number): number {
  const sum = (limits: readonly bigint[]) => Number(limits.reduce((total, amount) => total + amount, 0n));
  const whole = sum(steps.map(({ cost }) => cost));
  const share = whole > 0 ? sum(steps.map(({ firstCost }) => firstCost)) / whole : otherwise;
  return Math.min(1, Math.max(0, share));
}
