import { stat } from 'node:fs/promises';
import { CostbookError, LockedError } from '../../base/errors.ts';
import { textOrUndefined } from '../../tables/optional-text.ts';
import { JournalLossError, journalFolder, readJournal } from '../journal/journal.ts';
import type { NumberedEvent } from '../journal/journal-events.ts';
import { readSql } from '../sql/sql-files.ts';
import { openDatabase } from '../store/database.ts';
import type { Books } from './books.ts';
import { warehouseFile } from './warehouse-file.ts';

/** A run that started and did not end: it is active, or it was killed. */
export interface UnendedRun {
  readonly runNumber: number;
  /** `ingest`, `run nightly`. */
  readonly command: string;
  /** What its user typed after costbook; undefined for a job, and in runs of earlier versions. */
  readonly commandLine?: string | undefined;
  /** RFC 3339. */
  readonly startedAt: string;
  /** The step that had started; undefined between steps, and for a run without steps. */
  readonly step: string | undefined;
  /** Whether a process holds the warehouse. */
  readonly isActive: boolean;
}

/**
 * The last run, if neither the snapshot nor the journal after it has its end; undefined if it ended, or if the journal
 * or the warehouse cannot be read. Not for the process that holds the warehouse.
 */
export async function unendedRun(dir: string, books: Books): Promise<UnendedRun | undefined> {
  const run = await lastUnendedRun(dir, books);
  const isActive = run && (await isHeld(warehouseFile(dir)));
  return run === undefined || isActive === undefined ? undefined : { ...run, isActive };
}

/** The same without looking whether a process holds the warehouse. */
export async function lastUnendedRun(dir: string, books: Books): Promise<Started | undefined> {
  const [row] = await books.connection.rows(await readSql('status', 'running_run'));
  const published = row && {
    ...{ runNumber: Number(row['run_number']), command: String(row['command']) },
    commandLine: textOrUndefined(row['command_line']),
    ...{ startedAt: String(row['started_at']), step: textOrUndefined(row['step']) },
  };
  const events = await readJournal(journalFolder(dir), books.published.lastEvent).catch((error: unknown) => {
    // Damage, and a folder in place of a file, are reported with the files.
    const { code = '' } = error as NodeJS.ErrnoException;
    if (error instanceof JournalLossError || code === 'EISDIR' || code === 'ENOTDIR') return [];
    throw error;
  });
  return lastUnended(published, events);
}

type Started = Omit<UnendedRun, 'isActive'>;

/** The run that has not ended after some events, given the one before them. Pure. */
function lastUnended(before: Started | undefined, events: readonly NumberedEvent[]): Started | undefined {
  let run = before;
  for (const { event, values } of events) {
    if (event === 'run_began' || event === 'job_began') {
      const command = event === 'run_began' ? String(values['command']) : `run ${values['job']}`;
      const startedAt = String(values['started_at']);
      const commandLine = textOrUndefined(values['command_line'] ?? null);
      run = { runNumber: Number(values['run_number']), command, commandLine, startedAt, step: undefined };
    } else if (event === 'run_ended') run = undefined;
    else if (run !== undefined && event === 'step_began') run = { ...run, step: String(values['step']) };
    else if (run !== undefined && event === 'step_ended') run = { ...run, step: undefined };
  }
  return run;
}

/** Whether another process has a DuckDB file open; undefined if this user cannot know. */
async function isHeld(file: string): Promise<boolean | undefined> {
  if ((await stat(file).catch(() => undefined)) === undefined) return undefined;
  try {
    (await openDatabase(file, { readOnly: true })).close();
    return false;
  } catch (error) {
    if (error instanceof LockedError) return true;
    if (error instanceof CostbookError) return undefined;
    throw error;
  }
}
