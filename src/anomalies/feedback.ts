import { moneyOf, moneyText } from '../money/money.ts';
import { dayNamed } from '../time/time.ts';
import type { AnomalyCalled, FeedbackGiven } from '../warehouse/watch/index.ts';
import { type Scope, scopeKey } from './scope.ts';

/** What a person can say that an anomaly was. */
export const feedbackKinds = ['expected', 'fixed', 'false'] as const;
export type FeedbackKind = (typeof feedbackKinds)[number];

/** The bar is this many tenths of the largest day. */
const barTenths = 12n;

/** What somebody said of one anomaly, as the books have it. */
export interface StoredFeedback {
  readonly anomalyKey: string;
  readonly scope: Scope;
  readonly isUp: boolean;
  readonly feedback: FeedbackGiven;
  /** Cost of its largest day so far in USD, decimal text. */
  readonly largestCost: string;
  /** The first day that it applies to: `2026-10-03`. */
  readonly appliesFrom: string;
  readonly givenAt: string;
}

/** Feedback as alerts, the explanation and the dashboard show it. */
export interface AnomalyFeedback {
  /** The key of the anomaly. */
  readonly key: string;
  readonly as: FeedbackKind;
  /** `2026-10-03T09:00:00Z`. */
  readonly givenAt: string;
  /** The first UTC day that it applies to. */
  readonly appliesFrom: string;
  /** Cost of its largest day when it was called so, USD, decimal text. */
  readonly largestCost: string;
  /** A day is reported only above this cost in USD, decimal text; null if the feedback raises no bar. */
  readonly bar: string | null;
}

/** The bar of a scope by day, in USD; undefined on days without one. */
export type Bar = (day: number) => number | undefined;

/** 1.2 times the largest day of an expected or false higher cost, USD as decimal text; null if there is no bar. Pure. */
export function barOf({ feedback, isUp, largestCost }: Pick<StoredFeedback, 'feedback' | 'isUp' | 'largestCost'>) {
  const largest = moneyOf(largestCost);
  if (!isUp || largest <= 0n || (feedback !== 'expected' && feedback !== 'false')) return null;
  return barAbove(largestCost);
}

/**
 * The cost of an anomaly's largest day, or of a whole day at its pace if that is more; `pace` is undefined or null if it has had a
 * whole day. USD, decimal text. Pure.
 */
export function wholeDay(largestCost: string, expected: string, pace: string | null | undefined): string {
  if (pace === undefined || pace === null) return largestCost;
  const atPace = moneyOf(expected) + moneyOf(pace);
  return atPace > moneyOf(largestCost) ? moneyText(atPace) : largestCost;
}

/** The bar above a day of this cost, USD as decimal text. Pure. */
export function barAbove(largestCost: string): string {
  return moneyText((moneyOf(largestCost) * barTenths + 9n) / 10n);
}

/** The feedback of each anomaly that applies on a day: the last one given, `none` included. `all` is oldest first. Pure. */
function applying(all: readonly StoredFeedback[], day: number): readonly StoredFeedback[] {
  const own = all.filter(({ appliesFrom }) => dayNamed(appliesFrom) <= day);
  return [...new Map(own.map((one) => [one.anomalyKey, one])).values()];
}

/** The feedback that raises the highest bar on a day, of all feedback on anomalies of one scope. Pure. */
function highest(own: readonly StoredFeedback[], day: number): AnomalyFeedback | undefined {
  const raised = applying(own, day).flatMap((one) => shown(one) ?? []);
  return raised
    .filter(({ bar }) => bar !== null)
    .toSorted((a, b) => Number(b.bar) - Number(a.bar))
    .at(0);
}

/** The bar of one scope, from all feedback on its anomalies. Undefined without feedback that ever raised one. Pure. */
export function barOfScope(own: readonly StoredFeedback[]): Bar | undefined {
  if (!own.some((one) => barOf(one) !== null)) return undefined;
  return (day) => {
    const bar = highest(own, day)?.bar;
    return bar === null || bar === undefined ? undefined : Number(bar);
  };
}

/** The feedback that raises the bar of a scope on a day; undefined without one. Pure. */
export function barOn(all: readonly StoredFeedback[], scope: Scope, day: string): AnomalyFeedback | undefined {
  const key = scopeKey(scope);
  const own = all.filter((one) => scopeKey(one.scope) === key);
  return highest(own, dayNamed(day));
}

/** By day, since which day an anomaly is called fixed; undefined while it is not. `all` is oldest first. Pure. */
export function fixedSince(all: readonly StoredFeedback[], key: string): (day: number) => number | undefined {
  const own = all.filter(({ anomalyKey }) => anomalyKey === key);
  return (day) => {
    const [current] = applying(own, day);
    return current?.feedback === 'fixed' ? dayNamed(current.appliesFrom) : undefined;
  };
}

/** The present feedback on an anomaly; undefined without, or if it was taken back. Pure. */
export function feedbackOn(all: readonly StoredFeedback[], key: string): AnomalyFeedback | undefined {
  const last = all.findLast(({ anomalyKey }) => anomalyKey === key);
  return last === undefined ? undefined : shown(last);
}

/** After every day that feedback may apply from. */
const lastDay = '9999-12-31';

/** The bars that are in force from now on, each with the feedback that raised it. Pure. */
export function barsInForce(all: readonly StoredFeedback[]): readonly (AnomalyFeedback & { readonly scope: Scope })[] {
  const scopes = new Map(all.map(({ scope }) => [scopeKey(scope), scope]));
  return [...scopes.values()].flatMap((scope) => {
    const feedback = barOn(all, scope, lastDay);
    return feedback === undefined ? [] : [{ ...feedback, scope }];
  });
}

/** Feedback that was just given on anomalies, as it is shown; empty if it takes earlier feedback back. Pure. */
export function feedbackGiven(
  called: readonly AnomalyCalled[],
  { feedback, at }: { readonly feedback: FeedbackGiven; readonly at: string },
): readonly AnomalyFeedback[] {
  return called.flatMap(
    (one) =>
      shown({
        ...{ anomalyKey: one.anomaly_key, isUp: one.is_up, feedback, largestCost: one.largest_cost },
        ...{ appliesFrom: one.applies_from, givenAt: at },
      }) ?? [],
  );
}

function shown(one: Omit<StoredFeedback, 'scope'>): AnomalyFeedback | undefined {
  const { anomalyKey: key, feedback, givenAt, appliesFrom, largestCost } = one;
  if (feedback === 'none') return undefined;
  return { key, as: feedback, givenAt, appliesFrom, largestCost, bar: barOf(one) };
}
