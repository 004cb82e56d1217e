import { rounded } from '../money/money.ts';
import { dayMs, type Instant, type Window } from '../time/time.ts';

/** What complete hours cost together: trillionths of a unit. */
export interface KnownSpend extends Window {
  readonly spent: bigint;
}

/**
 * The hours of a span whose costs are all known: after every start (of the books, of a scope's first cost) and before the
 * first incomplete hour. Time without data says nothing of a pace. Undefined if there is no such hour. Pure.
 */
export function knownHours(
  span: Window,
  { begins, completeThrough }: { readonly begins: readonly Instant[]; readonly completeThrough: Instant },
): Window | undefined {
  const start = Math.max(span.start, ...begins);
  const end = Math.min(span.end, completeThrough);
  return start < end ? { start, end } : undefined;
}

/** What a length of time costs at the pace of known hours: their cost, divided by the same hours. Pure. */
export function costAtPace({ start, end, spent }: KnownSpend, lengthMs: number): bigint {
  return rounded(spent * BigInt(lengthMs), BigInt(end - start));
}

/** What a day costs at the pace of known hours. Pure. */
export function costOfDay(known: KnownSpend): bigint {
  return costAtPace(known, dayMs);
}
