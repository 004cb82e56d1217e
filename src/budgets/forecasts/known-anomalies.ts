import { toTrillionths } from '../../outlook/index.ts';
import { dayMs, dayNamed, formatInstant, type Instant } from '../../time/time.ts';
import { readSql } from '../../warehouse/sql/index.ts';
import type { Connection } from '../../warehouse/store/index.ts';
import type { AnomalyEvaluation, AnomalyRow } from '../../warehouse/watch/index.ts';
import { dailyRate } from './daily-rate.ts';
import { chancesToLast } from './lasting.ts';
import { mainDriverOf } from './main-driver.ts';

/** A reported anomaly that forecasts do not learn from. Days are numbers since 1970-01-01. */
export interface KnownAnomaly extends AnomalyPlace {
  readonly key: string;
  /** The resource that is most of it; undefined if none is. */
  readonly driver: string | undefined;
  readonly isUp: boolean;
  readonly firstDay: number;
  /** Its last unusual day, also if it was not evaluated yet. */
  readonly lastDay: number;
  /** Difference of each of its days from the usual, USD; also of days that it probably lasted since. */
  readonly impacts: readonly number[];
  /** What it costs more if it goes on; undefined if it has ended. */
  readonly goingOn: GoingOn | undefined;
}

/** The costs that an anomaly is in; null where the platform reports none. */
export interface AnomalyPlace {
  readonly account: string;
  readonly workspace: string | null;
  readonly resourceType: string | null;
  readonly billingDimension: string | null;
}

/** How an anomaly goes on. */
export interface GoingOn {
  /** USD a day. */
  readonly daily: number;
  /** Its first hour. */
  readonly from: Instant;
  /** When somebody said that it is fixed; undefined if nobody did. */
  readonly until: Instant | undefined;
  /** How likely it adds its costs on each day to come; the last chance is that of all later days. Empty: certainly. */
  readonly chances: readonly number[];
}

/** What the books know of anomalies at an instant. */
export interface AnomaliesKnown {
  readonly rows: readonly AnomalyRow[];
  readonly feedback: readonly FeedbackKnown[];
  /** The instant through which each account was evaluated. */
  readonly evaluatedThrough: ReadonlyMap<string, Instant>;
}

interface FeedbackKnown {
  readonly key: string;
  readonly feedback: string;
  /** The start of the first day that it applies to. */
  readonly appliesFrom: Instant;
}

/** An evaluation that the books do not have yet. */
export type NewEvaluation = Pick<AnomalyEvaluation, 'anomalies' | 'accounts'>;

/** The part of an anomaly's detail that forecasts need. */
interface Detail {
  readonly impacts: readonly number[];
  readonly hours?: { readonly from: string; readonly pace: string };
  readonly excluded?: unknown;
  readonly drivers?: readonly { readonly resourceName: string | null; readonly part: number }[];
}

/** An anomaly of at most so many days that comes again within so many days is a habit. */
const habitDays = 3;
const habitApart = 35;
/** If the evaluation is this much older than the costs, nobody knows what goes on. */
const freshDays = 7;

/**
 * The anomalies that forecasts do not learn from: higher costs that were reported and have ended or go on, and lower costs that
 * have ended. Not those that became the usual level, that somebody called expected or false, or that came again since, so that
 * the repeat was not reported. A lower cost that goes on stays in the history: it may never end. Pure.
 */
export function anomaliesLeftOut(
  { rows, feedback, evaluatedThrough }: AnomaliesKnown,
  completeThrough: Instant,
): KnownAnomaly[] {
  const called = new Map(feedback.map((one) => [one.key, one]));
  return rows.flatMap((row): KnownAnomaly[] => {
    const { anomaly_key: key, is_notified, is_up: isUp, state, kind } = row;
    const isLasting = state === 'open' || state === 'over';
    const words = called.get(key);
    const isIntended = words?.feedback === 'expected' || words?.feedback === 'false';
    // That a batch did not come once does not say that it comes again.
    const isLower = !isUp && (state !== 'over' || kind === 'missing');
    if (!is_notified || !isLasting || isIntended || isLower || isHabit(row, rows)) return [];
    const evaluated = evaluatedThrough.get(row.account) ?? 0;
    const { impacts, goingOn, driver } = courseOf(row, { rows, evaluated, completeThrough, words });
    const firstDay = dayNamed(row.first_day);
    const lastDay = Math.max(dayNamed(row.last_day), firstDay + impacts.findLastIndex((impact) => impact !== 0));
    const place = { account: row.account, workspace: row.workspace, resourceType: row.resource_type };
    return [
      {
        ...{ ...place, billingDimension: row.billing_dimension },
        ...{ key, driver, isUp, firstDay, lastDay, impacts, goingOn },
      },
    ];
  });
}

/** The days of an anomaly, and how it goes on. */
function courseOf(
  row: AnomalyRow,
  {
    rows,
    evaluated,
    completeThrough,
    words,
  }: {
    readonly rows: readonly AnomalyRow[];
    readonly evaluated: Instant;
    readonly completeThrough: Instant;
    readonly words: FeedbackKnown | undefined;
  },
): Pick<KnownAnomaly, 'impacts' | 'goingOn' | 'driver'> {
  const { impacts, hours, drivers = [] } = JSON.parse(row.detail) as Detail;
  const driver = mainDriverOf(drivers)?.resourceName ?? undefined;
  const ended = { impacts, goingOn: undefined, driver };
  if (row.state !== 'open' || evaluated < completeThrough - freshDays * dayMs) return ended;
  const [firstDay, lastDay] = [dayNamed(row.first_day), dayNamed(row.last_day)];
  const known = Math.max(lastDay + 1, Math.floor(evaluated / dayMs)) - firstDay;
  // Days since its last one were usual: they lower the rate.
  const days = Array.from({ length: known }, (_, place) => impacts[place] ?? 0);
  // Most expensive days stay alone, so one goes on only if its hours are followed.
  const daily = hours !== undefined ? Number(hours.pace) : days.length > 1 ? dailyRate(days) : 0;
  if (daily <= 0) return ended;
  const isFixed = words?.feedback === 'fixed' && words.appliesFrom > lastDay * dayMs;
  const until = isFixed ? words.appliesFrom : undefined;
  const from = hours === undefined ? firstDay * dayMs : Date.parse(hours.from);
  // It goes on through the complete days that were not evaluated yet.
  const end = Math.floor(Math.min(completeThrough, until ?? completeThrough) / dayMs) - firstDay;
  const since = hours === undefined ? new Array<number>(Math.max(0, end - known)).fill(daily) : [];
  // What its newest hours found has no like among anomalies of whole days.
  const chances = hours === undefined ? chancesToLast(row, rows, lastDay - firstDay + 1) : [];
  return { impacts: [...days, ...since], goingOn: { daily, from, until, chances }, driver };
}

/** Whether a short increase came again soon, so that the repeat was not reported. */
function isHabit(row: AnomalyRow, rows: readonly AnomalyRow[]): boolean {
  const first = dayNamed(row.first_day);
  if (!row.is_up || row.kind === 'price' || dayNamed(row.last_day) - first >= habitDays) return false;
  return rows.some((other) => {
    const apart = dayNamed(other.first_day) - first;
    const isUnreported = !other.is_notified && other.notified_day === null && other.is_up && other.kind !== 'price';
    const isCurrent = other.state !== 'restated' && other.state !== 'grown';
    return (
      isUnreported && isCurrent && apart > 0 && apart <= habitApart && isSamePlace(placeOfRow(row), placeOfRow(other))
    );
  });
}

function placeOfRow(row: AnomalyRow): AnomalyPlace {
  const { account, workspace, resource_type: resourceType, billing_dimension: billingDimension } = row;
  return { account, workspace, resourceType, billingDimension };
}

/** Whether two anomalies are in the same costs. Pure. */
export function isSamePlace(one: AnomalyPlace, other: AnomalyPlace): boolean {
  return (
    one.account === other.account &&
    one.workspace === other.workspace &&
    one.resourceType === other.resourceType &&
    one.billingDimension === other.billingDimension
  );
}

/** The anomalies of the books from an instant on, with those of an evaluation that they do not have yet. */
export async function readAnomaliesKnown(
  connection: Connection,
  from: Instant,
  newer: NewEvaluation = { anomalies: [], accounts: [] },
): Promise<AnomaliesKnown> {
  const history = await readAnomalyHistory(connection, from, false);
  const known = history.knownAt(Number.MAX_SAFE_INTEGER);
  const keys = new Set(newer.anomalies.map((row) => row.anomaly_key));
  return {
    rows: [...known.rows.filter((row) => !keys.has(row.anomaly_key)), ...newer.anomalies],
    feedback: known.feedback,
    evaluatedThrough: new Map([
      ...known.evaluatedThrough,
      ...newer.accounts.map((one) => [one.account, one.evaluatedThrough] as const),
    ]),
  };
}

/** An anomaly that still costs more than usual, and that nobody called fixed or intended, or excluded. */
export type Runaway = Pick<KnownAnomaly, 'key' | 'driver' | 'firstDay'> & AnomalyPlace & { readonly daily: bigint };

/** The anomalies that go on, with what each costs more a day in trillionths of USD. */
export async function readRunaways(connection: Connection, completeThrough: Instant): Promise<Runaway[]> {
  const known = await readAnomaliesKnown(connection, 0);
  const excluded = known.rows.filter(({ detail }) => (JSON.parse(detail) as Detail).excluded !== undefined);
  const keys = new Set(excluded.map((row) => row.anomaly_key));
  return anomaliesLeftOut(known, completeThrough).flatMap(({ goingOn, ...one }) =>
    goingOn === undefined || goingOn.until !== undefined || keys.has(one.key)
      ? []
      : [{ ...one, daily: toTrillionths(goingOn.daily) }],
  );
}

/** What the books knew of anomalies at each instant. */
export interface AnomalyHistory {
  /** Every state that was ever known. */
  readonly rows: readonly AnomalyRow[];
  knownAt(instant: Instant): AnomaliesKnown;
}

/** What the books knew of the anomalies from an instant on; without `withEarlier` only what they know now. */
export async function readAnomalyHistory(
  connection: Connection,
  from: Instant,
  withEarlier = true,
): Promise<AnomalyHistory> {
  const asked = { with_earlier: withEarlier };
  const day = formatInstant(from).slice(0, 10);
  const states = (await connection.rows(await readSql('forecasts', 'anomalies'), { ...asked, from: day })).map(
    ({ recorded_at, replaced_at, ...row }) => ({
      row: row as unknown as AnomalyRow,
      since: Number(recorded_at),
      until: replaced_at === null ? Number.POSITIVE_INFINITY : Number(replaced_at),
    }),
  );
  const evaluations = await connection.rows(await readSql('forecasts', 'evaluations'), asked);
  const given = await connection.rows(await readSql('anomalies', 'feedback'));
  return {
    rows: states.map(({ row }) => row),
    knownAt: (instant) => ({
      rows: states.flatMap(({ row, since, until }) => (since <= instant && instant < until ? [row] : [])),
      feedback: given.flatMap((row) =>
        Date.parse(String(row['given_at'])) > instant
          ? []
          : [
              {
                key: String(row['anomaly_key']),
                feedback: String(row['feedback']),
                appliesFrom: Date.parse(String(row['applies_from'])),
              },
            ],
      ),
      evaluatedThrough: new Map(
        evaluations.flatMap((row) =>
          Number(row['recorded_at']) > instant
            ? []
            : [[String(row['account']), Number(row['evaluated_through'])] as const],
        ),
      ),
    }),
  };
}

/** The days of anomalies in all of their states, and those that they may have lasted before they were evaluated. Pure. */
export function daysOf(
  rows: readonly AnomalyRow[],
): readonly (AnomalyPlace & Pick<KnownAnomaly, 'firstDay' | 'lastDay'>)[] {
  return rows.map((row) => ({
    ...placeOfRow(row),
    firstDay: dayNamed(row.first_day),
    lastDay: dayNamed(row.last_day) + freshDays,
  }));
}
