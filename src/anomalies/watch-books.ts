import { dayMs, dayName, dayNamed, dayNumber, formatInstant, hourMs, type Instant } from '../time/time.ts';
import type { Completeness } from '../warehouse/ledger/index.ts';
import { readSql } from '../warehouse/sql/index.ts';
import type { Connection } from '../warehouse/store/index.ts';
import type { AnomalyRow } from '../warehouse/watch/index.ts';
import type { AnomalyDetail, RunawayHours } from './detail.ts';
import type { Episode } from './detect.ts';
import { type Explained, explain } from './explain.ts';
import { usdText } from './fact.ts';
import { type AnomalyFeedback, barOn, feedbackOn, type StoredFeedback } from './feedback.ts';
import {
  historyHours,
  isReported,
  largerTimes,
  leastHours,
  type Runaway,
  runawayOf,
  runningHours,
  usualHourAt,
} from './hourly-watch.ts';
import { readHoursOf } from './hours-of-scopes.ts';
import { severityAt } from './notices.ts';
import type { AnomalyRules } from './rules.ts';
import { type Scope, scopeKey, scopeOf } from './scope.ts';

/** What the watch needs besides the books. */
export interface WatchAsked {
  readonly accounts: readonly Completeness[];
  /** The known anomalies after the days were evaluated. */
  readonly known: readonly AnomalyRow[];
  /** The accounts, as JSON, whose rows without UUID are in no workspace. */
  readonly merged: string;
  readonly rules: AnomalyRules;
  /** What people said that anomalies were. */
  readonly feedback: readonly StoredFeedback[];
  readonly newKey: (scope: Scope, episode: Episode) => string;
}

/** An anomaly that was found by its hours, and that no complete day has confirmed yet; otherwise undefined. */
export function watchedHoursOf(row: AnomalyRow | undefined): RunawayHours | undefined {
  return row === undefined ? undefined : (JSON.parse(row.detail) as AnomalyDetail).hours;
}

/** The hours of one account: they have ended before one instant, and are complete before another. */
interface Account {
  readonly historyStart: Instant;
  readonly ended: Instant;
  readonly complete: Instant;
}

/** A scope with its hourly costs, and what is known of it. */
interface Watched {
  readonly scope: Scope;
  readonly account: Account;
  readonly firstHour: number;
  readonly costs: readonly number[];
  /** Its anomalies. */
  readonly rows: readonly AnomalyRow[];
}

/** What the hours of a scope say of it now. */
interface Found {
  readonly watched: Watched;
  readonly before: AnomalyRow | undefined;
  readonly state: AnomalyRow['state'];
  readonly hours: RunawayHours;
  /** Difference of each day so far from the usual, USD. */
  readonly impacts: readonly number[];
}

/**
 * Finds costs that run away in the newest hours, and follows those that were found before until their day is evaluated.
 * Returns the anomalies that are new or have changed. Only reads, and only the hours of scopes whose newest hours cost much
 * more than those of the day before yesterday.
 */
export async function watchHours(connection: Connection, asked: WatchAsked): Promise<AnomalyRow[]> {
  const accounts = await accountsOf(connection, asked.accounts);
  if (accounts.size === 0) return [];
  const watched = await readWatched(connection, accounts, asked);
  const found = watched.flatMap((one) => stateOf(one, asked) ?? []);
  const explained = await explainAll(connection, found, asked.merged);
  const rows = found.map((one, place) => toRow(one, explained[place], asked));
  return rows.filter((row) => !asked.known.some((known) => JSON.stringify(known) === JSON.stringify(row)));
}

async function accountsOf(
  connection: Connection,
  accounts: readonly Completeness[],
): Promise<ReadonlyMap<string, Account>> {
  const rows = await connection.rows(await readSql('anomalies', 'hours_ended'));
  const ended = new Map(rows.map((row) => [String(row['account']), Number(row['ended_through'])]));
  return new Map(
    accounts.flatMap(({ account, historyStart, completeThrough }) => {
      const end = ended.get(account);
      if (historyStart === undefined || completeThrough === undefined || end === undefined) return [];
      return [[account, { historyStart, ended: Math.max(end, completeThrough), complete: completeThrough }] as const];
    }),
  );
}

/** An account whose newest hour is this much older than that of another is out of date. */
const freshHours = 72;

/** The scopes to look at: those whose newest hours cost much more, and those with an anomaly that was found by its hours. */
async function readWatched(
  connection: Connection,
  accounts: ReadonlyMap<string, Account>,
  { known, merged, rules }: WatchAsked,
): Promise<Watched[]> {
  const followed = known.filter((row) => row.state === 'open' && watchedHoursOf(row) !== undefined);
  const newest = Math.max(...[...accounts.values()].map((account) => account.ended));
  // An account that is out of date has no newest hours, and must not make the others read everything since then.
  const ended = [...accounts]
    .filter(([, one]) => one.ended > newest - freshHours * hourMs)
    .map(([account, one]) => ({ account, ended_through: formatInstant(one.ended) }));
  const running =
    rules.hourlyTimes === undefined
      ? []
      : await connection.rows(await readSql('anomalies', 'running_scopes'), {
          merged,
          ended: JSON.stringify(ended),
          least: (rules.minAmount * leastHours) / 24,
          times: largerTimes,
        });
  const scopes = new Map(
    [...followed.map((row) => scopeOf({ ...row })), ...running.map(scopeOf)].map((scope) => [scopeKey(scope), scope]),
  );
  const asked = [...scopes.values()].flatMap((scope) => {
    const account = accounts.get(scope.account);
    if (account === undefined) return [];
    const to = Math.floor(account.ended / hourMs);
    return [{ scope, account, from: Math.max(Math.ceil(account.historyStart / hourMs), to - historyHours), to }];
  });
  const hours = await readHoursOf(connection, asked, merged);
  return asked.map(({ scope, account, from }, place): Watched => {
    const key = scopeKey(scope);
    const rows = known.filter((one) => scopeKey(scopeOf({ ...one })) === key);
    return { scope, account, rows, ...(hours[place] ?? { firstHour: from, costs: [] }) };
  });
}

/** A runaway that is new, or how one that was found before goes on; undefined if there is none. */
function stateOf(watched: Watched, { rules, feedback }: WatchAsked): Found | undefined {
  const { rows } = watched;
  const followed = rows.find((row) => row.state === 'open' && watchedHoursOf(row) !== undefined);
  if (followed !== undefined) return follow(watched, followed);
  // The daily rule reports an open anomaly that gets worse.
  if (rows.some(({ state, is_up, kind }) => state === 'open' && is_up && kind !== 'price')) return undefined;
  const today = Math.floor((watched.firstHour + watched.costs.length - 1) / 24);
  const reported = reportedDays(rows, feedback);
  const runaway = runawayOf(watched, rules, (hour) => isReported(reported, Math.floor(hour / 24), today));
  return runaway === undefined || isWithinBar(watched, runaway, feedback) ? undefined : begun(watched, runaway);
}

/** The days of increases that were reported and are over. What somebody called expected or false counts as usual instead. */
function reportedDays(
  rows: readonly AnomalyRow[],
  feedback: readonly StoredFeedback[],
): { firstDay: number; lastDay: number }[] {
  return rows.flatMap(({ anomaly_key, is_notified, is_up, kind, state, first_day, last_day }) =>
    is_notified && is_up && kind !== 'price' && state === 'over' && !raisesBar(feedbackOn(feedback, anomaly_key))
      ? [{ firstDay: dayNamed(first_day), lastDay: dayNamed(last_day) }]
      : [],
  );
}

/** Whether the day of the newest hour, if it goes on at this pace, stays within what somebody called expected or false. */
function isWithinBar(watched: Watched, { endHour, pace }: Runaway, feedback: readonly StoredFeedback[]): boolean {
  const day = Math.floor((endHour - 1) / 24);
  const bar = barOn(feedback, watched.scope, dayName(day))?.bar;
  if (bar === null || bar === undefined) return false;
  return costOfDay(watched, day) + (pace * ((day + 1) * 24 - endHour)) / 24 <= Number(bar);
}

function raisesBar(feedback: AnomalyFeedback | undefined): boolean {
  return typeof feedback?.bar === 'string';
}

function begun(watched: Watched, { firstHour, endHour, pace, times }: Runaway): Found {
  const hours: RunawayHours = {
    from: formatInstant(firstHour * hourMs),
    to: formatInstant(endHour * hourMs),
    times: times === undefined ? null : Math.round(times),
    pace: usdText(pace),
  };
  // One that came back on the day on which it ended is the same anomaly.
  const day = dayName(Math.floor(firstHour / 24));
  const before = watched.rows.find((row) => row.first_day === day && watchedHoursOf(row) !== undefined);
  return { watched, before, state: 'open', hours, impacts: impactsOf(watched, firstHour, endHour) };
}

/** Usual hours after which it has ended. */
const usualHoursAfter = 6;
/** If less than this share of what was reported is left, the numbers were corrected. */
const leftShare = 0.2;

function follow(watched: Watched, before: AnomalyRow): Found | undefined {
  const known = watchedHoursOf(before);
  if (known === undefined) return undefined;
  const from = Date.parse(known.from) / hourMs;
  const knownEnd = Date.parse(known.to) / hourMs;
  const left = sumOf(impactsOf(watched, from, knownEnd));
  if (left < leftShare * Number(before.impact)) {
    return {
      watched,
      before,
      state: 'restated',
      hours: known,
      impacts: (JSON.parse(before.detail) as AnomalyDetail).impacts,
    };
  }
  const running = runningHours(watched, from);
  const end = running === undefined ? knownEnd : Math.max(from + 1, running.endHour);
  const isOver = Math.floor(watched.account.complete / hourMs) - end >= usualHoursAfter;
  const hours = {
    ...known,
    to: formatInstant(end * hourMs),
    ...(running === undefined ? {} : { pace: usdText(running.pace) }),
  };
  return { watched, before, state: isOver ? 'over' : 'open', hours, impacts: impactsOf(watched, from, end) };
}

/** The difference of a runaway's hours from the usual, by day, USD. */
function impactsOf(watched: Watched, from: number, end: number): number[] {
  const firstDay = Math.floor(from / 24);
  const impacts = new Array<number>(Math.floor((end - 1) / 24) - firstDay + 1).fill(0);
  const usual = usualHourAt(watched, from);
  for (let hour = from; hour < end; hour += 1) {
    const day = Math.floor(hour / 24) - firstDay;
    impacts[day] = (impacts[day] ?? 0) + (watched.costs[hour - watched.firstHour] ?? 0) - usual(hour);
  }
  return impacts.map((impact) => Number(impact.toFixed(6)));
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** The cost of a day so far, USD. */
function costOfDay({ firstHour, costs }: Watched, day: number): number {
  const place = day * 24 - firstHour;
  return sumOf(costs.slice(Math.max(0, place), Math.max(0, place + 24)));
}

function firstDayOf({ hours }: Found): number {
  return dayNumber(Date.parse(hours.from));
}

function lastDayOf({ hours }: Found): number {
  return dayNumber(Date.parse(hours.to) - 1);
}

/** It as an episode of days, of which the last is not complete. */
function episodeOf(found: Found): Episode {
  const { watched, hours, impacts, before } = found;
  const firstDay = firstDayOf(found);
  const cost = costOfDay(watched, firstDay);
  const expected = Math.max(0, cost - (impacts[0] ?? 0));
  return {
    ...{ kind: hours.times === null ? 'new' : 'spike', isUp: true, firstDay, seenDay: firstDay, notifiedDay: firstDay },
    ...{
      lastDay: lastDayOf(found),
      state: 'open',
      endedDay: undefined,
      cost,
      expected,
      low: 0,
      high: expected,
      impacts,
    },
    ratio: before?.price_ratio ?? undefined,
  };
}

/** Explains those that run; the others keep their explanation. */
async function explainAll(
  connection: Connection,
  found: readonly Found[],
  merged: string,
): Promise<readonly (Explained | undefined)[]> {
  const toExplain = found.filter(({ state }) => state === 'open');
  const explained = await explain(
    connection,
    toExplain.map((one) => {
      const episode = episodeOf(one);
      const days = Array.from(
        { length: episode.lastDay - episode.firstDay + 1 },
        (_, place) => episode.firstDay + place,
      );
      const soFar = sumOf(days.map((day) => costOfDay(one.watched, day)));
      return { scope: one.watched.scope, episode, expectedSoFar: Math.max(0, soFar - sumOf(one.impacts)) };
    }),
    merged,
  );
  return found.map((one) => explained[toExplain.indexOf(one)]);
}

function toRow(found: Found, explained: Explained | undefined, { rules, newKey }: WatchAsked): AnomalyRow {
  const { before, hours, impacts, state } = found;
  const { scope, account } = found.watched;
  const isEnded = state !== 'open';
  const endedDay = isEnded ? dayName(Math.floor((account.complete - 1) / dayMs)) : null;
  if (explained === undefined && before !== undefined) {
    const detail: AnomalyDetail = { ...(JSON.parse(before.detail) as AnomalyDetail), impacts, hours };
    return { ...before, state, ended_day: endedDay, impact: usdText(sumOf(impacts)), detail: JSON.stringify(detail) };
  }
  const { excluded } = (before === undefined ? {} : JSON.parse(before.detail)) as Pick<AnomalyDetail, 'excluded'>;
  const episode = episodeOf(found);
  const severity = severityAt(episode, episode.firstDay, rules, Number(hours.pace));
  const { cost, ...explanation } = explained ?? {
    cost: usdText(episode.cost),
    drivers: [],
    moved: null,
    priceEffect: null,
    volumeEffect: null,
  };
  const detail: AnomalyDetail = {
    impacts,
    notices: [{ day: dayName(episode.firstDay), reason: 'first', severity, impact: usdText(sumOf(impacts)) }],
    ...explanation,
    firstHour: hours.from,
    pace: hours.pace,
    hours,
    ...(excluded === undefined ? {} : { excluded }),
  };
  return {
    anomaly_key: before?.anomaly_key ?? newKey(scope, episode),
    ...{ account: scope.account, workspace: scope.workspace, resource_type: scope.resourceType },
    ...{ billing_dimension: scope.billingDimension, kind: episode.kind, is_up: true },
    ...{ first_day: dayName(episode.firstDay), seen_day: dayName(episode.firstDay) },
    ...{ last_day: dayName(episode.lastDay), notified_day: dayName(episode.firstDay), state, ended_day: endedDay },
    ...{ cost, expected: usdText(episode.expected), expected_low: usdText(episode.low) },
    ...{ expected_high: usdText(episode.high), impact: usdText(sumOf(impacts)), price_ratio: null, severity },
    ...{ is_notified: true, detail: JSON.stringify(detail) },
  };
}
