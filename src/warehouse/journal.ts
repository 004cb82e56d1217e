import { mkdir, open, readdir, readFile, rename, truncate, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { UnprovenError, UsageError } from '../errors.ts';
import type { Connection, SqlParameters } from './connection.ts';
import { type EarlierEvent, withPresentNames } from './earlier-names.ts';
import type { EventScalar, JournalEvent, NumberedEvent } from './journal-events.ts';
import { ledgerTables } from './ledger-tables.ts';
import { readSql, readSqlFolder } from './sql-files.ts';
import { correctInstantsOf, lastEventOf } from './statements.ts';

/** Where events are written before they reach the ledger. */
export interface JournalFile {
  /** The number of the last event; 0 if there is none. */
  readonly last: number;
  /** Writes an event and returns once it is on disk: completely, or not at all. */
  append(event: JournalEvent): Promise<NumberedEvent>;
}

/** Writes events to journal and ledger. */
export interface Recorder {
  record(event: JournalEvent): Promise<void>;
}

/** At this size a new journal file starts, so that opening the journal reads only the last file. */
const fileBytes = 4 * 1024 * 1024;
const lineFeed = 0x0a;

/** The journal's folder below the project folder. */
export function journalFolder(dir: string): string {
  return join(dir, 'data', 'journal');
}

/**
 * Reads the events after a number, in order. A last line without a line feed was never acknowledged by its writer and
 * is ignored; anything else that is not the next event is damage: throws JournalLossError with file and line, also if
 * the journal ends before the event `through`.
 */
export async function readJournal(folder: string, after = 0, through?: number): Promise<NumberedEvent[]> {
  const { events, last } = await readTail(folder, after);
  if (through === undefined) return events;
  if (last < through) throw missing(folder, Math.max(last, after) + 1, through + 1);
  return events.filter(({ number }) => number <= through);
}

/** Events of the journal are missing or damaged. */
export class JournalLossError extends UnprovenError {
  /** The name of the first file that cannot be used; undefined if there is none. */
  readonly file: string | undefined;
  /** The first damaged line, counted from 1; undefined if the whole file cannot be used. */
  readonly line: number | undefined;

  constructor(message: string, of: { readonly file?: string | undefined; readonly line?: number } = {}) {
    super(message);
    this.file = of.file;
    this.line = of.line;
  }
}

/**
 * Accepts the loss of everything from the first damage of the journal on: the damaged file and later ones are moved
 * aside, and the events before the damage are written again. Returns the files that were moved aside.
 */
export async function cutJournal(folder: string, after: number): Promise<string[]> {
  const aside: string[] = [];
  for (;;) {
    try {
      await readTail(folder, after);
      return aside;
    } catch (error) {
      if (!(error instanceof JournalLossError)) throw error;
      const files = (await readdir(folder)).filter((name) => /^events-\d{9,}\.ndjson$/.test(name)).sort();
      const from = error.file === undefined ? undefined : files.indexOf(error.file);
      const lost = files.slice(from ?? 0);
      if (lost.length === 0 || from === -1) throw error;
      const kept = await linesBefore(join(folder, lost[0] ?? ''), error.line);
      for (const name of lost) {
        await rename(join(folder, name), join(folder, `${name}.lost`));
        aside.push(join(folder, `${name}.lost`));
      }
      if (kept !== '') await writeFile(join(folder, lost[0] ?? ''), kept, { mode: 0o600 });
      await syncFolder(folder);
    }
  }
}

/** The text of a file before a line, counted from 1; empty without a line. */
async function linesBefore(path: string, line: number | undefined): Promise<string> {
  if (line === undefined) return '';
  const lines = (await readFile(path, 'utf8')).split('\n').slice(0, line - 1);
  return lines.map((each) => `${each}\n`).join('');
}

/** Opens the journal for writing; removes a torn last line. `after` is the last event in the ledger. */
export async function openJournalFile(
  folder: string,
  after: number,
): Promise<{ journal: JournalFile; beyond: NumberedEvent[] }> {
  const { events, file, wholeBytes, last: read } = await readTail(folder, after);
  let current = file;
  let size = wholeBytes;
  // A journal that ends before the ledger does was lost; new events continue the numbering all the same.
  let last = Math.max(read, after);
  if (read < after) current = undefined;
  if (current !== undefined) await truncate(join(folder, current), wholeBytes);
  let broken: unknown;

  return {
    beyond: events,
    journal: {
      get last() {
        return last;
      },
      async append(event) {
        if (broken !== undefined) throw broken;
        const numbered = { number: last + 1, ...event };
        const bytes = Buffer.from(`${JSON.stringify(numbered)}\n`);
        if (current === undefined || size >= fileBytes) {
          if ((await mkdir(folder, { recursive: true })) !== undefined) await syncFolder(dirname(folder));
          current = fileName(last + 1);
          size = 0;
          const made = await open(join(folder, current), 'w');
          await made.close();
          await syncFolder(folder);
        }
        const path = join(folder, current);
        try {
          const handle = await open(path, 'a');
          try {
            await handle.writeFile(bytes);
            await handle.sync();
          } finally {
            await handle.close();
          }
        } catch (error) {
          // Half a line must not become the start of the next one.
          await truncate(path, size).catch(() => {
            broken = error;
          });
          throw error;
        }
        size += bytes.length;
        last = numbered.number;
        return numbered;
      },
    },
  };
}

/**
 * The journal, and the ledger that follows it: events are on disk before the transaction that writes them into the
 * ledger, and that transaction records the last event number. Events that a killed process journaled but did not commit
 * are written into the ledger here, so the journal is always right. Throws UsageError if a newer program wrote it.
 */
export async function openRecorder(connection: Connection, folder: string): Promise<Recorder> {
  const apply = await eventWriter(connection);
  const { journal, beyond } = await openJournalFile(folder, await lastApplied(connection));
  // In the journal but not yet in the ledger; a failed event stays here, so that no later one overtakes it.
  let pending: NumberedEvent[] = beyond;
  let queue: Promise<unknown> = Promise.resolve();

  async function applyPending(): Promise<void> {
    if (pending.length === 0) return;
    await apply(pending);
    pending = [];
  }
  await applyPending();
  return {
    record(event) {
      const done = queue.then(async () => {
        pending.push(await journal.append(event));
        await applyPending();
      });
      queue = done.catch(() => undefined);
      return done;
    },
  };
}

/** Writes events into the ledger, all in one transaction with the number of the last one. */
export async function eventWriter(
  connection: Connection,
): Promise<(events: readonly NumberedEvent[]) => Promise<void>> {
  const files = new Map((await readSqlFolder('journal')).map((file) => [file.name, file.text]));
  // The event's SQL file defines the correction; the list of tables defines the columns to correct.
  const corrections = ledgerTables.flatMap((table) => correctInstantsOf(table) ?? []);
  const applyEvent = await readSql('ledger', 'record_applied_event');
  return async (events) => {
    const last = events.at(-1);
    if (last === undefined) return;
    const unknown = events.find(({ event }) => !files.has(event));
    if (unknown !== undefined) {
      throw new UsageError(
        `event ${unknown.number} of the journal is "${unknown.event}", which this version of Costbook does not know: a newer version wrote it. Update Costbook`,
      );
    }
    await connection.transaction(async () => {
      for (const { event, values } of events) {
        await connection.run(files.get(event) ?? '', parametersOf(values));
        if (event === 'instants_corrected') for (const correction of corrections) await connection.run(correction);
      }
      await connection.run(applyEvent, { number: last.number });
    });
  };
}

/** The number of the last journal event in the attached warehouse. */
export async function lastApplied(connection: Connection, catalog = 'wh'): Promise<number> {
  const [row] = await connection.rows(lastEventOf(catalog));
  return Number(row?.['applied'] ?? 0);
}

function parametersOf(values: JournalEvent['values']): SqlParameters {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]): [string, EventScalar] => [
      name,
      typeof value === 'object' && value !== null ? JSON.stringify(value) : value,
    ]),
  );
}

/** The events after a number, and where to write the next one. */
async function readTail(
  folder: string,
  after: number,
): Promise<{ events: NumberedEvent[]; file: string | undefined; wholeBytes: number; last: number }> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const files = names
    .filter((name) => /^events-\d{9,}\.ndjson$/.test(name))
    .map((name) => ({ name, first: Number(/\d+/.exec(name)?.[0]) }))
    .sort((a, b) => a.first - b.first);
  const events: NumberedEvent[] = [];
  let next: number | undefined;
  let wholeBytes = 0;
  for (const [index, { name, first }] of files.entries()) {
    const following = files[index + 1];
    // Files whose events are all in the ledger are not read.
    if (following !== undefined && following.first <= after + 1) continue;
    if (first > (next ?? after + 1)) throw missing(folder, next ?? after + 1, first, name);
    const bytes = await readFile(join(folder, name));
    wholeBytes = bytes.lastIndexOf(lineFeed) + 1;
    if (wholeBytes < bytes.length && following !== undefined) {
      throw damaged(join(folder, name), bytes.toString().split('\n').length, 'its last line is incomplete');
    }
    next = first;
    const lines = bytes.toString('utf8', 0, wholeBytes).split('\n');
    for (const [line, text] of lines.slice(0, -1).entries()) {
      const event = parseEvent(text);
      if (event === undefined) throw damaged(join(folder, name), line + 1, 'it is not an event');
      if (event.number !== next) {
        throw damaged(join(folder, name), line + 1, `it is event ${event.number}, expected ${next}`);
      }
      if (event.number > after) events.push(event);
      next += 1;
    }
  }
  return { events, file: files.at(-1)?.name, wholeBytes, last: (next ?? 1) - 1 };
}

const restore = 'Restore it from a backup, or run "costbook repair --accept-loss" to continue without the lost events';

function missing(folder: string, wanted: number, found: number, file?: string): JournalLossError {
  return new JournalLossError(`${folder}: events ${wanted} to ${found - 1} of the journal are missing. ${restore}`, {
    file,
  });
}

function damaged(file: string, line: number, reason: string): JournalLossError {
  const words = `${file}:${line}: the journal is damaged (${reason}). ${restore}`;
  return new JournalLossError(words, { file: basename(file), line });
}

function parseEvent(line: string): NumberedEvent | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const { number, event, values } = (value ?? {}) as Partial<Record<keyof NumberedEvent, unknown>>;
  if (!Number.isSafeInteger(number) || typeof event !== 'string') return undefined;
  return typeof values === 'object' && values !== null
    ? (withPresentNames(value as EarlierEvent) as NumberedEvent)
    : undefined;
}

function fileName(first: number): string {
  return `events-${String(first).padStart(9, '0')}.ndjson`;
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
