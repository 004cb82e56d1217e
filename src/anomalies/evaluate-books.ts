import { dayMs, dayName, dayNamed, dayNumber, formatInstant, type Instant } from '../time/time.ts';
import { type Completeness, completeness } from '../warehouse/ledger/index.ts';
import { readSql } from '../warehouse/sql/index.ts';
import type { Connection, SqlRow } from '../warehouse/store/index.ts';
import type { AnomalyEvaluation, AnomalyRow } from '../warehouse/watch/index.ts';
import type { DailyCosts } from './baseline.ts';
import type { AnomalyDetail, Explanation } from './detail.ts';
import { type Episode, quietDays } from './detect.ts';
import { againDays, evaluateScope, lateShare, readDays, type StoredEpisode } from './evaluate-scope.ts';
import { markExcluded } from './exclusions.ts';
import { type Explained, explain } from './explain.ts';
import { usdText } from './fact.ts';
import { barOfScope, fixedSince, type StoredFeedback } from './feedback.ts';
import { readFeedback } from './feedback-of-books.ts';
import { readKnownAnomalies } from './known.ts';
import { noticesOf, severityAt } from './notices.ts';
import type { AnomalyRules } from './rules.ts';
import { type Scope, scopeKey, scopeOf } from './scope.ts';
import { watchedHoursOf, watchHours } from './watch-books.ts';

/** The known anomalies after an evaluation. */
export interface AnomalyState extends Pick<AnomalyEvaluation, 'anomalies' | 'accounts'> {
  /** All that are open or ended recently: `anomalies`, and those without news. */
  readonly present: readonly AnomalyRow[];
  /** What people said that anomalies were, oldest first. */
  readonly feedback: readonly StoredFeedback[];
}

/**
 * Evaluates the days that became complete since the last evaluation, and earlier days whose numbers have changed; then the
 * newest hours, whose day is not complete. Returns the known anomalies and what is new. Only reads. Evaluates an account as
 * far as it is complete.
 */
export async function evaluateAnomalies(connection: Connection, rules: AnomalyRules): Promise<AnomalyState> {
  const evaluated = await readEvaluated(connection);
  const feedback = await readFeedback(connection);
  const all = await completeness(connection);
  const accounts = all.flatMap((account) => lookedAt(account, evaluated.get(account.account)));
  if (accounts.length === 0) return { anomalies: [], accounts: [], present: [], feedback };
  const oldest = Math.min(...accounts.map(({ lastDay }) => lastDay)) - readDays + 1;
  const known = await readKnownAnomalies(connection, dayName(oldest - 30));
  const access = await readAccess(connection, oldest);
  const days = await evaluateDays(connection, { accounts, oldest, known, access, rules, feedback });
  const hours = await watchHours(connection, {
    ...{ accounts: all, known: days.present, merged: access.merged, rules, feedback, newKey: anomalyKey },
  });
  const changed = withNewer(days.anomalies, hours);
  const present = withNewer(days.present, hours);
  const marked = await markExcluded(connection, { present, changed }, rules);
  return {
    accounts: days.accounts,
    anomalies: withNewer(changed, marked),
    present: withNewer(present, marked),
    feedback,
  };
}

/** Rows with those of the same keys replaced. */
function withNewer(rows: readonly AnomalyRow[], newer: readonly AnomalyRow[]): AnomalyRow[] {
  const keys = new Set(newer.map(({ anomaly_key }) => anomaly_key));
  return [...rows.filter(({ anomaly_key }) => !keys.has(anomaly_key)), ...newer];
}

/** What the evaluation of days needs. */
interface DaysAsked {
  readonly accounts: readonly LookedAt[];
  /** The first day that is read. */
  readonly oldest: number;
  readonly known: readonly AnomalyRow[];
  readonly access: Access;
  readonly rules: AnomalyRules;
  readonly feedback: readonly StoredFeedback[];
}

async function evaluateDays(
  connection: Connection,
  { accounts, oldest, known, access, rules, feedback }: DaysAsked,
): Promise<AnomalyState> {
  const changed = await changedDays(connection, oldest, access.merged);
  const due = accounts.filter(
    ({ account, lastDay, evaluatedDay }) =>
      evaluatedDay === undefined ||
      lastDay > evaluatedDay ||
      [...changed].some(([key, from]) => (JSON.parse(key) as string[])[0] === account && from <= lastDay),
  );
  if (due.length === 0) return { anomalies: [], accounts: [], present: known, feedback };

  // One account that is far behind must not make the others read everything since then.
  const earliest = Math.min(...due.map(({ lastDay }) => lastDay));
  const from = earliest - readDays + 1;
  const rowsOf = groupedBy(known, (row) => scopeKey(scopeOf({ ...row })));
  const feedbackOf = groupedBy(feedback, (one) => scopeKey(one.scope));
  const costs = withScopesWithoutCosts(await readDailyCosts(connection, due, from, access.merged), due, known, from);
  const late = await lateDays(connection, earliest - againDays + 1, access.merged);
  const [loads] = await connection.rows(await readSql('ledger', 'last_load'));
  const found: Found[] = [];
  for (const { account, lastDay, evaluatedDay } of due) {
    const own = costs.filter(({ scope }) => scope.account === account);
    const isQuiet = quietDays(
      own.map(({ series }) => series),
      rules,
    );
    for (const { scope, series } of own) {
      const key = scopeKey(scope);
      // A day that is not complete is for the hourly watch.
      const before = (rowsOf.get(key) ?? []).filter(({ first_day }) => dayNamed(first_day) <= lastDay);
      const hasMoved = access.hasMoved(scope);
      if (hasMoved)
        found.push(...before.filter(({ state }) => state === 'open').map((row) => movedAway(scope, row, lastDay)));
      const rows = hasMoved ? [] : before;
      const changedFrom = changed.get(key);
      const episodes = evaluateScope({
        ...{ series, known: rows.map(toEpisode), lastDay, evaluatedDay, changedFrom, isQuiet, rules },
        bar: barOfScope(feedbackOf.get(key) ?? []),
        isLate: (late.get(key) ?? []).some(
          ({ day, moved }) => moved >= lateShare * (series.costs[day - series.firstDay] ?? 0),
        ),
        newKey: (episode) => anomalyKey(scope, episode),
      });
      for (const episode of episodes) {
        const before = rows.find((row) => row.anomaly_key === episode.key);
        // Hours that were unusual need not make a day so: the hourly watch tells when they are usual again.
        const isUntouched =
          evaluatedDay !== undefined && evaluatedDay >= lastDay && (changedFrom === undefined || changedFrom > lastDay);
        if ((episode.isRestated || isUntouched) && watchedHoursOf(before) !== undefined) continue;
        const isMoved = changedFrom !== undefined && changedFrom <= episode.lastDay;
        const corrected = addedLater(episode, late.get(key));
        found.push({ scope, episode, before, isMoved, corrected, expectedSoFar: expectedSoFar(episode, series) });
      }
    }
  }
  // Explains reported anomalies, and explains them again after another day or changed numbers.
  const toExplain = found.filter(
    ({ episode, before, isMoved }) =>
      episode.isNotified &&
      !episode.isRestated &&
      (before?.is_notified !== true ||
        isMoved ||
        watchedHoursOf(before) !== undefined ||
        before.last_day !== dayName(episode.lastDay)),
  );
  const explained = new Map(
    (await explain(connection, toExplain, access.merged)).map((explanation, place) => [
      toExplain[place]?.episode,
      explanation,
    ]),
  );
  const rows = found.map(({ scope, episode, before, isByAccess, corrected }) => ({
    before,
    row: toRow(scope, episode, {
      ...{ before, explanation: explained.get(episode), rules },
      ...{ isByAccess, corrected, feedback },
    }),
  }));
  const anomalies = rows.flatMap(({ row, before }) => (JSON.stringify(before) === JSON.stringify(row) ? [] : [row]));
  const keys = new Set(anomalies.map(({ anomaly_key }) => anomaly_key));
  return {
    anomalies,
    accounts: due.map(({ account, lastDay }) => ({
      account,
      evaluatedThrough: (lastDay + 1) * dayMs,
      loadNumber: Number(loads?.['load_number']),
    })),
    present: [...known.filter(({ anomaly_key }) => !keys.has(anomaly_key)), ...anomalies],
    feedback,
  };
}

/** The last evaluated day of each account. */
async function readEvaluated(connection: Connection): Promise<ReadonlyMap<string, number>> {
  const rows = await connection.rows(await readSql('anomalies', 'evaluated'));
  return new Map(rows.map((row) => [String(row['account']), dayNumber(Number(row['evaluated_through'])) - 1]));
}

/** An episode of a scope, and its previous state. */
interface Found {
  readonly scope: Scope;
  readonly episode: StoredEpisode;
  readonly before: AnomalyRow | undefined;
  /** Whether it ended only because the role of the token changed. */
  readonly isByAccess?: boolean | undefined;
  /** Whether numbers of its days have changed. */
  readonly isMoved: boolean;
  readonly expectedSoFar: number;
  /** What the platform added to its days after they were first loaded, in USD. */
  readonly corrected?: number | undefined;
}

/** Expected cost of all days of an episode so far, in USD. */
function expectedSoFar({ firstDay, lastDay, impacts }: Episode, series: DailyCosts): number {
  const costs = series.costs.slice(Math.max(0, firstDay - series.firstDay), Math.max(0, lastDay - series.firstDay + 1));
  return sum(costs) - sum(impacts);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** What arrived of the days of an episode after they were loaded, in USD. */
function addedLater({ firstDay, lastDay }: Episode, late: readonly { day: number; moved: number }[] = []): number {
  return sum(late.filter(({ day }) => day >= firstDay && day <= lastDay).map(({ moved }) => moved));
}

/** If corrections added this share of an anomaly, its alert says so. */
const correctedShare = 0.25;

interface LookedAt {
  readonly account: string;
  readonly historyStart: Instant;
  readonly lastDay: number;
  readonly evaluatedDay: number | undefined;
}

function lookedAt(
  { account, historyStart, completeThrough }: Completeness,
  evaluatedDay: number | undefined,
): LookedAt[] {
  if (historyStart === undefined || completeThrough === undefined) return [];
  const lastDay = dayNumber(completeThrough) - 1;
  // If the books are complete through an earlier instant than before, they are evaluated again once they catch up.
  if (lastDay < dayNumber(historyStart) || (evaluatedDay !== undefined && lastDay < evaluatedDay)) return [];
  return [{ account, historyStart, lastDay, evaluatedDay }];
}

/** How far the roles of tokens decide in which scope a cost is. */
interface Access {
  /**
   * The accounts with hours of both roles, as JSON: only an admin sees the workspace of rows without UUID, so these rows
   * are evaluated together, in no workspace. Otherwise a change of role would look like a cost that moved.
   */
  readonly merged: string;
  /** Whether rows of a scope were in another one at the last evaluation, because the role changed since. */
  hasMoved(scope: Scope): boolean;
}

/** How the roles of tokens decide it, by the hours from a day on. */
export async function readAccess(connection: Connection, oldest: number): Promise<Access> {
  const rows = await connection.rows(await readSql('anomalies', 'access'), { from: formatInstant(oldest * dayMs) });
  const accountsWith = (test: (row: SqlRow) => boolean) => rows.filter(test).map((row) => String(row['account']));
  const merged = JSON.stringify(accountsWith((row) => row['is_merged'] === true));
  const moved = accountsWith((row) => row['was_merged'] !== null && row['is_merged'] !== row['was_merged']);
  if (moved.length === 0) return { merged, hasMoved: () => false };
  const keyOf = (scope: Scope) => scopeKey({ ...scope, workspace: null });
  const withoutUuid = await connection.rows(await readSql('anomalies', 'without_uuid'));
  const keys = new Set(withoutUuid.map((row) => keyOf(scopeOf(row))));
  return { merged, hasMoved: (scope) => moved.includes(scope.account) && keys.has(keyOf(scope)) };
}

/** The end of an open anomaly whose costs are in another scope since the role of the token changed. */
function movedAway(scope: Scope, before: AnomalyRow, lastDay: number): Found {
  const episode: StoredEpisode = { ...toEpisode(before), state: 'over', endedDay: lastDay, isRestated: true };
  return { scope, episode, before, isMoved: false, isByAccess: true, expectedSoFar: 0 };
}

/** The first day of each scope whose numbers have changed since the last evaluation of its account. */
async function changedDays(connection: Connection, oldest: number, merged: string): Promise<Map<string, number>> {
  const from = formatInstant(oldest * dayMs);
  const rows = await connection.rows(await readSql('anomalies', 'changed'), { from, merged });
  return new Map(rows.map((row) => [scopeKey(scopeOf(row)), Number(row['first_day'])]));
}

/** How much of each scope's days arrived after the day was loaded. */
async function lateDays(
  connection: Connection,
  oldest: number,
  merged: string,
): Promise<Map<string, { day: number; moved: number }[]>> {
  const days = new Map<string, { day: number; moved: number }[]>();
  const from = formatInstant(oldest * dayMs);
  const rows = await connection.rows(await readSql('anomalies', 'late'), { from, merged });
  for (const row of rows) {
    const key = scopeKey(scopeOf(row));
    const day = { day: Number(row['usage_day']), moved: Number(row['moved']) };
    days.set(key, [...(days.get(key) ?? []), day]);
  }
  return days;
}

/** Every scope of these accounts with its days from `oldest` on, or from the start of its account's books. */
async function readDailyCosts(
  connection: Connection,
  accounts: readonly LookedAt[],
  oldest: number,
  merged: string,
): Promise<{ scope: Scope; series: DailyCosts }[]> {
  const lastDay = Math.max(...accounts.map((account) => account.lastDay));
  const rows = await connection.rows(await readSql('anomalies', 'daily'), {
    from: formatInstant(oldest * dayMs),
    to: formatInstant((lastDay + 1) * dayMs),
    accounts: JSON.stringify(accounts.map(({ account }) => account)),
    merged,
  });
  return rows.map((row) => {
    const scope = scopeOf(row);
    const books = accounts.find(({ account }) => account === scope.account);
    return { scope, series: seriesOf(row, books === undefined ? oldest : firstDayOf(books, oldest), lastDay) };
  });
}

/**
 * Adds the scopes of known anomalies that have no cost left, because they were restated or ended before the days that
 * are read. Each of their days costs nothing.
 */
function withScopesWithoutCosts(
  costs: readonly { readonly scope: Scope; readonly series: DailyCosts }[],
  accounts: readonly LookedAt[],
  known: readonly AnomalyRow[],
  oldest: number,
): { scope: Scope; series: DailyCosts }[] {
  const seen = new Set(costs.map(({ scope }) => scopeKey(scope)));
  const without = known.flatMap((row) => {
    const scope = scopeOf({ ...row });
    const books = accounts.find(({ account }) => account === scope.account);
    if (books === undefined || seen.has(scopeKey(scope))) return [];
    seen.add(scopeKey(scope));
    const firstDay = firstDayOf(books, oldest);
    return [{ scope, series: seriesOf({ days: '[]', costs: '[]', usages: '[]' }, firstDay, books.lastDay) }];
  });
  return [...costs, ...without];
}

function firstDayOf(books: LookedAt, oldest: number): number {
  return Math.max(oldest, Math.ceil(books.historyStart / dayMs));
}

function groupedBy<T>(values: readonly T[], keyOf: (value: T) => string): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const own = groups.get(keyOf(value));
    if (own === undefined) groups.set(keyOf(value), [value]);
    else own.push(value);
  }
  return groups;
}

function seriesOf(row: Readonly<Record<string, unknown>>, firstDay: number, lastDay: number): DailyCosts {
  const [days, dayCosts, dayUsages] = ['days', 'costs', 'usages'].map(
    (name) => JSON.parse(String(row[name])) as number[],
  );
  const costs = new Array<number>(Math.max(0, lastDay - firstDay + 1)).fill(0);
  const usages = [...costs];
  for (const [place, day] of (days ?? []).entries()) {
    if (day < firstDay) continue;
    costs[day - firstDay] = dayCosts?.[place] ?? 0;
    usages[day - firstDay] = dayUsages?.[place] ?? 0;
  }
  return { firstDay, costs, usages };
}

/**
 * `anomaly/acc_main/research/sandbox/sandbox_compute_runtime_gbs/2026-10-03`, with `/price` for a price change and `/missing`
 * for what did not come.
 */
export function anomalyKey(
  { account, workspace, resourceType, billingDimension }: Scope,
  { firstDay, kind }: Episode,
): string {
  const names = [account, workspace, resourceType, billingDimension].map((name) =>
    name === null ? '@none' : encodeURIComponent(name),
  );
  return ['anomaly', ...names, dayName(firstDay), ...(kind === 'price' || kind === 'missing' ? [kind] : [])].join('/');
}

function toEpisode(row: AnomalyRow): StoredEpisode {
  const { impacts, heldDays, aboveDays } = JSON.parse(row.detail) as AnomalyDetail;
  return {
    key: row.anomaly_key,
    isNotified: row.is_notified,
    isRestated: row.state === 'restated',
    kind: row.kind as Episode['kind'],
    isUp: row.is_up,
    firstDay: dayNamed(row.first_day),
    seenDay: dayNamed(row.seen_day),
    lastDay: dayNamed(row.last_day),
    notifiedDay: row.notified_day === null ? undefined : dayNamed(row.notified_day),
    state: row.state === 'restated' ? 'over' : row.state,
    endedDay: row.ended_day === null ? undefined : dayNamed(row.ended_day),
    cost: Number(row.cost),
    expected: Number(row.expected),
    low: Number(row.expected_low),
    high: Number(row.expected_high),
    impacts,
    ratio: row.price_ratio ?? undefined,
    heldDays: heldDays?.map(dayNamed),
    aboveDays: aboveDays?.map(dayNamed),
  };
}

function toRow(
  scope: Scope,
  episode: StoredEpisode,
  {
    before,
    explanation,
    rules,
    isByAccess,
    corrected = 0,
    feedback,
  }: Pick<Found, 'before' | 'isByAccess' | 'corrected'> & {
    explanation: Explained | undefined;
    rules: AnomalyRules;
    feedback: readonly StoredFeedback[];
  },
): AnomalyRow {
  const unexplained: Explanation = {
    costSoFar: null,
    firstHour: null,
    pace: null,
    moved: null,
    priceEffect: null,
    volumeEffect: null,
    drivers: [],
  };
  const known: Omit<AnomalyDetail, 'impacts' | 'notices'> =
    before === undefined ? unexplained : (JSON.parse(before.detail) as AnomalyDetail);
  const { cost, ...explained } = explanation ?? { cost: undefined, ...known };
  const impacts = episode.impacts.map((impact) => Number(impact.toFixed(6)));
  const pace = explained.pace === null || explained.pace === undefined ? undefined : Number(explained.pace);
  const endedHour = before?.state === 'over' ? (known.hours?.to ?? known.endedHour) : known.endedHour;
  const notices = episode.isNotified ? noticesOf(episode, rules, pace, fixedSince(feedback, episode.key)) : [];
  const detail: AnomalyDetail = {
    impacts,
    ...(episode.heldDays?.length ? { heldDays: episode.heldDays.map(dayName) } : {}),
    ...(episode.aboveDays?.length ? { aboveDays: episode.aboveDays.map(dayName) } : {}),
    notices: notices.map((notice) => ({ ...notice, day: dayName(notice.day), impact: usdText(notice.impact) })),
    costSoFar: explained.costSoFar ?? null,
    ...(explained.largestDay === undefined ? {} : { largestDay: explained.largestDay }),
    firstHour: explained.firstHour,
    pace: explained.pace ?? null,
    moved: explained.moved,
    priceEffect: explained.priceEffect,
    volumeEffect: explained.volumeEffect,
    ...(explained.prices === undefined ? {} : { prices: explained.prices }),
    ...(episode.isUp && corrected > 0 && corrected >= correctedShare * sum(impacts)
      ? { corrected: usdText(corrected) }
      : {}),
    drivers: explained.drivers,
    deployments: explained.deployments,
    deploymentCount: explained.deploymentCount,
    ...(endedHour === undefined ? {} : { endedHour }),
    ...(isByAccess === true || known.isByAccess === true ? { isByAccess: true } : {}),
    ...(known.excluded === undefined ? {} : { excluded: known.excluded }),
  };
  const day = (number: number | undefined) => (number === undefined ? null : dayName(number));
  return {
    anomaly_key: episode.key,
    account: scope.account,
    workspace: scope.workspace,
    resource_type: scope.resourceType,
    billing_dimension: scope.billingDimension,
    kind: episode.kind,
    is_up: episode.isUp,
    first_day: dayName(episode.firstDay),
    seen_day: dayName(episode.seenDay),
    last_day: dayName(episode.lastDay),
    notified_day: day(episode.notifiedDay),
    state: episode.isRestated ? 'restated' : episode.state,
    ended_day: day(episode.endedDay),
    cost: cost ?? (before !== undefined && Number(before.cost) === episode.cost ? before.cost : usdText(episode.cost)),
    expected: usdText(episode.expected),
    expected_low: usdText(episode.low),
    expected_high: usdText(episode.high),
    impact: usdText(sum(impacts)),
    price_ratio: episode.ratio ?? null,
    severity: notices.at(-1)?.severity ?? before?.severity ?? severityAt(episode, episode.seenDay, rules, pace),
    is_notified: episode.isNotified,
    detail: JSON.stringify(detail),
  };
}
