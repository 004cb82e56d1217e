import { createHash } from 'node:crypto';
import { metricsLimits } from '../platform/interface/index.ts';
import type { Instant } from '../time/time.ts';
import { Refusal } from './refusal.ts';

/** The position of a cursor in the answer to its query. */
export interface Place {
  /** The next group or item. */
  readonly offset: number;
  /** When the first page was fetched: all pages show this instant, so that they add up and repeat nothing. */
  readonly seenAt: Instant;
  readonly issuedAt: Instant;
}

/** An opaque cursor, valid only for this query (its normalised text). */
export function writeCursor(query: string, place: Place): string {
  const payload = Buffer.from(JSON.stringify([place.offset, place.seenAt, place.issuedAt])).toString('base64url');
  return `${payload}.${signatureOf(query, payload)}`;
}

/**
 * The position of a cursor. Refuses with 400 (the document leaves the status open) a cursor of another query, one older
 * than 24 hours, and any other text.
 */
export function readCursor(query: string, cursor: string, now: Instant): Place {
  const [payload = '', signature] = cursor.split('.');
  if (signature !== signatureOf(query, payload)) {
    throw new Refusal(400, 'invalid_cursor', 'The cursor does not belong to this query');
  }
  const parsed: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const [offset, seenAt, issuedAt] = Array.isArray(parsed) ? parsed.map(Number) : [];
  if (offset === undefined || seenAt === undefined || issuedAt === undefined) {
    throw new Refusal(400, 'invalid_cursor', 'The cursor is not valid');
  }
  if (now - issuedAt > metricsLimits.cursorLifetimeMs) throw expiredCursor();
  return { offset, seenAt, issuedAt };
}

/** The answer to a cursor older than 24 hours. */
export function expiredCursor(): Refusal {
  return new Refusal(400, 'invalid_cursor', 'The cursor is older than 24 hours; start again from the first page');
}

function signatureOf(query: string, payload: string): string {
  return createHash('sha256').update(`costbook emulator cursor\n${query}\n${payload}`).digest('base64url').slice(0, 16);
}
