import type { Window } from '../../time/time.ts';
import { lastApplied } from '../journal/journal.ts';
import { readSql } from '../sql/sql-files.ts';
import { contentsOf } from '../sql/statements.ts';
import type { Connection } from '../store/connection.ts';
import type { SnapshotFacts } from './seal.ts';

/** The contents that books had at their last known load; undefined if unknown. */
export interface KnownContents {
  facts: SnapshotFacts | undefined;
}

/** The contents of an attached warehouse or snapshot; reads every row. */
export async function factsOf(connection: Connection, catalog: string): Promise<SnapshotFacts> {
  const [row] = await connection.rows(contentsOf(catalog));
  return {
    loadNumber: Number(row?.['load_number']),
    lastEvent: await lastApplied(connection, catalog),
    rowCount: Number(row?.['row_count']),
    cost: String(row?.['cost']),
  };
}

/**
 * The contents of the warehouse or snapshot attached as `wh`, of which an earlier state is known: reads only what later
 * loads wrote, so that a night does not take longer with each year. Reads every row if nothing is known, if the rows do
 * not add up, or if hours were lost and fetched again.
 */
export async function factsSince(connection: Connection, known: SnapshotFacts | undefined): Promise<SnapshotFacts> {
  if (known === undefined) return factsOf(connection, 'wh');
  const [row] = await connection.rows(await readSql('ledger', 'contents_since'), {
    load_number: known.loadNumber,
    row_count: known.rowCount,
    cost: known.cost,
  });
  const rowCount = Number(row?.['row_count']);
  if (row?.['has_restored_hours'] === true || rowCount !== Number(row?.['rows_now'])) return factsOf(connection, 'wh');
  return {
    loadNumber: Number(row?.['load_number']),
    lastEvent: await lastApplied(connection),
    rowCount,
    cost: String(row?.['cost']),
  };
}

/** The hours that loads speak for, from the first to the last; undefined if there are none. */
export async function extentOf(connection: Connection): Promise<Window | undefined> {
  const [row] = await connection.rows(await readSql('ledger', 'extent'));
  if (row === undefined || row['first_hour'] === null) return undefined;
  return { start: Number(row['first_hour']), end: Number(row['end_hour']) };
}
