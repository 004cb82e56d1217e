import { floorHour, hourMs, type Instant } from '../time/time.ts';

export const lookedCookie = 'costbook_looked';

export const lookedSeconds = 400 * 24 * 3600;

/** Pages that are opened with a shorter pause belong to one look. */
const pauseMs = 4 * hourMs;

/**
 * When a person looked before, from the cookie of their browser: the end of the look before this one and the newest page,
 * in seconds, such as `1790000000.1790100000`. The server stores nothing. Pure.
 */
export function lookedBefore(
  cookie: string | undefined,
  now: Instant,
): { readonly before: Instant | undefined; readonly cookie: string } {
  const [, earlier = '', newest = ''] = /^(\d{0,12})\.(\d{1,12})$/.exec(cookie ?? '') ?? [];
  const last = newest === '' || Number(newest) * 1000 > now ? undefined : Number(newest);
  const before = last !== undefined && now - last * 1000 > pauseMs ? String(last) : earlier;
  return {
    // Whole hours, so that people who looked in the same one share an answer.
    before: last === undefined || before === '' ? undefined : floorHour(Number(before) * 1000),
    cookie: `${last === undefined ? '' : before}.${Math.floor(now / 1000)}`,
  };
}
