import { createHash } from 'node:crypto';
import { metricsLimits } from '../platform/index.ts';
import type { Instant } from '../time.ts';
import { Refusal } from './refusal.ts';

/** Where a cursor stands in the answer to its query. */
export interface Place {
  /** The next group or item. */
  readonly offset: number;
  /** When the first page was asked for: all pages tell of this instant, so that they add up and nothing is told twice. */
  readonly seenAt: Instant;
  readonly issuedAt: Instant;
}

/** An opaque cursor, good for this query (its text in a normal form) and no other. */
export function writeCursor(query: string, place: Place): string {
  const payload = Buffer.from(JSON.stringify([place.offset, place.seenAt, place.issuedAt])).toString('base64url');
  return `${payload}.${signatureOf(query, payload)}`;
}

/**
 * The place that a cursor names.
 * Refuses with 400 (the document leaves the status open) what was made for another query, is older than 24 hours, or
 * was never a cursor.
 */
export function readCursor(query: string, cursor: string, now: Instant): Place {
  const [payload = '', signature] = cursor.split('.');
  if (signature !== signatureOf(query, payload)) {
    throw new Refusal(400, 'invalid_cursor', 'The cursor does not belong to this query');
  }
  const parsed: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const [offset, seenAt, issuedAt] = Array.isArray(parsed) ? parsed.map(Number) : [];
  if (offset === undefined || seenAt === undefined || issuedAt === undefined) {
    throw new Refusal(400, 'invalid_cursor', 'The cursor is none of ours');
  }
  if (now - issuedAt > metricsLimits.cursorLifetimeMs) throw expiredCursor();
  return { offset, seenAt, issuedAt };
}

/** What a cursor older than 24 hours is answered with. */
export function expiredCursor(): Refusal {
  return new Refusal(400, 'invalid_cursor', 'The cursor is older than 24 hours; begin again with the first page');
}

function signatureOf(query: string, payload: string): string {
  return createHash('sha256').update(`costbook emulator cursor\n${query}\n${payload}`).digest('base64url').slice(0, 16);
}
