import { wholeOfDecimal } from '../decimals.ts';
import { UsageError } from '../errors.ts';
import { type CalendarPeriod, floorHour, formatInstant, hourMs, type Instant } from '../time.ts';
import type { Connection } from '../warehouse/index.ts';
import { type Budget, usdDecimals } from './budget-file.ts';
import { scopeForSql, unanswerableOf } from './budget-spends.ts';
import { budgetSql } from './budget-sql.ts';
import { type BudgetFact, budgetCalendar, evaluateBudgets } from './budgets.ts';
import { reachedAt, readKnown } from './coverage-known.ts';

/** A threshold that would have been told of: reached, or no longer reached. */
export interface ReplayEvent extends Omit<BudgetFact, 'drivers'> {
  /** The end of the UTC day on which the books knew it first; now, on the present one. */
  readonly at: Instant;
}

/** What a period came to as the books know it at the end of the replay. */
export interface ReplayedPeriod {
  readonly period: CalendarPeriod;
  /** Which books begin within it, a sentence each: what was spent before is not known. */
  readonly lacking: readonly string[];
  /** Trillionths of a USD; undefined where no cost of it is known. */
  readonly spent: bigint | undefined;
}

export interface Replay {
  /** The start of the first period. */
  readonly from: Instant;
  /**
   * From here on the books were kept day by day in every account; undefined where nothing was ever loaded. What had
   * happened before counts as known once its hour was over and the platform had had its lag.
   */
  readonly keptSince: Instant | undefined;
  readonly periods: readonly ReplayedPeriod[];
  /** In order of time, then of period and threshold. */
  readonly events: readonly ReplayEvent[];
}

/** What a period came to as the books knew it from an instant on. */
export interface KnownSpend {
  readonly period: CalendarPeriod;
  readonly knownFrom: Instant;
  /** Trillionths of a USD. */
  readonly spent: bigint;
  readonly lacking: readonly string[];
}

/**
 * What a budget would have told at each of these instants, each change of a threshold's state once. Spends of one period
 * come in order of time. Pure.
 */
export function replayFacts(
  budget: Budget,
  spends: readonly KnownSpend[],
  completeThroughAt: (instant: Instant) => Instant | undefined,
): ReplayEvent[] {
  const states = new Map<string, BudgetFact['state']>();
  const events: (ReplayEvent & { readonly order: number })[] = [];
  for (const { period, knownFrom, spent, lacking } of spends) {
    const spend = {
      budget: budget.name,
      period,
      spent,
      completeThrough: completeThroughAt(knownFrom),
      lacking,
      drivers: [],
    };
    for (const { drivers: _, ...fact } of evaluateBudgets([budget], [spend])) {
      // What was never raised has nothing to resolve.
      if ((states.get(fact.key) ?? 'resolved') === fact.state) continue;
      states.set(fact.key, fact.state);
      events.push({ ...fact, at: knownFrom, order: period.start });
    }
  }
  return events.sort((a, b) => a.at - b.at || a.order - b.order).map(({ order: _, ...event }) => event);
}

/**
 * Replays a budget over the books of present and past, from the start of the period in which `from` lies up to now: what
 * it would have told at the end of each UTC day with what was known then of costs. Labels and owners of each hour are
 * those that the books have for it now: a rule can be tried on months in which nobody had it yet. Throws UsageError where
 * the books have no owners or labels at all, and where the time zone puts a boundary between two hours.
 */
export async function replayBudget(
  connection: Connection,
  budget: Budget,
  { from, now, lagHours }: { readonly from: Instant; readonly now: Instant; readonly lagHours: number },
): Promise<Replay> {
  const [reason] = (await unanswerableOf(connection, [budget])).get(budget) ?? [];
  if (reason !== undefined) throw new UsageError(`${budget.where}: budget ${budget.name}: ${reason}`);
  const periods = periodsFrom(budget, from, now);
  const [first = { start: now, end: now }] = periods;
  const names = new Map(periods.map((period) => [period.start, period]));
  const rows = await connection.rows(await budgetSql('replay'), {
    scope: JSON.stringify(scopeForSql(budget.scope)),
    has_label: budget.scope.label !== undefined,
    has_owner: budget.scope.owner !== undefined,
    periods: JSON.stringify(periods.map(({ start }) => ({ start: formatInstant(start) }))),
    from: formatInstant(first.start),
    to: formatInstant(periods.at(-1)?.end ?? now),
    now: formatInstant(now),
    lag_hours: lagHours,
  });
  const history = await readHistory(connection, budget, lagHours);
  const spends = rows.flatMap((row): KnownSpend[] => {
    const period = names.get(Number(row['period_start']));
    if (period === undefined) return [];
    const spent = wholeOfDecimal(String(row['cost']), usdDecimals);
    return [{ period, knownFrom: Number(row['known_day']), spent, lacking: history.lackingIn(period) }];
  });
  return {
    from: first.start,
    keptSince: history.keptSince,
    periods: periods.map((period) => ({
      period,
      spent: spends.findLast((spend) => spend.period === period)?.spent,
      lacking: history.lackingIn(period),
    })),
    events: replayFacts(budget, spends, history.completeThroughAt),
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

interface History {
  readonly keptSince: Instant | undefined;
  completeThroughAt(instant: Instant): Instant | undefined;
  /** Which books begin within a period, by what is known now. */
  lackingIn(period: CalendarPeriod): string[];
}

/** What was known at each instant of how far the books were, in the accounts that a budget is of. */
async function readHistory(connection: Connection, budget: Budget, lagHours: number): Promise<History> {
  const isOurs = (account: string) => budget.scope.account?.includes(account) ?? true;
  const { pieces, states } = await readKnown(connection, isOurs);
  const accounts = [...new Set(states.map(({ account }) => account))].map((account) => {
    const own = pieces.filter((piece) => piece.account === account);
    return {
      pieces: own,
      states: states.filter((state) => state.account === account),
      keptSince:
        own.length === 0 ? undefined : own.reduce((least, { knownFrom }) => Math.min(least, knownFrom), Infinity),
    };
  });
  const kept = accounts.flatMap(({ keptSince }) => keptSince ?? []);
  return {
    keptSince: kept.length === 0 ? undefined : Math.max(...kept),
    lackingIn: (period) =>
      states.flatMap(({ account, start, knownUntil }) => {
        if (knownUntil !== undefined || start === undefined || start <= period.start) return [];
        return [`the books of ${account} begin ${formatInstant(start)}`];
      }),
    completeThroughAt(instant) {
      const reached = accounts.map((account) => {
        if (account.keptSince === undefined) return undefined;
        // The first run made up for what had happened before it.
        if (instant < account.keptSince) return floorHour(instant) - lagHours * hourMs;
        return reachedAt(account, instant);
      });
      const known = reached.flatMap((through) => through ?? []);
      return known.length === 0 || known.length < reached.length ? undefined : Math.min(...known);
    },
  };
}
