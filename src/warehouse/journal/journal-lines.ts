import { createHash } from 'node:crypto';
import type { StoredEvent } from '../../base/former-formats.ts';
import type { NumberedEvent } from './journal-events.ts';

/** A line of the journal. */
export interface ReadLine {
  /** The event with the names that it was written with; undefined if the line is none. */
  readonly event: StoredEvent | undefined;
  /** The hash that the line was written with; undefined if it has none: once, no line had one. */
  readonly written: string | undefined;
  /** The hash of the line's text. Another one than `written`: the line has changed since. */
  readonly found: string;
}

/** The longest line: one that a run reads and writes into the ledger again within its memory. */
export const mostLineBytes = 32 * 1024 * 1024;

/** Why a line of so many bytes is none: `it has 180 MB, expected at most 32 MB`. */
export function tooLong(bytes: number): string {
  const mb = (count: number) => `${Math.ceil(count / 1024 / 1024)} MB`;
  return `it has ${mb(bytes)}, expected at most ${mb(mostLineBytes)}, so that every run can read it again`;
}

const hashAtEnd = /,"hash":"([^"]*)"\}$/;

/** An event as a line of the journal, without line feed. Its last member is the hash of the text before it. Pure. */
export function lineOf(event: NumberedEvent): string {
  const text = JSON.stringify(event);
  return `${text.slice(0, -1)},"hash":"${hashOf(text)}"}`;
}

/** Reads a line of the journal. Pure. */
export function readLine(line: string): ReadLine {
  const end = hashAtEnd.exec(line);
  const text = end === null ? line : `${line.slice(0, end.index)}}`;
  return { event: parseEvent(text), written: end?.[1], found: hashOf(text) };
}

/** What has changed in a line, as a sentence about its event; undefined if nothing has. Pure. */
export function changeOf({ event, written, found }: ReadLine, needsHash: boolean): string | undefined {
  const what = `event ${event?.number} (${event?.event}) is not as Costbook wrote it (it was damaged, or edited)`;
  if (written === undefined) return needsHash ? `${what}: it has no hash, expected ${found}` : undefined;
  return written === found ? undefined : `${what}: its text has the hash ${found}, expected ${written}`;
}

/** The first 16 digits of the SHA-256 of a text: enough to notice every change that is not made to deceive. */
function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** A line without its hash as an event; undefined if it is none. */
function parseEvent(text: string): StoredEvent | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { number, event, values, ...others } = (value ?? {}) as Partial<Record<keyof NumberedEvent, unknown>>;
  if (Object.keys(others).length > 0) return undefined;
  if (!Number.isSafeInteger(number) || typeof event !== 'string') return undefined;
  if (event === 'events_lost' && !isLaterNumber((values as { through?: unknown })?.through, number)) return undefined;
  return typeof values === 'object' && values !== null ? (value as StoredEvent) : undefined;
}

function isLaterNumber(through: unknown, number: unknown): boolean {
  return Number.isSafeInteger(through) && Number(through) >= Number(number);
}
