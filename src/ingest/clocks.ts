import { PlatformError } from '../errors.ts';
import { type Client, type Clocks, operations } from '../platform/index.ts';
import { dayMs, floorHour, formatInstant, hourMs, type Instant } from '../time.ts';
import type { CoveredPiece } from '../warehouse/index.ts';
import type { IngestRequest, IngestTools } from './tools.ts';

/** Our clock may be ahead of the platform's by so much before somebody has to know. */
export const clockToleranceMs = hourMs;

/**
 * The platform's clock as far as it can be believed: undefined where it told costs of hours that begin later, which is
 * what a Date header does that is made wrongly.
 */
export function believedClock(told: Instant | undefined, lastHour: Instant | undefined): Instant | undefined {
  return told !== undefined && (lastHour ?? told) > told ? undefined : told;
}

/** Hours from here on are not claimed: neither clock had reached their end, or they were too young. */
export function claimedBefore(now: Instant, platformAt: Instant | undefined, lagHours: number): Instant {
  return floorHour(Math.min(now, platformAt ?? now)) - lagHours * hourMs;
}

/**
 * Takes off the books what was claimed under a clock that was fast: hours that are claimed and have not happened by the
 * platform's clock. They are read again. Asks the platform for its time only where some are later than now. Returns
 * whether there were any.
 */
export async function correctFalseClaims(
  account: string,
  covered: readonly CoveredPiece[],
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
        // A refusal tells the time as well; what does not answer at all is met again by the next request.
        if (!(error instanceof PlatformError)) throw error;
      });
  }
  const platformAt = client.clocks()?.platform;
  const claims = platformAt === undefined ? [] : await warehouse.falseClaims(account, platformAt);
  if (claims.length === 0) return false;
  await warehouse.correctClaims({ account, claims, runNumber, recordedAt: await warehouse.seenAt(now) });
  const [first] = claims;
  effects.log.warn('hours were claimed by a clock that was fast; they are read again', {
    account,
    from: first?.claimedEnd,
    loads: claims.length,
  });
  const months = await warehouse.monthsClosedTooSoon(account);
  if (months.length > 0) {
    effects.log.warn('months were closed on hours that had not happened; open them with costbook reopen', {
      account,
      months,
    });
  }
  return true;
}

/** Reports a clock that is ahead of the platform's, and writes it down; also when it is right again. */
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
  const wasAhead = (await warehouse.lastClocks()).some(
    (last) => last.account === account && last.aheadSeconds * 1000 > clockToleranceMs,
  );
  if (!isAhead && !wasAhead) return;
  if (isAhead) {
    effects.log.warn(
      "this clock is ahead of the platform's; hours that the platform has not reached are not complete",
      {
        account,
        now: formatInstant(local),
        platformNow: formatInstant(platform),
        ahead: describeAhead(aheadMs),
        next: "set this machine's clock (NTP), or leave out --now; the next ingest then reads what is missing",
      },
    );
  }
  const reading = { account, aheadSeconds: Math.round(aheadMs / 1000), platformAt: platform, localAt: local };
  await warehouse.recordClock(reading, runNumber);
}

/** `30 days`, `2.5 hours` */
function describeAhead(aheadMs: number): string {
  return aheadMs >= 2 * dayMs ? `${Math.floor(aheadMs / dayMs)} days` : `${(aheadMs / hourMs).toFixed(1)} hours`;
}
