import { setImmediate } from 'node:timers/promises';
import { UsageError } from '../../base/errors.ts';
import { moneyOf, usdDecimals } from '../../money/money.ts';
import { type Forecaster, forecastPeriod, historyDays, stepHoursOf } from '../../outlook/index.ts';
import {
  type CalendarPeriod,
  dayMs,
  floorDay,
  floorHour,
  formatInstant,
  type Holidays,
  hourMs,
  type Instant,
} from '../../time/time.ts';
import { readSql } from '../../warehouse/sql/index.ts';
import type { Connection } from '../../warehouse/store/index.ts';
import { anomaliesIn, readAnomalyShares } from '../forecasts/anomaly-shares.ts';
import { withGoingOn } from '../forecasts/going-on.ts';
import { anomaliesLeftOut, daysOf, type KnownAnomaly, readAnomalyHistory } from '../forecasts/known-anomalies.ts';
import {
  type DayShares,
  leftOutOf,
  readDayShares,
  type StepsCut,
  unusualBySteps,
  without,
} from '../forecasts/without-anomalies.ts';
import { type Budget, budgetCalendar } from '../rules/budget.ts';
import { fromBooks } from '../rules/usage-unit.ts';
import { hasHoursAt, reachedAt, readKnown } from '../spend/coverage-known.ts';
import { scopesForSql, unanswerableOf } from '../spend/spend.ts';
import { type BudgetFact, evaluateBudgets, isForecastAsked, type Spend } from '../spend/thresholds.ts';

/** A notification that would have been sent: a threshold reached, or no longer reached. */
export interface BudgetBacktestEvent extends Omit<BudgetFact, 'drivers'> {
  /** The end of the UTC day on which the books first knew it; now, if that is today. */
  readonly at: Instant;
}

/** The outcome of a period, as known at the end of the replay. */
export interface BacktestPeriod {
  readonly period: CalendarPeriod;
  /** Accounts whose books start within the period, one sentence each: earlier spend is unknown. */
  readonly gaps: readonly string[];
  /** Trillionths of the budget's unit; undefined if no cost is known. */
  readonly spent: bigint | undefined;
}

export interface BudgetBacktest {
  /** The start of the first period. */
  readonly from: Instant;
  /**
   * From here on the books of every account were updated daily; undefined if nothing was ever loaded. Earlier hours count
   * as known after their end plus the platform's lag.
   */
  readonly recordedSince: Instant | undefined;
  readonly periods: readonly BacktestPeriod[];
  /** By time, then by period and threshold. */
  readonly events: readonly BudgetBacktestEvent[];
}

/** Spend of a period as known from an instant on. */
export interface KnownSpend {
  readonly period: CalendarPeriod;
  readonly knownFrom: Instant;
  /** Trillionths of the budget's unit. */
  readonly spent: bigint;
  readonly gaps: readonly string[];
  /** The forecast at that instant; undefined if none was requested. */
  readonly forecast?: Spend['forecast'];
}

/**
 * The notifications of a budget at these instants, one for each change of a threshold's state. Spends of a period must be
 * in order of time. Pure.
 */
export function backtestFacts(
  budget: Budget,
  spends: readonly KnownSpend[],
  completeThroughAt: (instant: Instant) => Instant | undefined,
): BudgetBacktestEvent[] {
  const states = new Map<string, BudgetFact['state']>();
  const events: (BudgetBacktestEvent & { readonly order: number })[] = [];
  for (const { period, knownFrom, spent, gaps, forecast } of spends) {
    const spend = {
      budget: budget.name,
      period,
      spent,
      completeThrough: completeThroughAt(knownFrom),
      gaps,
      drivers: [],
      forecast,
    };
    const open = new Set([...states].flatMap(([key, state]) => (state === 'raised' ? [key] : [])));
    for (const { drivers: _, ...fact } of evaluateBudgets([budget], [spend], open)) {
      // Only raised thresholds can be resolved.
      const before = states.get(fact.key) ?? 'resolved';
      if (before === fact.state || (before !== 'raised' && fact.state !== 'raised')) continue;
      states.set(fact.key, fact.state);
      events.push({ ...fact, at: knownFrom, order: period.start });
    }
  }
  return events.sort((a, b) => a.at - b.at || a.order - b.order).map(({ order: _, ...event }) => event);
}

/**
 * Replays a budget from the start of the period that contains `from` up to now: which notifications it would have sent at
 * the end of each UTC day, with the costs known then. Each hour has its current labels and owners, so a rule can be tried
 * on months before it existed. Forecasts are computed only if a threshold needs them. Throws UsageError if the books have
 * no owners or labels at all, or if the time zone puts a boundary within an hour.
 */
export async function backtestBudget(
  connection: Connection,
  budget: Budget,
  { from, now, lagHours, signal, progress, forecaster, holidays = new Set() }: BacktestOptions,
): Promise<BudgetBacktest> {
  if (budget.per !== undefined) {
    throw new UsageError(
      `${budget.where}: budget ${budget.name}: a cost per ${budget.per.name} cannot be tested on the past, because the books ` +
        'do not record what was counted when',
    );
  }
  const [reason] = (await unanswerableOf(connection, [budget])).get(budget) ?? [];
  if (reason !== undefined) throw new UsageError(`${budget.where}: budget ${budget.name}: ${reason}`);
  const periods = periodsFrom(budget, from, now);
  const [first = { start: now, end: now }] = periods;
  const names = new Map(periods.map((period) => [period.start, period]));
  const end = periods.at(-1)?.end ?? now;
  const costsIn = async (starts: readonly Instant[]) => {
    const rows = await connection.rows(await readSql('budgets', 'backtest'), {
      scopes: scopesForSql([budget]),
      has_label: budget.scope.label !== undefined,
      has_owner: budget.scope.owner !== undefined,
      periods: JSON.stringify(starts.map((start) => ({ start: formatInstant(start) }))),
      from: formatInstant(starts[0] ?? now),
      to: formatInstant(end),
      now: formatInstant(now),
      lag_hours: lagHours,
      of_usage: budget.scope.unit !== undefined,
    });
    return rows.map((row) => ({
      start: Number(row['period_start']),
      knownFrom: Number(row['known_day']),
      cost: fromBooks(moneyOf(String(row['cost'])), budget.scope.unit),
    }));
  };
  const history = await readKnownHistory(connection, budget, lagHours);
  const spends = (await costsIn(periods.map(({ start }) => start))).flatMap(
    ({ start, knownFrom, cost }): KnownSpend[] => {
      const period = names.get(start);
      return period === undefined ? [] : [{ period, knownFrom, spent: cost, gaps: history.gapsIn(period) }];
    },
  );
  const forecasts = isForecastAsked(budget)
    ? await backtestForecasts(budget, {
        periods,
        spends,
        costsIn,
        now,
        forecaster,
        holidays,
        signal,
        progress,
        readUnusual: (aligns) => readUnusual(connection, budget, { aligns, from: first.start, holidays }),
        ...history,
      })
    : [];
  return {
    from: first.start,
    recordedSince: history.recordedSince,
    periods: periods.map((period) => ({
      period,
      spent: spends.findLast((spend) => spend.period === period)?.spent,
      gaps: history.gapsIn(period),
    })),
    events: backtestFacts(
      budget,
      // An entry with a forecast comes before the same entry without one.
      [...forecasts, ...spends].sort((a, b) => a.knownFrom - b.knownFrom),
      history.completeThroughAt,
    ),
  };
}

/** Options of a replay. */
export interface BacktestOptions {
  readonly from: Instant;
  readonly now: Instant;
  readonly lagHours: number;
  readonly signal?: AbortSignal;
  /** Called with the day that is being forecast. */
  readonly progress?: ((text: string) => void) | undefined;
  readonly forecaster?: Forecaster;
  /** Dates on which days may cost more or less than usual. */
  readonly holidays?: Holidays;
}

/** Spend of a window, which extends to the start of the next one, as known from an instant on. */
interface KnownCost {
  readonly start: Instant;
  readonly knownFrom: Instant;
  readonly cost: bigint;
}

interface ForecastBacktest extends Omit<KnownHistory, 'recordedSince'> {
  readonly periods: readonly CalendarPeriod[];
  /** By time within each period. */
  readonly spends: readonly KnownSpend[];
  readonly costsIn: (starts: readonly Instant[]) => Promise<readonly KnownCost[]>;
  readonly readUnusual: (aligns: readonly number[]) => Promise<UnusualAt>;
  readonly now: Instant;
  readonly forecaster: Forecaster | undefined;
  readonly holidays: Holidays;
  readonly signal: AbortSignal | undefined;
  readonly progress: BacktestOptions['progress'];
}

/**
 * The forecasts at the end of each UTC day with the costs known then, and once more at the end of each period. Only
 * complete hours form the history; the few known hours after them count as spent. Within a partial day, all hours are
 * assumed to cost the same.
 */
async function backtestForecasts(
  budget: Budget,
  { periods, spends, costsIn, readUnusual, now, forecaster, holidays, signal, progress, ...history }: ForecastBacktest,
): Promise<KnownSpend[]> {
  const [first] = periods;
  const last = periods.at(-1);
  if (first === undefined || last === undefined) return [];
  const stepHours = stepHoursOf(budget.period);
  const stepMs = stepHours * hourMs;
  const calendar = budgetCalendar(budget);
  const alignOf = ({ end }: CalendarPeriod) => end % stepMs;
  const known = new Map<Instant, StepsKnown>();
  const unusualAt = await readUnusual([...new Set(periods.map(alignOf))]);
  for (const align of new Set(periods.map(alignOf))) {
    const starts: Instant[] = [];
    const from = Math.floor((first.start - historyDays[stepHours] * dayMs - align) / stepMs) * stepMs + align;
    for (let start = from; start < last.end; start += stepMs) starts.push(start);
    known.set(align, stepsKnown(await costsIn(starts)));
  }
  const replayed: KnownSpend[] = [];
  let before: CalendarPeriod | undefined;
  let throughBefore: Instant | undefined;
  let isNews = false;
  for (let at = Math.min(floorDay(first.start) + dayMs, now); ; at = Math.min(at + dayMs, now)) {
    const completeThrough = history.completeThroughAt(at);
    const period = completeThrough === undefined ? undefined : calendar.periodAt(completeThrough);
    const spentIn = ({ start }: CalendarPeriod) =>
      spends.findLast((spend) => spend.period.start === start && spend.knownFrom <= at)?.spent ?? 0n;
    if (completeThrough !== undefined && period !== undefined && period.start >= first.start) {
      if (before !== undefined && before.start !== period.start) {
        replayed.push({ period: before, knownFrom: at, spent: spentIn(before), gaps: history.gapsIn(before) });
      }
      before = period;
      const steps = known.get(alignOf(period));
      if (steps?.advance(at) === true || completeThrough !== throughBefore) isNews = true;
      throughBefore = completeThrough;
      // Without any hour of a period, its spend is unknown.
      if (steps !== undefined && isNews && history.hasHoursAt(period, at)) {
        isNews = false;
        const align = alignOf(period);
        const end = Math.floor((completeThrough - align) / stepMs) * stepMs + align;
        const hours = (completeThrough - end) / hourMs;
        const begun = Math.max(history.start ?? end, end - historyDays[stepHours] * dayMs);
        const start = end - Math.max(0, Math.floor((end - begun) / stepMs)) * stepMs;
        const unusual = unusualAt({ at, align, completeThrough });
        const values: number[] = [];
        for (let step = start; step < end; step += stepMs) {
          values.push(without(steps.costOf(step), unusual.bySteps.get(step)?.cost ?? 0));
        }
        const spent = spentIn(period);
        progress?.(`forecast of ${formatInstant(at).slice(0, 10)}`);
        const made = await forecastPeriod(
          {
            period,
            completeThrough,
            spent,
            steps: { start, end, stepHours, values, beginning: { hours, share: hours / stepHours } },
            timeZone: budget.timeZone,
            holidays,
          },
          forecaster,
        );
        const forecast =
          made.kind === 'none'
            ? made
            : withGoingOn(made, unusual.anomalies, {
                ...{ since: made.history.start, completeThrough, end: period.end },
              });
        replayed.push({ period, knownFrom: at, spent, gaps: history.gapsIn(period), forecast });
        await setImmediate(); // lets signals be handled between two forecasts
        signal?.throwIfAborted();
      }
    }
    if (at >= now) return replayed;
  }
}

/** What was known to be unusual at an instant: the anomalies in the costs of a budget, and their part of each step. */
type UnusualAt = (asked: { readonly at: Instant; readonly align: Instant; readonly completeThrough: Instant }) => {
  readonly anomalies: readonly KnownAnomaly[];
  readonly bySteps: ReturnType<typeof unusualBySteps>;
};

/** The anomalies of a budget, as they were known on each day; their part of a day is by the costs as they are now. */
async function readUnusual(
  connection: Connection,
  budget: Budget,
  {
    aligns,
    from,
    holidays,
  }: { readonly aligns: readonly number[]; readonly from: Instant; readonly holidays: Holidays },
): Promise<UnusualAt> {
  const stepHours = stepHoursOf(budget.period);
  const history = await readAnomalyHistory(connection, from - historyDays[stepHours] * dayMs);
  const partsKnown = await readAnomalyShares(connection, [budget], { rows: history.rows, now: from });
  const cuts = new Map<Instant, readonly [StepsCut, DayShares]>();
  for (const align of aligns) {
    const cut = { stepHours, align: align / hourMs, firstHours: 0 };
    cuts.set(align, [cut, await readDayShares(connection, cut, daysOf(history.rows))]);
  }
  return ({ at, align, completeThrough }) => {
    const anomalies = anomaliesIn(budget, anomaliesLeftOut(history.knownAt(at), completeThrough), partsKnown);
    const [cut, shares] = cuts.get(align) ?? [];
    const leftOut = cut === undefined || shares === undefined ? [] : leftOutOf(anomalies, shares, cut, holidays);
    return { anomalies, bySteps: unusualBySteps(leftOut) };
  };
}

/** The cost of each step as known at an instant that only moves forward. */
interface StepsKnown {
  /** Returns whether anything changed since the last instant. */
  advance(to: Instant): boolean;
  /** USD. */
  costOf(start: Instant): number;
}

function stepsKnown(costs: readonly KnownCost[]): StepsKnown {
  const inOrder = costs.toSorted((a, b) => a.knownFrom - b.knownFrom);
  const byStart = new Map<Instant, number>();
  let next = 0;
  return {
    advance(to) {
      const before = next;
      for (let cost = inOrder[next]; cost !== undefined && cost.knownFrom <= to; cost = inOrder[next]) {
        byStart.set(cost.start, Number(cost.cost) / 10 ** usdDecimals);
        next += 1;
      }
      return next > before;
    },
    costOf: (start) => byStart.get(start) ?? 0,
  };
}

function periodsFrom(budget: Budget, from: Instant, now: Instant): CalendarPeriod[] {
  const calendar = budgetCalendar(budget);
  const periods = [calendar.periodAt(from)];
  for (let last = periods[0]; last !== undefined && last.end <= now; ) {
    last = calendar.periodAt(last.end);
    periods.push(last);
  }
  return periods;
}

interface KnownHistory {
  readonly recordedSince: Instant | undefined;
  /** The start of the books over all accounts, as known now. */
  readonly start: Instant | undefined;
  completeThroughAt(instant: Instant): Instant | undefined;
  /** Whether any hour of a period was in the books. */
  hasHoursAt(period: CalendarPeriod, instant: Instant): boolean;
  /** Accounts whose books start within a period, as known now. */
  gapsIn(period: CalendarPeriod): string[];
}

/** How far the books of a budget's accounts were known to be complete at each instant. */
async function readKnownHistory(connection: Connection, budget: Budget, lagHours: number): Promise<KnownHistory> {
  const isOurs = (account: string) => budget.scope.account?.includes(account) ?? true;
  const { windows, states } = await readKnown(connection, isOurs);
  const accounts = [...new Set(states.map(({ account }) => account))].map((account) => {
    const own = windows.filter((window) => window.account === account);
    return {
      windows: own,
      states: states.filter((state) => state.account === account),
      recordedSince:
        own.length === 0 ? undefined : own.reduce((least, { knownFrom }) => Math.min(least, knownFrom), Infinity),
    };
  });
  const starts = states.flatMap(({ start, knownUntil }) => (knownUntil === undefined ? (start ?? []) : []));
  const kept = accounts.flatMap(({ recordedSince }) => recordedSince ?? []);
  return {
    recordedSince: kept.length === 0 ? undefined : Math.max(...kept),
    start: starts.length === 0 ? undefined : Math.max(...starts),
    gapsIn: (period) =>
      states.flatMap(({ account, start, knownUntil }) => {
        if (knownUntil !== undefined || start === undefined || start <= period.start) return [];
        return [`the books of ${account} start at ${formatInstant(start)}`];
      }),
    hasHoursAt(period, instant) {
      return accounts.some(({ windows: own, recordedSince }) => {
        if (recordedSince === undefined) return false;
        // Includes hours that are too young to be complete.
        if (instant < recordedSince) return floorHour(instant) > period.start;
        return hasHoursAt({ windows: own }, period, instant);
      });
    },
    completeThroughAt(instant) {
      const reached = accounts.map((account) => {
        if (account.recordedSince === undefined) return undefined;
        // The first run loaded everything before it.
        if (instant < account.recordedSince) return floorHour(instant) - lagHours * hourMs;
        return reachedAt(account, instant);
      });
      const known = reached.flatMap((through) => through ?? []);
      return known.length === 0 || known.length < reached.length ? undefined : Math.min(...known);
    },
  };
}
