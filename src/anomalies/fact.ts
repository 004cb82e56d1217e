import type { Severity } from '../base/severity.ts';
import { moneyOf, moneyText } from '../money/money.ts';
import { dayMs, dayName, dayNamed } from '../time/time.ts';
import type { AnomalyRow } from '../warehouse/watch/index.ts';
import type { AnomalyDetail, AnomalyNotice, Explanation, RunawayHours } from './detail.ts';
import type { AnomalyKind, DetectionRules, Episode } from './detect.ts';
import { excludedOf } from './exclusions.ts';
import { type AnomalyFeedback, feedbackOn, type StoredFeedback } from './feedback.ts';
import { dailyAt, type NoticeReason, noticesOf } from './notices.ts';
import { type AnomalyPart, byCause, type Caused, type OneCause, partOf, together } from './one-cause.ts';
import type { PressedBudget } from './pressed-budgets.ts';
import { usualRules } from './rules.ts';

/**
 * An unusual cost of a resource type in a workspace, for one billing dimension. Fields that may be undefined are
 * missing if they were not evaluated.
 */
export interface AnomalyFact extends Explanation {
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
  /** The anomalies of its cause, the one with its key first, if there are several: all amounts are their sums. */
  readonly parts?: readonly AnomalyPart[] | undefined;
  /** What people said that it was, or that its parts were; undefined if nobody did. */
  readonly feedback?: readonly AnomalyFeedback[] | undefined;
  /** The budgets that it helps to exceed, or the one that ends closest to its amount; undefined if no budget covers it. */
  readonly budgets?: readonly PressedBudget[] | undefined;
  /** The exclusion that covers it: it raises no alert. Undefined if none does. */
  readonly excluded?: AnomalyDetail['excluded'];
  /** The exclusion that covered its place and has ended. */
  readonly formerlyExcluded?: AnomalyDetail['formerlyExcluded'];
  /** Who owns the resource that drives it, by the allocation rules: `team Research`; undefined if nobody is known. */
  readonly owner?: string | undefined;
}

/** The known alert of an anomaly: the fact with which it was last raised. */
export interface KnownAnomaly {
  readonly isOpen: boolean;
  /** Whether it ended because nobody looked for it any more, or because an exclusion covered it. */
  readonly isWithdrawn?: boolean | undefined;
  readonly fact: Pick<
    AnomalyFact,
    'isOver' | 'firstDay' | 'lastDay' | 'impact' | 'severity' | 'revision' | 'notice' | 'lastNotice' | 'parts' | 'hours'
  >;
}

/** The sinks for facts of anomalies, and complete through of the books. */
export interface FactsOfAnomalies {
  readonly notify: readonly string[];
  /** The rules that decide how urgent several anomalies of one cause are; by default the usual ones. */
  readonly rules?: DetectionRules | undefined;
  /** What people said that anomalies were, oldest first. */
  readonly feedback?: readonly StoredFeedback[] | undefined;
  completeThroughOf(account: string): string | null;
}

/**
 * The facts of anomalies to report, given the known alerts. Anomalies of one cause are one fact. An anomaly that has ended
 * is still reported if nobody was notified before. One that became usual ends without a message, unless it costs more and
 * is at least a warning and nobody called it expected or false. Of what is excluded there are facts too, with the exclusion: an
 * alert about it is withdrawn. Pure.
 */
export function anomalyFacts(
  rows: readonly AnomalyRow[],
  known: ReadonlyMap<string, KnownAnomaly>,
  { notify, completeThroughOf, rules = usualRules, feedback: all = [] }: FactsOfAnomalies,
): AnomalyFact[] {
  const heads = new Map<string, string>();
  for (const [key, { fact }] of known) {
    heads.set(key, key);
    for (const part of fact.parts ?? []) if (!known.has(part.key)) heads.set(part.key, key);
  }
  const isTold = (row: AnomalyRow) =>
    // An anomaly that was restated away before it was reported is not reported.
    row.is_notified && (heads.has(row.anomaly_key) || row.state !== 'restated');
  const told = rows.filter(isTold);
  // An alert is withdrawn if all of its parts are excluded; otherwise they all stay in it.
  const kept = new Set(
    told.flatMap((row) => {
      const head = heads.get(row.anomaly_key) ?? '';
      return excludedOf(row) === undefined && known.get(head)?.isOpen === true ? [head] : [];
    }),
  );
  const isOut = (row: AnomalyRow) => excludedOf(row) !== undefined && !kept.has(heads.get(row.anomaly_key) ?? '');
  const groups = [told.filter((row) => !isOut(row)), told.filter(isOut)].flatMap((some) =>
    byCause(
      some,
      (key) => heads.get(key),
      (head) => known.get(head)?.isOpen !== false,
    ),
  );
  return groups.flatMap((group): AnomalyFact[] => {
    const key = heads.get(group[0].row.anomaly_key) ?? group[0].row.anomaly_key;
    const before = known.get(key);
    const excluded = isOut(group[0].row) ? excludedOf(group[0].row) : undefined;
    if (excluded !== undefined) {
      const own = group.length === 1 ? group[0] : together(group);
      const state = before?.isOpen === true ? 'withdrawn' : 'raised';
      const asked = { notify, state, completeThrough: completeThroughOf(own.row.account) } as const;
      const parts = group.length === 1 ? {} : { parts: group.map(partOf) };
      return [{ ...factOf(own, before?.fact, asked), key, ...parts, excluded }];
    }
    if (before?.isOpen === false && !group.some((one) => goesOnAfter(before, one))) return [];
    const own = group.length === 1 ? group[0] : withNotices(together(group), before?.fact, group, rules);
    const { row } = own;
    const feedback = group.flatMap((part) => feedbackOn(all, part.row.anomaly_key) ?? []);
    const isIntended = feedback.filter(({ as }) => as !== 'fixed').length === group.length;
    const isLargeChange = row.state === 'usual' && row.is_up && row.severity !== 'info';
    const isQuiet =
      before?.fact.isOver === true ||
      row.kind === 'missing' ||
      row.state === 'grown' ||
      (row.state === 'usual' && (!isLargeChange || isIntended));
    const state = before === undefined || row.state === 'open' ? 'raised' : isQuiet ? 'lapsed' : 'resolved';
    const fact = factOf(own, before?.fact, { notify, state, completeThrough: completeThroughOf(row.account) });
    return [
      {
        ...{ ...fact, key },
        ...(group.length === 1 ? {} : { parts: group.map(partOf) }),
        ...(feedback.length === 0 ? {} : { feedback }),
      },
    ];
  });
}

/**
 * Whether an anomaly goes on after its alert ended: the alert was withdrawn; or its hours had become usual, and a later day is
 * unusual as well, or it ran again on the same day.
 */
function goesOnAfter({ fact: { hours }, isWithdrawn }: KnownAnomaly, { row, detail }: Caused): boolean {
  if (row.state !== 'open') return false;
  if (isWithdrawn === true) return true;
  if (detail.endedHour !== undefined) return dayNamed(row.last_day) * dayMs >= Date.parse(detail.endedHour);
  return hours !== undefined && detail.hours !== undefined && detail.hours.from > hours.to;
}

/** A fact with the present feedback: the stored fact of an alert has that of its last message. Pure. */
export function withFeedback({ feedback: _before, ...fact }: AnomalyFact, all: readonly StoredFeedback[]): AnomalyFact {
  const keys = fact.parts?.map(({ key }) => key) ?? [fact.key];
  const feedback = keys.flatMap((key) => feedbackOn(all, key) ?? []);
  return feedback.length === 0 ? fact : { ...fact, feedback };
}

const ranks = { info: 0, warning: 1, critical: 2 } as const;
/** A part that is found later is news if it adds this share to what was reported. */
const newsShare = 0.25;

/** Anomalies of one cause with the notices and the severity of their sum. */
function withNotices(
  { row, detail }: Caused,
  before: KnownAnomaly['fact'] | undefined,
  group: OneCause,
  rules: DetectionRules,
): Caused {
  const pace = detail.pace === null || detail.pace === undefined ? undefined : Number(detail.pace);
  const notices = noticesOf(episodeOf(row, detail), rules, pace).map(
    (notice): AnomalyNotice => ({ ...notice, day: dayName(notice.day), impact: usdText(notice.impact) }),
  );
  const unfixed = group
    .flatMap((part) => part.detail.notices ?? [])
    .filter(({ day, reason }) => reason === 'unfixed' && notices.every((notice) => notice.day !== day));
  notices.push(...unfixed);
  notices.sort((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0));
  const worst = [
    ...notices.map(({ severity }) => severity),
    ...group.map((part) => part.row.severity as Severity),
  ].reduce((a, b) => (ranks[b] > ranks[a] ? b : a), 'info');
  const known = before?.parts?.map(({ key }) => key) ?? [];
  const added = group
    .slice(1)
    .filter((part) => !known.includes(part.row.anomaly_key))
    .reduce((sum, part) => sum + Math.abs(Number(part.row.impact)), 0);
  const isNews =
    before !== undefined &&
    row.state === 'open' &&
    (ranks[worst] > ranks[before.severity] || added >= newsShare * Math.abs(Number(before.impact)));
  const news: AnomalyNotice = { day: row.last_day, reason: 'worse', severity: worst, impact: row.impact };
  const isHeld = detail.heldDays?.includes(row.last_day) === true;
  const isTold = notices.some(({ day }, place) => place > 0 && day >= row.last_day);
  return {
    row: { ...row, severity: worst },
    detail: { ...detail, notices: isNews && !isTold && !isHeld ? [...notices, news] : notices },
  };
}

/** What the notices of a row depend on. */
function episodeOf(row: AnomalyRow, { impacts, heldDays, aboveDays }: Caused['detail']): Episode {
  return {
    kind: row.kind as AnomalyKind,
    isUp: row.is_up,
    firstDay: dayNamed(row.first_day),
    seenDay: dayNamed(row.seen_day),
    lastDay: dayNamed(row.last_day),
    notifiedDay: dayNamed(row.notified_day ?? row.seen_day),
    state: 'open',
    endedDay: undefined,
    cost: Number(row.cost),
    expected: Number(row.expected),
    low: Number(row.expected_low),
    high: Number(row.expected_high),
    impacts,
    ratio: undefined,
    heldDays: heldDays?.map(dayNamed),
    aboveDays: aboveDays?.map(dayNamed),
  };
}

function factOf(
  {
    row,
    detail: {
      impacts,
      notices = [],
      endedHour: _end,
      excluded: _exclusion,
      heldDays: _held,
      aboveDays: _above,
      ...detail
    },
  }: Caused,
  before: KnownAnomaly['fact'] | undefined,
  { notify, state, completeThrough }: Pick<AnomalyFact, 'notify' | 'state' | 'completeThrough'>,
): AnomalyFact {
  // By its hours, only its pace is known.
  const daily =
    detail.hours === undefined && impacts.length > 1
      ? dailyAt({ firstDay: 0, impacts }, impacts.length - 1)
      : undefined;
  // On its first day it goes on as it ran at the end of that day, if it did.
  const onwards = daily ?? (detail.pace === null || detail.pace === undefined ? undefined : Number(detail.pace));
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
    monthEnd: onwards === undefined ? null : monthEndOf(row, detail.hours, onwards, completeThrough),
    ...detail,
    ...sinceExclusion(row, impacts, detail.formerlyExcluded),
  };
}

/** An exclusion that acted on the first days of an anomaly and has ended, with the difference of the days since. */
function sinceExclusion(
  { first_day: first }: AnomalyRow,
  impacts: readonly number[],
  ended: AnomalyDetail['formerlyExcluded'],
): Pick<AnomalyFact, 'formerlyExcluded'> {
  if (ended?.until == null || ended.until < first) return {};
  const since = impacts.slice(dayNamed(ended.until) + 1 - dayNamed(first));
  return { formerlyExcluded: { ...ended, impactSince: usdText(since.reduce((sum, impact) => sum + impact, 0)) } };
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
function monthEndOf(
  row: AnomalyRow,
  hours: RunawayHours | undefined,
  daily: number,
  completeThrough: string | null,
): AnomalyFact['monthEnd'] {
  if (row.state !== 'open' || completeThrough === null) return null;
  if (hours !== undefined) return monthEndAfter(row.impact, daily, Date.parse(hours.to) / dayMs);
  const lastDay = dayNamed(row.last_day);
  // It continues if the last complete day is part of it.
  if (dayNamed(completeThrough.slice(0, 10)) - 1 !== lastDay) return null;
  return monthEndAfter(row.impact, daily, lastDay + 1);
}

/** An impact by the end of the month of a day, if it goes on from then. */
function monthEndAfter(impact: string, daily: number, day: number): AnomalyFact['monthEnd'] {
  const month = dayName(Math.floor(day)).slice(0, 7);
  const [year = 0, number = 1] = month.split('-').map(Number);
  const daysLeft = Date.UTC(year, number, 1) / dayMs - day;
  const sum = moneyOf(impact) + moneyOf(usdText(daily * daysLeft));
  return { month, impact: moneyText(sum) };
}

/** An estimate in USD as decimal text, with the decimals of sums in the books: to the millionth. */
export function usdText(usd: number): string {
  const text = usd.toFixed(6);
  return `${text === '-0.000000' ? '0.000000' : text}000000`;
}
