import { UsageError } from '../errors.ts';
import { addCalendarMonths, floorMonth, formatMonth, formatWindow, type Window } from '../time.ts';
import { type Connection, readSqlFolder, SqlError, type SqlFile } from '../warehouse/index.ts';
import type { CompletenessState } from './completeness.ts';
import { exportFormats } from './export.ts';
import { sqlProblem } from './sql-problem.ts';

/** A report: one SQL file that answers one question. */
export interface Report {
  readonly file: SqlFile;
  readonly name: string;
  readonly about: string;
  /** The columns that name a row; the answer is ordered by all of them. */
  readonly grain: readonly string[];
  readonly formats: readonly string[];
}

/** Reads the reports, a project's own `sql/reports` over the built-in ones. Throws UsageError for a wrong header. */
export async function readReports(overlay: string): Promise<Report[]> {
  const files = await readSqlFolder('reports', overlay);
  const problems: string[] = [];
  const reports = files.map((file) => {
    const grain = list(file.header['grain']);
    if (grain.length === 0)
      problems.push(`${file.path}:1:1: the header has no "--! grain:" line; a report is ordered by its grain`);
    const formats = list(file.header['formats'] ?? 'csv, parquet');
    for (const format of formats) {
      if (!exportFormats.includes(format)) {
        problems.push(`${file.path}:1:1: "--! formats:" names "${format}", expected ${exportFormats.join(', ')}`);
      }
    }
    return {
      file,
      name: file.name,
      about: file.header['about'] ?? '',
      grain,
      formats,
    };
  });
  if (problems.length > 0) throw new UsageError(problems.join('\n'));
  return reports;
}

/**
 * The report's SELECT with its total order: the same rows always come in the same order. With `columns` only those of
 * its columns are answered, in that order.
 */
export function orderedQuery(report: Report, columns?: readonly string[]): string {
  const selected = columns?.map((column) => `"${column}"`).join(', ') ?? '*';
  const order = report.grain.map((column) => `"${column.replaceAll('"', '""')}" nulls last`).join(', ');
  // The closing parenthesis stands on a line of its own: the file may end in a comment.
  return `select ${selected} from (\n${report.file.text.trimEnd().replace(/;$/, '')}\n) as report order by ${order}`;
}

/** The last month that is complete in every account; undefined where none is. */
export function lastCompleteMonth({ completeFrom, completeThrough }: CompletenessState): Window | undefined {
  if (completeFrom === null || completeThrough === null) return undefined;
  const end = floorMonth(Date.parse(completeThrough));
  const start = addCalendarMonths(end, -1);
  return Date.parse(completeFrom) <= start ? { start, end } : undefined;
}

/** Whether a month is complete, as a warning's sentence; undefined where it is. */
export function incompleteWarning(month: Window, state: CompletenessState): string | undefined {
  const { completeFrom, completeThrough } = state;
  const ends = `the month is ${formatWindow(month)}`;
  if (completeFrom === null || completeThrough === null || Date.parse(completeThrough) < month.end) {
    return `${formatMonth(month.start)} is not complete: the books are complete through ${completeThrough ?? 'nothing yet'}, ${ends}`;
  }
  // Nothing known is not nothing spent.
  if (Date.parse(completeFrom) <= month.start) return undefined;
  return `${formatMonth(month.start)} is not complete: the books begin ${completeFrom}, ${ends}`;
}

/** Has DuckDB read a report's SQL without answering it, so that nothing is written where it is wrong. */
export async function checkReport(
  connection: Connection,
  report: Report,
  parameters: Record<string, string>,
): Promise<void> {
  await connection.rows(`select * from (${orderedQuery(report)}\n) limit 0`, parameters);
}

/** Runs work with `orderedQuery`, which begins on its first line; a mistake in its SQL becomes a UsageError in DuckDB's words, with the file and line. */
export async function blamingReport<T>(report: Report, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    throw sqlProblem(report.file, error, 1); // the wrapping puts one line before the file's first
  }
}

function list(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
