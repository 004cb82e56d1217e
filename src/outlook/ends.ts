import { largerOf, rounded } from '../money/money.ts';
import { dayMs, type Instant, type Window } from '../time/time.ts';

/** The rest of a running period as a forecast or a pace has it. Amounts are trillionths of the period's unit. */
export interface ExpectedRest {
  /** The spend at the end, with anomalies as likely as they go on. */
  readonly mean: bigint;
  /** The expected spend at the end of each remaining step, in order; empty if the rest is even. */
  readonly path: readonly { readonly start: Instant; readonly spent: bigint }[];
  /** What anomalies add to that, and if they go on until the end; 0 for those that have ended. */
  readonly anomalies?:
    | readonly { readonly key: string; readonly added: bigint; readonly addedIfItGoesOn: bigint }[]
    | undefined;
}

/**
 * A forecast that is not below what is spent: hours that are not complete yet may have cost more than all that was expected.
 * Messages, tables and pages show this one. Pure.
 */
export function notBelowSpent<T extends { readonly kind: string }>(forecast: T, spent: bigint | undefined): T {
  if (spent === undefined || !('mean' in forecast)) return forecast;
  const ends = forecast as T & { readonly mean: bigint; readonly low: bigint; readonly high: bigint };
  const [mean, low, high] = [ends.mean, ends.low, ends.high].map((end) => largerOf(end, spent));
  return { ...forecast, mean, low, high };
}

/** A running period. Amounts are trillionths of its unit. */
export interface RunningPeriod {
  readonly period: Window;
  readonly amount: bigint;
  readonly completeThrough: Instant;
  /** All that is in the books. */
  readonly spent: bigint;
  /** The part of it in complete hours. */
  readonly spentComplete: bigint;
  readonly rest: ExpectedRest;
}

/** Where a period ends. Amounts are trillionths of its unit. */
export interface PeriodEnd {
  /** If everything unusual goes on. */
  readonly expected: bigint;
  /** Where it ends if everything unusual stops now; undefined if nothing goes on. */
  readonly stopped: bigint | undefined;
  /** When its amount is spent; undefined if it is not, or was spent before. */
  readonly spentAt: Instant | undefined;
  /** What the anomalies with these keys add until the end if they go on. */
  addedBy(keys: readonly string[]): bigint;
}

/**
 * What each day that is left must cost less than expected, so that a period ends within its amount. Undefined if it does
 * anyway, or if the amount is spent already. Pure.
 */
export function toSaveDaily(
  { period, amount, completeThrough, spent }: Omit<RunningPeriod, 'spentComplete' | 'rest'>,
  expected: bigint,
): bigint | undefined {
  const from = Math.max(period.start, completeThrough);
  if (expected <= amount || spent >= amount || from >= period.end) return undefined;
  return rounded((expected - amount) * BigInt(dayMs), BigInt(period.end - from));
}

/**
 * Where a running period ends if everything unusual goes on, and if it stops now; its forecast (`period-forecast.ts`) has
 * what is between them. Undefined if no hour of it is complete, or if it is over. Pure.
 */
export function expectedEnd(running: RunningPeriod): PeriodEnd | undefined {
  const { period, amount, completeThrough, spent, spentComplete, rest } = running;
  if (completeThrough <= period.start || completeThrough >= period.end) return undefined;
  const { mean, path, anomalies = [] } = rest;
  function addedBy(keys: readonly string[]): bigint {
    return anomalies.reduce((sum, one) => (keys.includes(one.key) ? sum + one.addedIfItGoesOn : sum), 0n);
  }
  const usual = anomalies.reduce((sum, { added }) => sum - added, mean);
  const toCome = anomalies.reduce((sum, { addedIfItGoesOn }) => sum + addedIfItGoesOn, 0n);
  // Hours that are not complete yet may have cost more than all that was expected.
  const expected = largerOf(usual + toCome, spent);
  return {
    expected,
    stopped: toCome > 0n ? largerOf(usual, spent) : undefined,
    spentAt: spent >= amount || expected < amount ? undefined : spentAt(),
    addedBy,
  };

  function spentAt(): Instant {
    // What is added if all goes on grows about evenly.
    const more = (index: number) => ((usual + toCome - mean) * BigInt(index + 1)) / BigInt(path.length);
    const reached = path.find((step, index) => step.spent + more(index) >= amount)?.start;
    const share = Number(((amount - spentComplete) * 1_000_000n) / (expected - spentComplete)) / 1_000_000;
    return reached ?? Math.min(period.end - 1, completeThrough + share * (period.end - completeThrough));
  }
}
