import { PlatformError } from '../base/errors.ts';
import type { Client, Clocks } from '../platform/index.ts';
import { operations } from '../platform/interface/index.ts';
import { clockToleranceMs } from '../time/clock.ts';
import { describeSpan, floorHour, formatInstant, hourMs, type Instant } from '../time/time.ts';
import type { CoveredWindow } from '../warehouse/page.ts';
import type { IngestRequest, IngestTools } from './tools.ts';

/**
 * The platform's clock if it is plausible: undefined if the platform reported costs of later hours, as happens with a
 * wrong Date header.
 */
export function believedClock(reported: Instant | undefined, lastHour: Instant | undefined): Instant | undefined {
  return reported !== undefined && (lastHour ?? reported) > reported ? undefined : reported;
}

/** Hours from this instant on do not count as complete: a clock had not reached their end, or they were too young. */
export function claimedBefore(now: Instant, platformAt: Instant | undefined, lagHours: number): Instant {
  return floorHour(Math.min(now, platformAt ?? now)) - lagHours * hourMs;
}

/**
 * Removes claims made under a fast clock: hours marked as complete that have not happened yet by the platform's clock.
 * They are fetched again. Fetches the platform's time only if some hours are later than now. Returns whether there were
 * any.
 */
export async function correctFalseClaims(
  account: string,
  covered: readonly CoveredWindow[],
  client: Client,
  { runNumber }: IngestRequest,
  { warehouse, effects, signal }: IngestTools,
): Promise<boolean> {
  const now = effects.now();
  if (!covered.some(({ seenAt }) => seenAt > now + clockToleranceMs)) return false;
  if (client.clocks() === undefined) {
    const about = `account ${account}, the platform's clock`;
    await client
      .call(operations.groupByEnum, { accountId: account }, about, async () => undefined, signal)
      .catch((error: unknown) => {
        // A refusal carries the time as well; the next request reports a platform that does not answer at all.
        if (!(error instanceof PlatformError)) throw error;
      });
  }
  const platformAt = client.clocks()?.platform;
  const claims = platformAt === undefined ? [] : await warehouse.falseClaims(account, platformAt);
  if (claims.length === 0) return false;
  await warehouse.correctClaims({ account, claims, runNumber, recordedAt: await warehouse.seenAt(effects.now()) });
  const [first] = claims;
  effects.log.warn('clock.hours_refetched', 'A fast clock marked future hours as complete; fetching them again', {
    account,
    from: first?.claimedEnd,
    loads: claims.length,
  });
  const months = await warehouse.monthsClosedTooSoon(account);
  if (months.length > 0) {
    effects.log.warn(
      'clock.months_closed_early',
      'Months were closed before they ended; reopen them with "costbook reopen <month> --reason correction"',
      {
        account,
        months,
      },
    );
  }
  return true;
}

/**
 * Warns of a clock that is ahead of the platform's or behind it, and records it; also records that it is correct again.
 * A time in the past that was chosen with `--now` is no fault, unless the clock was wrong before.
 */
export async function reportClock(
  account: string,
  clocks: Clocks | undefined,
  { runNumber }: IngestRequest,
  { warehouse, effects }: IngestTools,
): Promise<void> {
  if (clocks === undefined) return;
  const { platform, local } = clocks;
  const aheadMs = local - platform;
  const isAhead = aheadMs > clockToleranceMs;
  const wasWrong = (await warehouse.lastClocks()).some(
    (last) => last.account === account && Math.abs(last.aheadSeconds) * 1000 > clockToleranceMs,
  );
  const isBehind = aheadMs < -clockToleranceMs;
  const isFault = isAhead || (isBehind && effects.isChosen !== true);
  if (!isFault && !wasWrong) return;
  if (isAhead || isBehind) {
    const advice = effects.advice();
    effects.log.warn(
      isAhead ? 'clock.ahead' : 'clock.behind',
      isAhead
        ? "This clock is ahead of the platform's; hours that the platform has not reached are not complete"
        : "This clock is behind the platform's; hours that it has not reached are not fetched",
      {
        account,
        now: formatInstant(local),
        platformNow: formatInstant(platform),
        [isAhead ? 'ahead' : 'behind']: describeSpan(Math.abs(aheadMs)),
        ...(advice === undefined ? {} : { next: advice }),
      },
    );
  }
  const reading = { account, aheadSeconds: Math.round(aheadMs / 1000), platformAt: platform, localAt: local };
  await warehouse.recordClock(reading, runNumber);
}

/** What the run knows about its clock, from the platforms' answers. */
export interface RunClock {
  /**
   * Moves the books' time back if this machine's clock is ahead of the platform's, and corrects instants written before
   * that was known. If the clocks agree, corrects what a fast clock wrote in an earlier run.
   */
  settle(account: string, clocks: Clocks | undefined): Promise<void>;
  /** This account's platform reported costs that its clock had not reached: ignore its clock. */
  distrust(account: string): void;
}

/** Opens the clock of a run. With several platforms, the one that this machine's clock is least ahead of decides. */
export function openRunClock({ runNumber }: IngestRequest, { warehouse, effects }: IngestTools): RunClock {
  const aheadMs = new Map<string, number>();
  const distrusted = new Set<string>();

  function setBack(): number {
    const least = aheadMs.size === 0 ? 0 : Math.min(...aheadMs.values());
    const backMs = least > clockToleranceMs ? least : 0;
    effects.setBack(backMs);
    return backMs;
  }
  return {
    async settle(account, clocks) {
      if (clocks === undefined || aheadMs.has(account) || distrusted.has(account)) return;
      aheadMs.set(account, clocks.local - clocks.platform);
      const backMs = setBack();
      const now = Math.max(effects.now(), clocks.platform);
      const from = await warehouse.correctInstants({ runNumber, now });
      if (from === undefined || backMs > 0) return; // under a fast clock they belong to this run
      effects.log.warn(
        'clock.instants_corrected',
        'Corrected times that a fast clock had written; create the exports of that time again',
        {
          until: formatInstant(from),
          now: formatInstant(now),
        },
      );
    },
    distrust(account) {
      distrusted.add(account);
      aheadMs.delete(account);
      setBack();
    },
  };
}
