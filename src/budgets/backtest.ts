import { setImmediate } from 'node:timers/promises';
import { wholeOfDecimal } from '../decimals.ts';
import { UsageError } from '../errors.ts';
import { usdDecimals } from '../money.ts';
import { type CalendarPeriod, dayMs, floorDay, floorHour, formatInstant, hourMs, type Instant } from '../time.ts';
import { type Connection, readSql } from '../warehouse/index.ts';
import type { Budget } from './budget.ts';
import { hasHoursAt, reachedAt, readKnown } from './coverage-known.ts';
import { type Forecaster, forecastPeriod, historyDays, stepHoursOf } from './period-forecast.ts';
import { scopeForSql, unanswerableOf } from './spend.ts';
import { type BudgetFact, budgetCalendar, evaluateBudgets, isForecastAsked, type Spend } from './thresholds.ts';

/** A threshold that would have been told of: reached, or no longer reached. */
export interface BudgetBacktestEvent extends Omit<BudgetFact, 'drivers'> {
  /** The end of the UTC day on which the books knew it first; now, on the present one. */
  readonly at: Instant;
}

/** What a period came to as the books know it at the end of the replay. */
export interface BacktestPeriod {
  readonly period: CalendarPeriod;
  /** Which books begin within it, a sentence each: what was spent before is not known. */
  readonly gaps: readonly string[];
  /** Trillionths of a USD; undefined where no cost of it is known. */
  readonly spent: bigint | undefined;
}

export interface BudgetBacktest {
  /** The start of the first period. */
  readonly from: Instant;
  /**
   * From here on the books were kept day by day in every account; undefined where nothing was ever loaded. What had
   * happened before counts as known once its hour was over and the platform had had its lag.
   */
  readonly recordedSince: Instant | undefined;
  readonly periods: readonly BacktestPeriod[];
  /** In order of time, then of period and threshold. */
  readonly events: readonly BudgetBacktestEvent[];
}

/** What a period came to as the books knew it from an instant on. */
export interface KnownSpend {
  readonly period: CalendarPeriod;
  readonly knownFrom: Instant;
  /** Trillionths of a USD. */
  readonly spent: bigint;
  readonly gaps: readonly string[];
  /** What was forecast then; undefined where nobody asked. */
  readonly forecast?: Spend['forecast'];
}

/**
 * What a budget would have told at each of these instants, each change of a threshold's state once. Spends of one period
 * come in order of time. Pure.
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
      // What was never raised has nothing to resolve.
      const before = states.get(fact.key) ?? 'resolved';
      if (before === fact.state || (before !== 'raised' && fact.state !== 'raised')) continue;
      states.set(fact.key, fact.state);
      events.push({ ...fact, at: knownFrom, order: period.start });
    }
  }
  return events.sort((a, b) => a.at - b.at || a.order - b.order).map(({ order: _, ...event }) => event);
}

/**
 * Replays a budget over the books of present and past, from the start of the period in which `from` lies up to now: what
 * it would have told at the end of each UTC day with what was known then of costs. Labels and owners of each hour are
 * those that the books have for it now: a rule can be tried on months in which nobody had it yet. What would have been
 * forecast is computed only where a threshold asks for it. Throws UsageError where the books have no owners or labels at
 * all, and where the time zone puts a boundary between two hours.
 */
export async function backtestBudget(
  connection: Connection,
  budget: Budget,
  { from, now, lagHours, signal, progress, forecaster }: BacktestOptions,
): Promise<BudgetBacktest> {
  const [reason] = (await unanswerableOf(connection, [budget])).get(budget) ?? [];
  if (reason !== undefined) throw new UsageError(`${budget.where}: budget ${budget.name}: ${reason}`);
  const periods = periodsFrom(budget, from, now);
  const [first = { start: now, end: now }] = periods;
  const names = new Map(periods.map((period) => [period.start, period]));
  const end = periods.at(-1)?.end ?? now;
  const costsIn = async (starts: readonly Instant[]) => {
    const rows = await connection.rows(await readSql('budgets', 'backtest'), {
      scope: JSON.stringify(scopeForSql(budget.scope)),
      has_label: budget.scope.label !== undefined,
      has_owner: budget.scope.owner !== undefined,
      periods: JSON.stringify(starts.map((start) => ({ start: formatInstant(start) }))),
      from: formatInstant(starts[0] ?? now),
      to: formatInstant(end),
      now: formatInstant(now),
      lag_hours: lagHours,
    });
    return rows.map((row) => ({
      start: Number(row['period_start']),
      knownFrom: Number(row['known_day']),
      cost: wholeOfDecimal(String(row['cost']), usdDecimals),
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
    ? await backtestForecasts(budget, { periods, spends, costsIn, now, forecaster, signal, progress, ...history })
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
      // What is known with its forecast comes before the same without one.
      [...forecasts, ...spends].sort((a, b) => a.knownFrom - b.knownFrom),
      history.completeThroughAt,
    ),
  };
}

/** What a replay is asked for besides the budget. */
export interface BacktestOptions {
  readonly from: Instant;
  readonly now: Instant;
  readonly lagHours: number;
  readonly signal?: AbortSignal;
  /** Is told which day is being forecast. */
  readonly progress?: ((text: string) => void) | undefined;
  readonly forecaster?: Forecaster;
}

/** What a stretch of time, which reaches to the next one asked for, came to as the books knew it from an instant on. */
interface KnownCost {
  readonly start: Instant;
  readonly knownFrom: Instant;
  readonly cost: bigint;
}

interface ForecastBacktest extends Omit<KnownHistory, 'recordedSince'> {
  readonly periods: readonly CalendarPeriod[];
  /** In order of time in each period. */
  readonly spends: readonly KnownSpend[];
  readonly costsIn: (starts: readonly Instant[]) => Promise<readonly KnownCost[]>;
  readonly now: Instant;
  readonly forecaster: Forecaster | undefined;
  readonly signal: AbortSignal | undefined;
  readonly progress: BacktestOptions['progress'];
}

/**
 * What would have been forecast at the end of each UTC day with what was known then; and each period once more when it
 * is over. Only the books' complete hours make a history, and hours known beyond them count as spent, as they are few; of a
 * day that has begun all hours are taken to cost the same.
 */
async function backtestForecasts(
  budget: Budget,
  { periods, spends, costsIn, now, forecaster, signal, progress, ...history }: ForecastBacktest,
): Promise<KnownSpend[]> {
  const [first] = periods;
  const last = periods.at(-1);
  if (first === undefined || last === undefined) return [];
  const stepHours = stepHoursOf(budget.period);
  const stepMs = stepHours * hourMs;
  const calendar = budgetCalendar(budget);
  const alignOf = ({ end }: CalendarPeriod) => end % stepMs;
  const known = new Map<Instant, StepsKnown>();
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
      // What is spent in a period of which no hour is there yet is not known.
      if (steps !== undefined && isNews && history.hasHoursAt(period, at)) {
        isNews = false;
        const align = alignOf(period);
        const end = Math.floor((completeThrough - align) / stepMs) * stepMs + align;
        const hours = (completeThrough - end) / hourMs;
        const begun = Math.max(history.start ?? end, end - historyDays[stepHours] * dayMs);
        const start = end - Math.max(0, Math.floor((end - begun) / stepMs)) * stepMs;
        const values: number[] = [];
        for (let step = start; step < end; step += stepMs) values.push(steps.costOf(step));
        const spent = spentIn(period);
        progress?.(`forecast of ${formatInstant(at).slice(0, 10)}`);
        const forecast = await forecastPeriod(
          {
            period,
            completeThrough,
            spent,
            steps: { start, end, stepHours, values, beginning: { hours, share: hours / stepHours } },
          },
          forecaster,
        );
        replayed.push({ period, knownFrom: at, spent, gaps: history.gapsIn(period), forecast });
        await setImmediate(); // a signal is heard between two forecasts
        signal?.throwIfAborted();
      }
    }
    if (at >= now) return replayed;
  }
}

/** What each step cost as the books knew it at an instant that only goes forward. */
interface StepsKnown {
  /** Returns whether anything became known since the last instant. */
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
  /** Where the books of all accounts have begun, by what is known now. */
  readonly start: Instant | undefined;
  completeThroughAt(instant: Instant): Instant | undefined;
  /** Whether any hour of a period was in the books. */
  hasHoursAt(period: CalendarPeriod, instant: Instant): boolean;
  /** Which books begin within a period, by what is known now. */
  gapsIn(period: CalendarPeriod): string[];
}

/** What was known at each instant of how far the books were, in the accounts that a budget is of. */
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
        return [`the books of ${account} begin ${formatInstant(start)}`];
      }),
    hasHoursAt(period, instant) {
      return accounts.some(({ windows: own, recordedSince }) => {
        if (recordedSince === undefined) return false;
        // Hours that are too young to be claimed are there as well.
        if (instant < recordedSince) return floorHour(instant) > period.start;
        return hasHoursAt({ windows: own }, period, instant);
      });
    },
    completeThroughAt(instant) {
      const reached = accounts.map((account) => {
        if (account.recordedSince === undefined) return undefined;
        // The first run made up for what had happened before it.
        if (instant < account.recordedSince) return floorHour(instant) - lagHours * hourMs;
        return reachedAt(account, instant);
      });
      const known = reached.flatMap((through) => through ?? []);
      return known.length === 0 || known.length < reached.length ? undefined : Math.min(...known);
    },
  };
}
