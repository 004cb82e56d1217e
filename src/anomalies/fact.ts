import { decimalOfWhole, wholeOfDecimal } from '../decimals.ts';
import type { Severity } from '../severity.ts';
import { dayMs } from '../time.ts';
import type { AnomalyRow } from '../warehouse/index.ts';
import { dayName, dayNamed } from './days.ts';
import type { DeploymentBefore } from './deployments.ts';
import type { AnomalyKind } from './detect.ts';
import { dailyAt, type NoticeReason } from './notices.ts';

/** A resource and its share of an anomaly's days so far. */
export interface AnomalyDriver {
  /** Null if the platform reports none. */
  readonly resourceName: string | null;
  readonly resourceUuid: string | null;
  /** Cost of all its days so far in USD, decimal text. */
  readonly cost: string;
  /** Expected cost in USD, decimal text. */
  readonly expected: string;
  /** Its share of the whole difference in percent; negative if it went in the other direction. */
  readonly part: number;
}

/** A day of an anomaly after which a notification is sent. */
export interface AnomalyNotice {
  /** `2026-10-03`. */
  readonly day: string;
  readonly reason: NoticeReason;
  readonly severity: Severity;
  /** Difference of its days up to then from the expected cost in USD, decimal text. */
  readonly impact: string;
}

/** The explanation of an anomaly, over all its days so far. */
export interface AnomalyDetail {
  /** Difference of each of its days from the expected cost in USD. */
  readonly impacts: readonly number[];
  /** Oldest first; undefined in rows of earlier versions. */
  readonly notices?: readonly AnomalyNotice[] | undefined;
  /** Cost of all its days so far in USD, decimal text; null if it is not reported. */
  readonly costSoFar?: string | null | undefined;
  /** The hour in which the difference started: `2026-10-03T14:00:00Z`. */
  readonly firstHour: string | null;
  /** Whether the unit price or the usage changed, or both; null if unknown. */
  readonly moved: 'price' | 'usage' | 'both' | null;
  /** The effects of price and of usage on the difference in USD, decimal text; as in the report price_volume. */
  readonly priceEffect: string | null;
  readonly volumeEffect: string | null;
  /** The largest changes first. */
  readonly drivers: readonly AnomalyDriver[];
  /** What was deployed or changed of its drivers in the 48 hours before, most relevant first; undefined in rows of earlier versions. */
  readonly deployments?: readonly DeploymentBefore[] | undefined;
  /** How many deployments there are; `deployments` may have fewer. */
  readonly deploymentCount?: number | undefined;
  /** Whether it ended because the role of the token changed: its costs are in another workspace, or in none. */
  readonly isByAccess?: boolean | undefined;
}

/**
 * An unusual cost of a resource type in a workspace, for one billing dimension. Fields that may be undefined are
 * missing in facts of earlier versions.
 */
export interface AnomalyFact extends Omit<AnomalyDetail, 'impacts' | 'notices'> {
  /** `anomaly/acc_main/research/sandbox/sandbox_compute_runtime_gbs/2026-10-03`. */
  readonly key: string;
  readonly kind: 'anomaly';
  readonly account: string;
  readonly severity: Severity;
  readonly notify: readonly string[];
  /** lapsed: it had ended, or had become usual, before anybody was notified, so nobody is. */
  readonly state: 'raised' | 'resolved' | 'withdrawn' | 'lapsed';
  readonly completeThrough: string | null;
  /** The day of the last notice, except for the first one; a later day is reported again. */
  readonly revision?: string | undefined;
  readonly workspace: string | null;
  readonly resourceType: string | null;
  readonly billingDimension: string | null;
  readonly anomaly: AnomalyKind;
  readonly isUp: boolean;
  readonly firstDay: string;
  readonly lastDay: string;
  /** Whether it has ended, or has become usual. */
  readonly isOver: boolean;
  /** Whether a restatement removed it. */
  readonly isRestated: boolean;
  /** Whether it lasted until it became the expected cost. */
  readonly isUsual?: boolean | undefined;
  /** Why it is reported now. */
  readonly notice?: NoticeReason | undefined;
  /** The previous report; null if there was none. */
  readonly lastNotice?: { readonly day: string; readonly impact: string } | null | undefined;
  /** Its recent difference in USD a day, decimal text; null if it has only one day. */
  readonly dailyImpact?: string | null | undefined;
  /** Its expected impact by the end of the month if it continues, decimal text; null if it does not continue. */
  readonly monthEnd?: { readonly month: string; readonly impact: string } | null | undefined;
  /** Cost of the first day and its expected cost in USD, decimal text. */
  readonly cost: string;
  readonly expected: string;
  readonly expectedLow: string;
  readonly expectedHigh: string;
  /** Difference of its days so far from the expected cost in USD, decimal text. */
  readonly impact: string;
}

/** The known alert of an anomaly: the fact with which it was last raised. */
export interface KnownAnomaly {
  readonly isOpen: boolean;
  readonly fact: Pick<
    AnomalyFact,
    'isOver' | 'firstDay' | 'lastDay' | 'impact' | 'severity' | 'revision' | 'notice' | 'lastNotice'
  >;
}

/** The sinks for facts of anomalies, and complete through of the books. */
export interface FactsOfAnomalies {
  readonly notify: readonly string[];
  completeThroughOf(account: string): string | null;
}

/**
 * The facts of anomalies to report, given the known alerts. An anomaly that has ended is still reported if nobody was
 * notified before. One that became usual ends without a message, unless it costs more and is at least a warning. Pure.
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
    // An anomaly that was restated away before it was reported is not reported.
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

/** Why an anomaly is reported, and its previous report. A notice later than that of the alert is a new one. */
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

/** The impact of a continuing anomaly by the end of the month in which the books are complete. */
function monthEndOf(row: AnomalyRow, daily: number, completeThrough: string | null): AnomalyFact['monthEnd'] {
  if (row.state !== 'open' || completeThrough === null) return null;
  const lastDay = dayNamed(row.last_day);
  // It continues if the last complete day is part of it.
  if (dayNamed(completeThrough.slice(0, 10)) - 1 !== lastDay) return null;
  const month = dayName(lastDay + 1).slice(0, 7);
  const [year = 0, number = 1] = month.split('-').map(Number);
  const daysLeft = Date.UTC(year, number, 1) / dayMs - (lastDay + 1);
  const sum = wholeOfDecimal(row.impact, decimals) + wholeOfDecimal(usdText(daily * daysLeft), decimals);
  return { month, impact: decimalOfWhole(sum, decimals) };
}

/** Decimals of sums in the books. */
const decimals = 12;

/** An estimate in USD as decimal text, with the decimals of sums in the books: to the millionth. */
export function usdText(usd: number): string {
  const text = usd.toFixed(6);
  return `${text === '-0.000000' ? '0.000000' : text}000000`;
}
