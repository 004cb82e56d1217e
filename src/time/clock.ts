import type { Clock, Log } from '../base/effects.ts';
import { clockStep } from '../base/next-step.ts';
import { describeSpan, formatInstant, hourMs, type Instant } from './time.ts';

/** A clock without a correction. */
export function openClock(read: () => Instant, { isChosen = false } = {}): Clock {
  let behindMs = 0;
  let isAdvised = false;
  return {
    now: () => read() - behindMs,
    clockNow: () => read(),
    isChosen,
    setBack(ms) {
      behindMs = ms;
    },
    advice() {
      if (isAdvised) return undefined;
      isAdvised = true;
      return isChosen ? `omit --now, or ${clockStep.words}` : clockStep.words;
    },
  };
}

/** A smaller lead over the platform's clock does not matter. */
export const clockToleranceMs = hourMs;

/** A clock that the last ingest found ahead of the platform's. */
export interface FastClock {
  /** Milliseconds ahead of the platform's clock. */
  readonly aheadMs: number;
  /** The time by our clock then. */
  readonly localAt: Instant;
  /** When the books were last written. */
  readonly lastSeen: Instant;
}

/**
 * How many milliseconds our clock, at `clockNow`, is ahead of the platform's; 0 if it was right at the last ingest or was
 * corrected since. It was corrected if it shows an earlier time than it did then, or if the books have since been
 * written at times that it would not have reached. Pure.
 */
export function aheadNow(found: FastClock | undefined, clockNow: Instant): number {
  if (found === undefined || clockNow < found.localAt - clockToleranceMs) return 0;
  return found.lastSeen > clockNow - found.aheadMs + clockToleranceMs ? 0 : found.aheadMs;
}

/**
 * Corrects a command's clock if the last ingest found it ahead and it still is, so that the command uses the platform's
 * time. Warns about a correction unless `isReported` is set.
 */
export function correctClock(
  effects: Clock & { readonly log: Log },
  found: FastClock | undefined,
  { isReported = false }: { readonly isReported?: boolean } = {},
): void {
  const aheadMs = aheadNow(found, effects.clockNow());
  if (effects.clockNow() - effects.now() === aheadMs) return;
  effects.setBack(aheadMs);
  if (aheadMs === 0 || isReported) return;
  effects.log.warn(
    'clock.replaced',
    "This clock was ahead of the platform's at the last ingest; using the platform's time",
    {
      ahead: describeSpan(aheadMs),
      clock: formatInstant(effects.clockNow()),
      now: formatInstant(effects.now()),
      next: effects.advice(),
    },
  );
}
