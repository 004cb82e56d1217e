import type { Severity } from '../base/severity.ts';
import { dailyRate } from '../budgets/forecasts/index.ts';
import { dayMs } from '../time/time.ts';
import type { DetectionRules, Episode } from './detect.ts';

/**
 * Why a notification is sent. first: it was found. worse: it costs clearly more a day. continues: it has lasted three
 * days, or its total became more urgent. reminder: it continues, a week after the last notification. unfixed: it was
 * called fixed, and still costs more.
 */
export type NoticeReason = 'first' | 'worse' | 'continues' | 'reminder' | 'unfixed';

/** A day of an anomaly after which a notification is sent, and what is known then. */
export interface Notice {
  /** Number of the day since 1970-01-01. */
  readonly day: number;
  readonly reason: NoticeReason;
  readonly severity: Severity;
  /** Difference of its days so far from their expected cost, USD. */
  readonly impact: number;
}

/**
 * What an anomaly costs if it stays, in multiples of `minAmount`: warning, critical if costs at least doubled, always
 * critical.
 */
const amounts = { warning: 40, critical: 200, huge: 1000 } as const;
/** A drop of so much a day is a warning, in multiples of `minAmount`. */
const dropAmount = 20;
/** If it stays, so many days more count at least: the end of a month makes nothing less urgent. */
const leastDaysLeft = 7;
/** From this many days on, it is no longer a single event. */
const continuesDays = 3;
const reminderDays = 7;
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
 * is judged only by the days up to it. After feedback, days up to its bar send nothing; the first day above it, and the first
 * one of what was called fixed, do. `pace`: see `moneyAt`. `fixedOn`: since which day it is called fixed. Pure.
 */
export function noticesOf(
  episode: Episode,
  rules: DetectionRules,
  pace?: number,
  fixedOn: (day: number) => number | undefined = () => undefined,
): readonly Notice[] {
  const { notifiedDay, firstDay, impacts, isUp, kind, heldDays = [], aboveDays = [] } = episode;
  if (notifiedDay === undefined) return [];
  let last: Notice = {
    day: notifiedDay,
    reason: 'first',
    severity: severityAt(episode, notifiedDay, rules, pace),
    impact: totalAt(episode, notifiedDay),
  };
  const notices = [last];
  if (!isUp) return notices;
  // A price change lasts by nature, and a step found over several days has already lasted.
  let isLasting = kind === 'price' || episode.seenDay > firstDay || notifiedDay >= firstDay + continuesDays - 1;
  // A day at the reported pace is no news.
  let reported = Math.max(largest(impacts, notifiedDay - firstDay), notifiedDay === firstDay ? (pace ?? 0) : 0);
  for (let day = notifiedDay + 1; day < firstDay + impacts.length; day += 1) {
    const impact = impacts[day - firstDay] ?? 0;
    if (impact < Math.max(rules.minAmount, goesOnShare * reported) || heldDays.includes(day)) continue;
    const severity = severityAt(episode, day, rules, pace);
    const isUrgent = ranks[severity] > ranks[last.severity] || impact >= worseTimes * reported;
    const isLong = day - firstDay + 1 >= continuesDays;
    // A message in between has said already that it goes on.
    const isContinuing = !isLasting && isLong && severity !== 'info' && notices.length === 1;
    const isDue = day - last.day >= reminderDays;
    const isAbove = aboveDays.includes(day) && !aboveDays.includes(last.day);
    const isUnfixed = last.day < (fixedOn(day) ?? Number.NEGATIVE_INFINITY);
    if (!isUrgent && !isContinuing && !isDue && !isAbove && !isUnfixed) continue;
    const isFaster = isAbove || dailyAt(episode, day) >= fasterTimes * dailyAt(episode, last.day);
    const again = (isUrgent || isAbove) && isFaster ? 'worse' : isUrgent || isContinuing ? 'continues' : 'reminder';
    const reason = isUnfixed ? 'unfixed' : again;
    const worst = ranks[severity] > ranks[last.severity] ? severity : last.severity;
    last = { day, reason, severity: worst, impact: totalAt(episode, day) };
    notices.push(last);
    isLasting ||= isLong;
    reported = Math.max(reported, largest(impacts, day - firstDay));
  }
  return notices;
}

/** Difference of an episode up to a day from its expected cost, USD. Pure. */
export function totalAt({ firstDay, impacts }: Pick<Episode, 'firstDay' | 'impacts'>, day: number): number {
  return impacts.slice(0, day - firstDay + 1).reduce((sum, impact) => sum + impact, 0);
}

/** The daily rate of an episode's difference, USD, over the week up to a day. Pure. */
export function dailyAt({ firstDay, impacts }: Pick<Episode, 'firstDay' | 'impacts'>, day: number): number {
  return dailyRate(impacts.slice(0, day - firstDay + 1));
}

/**
 * What an episode has cost beyond its expected cost up to a day, and what it will have cost by the end of the month in
 * which it began if it goes on, and at least after another week. `pace` is USD a day at which it still ran at the end of its
 * first day; without it, a first day may be all of it, and only a week counts. Pure.
 */
export function moneyAt(
  episode: Pick<Episode, 'firstDay' | 'impacts'>,
  day: number,
  pace?: number,
): { readonly soFar: number; readonly ifItStays: number } {
  const isFirst = day <= episode.firstDay;
  const soFar = totalAt(episode, day);
  const daily = isFirst && pace !== undefined ? pace : dailyAt(episode, day);
  const left = isFirst && pace === undefined ? 0 : monthEndDayAfter(episode.firstDay) - (day + 1);
  return { soFar, ifItStays: soFar + daily * Math.max(leastDaysLeft, left) };
}

/** The first day after the month of a day, both as numbers since 1970-01-01. */
function monthEndDayAfter(day: number): number {
  const date = new Date(day * dayMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / dayMs;
}

/**
 * The severity of an episode up to a day, by what it costs if it goes on. At equal amounts, an increase is more severe than a
 * new cost, and a new cost more than a decrease. Pure.
 */
export function severityAt(episode: Episode, day: number, rules: DetectionRules, pace?: number): Severity {
  const { kind, isUp, expected, firstDay } = episode;
  const daily = dailyAt(episode, day);
  if (!isUp) return kind === 'drop' && -daily >= dropAmount * rules.minAmount ? 'warning' : 'info';
  const { ifItStays } = moneyAt(episode, day, pace);
  const isAtLeast = (level: keyof typeof amounts) => ifItStays >= amounts[level] * rules.minAmount;
  if (isAtLeast('huge')) return 'critical';
  if (kind === 'new') return isAtLeast('critical') ? 'warning' : 'info';
  const isDouble = Math.max(daily, day <= firstDay ? (pace ?? 0) : 0) >= expected;
  if (isDouble && isAtLeast('critical')) return 'critical';
  return isAtLeast('warning') ? 'warning' : 'info';
}

function largest(impacts: readonly number[], lastPlace: number): number {
  return Math.max(0, ...impacts.slice(0, lastPlace + 1));
}
