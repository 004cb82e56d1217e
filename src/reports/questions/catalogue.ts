import { UsageError } from '../../base/errors.ts';
import { type ExportFormatName, exportFormats } from '../../tables/file-formats.ts';
import type { Sorting } from '../../tables/sorting.ts';
import { nearest } from '../../text/choices.ts';
import { inOrder, isBuiltIn, readSqlFolder, type SqlFile, sparklineOf } from '../../warehouse/sql/index.ts';
import {
  type Connection,
  type SqlColumn,
  SqlError,
  type SqlParameters,
  sqlProblem,
} from '../../warehouse/store/index.ts';
import { columnsOf } from '../formats/columns.ts';
import { costColumnOf } from '../formats/figures.ts';
import { type EvaluatedKind, evaluatedKinds } from './evaluated.ts';
import { parseParameters, type ReportParameter } from './parameters.ts';
import { parseSpread, type Spread } from './spread.ts';

/** A report: one SQL file that answers one question. */
export interface Report {
  readonly file: SqlFile;
  readonly name: string;
  readonly about: string;
  /** The columns that identify a row. The answer is sorted by them. */
  readonly grain: readonly string[];
  readonly formats: readonly string[];
  /** Its parameters, in the order of the header. */
  readonly parameters: readonly ReportParameter[];
  /** The data it needs from `costbook alert`; undefined if none. */
  readonly evaluated: EvaluatedKind | undefined;
  /** Whether it has the costs of the month's own hours only, so that its answer names what the month bills besides. */
  readonly isWithoutCorrections: boolean;
  /** How its table is shown on a screen. Files have every column, sorted by the grain. */
  readonly screen: Screen;
  /** Rows that become columns. */
  readonly spread: Spread | undefined;
  /** Whose question it answers: `finance`, `teams`; undefined if the header does not say. */
  readonly audience: string | undefined;
  /** Columns with a total at the end, besides the cost. */
  readonly totals: readonly string[];
  /** Why it cannot be run, with file, line and column; undefined if it can. */
  readonly problem?: string;
  /** The columns that `inCurrency` added. */
  readonly converted?: readonly string[];
  /** SQL before and after its own, from `shape`. */
  readonly wrapping?: { readonly before: string; readonly after: string } | undefined;
}

/** How an answer is shown on a screen. */
export interface Screen {
  /** Columns to sort by, largest first. Empty: by the grain. Undefined: by the cost. */
  readonly top: readonly string[] | undefined;
  /** Columns by importance, if the header names them. */
  readonly important: readonly string[] | undefined;
  /** A sparkline: the numbers of one column over the days or months of another. */
  readonly sparkline: { readonly of: string; readonly over: string } | undefined;
}

/**
 * Reads the reports; those in a project's `sql/reports` override built-in ones. Errors of a report are in its
 * `problem`.
 */
export async function readReports(overlay: string): Promise<Report[]> {
  const files = await readSqlFolder('reports', overlay);
  return files.map(reportOf);
}

/** A SQL file with a report's header as a report. What is wrong with it is in its `problem`. */
export function reportOf(file: SqlFile): Report {
  const problems = [...(file.problems ?? [])];
  const grain = list(file.header['grain']);
  if (grain.length === 0)
    problems.push(
      `${file.path}:1:1: the header has no "--! grain:" line; add one, because a report is ordered by its grain`,
    );
  const formats = list(file.header['formats'] ?? 'csv, parquet');
  for (const format of formats) {
    if (!exportFormats.includes(format as ExportFormatName)) {
      problems.push(`${file.path}:1:1: "--! formats:" names "${format}", expected ${exportFormats.join(', ')}`);
    }
  }
  const said = file.header['evaluated'];
  const evaluated = evaluatedKinds.find((kind) => kind === said);
  if (said !== undefined && evaluated === undefined) {
    problems.push(`${file.path}:1:1: found "--! evaluated: ${said}", expected one of ${evaluatedKinds.join(', ')}`);
  }
  const without = file.header['without'];
  if (without !== undefined && without !== 'corrections') {
    problems.push(`${file.path}:1:1: found "--! without: ${without}", expected corrections`);
  }
  const parameters = parseParameters(file, problems);
  const spread = parseSpread(file, problems);
  const screen = screenOf(file, problems);
  return {
    file,
    name: file.name,
    about: file.header['about'] ?? '',
    grain,
    formats,
    parameters,
    evaluated,
    isWithoutCorrections: without !== undefined,
    screen,
    spread,
    audience: file.header['for'],
    totals: list(file.header['totals']),
    ...(problems.length === 0 ? {} : { problem: problems.join('\n') }),
  };
}

/**
 * The report's SELECT with a total order: by the grain, then by a hash of the whole row, so that the order is always the
 * same. (Sorting by every column would need twice the memory.) `columns` selects columns and their order; `top` sorts by
 * these columns first, largest first; `first` sorts by its columns before that, what is null first; `sorting` by the column that
 * a person chose.
 */
export function orderedQuery(
  report: Report,
  columns?: readonly string[],
  top: readonly string[] = [],
  { first = [], sorting }: { readonly first?: readonly string[]; readonly sorting?: Sorting | undefined } = {},
): string {
  return inOrder(selectOf(report), { columns, first, sorting, top, grain: report.grain });
}

/** The report's SELECT. The file starts on the second line, so that errors can be mapped to its lines. */
export function selectOf({ file, wrapping }: Report): string {
  const text = file.text.trimEnd().replace(/;$/, '');
  return wrapping === undefined ? `\n${text}` : `${wrapping.before}\n${text}\n${wrapping.after}`;
}

/**
 * Has DuckDB parse and bind a report's SQL without running it, so that wrong SQL writes nothing. Returns its columns. Throws
 * UsageError if the grain or the header's cost is not among them.
 */
export async function checkReport(
  connection: Connection,
  report: Report,
  parameters: SqlParameters,
): Promise<readonly SqlColumn[]> {
  const columns = await columnsOf(connection, selectOf(report), parameters);
  const names = columns.map(({ name }) => name);
  const plainNames = names.map((name) => name.toLowerCase()); // as DuckDB compares them
  const missing = report.grain.filter((column) => !plainNames.includes(column.toLowerCase()));
  if (missing.length > 0) {
    const line = lineOf(report.file, 'grain');
    const problems = missing.map((column) => {
      const near = nearest(column, names);
      const hint = near === undefined ? '' : ` (did you mean "${near}"?)`;
      return `${report.file.path}:${line}:1: the grain names "${column}"${hint}, expected columns of the report: ${names.join(', ')}`;
    });
    throw new UsageError(problems);
  }
  checkCost(report, columns);
  checkScreen(report, columns);
  return columns;
}

/** Throws UsageError unless a report's SQL is exactly one SELECT, as a subquery requires. Built-in reports are. */
export async function admitReport(connection: Connection, { file }: Report): Promise<void> {
  if (isBuiltIn(file)) return;
  await connection.admit(file.text, { withParameters: true }).catch((error) => {
    throw error instanceof UsageError ? sqlProblem(file, error, 0) : error;
  });
}

/** Throws UsageError unless the header's cost is a column with an exact sum. */
function checkCost({ file }: Report, columns: readonly SqlColumn[]): void {
  const declared = file.header['cost'];
  if (declared === undefined || costColumnOf(columns, declared) !== undefined) return;
  const at = `${file.path}:${lineOf(file, 'cost')}:1`;
  const found = columns.find(({ name }) => name.toLowerCase() === declared.toLowerCase());
  if (found !== undefined) {
    throw new UsageError(
      `${at}: the cost "${declared}" is ${found.type}, expected a DECIMAL or an integer, which have exact sums`,
    );
  }
  const names = columns.map(({ name }) => name);
  const near = nearest(declared, names);
  const hint = near === undefined ? '' : ` (did you mean "${near}"?)`;
  throw new UsageError(`${at}: the cost is "${declared}"${hint}, expected a column of the report: ${names.join(', ')}`);
}

/** Throws UsageError if the header's screen settings name a column that the report does not have. */
function checkScreen({ file, screen }: Report, columns: readonly SqlColumn[]): void {
  const names = columns.map(({ name }) => name);
  const plainNames = names.map((name) => name.toLowerCase());
  const named = {
    top: screen.top ?? [],
    important: screen.important ?? [],
    sparkline: screen.sparkline === undefined ? [] : [screen.sparkline.of, screen.sparkline.over],
  };
  const problems = Object.entries(named).flatMap(([key, given]) =>
    given
      .filter((name) => !plainNames.includes(name.toLowerCase()))
      .map((name) => {
        const near = nearest(name, names);
        const hint = near === undefined ? '' : ` (did you mean "${near}"?)`;
        return `${file.path}:${lineOf(file, key)}:1: "--! ${key}:" names "${name}"${hint}, expected columns of the report: ${names.join(', ')}`;
      }),
  );
  if (problems.length > 0) throw new UsageError(problems);
}

/**
 * The screen settings of a header: `--! top:` (or none, for the order of the grain), `--! important:` and `--!
 * sparkline: cost over usage_date`.
 */
function screenOf({ path, header }: SqlFile, problems: string[]): Screen {
  const given = header['sparkline'];
  const [, of, over] = /^(\S+) over (\S+)$/.exec(given ?? '') ?? [];
  if (given !== undefined && (of === undefined || over === undefined)) {
    problems.push(`${path}:1:1: found "--! sparkline: ${given}", expected one such as cost over usage_date`);
  }
  return {
    top: header['top'] === undefined ? undefined : list(header['top']).filter((name) => name !== 'none'),
    important: header['important'] === undefined ? undefined : list(header['important']),
    sparkline: of === undefined || over === undefined ? undefined : { of, over },
  };
}

/** The line of a header key, from 1. */
function lineOf({ text }: SqlFile, key: string): number {
  return text.split('\n').findIndex((line) => new RegExp(`^--! *${key}:`).test(line)) + 1;
}

/** The columns to sort by on a screen, largest first: those of the header, or the cost. */
export function topOf({ file, screen }: Report, columns: readonly SqlColumn[]): readonly string[] {
  if (screen.top !== undefined) return screen.top;
  const cost = costColumnOf(columns, file.header['cost']);
  return cost === undefined ? [] : [cost.name];
}

/**
 * The query for a report's sparklines: a row per line, with the grain columns that name it, and its first and last
 * time. Undefined if the report has no sparkline.
 */
export function sparklineQuery(report: Report): string | undefined {
  const { screen, grain } = report;
  if (screen.sparkline === undefined) return undefined;
  const { of, over } = screen.sparkline;
  const names = grain.filter((column) => column !== over);
  return sparklineOf(selectOf(report), names, of, over);
}

/**
 * Runs work with `orderedQuery`. Turns an error in the report's SQL into a UsageError with DuckDB's message, the file
 * and the line.
 */
export async function blamingReport<T>(report: Report, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    throw sqlProblem(report.file, error, 1); // the wrapping adds one line before the file's first line
  }
}

function list(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
