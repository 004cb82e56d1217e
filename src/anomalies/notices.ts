import type { Severity } from '../severity.ts';
import type { DetectionRules, Episode } from './detect.ts';

/**
 * Why somebody is notified. first: it was found. worse: it costs clearly more a day. continues: it has lasted for three
 * days, or its total became more urgent. reminder: nobody was notified for a week, and it goes on.
 */
export type NoticeReason = 'first' | 'worse' | 'continues' | 'reminder';

/** A day of an anomaly with whose completion somebody is to be notified, and what is known then. */
export interface Notice {
  /** Number of the day since 1970-01-01. */
  readonly day: number;
  readonly reason: NoticeReason;
  readonly severity: Severity;
  /** USD by which its days so far differ from what was expected of them. */
  readonly impact: number;
}

/** Multiples of the least amount from which a day's difference is worth a warning, is critical, and is so in any case. */
const dailyAmounts = { warning: 4, critical: 20, huge: 100 } as const;
/** The same of the difference of all its days. */
const totalAmounts = { warning: 20, critical: 100, huge: 500 } as const;
/** After so many days it is no single event any more. */
const continuesDays = 3;
const reminderDays = 7;
/** The daily rate is the mean of so many of the last days: a whole week has each weekday. */
const rateDays = 7;
/** A day that is so many times the largest one reported is news. */
const worseTimes = 4;
/** It got worse where it costs so many times as much a day as when it was last reported. */
const fasterTimes = 1.5;
/** A day with at least this share of the largest one reported shows that it goes on. */
const goesOnShare = 0.3;

const ranks = { info: 0, warning: 1, critical: 2 } as const;

/**
 * The days on which somebody is to be notified of an episode, oldest first; none where nobody is. What is dearer is
 * reported again when it becomes more urgent by what it costs a day or has cost in total, once when it has lasted for
 * three days and is worth a warning, and then every week while it goes on. Each day is judged by the days up to it. Pure.
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
  // A price lasts by nature, and a step that showed in several days only has lasted already.
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

/** USD by which the days of an episode up to a day differ from what was expected of them. Pure. */
export function totalAt({ firstDay, impacts }: Episode, day: number): number {
  return impacts.slice(0, day - firstDay + 1).reduce((sum, impact) => sum + impact, 0);
}

/**
 * USD a day by which an episode differs from what was expected, by the week before the end of a day. Its first day, which
 * seldom is a whole one, counts only where there is no other. Pure.
 */
export function dailyAt({ firstDay, impacts }: Pick<Episode, 'firstDay' | 'impacts'>, day: number): number {
  const known = impacts.slice(0, day - firstDay + 1);
  const days = known.length > 1 ? known.slice(1).slice(-rateDays) : known;
  return days.reduce((sum, impact) => sum + impact, 0) / Math.max(1, days.length);
}

/**
 * How urgent an episode is by its days up to a day: by what it costs a day more than usual, and by what it has cost in
 * total. What is dearer is more urgent than what is new, and that more than what is gone. Pure.
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
