import { usd } from '../money/money.ts';
import type { AnomalyRow } from '../warehouse/watch/index.ts';
import type { AnomalyDetail } from './detail.ts';
import type { AnomalyKind, DetectionRules } from './detect.ts';
import { type AnomalyFeedback, barOn, type StoredFeedback } from './feedback.ts';
import { scopeOf } from './scope.ts';
import { learningDays, stayDays } from './tuning.ts';

/** Why an anomaly was found, with the numbers. */
export interface AnomalyRule {
  /** The rule as a sentence. */
  readonly words: string;
  /** The day that it was found on; its costs, USD as decimal text. */
  readonly seenDay: string;
  readonly cost: string;
  readonly expected: string;
  readonly expectedLow: string;
  readonly expectedHigh: string;
  /** The settings now; those of the day that found it may have been others. */
  readonly minAmount: number;
  readonly minPercent: number;
  readonly minDays: number;
  /** Whether anybody is notified. */
  readonly isNotified: boolean;
  /** Its days that were not reported because of the bar, and those above it. */
  readonly heldDays: readonly string[];
  readonly aboveDays: readonly string[];
  /** The feedback on another anomaly that raised the bar of its last day; null without. */
  readonly bar: AnomalyFeedback | null;
}

/** The rule that found an anomaly, and the bar of its last day. Pure. */
export function ruleOf(
  row: AnomalyRow,
  { minAmount, minShare, minDays }: DetectionRules,
  all: readonly StoredFeedback[],
): AnomalyRule {
  const bar = barOn(all, scopeOf({ ...row }), row.last_day);
  const { heldDays = [], aboveDays = [] } = JSON.parse(row.detail) as AnomalyDetail;
  const minPercent = Math.round(minShare * 10_000) / 100;
  return {
    words: sentenceOf(row, `${usd(minAmount.toFixed(12))} and ${minPercent} %`),
    seenDay: row.seen_day,
    cost: row.cost,
    expected: row.expected,
    expectedLow: row.expected_low,
    expectedHigh: row.expected_high,
    ...{ minAmount, minPercent, minDays, isNotified: row.is_notified, heldDays, aboveDays },
    bar: bar === undefined || bar.key === row.anomaly_key ? null : bar,
  };
}

function sentenceOf(row: AnomalyRow, least: string): string {
  const { first_day: firstDay, seen_day: seenDay, cost, expected, expected_low: low, expected_high: high } = row;
  const numbers = `${firstDay} cost ${usd(cost)}, ${usd(expected)} were expected, ${usd(low)} to ${usd(high)} are usual`;
  const kind = row.kind as AnomalyKind;
  switch (kind) {
    case 'new':
      return `cost where there was none for ${learningDays} days. ${firstDay} cost ${usd(cost)}.`;
    case 'drop':
      return `no cost where there was cost. ${numbers}.`;
    case 'price':
      return `the price of a unit changed by a factor of ${(row.price_ratio ?? 1).toFixed(2)}. ${firstDay} cost ${usd(cost)}; at the old price, ${usd(expected)}.`;
    case 'missing':
      return `a cost that recurs by date did not come. ${numbers}.`;
    case 'dip':
      return `a day below its usual range, by at least ${least}${row.is_notified ? '' : '; nobody is notified while it may be a holiday'}. ${numbers}.`;
    case 'spike':
    case 'step': {
      if (seenDay > firstDay)
        return `the mean of the days from ${firstDay} to ${seenDay} differs by at least ${least}. ${numbers}.`;
      const lasting = row.is_up ? 'It has lasted three days or more.' : `It has lasted ${stayDays} days or more.`;
      const side = row.is_up ? 'above' : 'below';
      return `a day ${side} its usual range, by at least ${least}. ${numbers}.${kind === 'step' ? ` ${lasting}` : ''}`;
    }
  }
}

/** The bar that feedback on another anomaly raised. */
function barLines({ key, as, bar, largestCost, givenAt }: AnomalyFeedback): string[] {
  const from = `1.2 times the largest day (${usd(largestCost)}) of what somebody called ${as} at ${givenAt}`;
  return [`Bar: a day is reported only above ${usd(bar ?? '0')}, ${from}: ${key}`];
}

/** The rule, the feedback and the bar as lines. Pure. */
export function explanationLines(rule: AnomalyRule, feedback: readonly AnomalyFeedback[] = []): string[] {
  const days = (list: readonly string[]) => (list.length > 3 ? `${list[0]} to ${list.at(-1)}` : list.join(', '));
  return [
    `Rule: ${rule.words}`,
    ...feedback.flatMap((one) => [
      `Feedback: ${one.as}, given at ${one.givenAt}, for days from ${one.appliesFrom} on${feedback.length > 1 ? `: ${one.key}` : ''}`,
      ...(one.bar === null
        ? []
        : [`Bar: a day is reported only above ${usd(one.bar)}, 1.2 times the largest day (${usd(one.largestCost)})`]),
    ]),
    ...(rule.bar === null ? [] : barLines(rule.bar)),
    ...(rule.heldDays.length === 0 ? [] : [`Not reported, up to the bar: ${days(rule.heldDays)}`]),
    ...(rule.aboveDays.length === 0 ? [] : [`Above the bar: ${days(rule.aboveDays)}`]),
    ...(rule.isNotified ? [] : ['Nobody was notified of it.']),
  ];
}
