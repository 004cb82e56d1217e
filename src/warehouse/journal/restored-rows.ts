import { UsageError } from '../../base/errors.ts';
import { journaledTables } from '../sql/ledger-tables.ts';
import { insertRestoredRows, journaledRowsOf, removeJournaledRowsOf } from '../sql/statements.ts';
import type { Connection } from '../store/connection.ts';
import { type JournalEvent, lastNumberOf, type NumberedEvent } from './journal-events.ts';

/** Rows that are read at once. */
const rowsAtOnce = 100;
/** A line of the journal stays below a few megabytes: messages are long. */
const bytesAtOnce = 2 * 1024 * 1024;

/**
 * The events that restore every table that the journal writes to its present rows, in order; the last one says that
 * they are complete. `first` is the number that the first of them gets.
 */
export async function* restoringEvents(connection: Connection, first: number): AsyncGenerator<JournalEvent> {
  for (const table of journaledTables) {
    const read = journaledRowsOf(table);
    let part: Record<string, string | null>[] = [];
    let bytes = 0;
    let isFirst = true;
    const event = (): JournalEvent => ({
      event: 'rows_restored',
      values: { table: table.name, is_first: isFirst, rows: part },
    });
    for (let from = 0, isLast = false; !isLast; from += rowsAtOnce) {
      const rows = await connection.rows(read, { max_rows: rowsAtOnce, first_row: from });
      isLast = rows.length < rowsAtOnce;
      for (const row of rows) {
        const texts = Object.fromEntries(Object.entries(row).map(([name, text]) => [name, cell(text)]));
        const size = JSON.stringify(texts).length;
        if (part.length > 0 && bytes + size > bytesAtOnce) {
          yield event();
          [part, bytes, isFirst] = [[], 0, false];
        }
        part.push(texts);
        bytes += size;
      }
    }
    if (isFirst || part.length > 0) yield event();
  }
  yield { event: 'books_restored', values: { from: first } };
}

function cell(text: unknown): string | null {
  return text === null || text === undefined ? null : String(text);
}

/** Writes the rows of one `rows_restored` event. Throws UsageError if this program does not know the table. */
export async function restoreRows(connection: Connection, values: JournalEvent['values']): Promise<void> {
  const table = journaledTables.find(({ name }) => name === values['table']);
  if (table === undefined) {
    throw new UsageError(
      `the journal restores the table "${values['table']}", which this version of Costbook does not know. Update Costbook`,
    );
  }
  if (values['is_first'] === true) await connection.run(removeJournaledRowsOf(table));
  const rows = Array.isArray(values['rows']) ? values['rows'] : [];
  const columns = Object.keys(rows[0] ?? {});
  if (columns.length === 0) return;
  await connection.run(insertRestoredRows(table, columns), { rows: JSON.stringify(rows) });
}

/** The last restoration of which no event is lost: its first and last number. Undefined if there is none. Pure. */
function lastRestoration(events: readonly NumberedEvent[]): { from: number; end: number } | undefined {
  const lost = events.filter(({ event }) => event === 'events_lost');
  for (const { event, number, values } of events.toReversed()) {
    const from = Number(values['from']);
    if (event !== 'books_restored' || lost.some((each) => lastNumberOf(each) >= from && each.number < number)) continue;
    return { from, end: number };
  }
  return undefined;
}

/**
 * The first event whose loss nothing makes up for: its gap follows the start of the last complete restoration.
 * Undefined if there is none. Pure.
 */
export function firstUnrestored(events: readonly NumberedEvent[]): NumberedEvent | undefined {
  const { from = 0 } = lastRestoration(events) ?? {};
  return events.find((event) => event.event === 'events_lost' && lastNumberOf(event) >= from);
}

/**
 * Which events a rebuild applies, given all of them after those that its base has: not those that a later restoration
 * replaces, nor the rows of an incomplete restoration, or of one that started before. Pure.
 */
export function appliedInRebuild(events: readonly NumberedEvent[]): (event: NumberedEvent) => boolean {
  const last = lastRestoration(events);
  if (last === undefined || last.from < (events[0]?.number ?? 1)) return ({ event }) => event !== 'rows_restored';
  return ({ number, event }) => number >= last.from && (event !== 'rows_restored' || number < last.end);
}
