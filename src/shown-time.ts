import type { Instant } from './time.ts';

/** `October 2026`. */
export function monthName(month: Instant): string {
  return new Intl.DateTimeFormat('en-US', { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(month);
}

/** `2026-10-04T12:00:00Z` as people read it: `2026-10-04 12:00 UTC`. */
export function shownInstant(text: string): string {
  return `${text.slice(0, 16).replace('T', ' ')} UTC`;
}
