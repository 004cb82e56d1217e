import { createHash } from 'node:crypto';
import { mkdir, open, readdir, stat, truncate } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ChangedFileError, messageOf, UsageError } from '../../base/errors.ts';
import { withPresentNames } from '../../base/former-formats.ts';
import { act, type NextStep, repair } from '../../base/next-step.ts';
import { bytesOf } from '../../base/regular-file.ts';
import { ledgerTables } from '../sql/ledger-tables.ts';
import { readSql, readSqlFolder } from '../sql/sql-files.ts';
import { correctInstantsOf, lastEventOf } from '../sql/statements.ts';
import { type Connection, SqlError, type SqlParameters } from '../store/connection.ts';
import type { Exclusively } from '../store/exclusive.ts';
import { type EventScalar, isOfRepair, type JournalEvent, lastNumberOf, type NumberedEvent } from './journal-events.ts';
import { changeOf, lineOf, mostLineBytes, readLine, tooLong } from './journal-lines.ts';
import { firstUnrestored, restoreRows } from './restored-rows.ts';

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
export const fileBytes = 4 * 1024 * 1024;
export const lineFeed = 0x0a;

/** The journal's folder below the project folder. */
export function journalFolder(dir: string): string {
  return join(dir, 'data', 'journal');
}

/**
 * Reads the events after a number, in order. A last line without a line feed was never acknowledged by its writer and
 * is ignored; anything else that is not the next event is damage: throws JournalLossError with file and line, also if
 * the journal ends before the event `through`. The books have the events up to `inBooks`, so that a repair can restore
 * them.
 */
export async function readJournal(
  folder: string,
  after = 0,
  through?: number,
  inBooks = Math.max(after, through ?? 0),
): Promise<NumberedEvent[]> {
  const { events, last } = await readTail(folder, { after, inBooks, unchangedBefore: after + 1 });
  if (through === undefined) return events;
  if (last < through) throw missing(folder, Math.max(last, after) + 1, through, inBooks);
  return events.filter(({ number }) => number <= through);
}

/** The files of a journal that were complete at a publication: no run writes to them any more. */
export interface CompleteFiles {
  /** The first event of the file after them. */
  readonly before: number;
  /** SHA-256 of their names, lengths and times of change. */
  readonly sha256: string;
}

/** The complete files of a journal: all but the last. `before` leaves out later ones. */
export async function completeFiles(folder: string, before = Number.POSITIVE_INFINITY): Promise<CompleteFiles> {
  const files = await journalFiles(folder);
  const end = Math.min(before, files.at(-1)?.first ?? 1);
  const hash = createHash('sha256');
  for (const { name, first } of files) {
    if (first >= end) continue;
    const { size, mtimeMs } = await stat(join(folder, name));
    hash.update(`${name} ${size} ${mtimeMs}\n`);
  }
  return { before: end, sha256: hash.digest('hex') };
}

/** Files before this event were not written to since a publication; 1 if some were, or if nobody knows. */
async function unchangedBefore(folder: string, published: CompleteFiles | undefined): Promise<number> {
  if (published === undefined) return 1;
  return (await completeFiles(folder, published.before)).sha256 === published.sha256 ? published.before : 1;
}

/**
 * What is wrong with a journal, if the books have its events up to `inBooks`; undefined if nothing. Reads what the next
 * run reads: the last file, and every file if an earlier one was written to since it was `published`. With `isWhole`,
 * reads all files.
 */
export async function journalFault(
  folder: string,
  inBooks: number,
  { isWhole, published }: { readonly isWhole: boolean; readonly published: CompleteFiles | undefined },
): Promise<JournalLossError | undefined> {
  try {
    const unchanged = isWhole ? 1 : await unchangedBefore(folder, published);
    const tail = { after: isWhole ? 0 : inBooks, inBooks, unchangedBefore: unchanged };
    const { events, last } = await readTail(folder, tail);
    if (last < inBooks) return missing(folder, last + 1, inBooks, inBooks);
    const gap = isWhole ? firstUnrestored(events) : undefined;
    return gap && missing(folder, gap.number, lastNumberOf(gap), inBooks);
  } catch (error) {
    if (error instanceof JournalLossError) return error;
    throw error;
  }
}

/** Events of the journal are missing or damaged. If the books have these events, "costbook repair" restores them. */
export class JournalLossError extends ChangedFileError {
  /** The last event that the books have: only later ones can be lost. */
  readonly inBooks: number;

  /** Whether the last events are missing, so that nobody knows how many. */
  readonly isEndLost: boolean;

  constructor(found: string, next: NextStep, inBooks: number, { isEndLost = false } = {}) {
    super(found, { next });
    this.inBooks = inBooks;
    this.isEndLost = isEndLost;
  }
}

/**
 * The error of a journal that ends before the last load, or is missing: each load is of a run, and a run starts with an
 * event. Undefined if it does not, or if a repair has recorded lost events. Pure.
 */
export function endFault(
  folder: string,
  events: readonly NumberedEvent[],
  lastLoad: { readonly loadNumber: number; readonly runNumber: number } | undefined,
): JournalLossError | undefined {
  if (lastLoad === undefined || events.some(({ event }) => event === 'events_lost')) return undefined;
  const runs = events.flatMap(({ values }) => (typeof values['run_number'] === 'number' ? [values['run_number']] : []));
  const last = runs.reduce((most, run) => Math.max(most, run), 0);
  if (last >= lastLoad.runNumber) return undefined;
  const found =
    events.length === 0
      ? 'the journal has no event'
      : `the journal ends with event ${events.at(-1)?.number} (run ${last})`;
  return new JournalLossError(
    `${folder}: ${found}, but data/landing has load ${lastLoad.loadNumber} of run ${lastLoad.runNumber}. Closed months, ` +
      'alerts and runs since then are lost',
    accepting,
    0,
    { isEndLost: true },
  );
}

/**
 * Opens the journal for writing; removes a torn last line. `after` is the last event in the ledger. Throws
 * JournalLossError if the journal ends before it, or is damaged. Reads the last file, and every file if an earlier one
 * was written to since it was `published`.
 */
export async function openJournalFile(
  folder: string,
  after: number,
  published?: CompleteFiles,
): Promise<{ journal: JournalFile; beyond: NumberedEvent[] }> {
  const unchanged = await unchangedBefore(folder, published);
  const tail = { after, inBooks: after, unchangedBefore: unchanged };
  const { events, file, wholeBytes, last: read } = await readTail(folder, tail);
  if (read < after) throw missing(folder, read + 1, after, after);
  let current = file;
  let size = wholeBytes;
  let last = read;
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
        const bytes = Buffer.from(`${lineOf(numbered)}\n`);
        if (bytes.length > mostLineBytes) {
          throw new UsageError(
            `the journal does not take the event ${event.event}: ${tooLong(bytes.length)}. Nothing was stored`,
          );
        }
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
export async function openRecorder(
  connection: Connection,
  folder: string,
  {
    published,
    exclusively = (work) => work(),
  }: { readonly published?: CompleteFiles | undefined; readonly exclusively?: Exclusively } = {},
): Promise<Recorder> {
  const apply = await eventWriter(connection);
  const { journal, beyond } = await openJournalFile(folder, await lastApplied(connection), published);
  await (await eventWriter(connection, { folder }))(beyond);
  // In the journal but not yet in the ledger; a failed event stays here, so that no later one overtakes it.
  let pending: NumberedEvent[] = [];
  let queue: Promise<unknown> = Promise.resolve();

  function inOrder(event: JournalEvent): Promise<void> {
    const done = queue.then(async () => {
      pending.push(await journal.append(event));
      await apply(pending);
      pending = [];
    });
    queue = done.catch(() => undefined);
    return done;
  }
  return { record: (event) => exclusively(() => inOrder(event)) };
}

/**
 * Writes events into the ledger, all in one transaction with the number of the last one. Events that `isApplied` does
 * not select only count. By default, these are the rows that a repair restored: the books that they were read from have
 * them already. Throws ChangedFileError for an event that was read from `folder` and has a value that no table takes.
 */
export async function eventWriter(
  connection: Connection,
  {
    isApplied = ({ event }) => !isOfRepair(event),
    folder,
  }: { readonly isApplied?: (event: NumberedEvent) => boolean; readonly folder?: string } = {},
): Promise<(events: readonly NumberedEvent[]) => Promise<void>> {
  await connection.run(await readSql('ledger', 'rows_in'));
  const files = new Map((await readSqlFolder('journal')).map((file) => [file.name, file.text]));
  // The event's SQL file defines the correction; the list of tables defines the columns to correct.
  const corrections = ledgerTables.flatMap((table) => correctInstantsOf(table) ?? []);
  const applyEvent = await readSql('ledger', 'record_applied_event');
  async function write({ event, values }: NumberedEvent): Promise<void> {
    if (event === 'rows_restored') await restoreRows(connection, values);
    if (isOfRepair(event)) return;
    await connection.run(files.get(event) ?? '', parametersOf(values));
    if (event === 'instants_corrected') for (const correction of corrections) await connection.run(correction);
  }
  return async (events) => {
    const last = events.at(-1);
    if (last === undefined) return;
    const unknown = events.find(({ event }) => !files.has(event) && !isOfRepair(event));
    if (unknown !== undefined) {
      throw new UsageError(
        `event ${unknown.number} of the journal is "${unknown.event}", which this version of Costbook does not know: a newer version wrote it. Update Costbook`,
      );
    }
    await connection.transaction(async () => {
      for (const event of events.filter(isApplied)) {
        await write(event).catch(async (error: unknown) => {
          throw error instanceof SqlError && folder !== undefined ? await unusable(folder, event, error) : error;
        });
      }
      await connection.run(applyEvent, { number: lastNumberOf(last) });
    });
  };
}

/** The error for an event of the journal with values that no table takes. */
async function unusable(folder: string, { number, event }: NumberedEvent, cause: SqlError): Promise<ChangedFileError> {
  const file = (await journalFiles(folder)).findLast(({ first }) => first <= number)?.name ?? fileName(1);
  const lines = (await bytesOf(join(folder, file))).toString().split('\n');
  const line = lines.findIndex((text) => readLine(text).event?.number === number) + 1;
  const reason = messageOf(cause).split('\n')[0];
  return new ChangedFileError(
    `${join(folder, file)}:${line}: event ${number} (${event}) has a wrong value (${reason})`,
    {
      cause,
      next: act(
        'remove this line, then run "costbook repair", which restores this event from the warehouse.',
        'repair',
      ),
    },
  );
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

/** The journal's files in the order of their events. */
export async function journalFiles(folder: string): Promise<readonly { name: string; first: number }[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names
    .filter((name) => /^events-\d{9,}\.ndjson$/.test(name))
    .map((name) => ({ name, first: Number(/\d+/.exec(name)?.[0]) }))
    .sort((a, b) => a.first - b.first);
}

/** What tells books from others: the hash of their first event, which copies and backups of them share. Undefined before it. */
export async function nameOfBooks(dir: string): Promise<string | undefined> {
  const folder = journalFolder(dir);
  const [first] = await journalFiles(folder);
  const bytes = first && (await bytesOf(join(folder, first.name)));
  const end = bytes?.indexOf(lineFeed) ?? -1;
  return end < 0
    ? undefined
    : createHash('sha256')
        .update(bytes?.subarray(0, end) ?? '')
        .digest('hex');
}

/** The end of a journal. */
interface Tail {
  readonly events: NumberedEvent[];
  readonly file: string | undefined;
  readonly wholeBytes: number;
  readonly last: number;
}

/** The events after a number, and where to write the next one. Skips files before the event `unchangedBefore`. */
async function readTail(
  folder: string,
  {
    after,
    inBooks,
    unchangedBefore,
  }: { readonly after: number; readonly inBooks: number; readonly unchangedBefore: number },
): Promise<Tail> {
  const files = await journalFiles(folder);
  const events: NumberedEvent[] = [];
  const start = Math.min(after + 1, unchangedBefore);
  let next: number | undefined;
  let wholeBytes = 0;
  let needsHash = false;
  for (const [index, { name, first }] of files.entries()) {
    const following = files[index + 1];
    // Files whose events are all in the ledger are not read, unless somebody wrote to them.
    if (following !== undefined && following.first <= start) continue;
    if (first > (next ?? start)) throw missing(folder, next ?? start, first - 1, inBooks);
    const path = join(folder, name);
    if (next !== undefined && first < next) throw damaged(path, 1, `it is event ${first}, expected ${next}`, inBooks);
    const bytes = await bytesOf(path);
    wholeBytes = bytes.lastIndexOf(lineFeed) + 1;
    if (wholeBytes < bytes.length && following !== undefined) {
      throw damaged(path, bytes.toString().split('\n').length, 'its last line is incomplete', inBooks);
    }
    next = first;
    for (let line = 0, start = 0, end = 0; start < wholeBytes; line += 1, start = end + 1) {
      end = bytes.indexOf(lineFeed, start);
      if (next > after && end - start > mostLineBytes) throw damaged(path, line + 1, tooLong(end - start), inBooks);
      const read = readLine(bytes.toString('utf8', start, end));
      const { event } = read;
      if (event === undefined) throw damaged(path, line + 1, 'it is not an event', inBooks);
      if (event.number !== next) {
        throw damaged(path, line + 1, `it is event ${event.number}, expected ${next}`, inBooks);
      }
      const change = changeOf(read, needsHash);
      if (change !== undefined) throw damaged(path, line + 1, change, inBooks);
      // A repair writes the line for lost events among older lines.
      needsHash ||= read.written !== undefined && event.event !== 'events_lost';
      const last = lastNumberOf(event);
      // Most events are in the books already: their names do not matter.
      if (last > after) events.push(withPresentNames(event) as NumberedEvent);
      next = last + 1;
    }
  }
  return { events, file: files.at(-1)?.name, wholeBytes, last: (next ?? 1) - 1 };
}

const repairs = repair(', which restores these events from the warehouse');
const accepting = act(
  'restore it from a backup, or run "costbook repair --accept-loss" to continue without the lost events.',
  'repair',
);

/** The error for events of the journal that no file has; `isLost` if a repair found that the books do not have them. */
export function missing(
  folder: string,
  from: number,
  through: number,
  inBooks: number,
  { isLost = false } = {},
): JournalLossError {
  const range = `events ${from} to ${through} of the journal are missing`;
  return new JournalLossError(`${folder}: ${range}`, isLost ? accepting : repairs, inBooks);
}

function damaged(file: string, line: number, reason: string, inBooks: number): JournalLossError {
  return new JournalLossError(`${file}:${line}: the journal is damaged (${reason})`, repairs, inBooks);
}

/** The name of the file that starts with an event. */
export function fileName(first: number): string {
  return `events-${String(first).padStart(9, '0')}.ndjson`;
}

/** Flushes the names in a folder to disk. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
