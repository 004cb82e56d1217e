import type { Severity } from '../severity.ts';
import type { DetectionRules, Episode } from './detect.ts';

/**
 * Why a notification is sent. first: it was found. worse: it costs clearly more a day. continues: it has lasted three
 * days, or its total became more urgent. reminder: it continues, a week after the last notification.
 */
export type NoticeReason = 'first' | 'worse' | 'continues' | 'reminder';

/** A day of an anomaly after which a notification is sent, and what is known then. */
export interface Notice {
  /** Number of the day since 1970-01-01. */
  readonly day: number;
  readonly reason: NoticeReason;
  readonly severity: Severity;
  /** Difference of its days so far from their expected cost, USD. */
  readonly impact: number;
}

/** Daily differences, in multiples of `minAmount`: warning, critical if costs at least doubled, always critical. */
const dailyAmounts = { warning: 4, critical: 20, huge: 100 } as const;
/** The same for the difference of all days. */
const totalAmounts = { warning: 20, critical: 100, huge: 500 } as const;
/** From this many days on, it is no longer a single event. */
const continuesDays = 3;
const reminderDays = 7;
/** The daily rate is the mean of this many last days: a week contains every weekday. */
const rateDays = 7;
/** A day this many times the largest reported one is news. */
const worseTimes = 4;
/** It got worse if its daily rate is this many times the one last reported. */
const fasterTimes = 1.5;
/** It continues on days with at least this share of the largest reported one. */
const goesOnShare = 0.3;

const ranks = { info: 0, warning: 1, critical: 2 } as const;

/**
 * The notifications of an episode, oldest first. A cost increase is reported again when its daily rate or total becomes
 * more urgent, once when it has lasted three days and is at least a warning, and then weekly while it continues. Each day
 * is judged only by the days up to it. Pure.
 */
export function noticesOf(episode: Episode, rules: DetectionRules): readonly Notice[] {
  const { notifiedDay, firstDay, impacts, isUp, kind } = episode;
  if (notifiedDay === undefined) return [];
  let last: Notice = {
    day: notifiedDay,
    reason: 'first',
    severity: severityAt(episode, notifiedDay, rules),
    impact: totalAt(episode, notifiedDay),
  };
  const notices = [last];
  if (!isUp) return notices;
  // A price change lasts by nature, and a step found over several days has already lasted.
  let isLasting = kind === 'price' || episode.seenDay > firstDay || notifiedDay >= firstDay + continuesDays - 1;
  let reported = largest(impacts, notifiedDay - firstDay);
  for (let day = notifiedDay + 1; day < firstDay + impacts.length; day += 1) {
    const impact = impacts[day - firstDay] ?? 0;
    if (impact < Math.max(rules.minAmount, goesOnShare * reported)) continue;
    const severity = severityAt(episode, day, rules);
    const isUrgent = ranks[severity] > ranks[last.severity] || impact >= worseTimes * reported;
    const isLong = day - firstDay + 1 >= continuesDays;
    const isContinuing = !isLasting && isLong && severity !== 'info';
    const isDue = day - last.day >= reminderDays;
    if (!isUrgent && !isContinuing && !isDue) continue;
    const isFaster = dailyAt(episode, day) >= fasterTimes * dailyAt(episode, last.day);
    const reason = isUrgent && isFaster ? 'worse' : isUrgent || isContinuing ? 'continues' : 'reminder';
    const worst = ranks[severity] > ranks[last.severity] ? severity : last.severity;
    last = { day, reason, severity: worst, impact: totalAt(episode, day) };
    notices.push(last);
    isLasting ||= isLong;
    reported = largest(impacts, day - firstDay);
  }
  return notices;
}

/** Difference of an episode up to a day from its expected cost, USD. Pure. */
export function totalAt({ firstDay, impacts }: Episode, day: number): number {
  return impacts.slice(0, day - firstDay + 1).reduce((sum, impact) => sum + impact, 0);
}

/**
 * The daily rate of an episode's difference, USD, over the week up to a day. The first day is rarely a full day and
 * counts only if it is the only one. Pure.
 */
export function dailyAt({ firstDay, impacts }: Pick<Episode, 'firstDay' | 'impacts'>, day: number): number {
  const known = impacts.slice(0, day - firstDay + 1);
  const days = known.length > 1 ? known.slice(1).slice(-rateDays) : known;
  return days.reduce((sum, impact) => sum + impact, 0) / Math.max(1, days.length);
}

/**
 * The severity of an episode up to a day, by its daily rate and its total. At equal amounts, an increase is more severe
 * than a new cost, and a new cost more than a decrease. Pure.
 */
export function severityAt(episode: Episode, day: number, rules: DetectionRules): Severity {
  const { kind, isUp, expected } = episode;
  const daily = Math.abs(dailyAt(episode, day)) / rules.minAmount;
  const total = Math.abs(totalAt(episode, day)) / rules.minAmount;
  if (!isUp) return kind === 'drop' && daily >= dailyAmounts.critical ? 'warning' : 'info';
  const isAtLeast = (level: keyof typeof dailyAmounts) => daily >= dailyAmounts[level] || total >= totalAmounts[level];
  if (isAtLeast('huge')) return 'critical';
  if (kind === 'new') return isAtLeast('critical') ? 'warning' : 'info';
  const isDouble = daily * rules.minAmount >= expected;
  if (isDouble && isAtLeast('critical')) return 'critical';
  return isAtLeast('warning') ? 'warning' : 'info';
}

function largest(impacts: readonly number[], lastPlace: number): number {
  return Math.max(0, ...impacts.slice(0, lastPlace + 1));
}
