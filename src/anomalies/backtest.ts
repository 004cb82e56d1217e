import type { Severity } from '../base/severity.ts';
import { isOfResources } from '../budgets/forecasts/index.ts';
import { type KnownCoverage, reachedAt, readKnown } from '../budgets/spend/index.ts';
import { dayMs, dayName, dayNumber, floorDay, floorHour, formatInstant, hourMs, type Instant } from '../time/time.ts';
import { completeness } from '../warehouse/ledger/index.ts';
import { readSql } from '../warehouse/sql/index.ts';
import type { Connection } from '../warehouse/store/index.ts';
import { type AnomalyKind, quietDays } from './detect.ts';
import { anomalyKey } from './evaluate-books.ts';
import { againDays, evaluateScope, lateShare, readDays, type StoredEpisode } from './evaluate-scope.ts';
import { isExcludedPlace } from './exclusions.ts';
import { pacesOf } from './explain.ts';
import { usdText } from './fact.ts';
import { type Notice, type NoticeReason, noticesOf, severityAt } from './notices.ts';
import type { AnomalyRules } from './rules.ts';
import { type Scope, scopeOf } from './scope.ts';

/** A notification that would have been sent: a new or continuing anomaly, or its end. */
export interface AnomalyBacktestEvent extends Scope {
  /** The first hour at which the books had the whole day that shows it, as the nightly job does. */
  readonly at: Instant;
  readonly key: string;
  /** usual: it lasted until its cost became the expected one. */
  readonly what: NoticeReason | 'over' | 'usual';
  readonly kind: AnomalyKind;
  readonly isUp: boolean;
  readonly severity: Severity;
  readonly firstDay: string;
  /** Actual and expected cost of the first day, as known then: USD, decimal text. */
  readonly cost: string;
  readonly expected: string;
  /** Difference of its days so far, USD. */
  readonly impact: string;
}

export interface AnomalyBacktest {
  /** The first evaluated day. */
  readonly from: Instant;
  /** From here on the books of every account were updated daily; undefined if nothing was ever loaded. */
  readonly recordedSince: Instant | undefined;
  readonly scopes: number;
  /** Notifications that are left out, because an exclusion of whole places covers them. */
  readonly excluded: number;
  /** By time, then by impact. */
  readonly events: readonly AnomalyBacktestEvent[];
}

/** The replay starts this many nights early, so that anomalies that were already open are known. */
const warmUpNights = 28;
/** Smaller changes of a day are ignored. */
const leastChange = 0.01;

/** The changes of a scope, as they became known. */
interface BacktestScope {
  readonly scope: Scope;
  readonly firstDay: number;
  /** By the time at which they were known. */
  readonly changes: readonly {
    readonly known: Instant;
    readonly day: number;
    readonly cost: number;
    readonly usage: number;
  }[];
  /** As known in the current night. */
  readonly costs: number[];
  readonly usages: number[];
  applied: number;
  /** The last night on which a large part of a day arrived late. */
  lateAt: Instant | undefined;
  episodes: StoredEpisode[];
}

/**
 * Replays the rules over the history of the books: which notifications would have been sent on each UTC day from `from` on,
 * with the costs known on it.
 */
export async function backtestAnomalies(
  connection: Connection,
  rules: AnomalyRules,
  { from, now, lagHours }: { readonly from: Instant; readonly now: Instant; readonly lagHours: number },
): Promise<AnomalyBacktest> {
  const firstNight = floorDay(from) + dayMs;
  const start = firstNight - warmUpNights * dayMs;
  const oldest = dayNumber(start) - readDays;
  const accounts = await completeness(connection);
  const coverage = await readKnown(connection, () => true);
  const rows = await connection.rows(await readSql('anomalies', 'backtest'), {
    from: formatInstant(oldest * dayMs),
    to: formatInstant(now),
    now: formatInstant(now),
    lag_hours: lagHours,
  });
  const replayed = rows.map((row) => toBacktestScope(row, oldest, now, accounts));
  const nights: Night[] = [];
  const kept: Instant[] = [];
  for (const { account } of accounts) {
    const scopes = replayed.filter(({ scope }) => scope.account === account);
    const through = throughOf(coverage, account, lagHours);
    if (through.recordedSince !== undefined) kept.push(through.recordedSince);
    let evaluatedDay: number | undefined;
    for (const night of nightsBetween(start, now)) {
      const complete = through.at(night);
      const lastDay = complete === undefined ? undefined : dayNumber(complete) - 1;
      const changed = scopes.map((scope) => learn(scope, night, evaluatedDay));
      if (lastDay === undefined || (evaluatedDay !== undefined && lastDay < evaluatedDay)) continue;
      const isQuiet = quietDays(scopes, rules);
      const at = firstHour(night, (hour) => (through.at(hour) ?? 0) >= (lastDay + 1) * dayMs);
      for (const [place, scope] of scopes.entries()) {
        const before = scope.episodes;
        scope.episodes = evaluateScope({
          ...{ series: scope, known: before, lastDay, evaluatedDay, changedFrom: changed[place], isQuiet, rules },
          isLate: scope.lateAt !== undefined && scope.lateAt > night - againDays * dayMs,
          newKey: (episode) => anomalyKey(scope.scope, episode),
        });
        const isTold = scope.episodes.some(({ isNotified }) => isNotified);
        if (night >= firstNight && isTold) nights.push({ scope: scope.scope, before, episodes: scope.episodes, at });
      }
      evaluatedDay = lastDay;
    }
  }
  const paces = await readPaces(connection, nights);
  const all = nights.flatMap((night) => eventsOf(night, paces, rules));
  // Which resources an anomaly was of, a replay does not know.
  const places = rules.exclude.filter(({ scope }) => !isOfResources(scope));
  const events = all.filter(
    (event) => !places.some((one) => isExcludedPlace(one, event, dayName(dayNumber(event.at) - 1))),
  );
  return {
    from: firstNight - dayMs,
    recordedSince: kept.length === 0 ? undefined : Math.max(...kept),
    scopes: replayed.length,
    excluded: all.length - events.length,
    events: events.sort(
      (a, b) => a.at - b.at || Math.abs(Number(b.impact)) - Math.abs(Number(a.impact)) || (a.key < b.key ? -1 : 1),
    ),
  };
}

/** The end of every UTC day, and now. */
function nightsBetween(start: Instant, now: Instant): Instant[] {
  const nights: Instant[] = [];
  for (let night = start; night < now; night += dayMs) nights.push(night);
  return [...nights, now];
}

/** The first hour of the day before a night from which on something is so; the night if none is. */
function firstHour(night: Instant, isSo: (hour: Instant) => boolean): Instant {
  let first = night;
  while (first - hourMs > night - dayMs && isSo(floorHour(first - 1))) first = floorHour(first - 1);
  return first;
}

function toBacktestScope(
  row: Readonly<Record<string, unknown>>,
  oldest: number,
  now: Instant,
  accounts: readonly { readonly account: string; readonly historyStart: Instant | undefined }[],
): BacktestScope {
  const [known = [], days = [], costs = [], usages = []] = ['known', 'days', 'costs', 'usages'].map(
    (name) => JSON.parse(String(row[name])) as number[],
  );
  const scope = scopeOf(row);
  const start = accounts.find(({ account }) => account === scope.account)?.historyStart;
  const firstDay = start === undefined ? oldest : Math.max(oldest, Math.ceil(start / dayMs));
  const length = Math.max(0, dayNumber(now) - firstDay + 1);
  return {
    scope,
    firstDay,
    changes: known.map((at, place) => ({
      known: at,
      day: days[place] ?? 0,
      cost: costs[place] ?? 0,
      usage: usages[place] ?? 0,
    })),
    costs: new Array<number>(length).fill(0),
    usages: new Array<number>(length).fill(0),
    applied: 0,
    lateAt: undefined,
    episodes: [],
  };
}

/** Applies the changes known by a night. Returns the first evaluated day that changed. */
function learn(scope: BacktestScope, night: Instant, evaluatedDay: number | undefined): number | undefined {
  let first: number | undefined;
  const { changes, costs, usages, firstDay } = scope;
  for (
    let change = changes[scope.applied];
    change !== undefined && change.known <= night;
    change = changes[scope.applied]
  ) {
    scope.applied += 1;
    const place = change.day - firstDay;
    if (place < 0 || place >= costs.length) continue;
    costs[place] = (costs[place] ?? 0) + change.cost;
    usages[place] = (usages[place] ?? 0) + change.usage;
    const isChange = evaluatedDay !== undefined && change.day <= evaluatedDay && Math.abs(change.cost) >= leastChange;
    if (!isChange) continue;
    first = Math.min(first ?? change.day, change.day);
    if (change.cost >= lateShare * (costs[place] ?? 0)) scope.lateAt = night;
  }
  return first;
}

/** Complete through of an account at each instant; before its first load, as with daily runs. */
function throughOf({ windows, states }: KnownCoverage, account: string, lagHours: number) {
  const own = {
    windows: windows.filter((window) => window.account === account),
    states: states.filter((state) => state.account === account),
  };
  const recordedSince =
    own.windows.length === 0
      ? undefined
      : own.windows.reduce((least, { knownFrom }) => Math.min(least, knownFrom), Infinity);
  return {
    recordedSince,
    at(instant: Instant): Instant | undefined {
      if (recordedSince === undefined) return undefined;
      return instant < recordedSince ? floorHour(instant) - lagHours * hourMs : reachedAt(own, instant);
    },
  };
}

/** The episodes of a scope before and after a night, at least one of them reported. */
interface Night {
  readonly scope: Scope;
  readonly before: readonly StoredEpisode[];
  readonly episodes: readonly StoredEpisode[];
  readonly at: Instant;
}

/** The pace of each reported episode at the end of its first day, USD a day, by key; missing if it did not go on. */
async function readPaces(connection: Connection, nights: readonly Night[]): Promise<ReadonlyMap<string, number>> {
  const found = new Map(
    nights.flatMap(({ scope, episodes }) =>
      episodes.flatMap((episode) => (episode.isNotified ? [[episode.key, { scope, episode }] as const] : [])),
    ),
  );
  return pacesOf(
    connection,
    [...found].map(([key, { scope, episode }]) => ({ key, scope, episode })),
  );
}

function eventsOf(
  { scope, before, episodes, at }: Night,
  paces: ReadonlyMap<string, number>,
  rules: AnomalyRules,
): AnomalyBacktestEvent[] {
  const known = new Map(before.map((episode) => [episode.key, episode]));
  return episodes.flatMap((episode): AnomalyBacktestEvent[] => {
    const { key, kind, isUp, firstDay, cost, expected, impacts, isNotified } = episode;
    if (!isNotified) return [];
    const earlier = known.get(key);
    const wasNotified = earlier?.isNotified === true;
    const noticesFor = (one: StoredEpisode) => noticesOf(one, rules, paces.get(key));
    const notices = noticesFor(episode);
    const severity = notices.at(-1)?.severity ?? severityAt(episode, episode.seenDay, rules);
    const what = wasNotified ? whatHappened(episode, earlier, { notices, severity, noticesFor }) : 'first';
    if (what === undefined) return [];
    return [
      {
        ...{ ...scope, at, key, kind, isUp, what, severity },
        ...{ firstDay: dayName(firstDay), cost: usdText(cost), expected: usdText(expected) },
        impact: usdText(impacts.reduce((sum, impact) => sum + impact, 0)),
      },
    ];
  });
}

/** The next notification about a reported episode; undefined if there is none. */
function whatHappened(
  episode: StoredEpisode,
  earlier: StoredEpisode,
  {
    notices,
    severity,
    noticesFor,
  }: {
    readonly notices: readonly Notice[];
    readonly severity: Severity;
    readonly noticesFor: (episode: StoredEpisode) => readonly Notice[];
  },
): AnomalyBacktestEvent['what'] | undefined {
  if (earlier.state !== 'open') return undefined;
  if (episode.state === 'over') return 'over';
  if (episode.state === 'usual') return episode.isUp && severity !== 'info' ? 'usual' : undefined;
  const [last, before] = [notices.at(-1), noticesFor(earlier).at(-1)];
  return last !== undefined && last.day > (before?.day ?? last.day) ? last.reason : undefined;
}
