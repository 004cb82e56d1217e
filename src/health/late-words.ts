import { hourMs, type Instant } from '../time/time.ts';

/** How old the books of an account are. Pure. */
export function lateWords(
  account: string,
  completeThrough: string | null,
  now: Instant,
  freshnessHours: number,
): string {
  return completeThrough === null
    ? `account ${account} has no complete hour yet`
    : `account ${account} is complete only through ${completeThrough}, ${ageBeyond(completeThrough, now, freshnessHours)} ago; the limit is ${freshnessHours} h`;
}

/** The time since an instant, for people. */
export function age(instant: string, now: Instant): string {
  const hours = Math.max(0, Math.floor((now - Date.parse(instant)) / hourMs));
  return hours < 72 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
}

/** The time since an instant that is beyond a limit, with minutes if the hours alone would look equal to it. */
export function ageBeyond(instant: string, now: Instant, limitHours: number): string {
  const passed = now - Date.parse(instant);
  const hours = Math.floor(passed / hourMs);
  // The limit is in hours: who compares needs both in one unit.
  if (hours !== limitHours) return hours < 72 ? age(instant, now) : `${age(instant, now)} (${hours} h)`;
  const minutes = Math.floor((passed % hourMs) / 60_000);
  return `${limitHours} h ${minutes === 0 ? `${Math.ceil((passed % hourMs) / 1000)} s` : `${minutes} min`}`;
}
