import { decimalOfWhole, wholeOfDecimal } from '../decimals.ts';
import type { Severity } from '../severity.ts';
import { dayMs } from '../time.ts';
import type { AnomalyRow } from '../warehouse/index.ts';
import { dayName, dayNamed } from './days.ts';
import type { AnomalyKind } from './detect.ts';
import { dailyAt, type NoticeReason } from './notices.ts';

/** A resource and its share of an anomaly's days so far. */
export interface AnomalyDriver {
  /** Null where the platform gives none. */
  readonly resourceName: string | null;
  readonly resourceUuid: string | null;
  /** USD of all days so far, decimal text. */
  readonly cost: string;
  /** USD that were expected of it, decimal text. */
  readonly expected: string;
  /** Its share of the whole difference, in percent; below 0 where it went the other way. */
  readonly part: number;
}

/** A day with whose completion somebody is to be notified. */
export interface AnomalyNotice {
  /** `2026-10-03`. */
  readonly day: string;
  readonly reason: NoticeReason;
  readonly severity: Severity;
  /** USD by which its days up to then differ from what was expected, decimal text. */
  readonly impact: string;
}

/** What explains an anomaly, of all its days so far. */
export interface AnomalyDetail {
  /** USD by which each of its days differs from what was expected. */
  readonly impacts: readonly number[];
  /** Oldest first; undefined in rows of earlier versions. */
  readonly notices?: readonly AnomalyNotice[] | undefined;
  /** USD of all its days so far, decimal text; null where nobody is notified of it. */
  readonly costSoFar?: string | null | undefined;
  /** The hour from which on the day differed: `2026-10-03T14:00:00Z`. */
  readonly firstHour: string | null;
  /** Whether the price of a unit or the usage moved, or both; null where that cannot be told. */
  readonly moved: 'price' | 'usage' | 'both' | null;
  /** USD that the price, and the usage, make of the difference, decimal text; as in the report price_volume. */
  readonly priceEffect: string | null;
  readonly volumeEffect: string | null;
  /** Those that moved most first. */
  readonly drivers: readonly AnomalyDriver[];
}

/**
 * Something that was not as usual in the costs of a workspace's resource type along a billing dimension. What may be
 * undefined is missing in facts of earlier versions.
 */
export interface AnomalyFact extends Omit<AnomalyDetail, 'impacts' | 'notices'> {
  /** `anomaly/acc_main/research/sandbox/sandbox_compute_runtime_gbs/2026-10-03`. */
  readonly key: string;
  readonly kind: 'anomaly';
  readonly account: string;
  readonly severity: Severity;
  readonly notify: readonly string[];
  /** lapsed: it was over when it was reported, or is what is usual now, and nobody is notified of that. */
  readonly state: 'raised' | 'resolved' | 'withdrawn' | 'lapsed';
  readonly completeThrough: string | null;
  /** The day of the last notice, but for the first one: a later day is reported again. */
  readonly revision?: string | undefined;
  readonly workspace: string | null;
  readonly resourceType: string | null;
  readonly billingDimension: string | null;
  readonly anomaly: AnomalyKind;
  readonly isUp: boolean;
  readonly firstDay: string;
  readonly lastDay: string;
  /** Whether it is over, or has become what is usual. */
  readonly isOver: boolean;
  /** Whether nothing is left of it after a restatement. */
  readonly isRestated: boolean;
  /** Whether it lasted until it was what is expected. */
  readonly isUsual?: boolean | undefined;
  /** Why it is reported now. */
  readonly notice?: NoticeReason | undefined;
  /** What was reported before; null where nothing was. */
  readonly lastNotice?: { readonly day: string; readonly impact: string } | null | undefined;
  /** USD a day by which it differs lately, decimal text; null where it has one day. */
  readonly dailyImpact?: string | null | undefined;
  /** What its impact comes to by the end of a month if it goes on, decimal text; null where it does not go on. */
  readonly monthEnd?: { readonly month: string; readonly impact: string } | null | undefined;
  /** USD of the first day, and what was expected of it, decimal text. */
  readonly cost: string;
  readonly expected: string;
  readonly expectedLow: string;
  readonly expectedHigh: string;
  /** USD by which its days so far differ from what was expected, decimal text. */
  readonly impact: string;
}

/** What is known of the alert of an anomaly: the fact with which it was last raised. */
export interface KnownAnomaly {
  readonly isOpen: boolean;
  readonly fact: Pick<
    AnomalyFact,
    'isOver' | 'firstDay' | 'lastDay' | 'impact' | 'severity' | 'revision' | 'notice' | 'lastNotice'
  >;
}

/** Where facts of anomalies are sent, and through when the books are complete. */
export interface FactsOfAnomalies {
  readonly notify: readonly string[];
  completeThroughOf(account: string): string | null;
}

/**
 * The facts of anomalies that somebody is to be notified of, beside the alerts that are known. One that is over is
 * reported all the same where nobody was notified of it before. What became usual ends without a word, but where it is
 * dearer and worth a warning. Pure.
 */
export function anomalyFacts(
  rows: readonly AnomalyRow[],
  known: ReadonlyMap<string, KnownAnomaly>,
  { notify, completeThroughOf }: FactsOfAnomalies,
): AnomalyFact[] {
  return rows.flatMap((row): AnomalyFact[] => {
    const before = known.get(row.anomaly_key);
    const isEnded = row.state !== 'open';
    if (!row.is_notified || before?.isOpen === false) return [];
    // Nobody is notified of what was restated away before it was reported.
    if (before === undefined && row.state === 'restated') return [];
    const isLargeChange = row.state === 'usual' && row.is_up && row.severity !== 'info';
    const isQuiet = before?.fact.isOver === true || row.state === 'grown' || (row.state === 'usual' && !isLargeChange);
    const state = before === undefined || !isEnded ? 'raised' : isQuiet ? 'lapsed' : 'resolved';
    return [factOf(row, before?.fact, { notify, state, completeThrough: completeThroughOf(row.account) })];
  });
}

function factOf(
  row: AnomalyRow,
  before: KnownAnomaly['fact'] | undefined,
  { notify, state, completeThrough }: Pick<AnomalyFact, 'notify' | 'state' | 'completeThrough'>,
): AnomalyFact {
  const { impacts, notices = [], ...detail } = JSON.parse(row.detail) as AnomalyDetail;
  const daily = impacts.length > 1 ? dailyAt({ firstDay: 0, impacts }, impacts.length - 1) : undefined;
  return {
    key: row.anomaly_key,
    kind: 'anomaly',
    account: row.account,
    severity: row.severity as Severity,
    notify,
    state,
    completeThrough,
    ...reported(notices, before),
    workspace: row.workspace,
    resourceType: row.resource_type,
    billingDimension: row.billing_dimension,
    anomaly: row.kind as AnomalyKind,
    isUp: row.is_up,
    firstDay: row.first_day,
    lastDay: row.last_day,
    isOver: row.state !== 'open',
    isRestated: row.state === 'restated',
    isUsual: row.state === 'usual',
    cost: row.cost,
    expected: row.expected,
    expectedLow: row.expected_low,
    expectedHigh: row.expected_high,
    impact: row.impact,
    dailyImpact: daily === undefined ? null : usdText(daily),
    monthEnd: daily === undefined ? null : monthEndOf(row, daily, completeThrough),
    ...detail,
  };
}

/** Why an anomaly is reported, and what was reported before: a notice later than that of the alert is a new one. */
function reported(
  notices: readonly AnomalyNotice[],
  before: KnownAnomaly['fact'] | undefined,
): Pick<AnomalyFact, 'revision' | 'notice' | 'lastNotice'> {
  const [first, ...later] = notices;
  const last = later.at(-1);
  const { revision } = before ?? {};
  if (before === undefined) {
    return { ...(last === undefined ? {} : { revision: last.day }), notice: 'first', lastNotice: null };
  }
  if (last === undefined || last.day <= (revision ?? first?.day ?? '')) {
    const { notice = 'first', lastNotice = null } = before;
    return { ...(revision === undefined ? {} : { revision }), notice, lastNotice };
  }
  return { revision: last.day, notice: last.reason, lastNotice: { day: before.lastDay, impact: before.impact } };
}

/** What an anomaly that still goes on comes to by the end of the month in which the books are complete. */
function monthEndOf(row: AnomalyRow, daily: number, completeThrough: string | null): AnomalyFact['monthEnd'] {
  if (row.state !== 'open' || completeThrough === null) return null;
  const lastDay = dayNamed(row.last_day);
  // It goes on where it was so on the last complete day.
  if (dayNamed(completeThrough.slice(0, 10)) - 1 !== lastDay) return null;
  const month = dayName(lastDay + 1).slice(0, 7);
  const [year = 0, number = 1] = month.split('-').map(Number);
  const daysLeft = Date.UTC(year, number, 1) / dayMs - (lastDay + 1);
  const sum = wholeOfDecimal(row.impact, decimals) + wholeOfDecimal(usdText(daily * daysLeft), decimals);
  return { month, impact: decimalOfWhole(sum, decimals) };
}

/** Decimals that sums of the books have. */
const decimals = 12;

/** USD of an estimate as decimal text with the places that sums of the books have: to the millionth. */
export function usdText(usd: number): string {
  const text = usd.toFixed(6);
  return `${text === '-0.000000' ? '0.000000' : text}000000`;
}
