import { nearest } from '../did-you-mean.ts';
import { UsageError } from '../errors.ts';
import {
  type Connection,
  inOrder,
  readSqlFolder,
  type SqlColumn,
  SqlError,
  type SqlFile,
  type SqlParameters,
  sparklineOf,
  sqlProblem,
} from '../warehouse/index.ts';
import { columnsOf } from './columns.ts';
import { type EvaluatedKind, evaluatedKinds } from './evaluated.ts';
import { exportFormats } from './export.ts';
import { costColumnOf } from './figures.ts';
import { parseParameters, type ReportParameter } from './parameters.ts';
import { parseSpread, type Spread } from './spread.ts';

/** A report: one SQL file that answers one question. */
export interface Report {
  readonly file: SqlFile;
  readonly name: string;
  readonly about: string;
  /** The columns that name a row; the answer is ordered by all of them. */
  readonly grain: readonly string[];
  readonly formats: readonly string[];
  /** What its SQL is bound to, in the header's order. */
  readonly parameters: readonly ReportParameter[];
  /** What it tells of that only `costbook alert` finds out; undefined of a report of anything else. */
  readonly evaluated: EvaluatedKind | undefined;
  /** How its table is shown to a person; files have the order of the grain, and every column. */
  readonly screen: Screen;
  /** Rows that become columns. */
  readonly spread: Spread | undefined;
  /** The columns that a person may want added up at the end, besides its cost. */
  readonly totals: readonly string[];
  /** What keeps it from being answered, with file, line and column; undefined where nothing does. */
  readonly problem?: string;
  /** SQL on the lines before and after its own, as `shape` makes it. */
  readonly wrapping?: { readonly before: string; readonly after: string };
}

/** What a person sees first of an answer. */
export interface Screen {
  /** Columns by which rows are ordered, the largest first; empty for the order of the grain, undefined for the cost. */
  readonly top: readonly string[] | undefined;
  /** Columns by their importance, where the header names them. */
  readonly important: readonly string[] | undefined;
  /** A line of small bars: one column's numbers over the days or months of another. */
  readonly sparkline: { readonly of: string; readonly over: string } | undefined;
}

/** Reads the reports, a project's own `sql/reports` over the built-in ones. What is wrong with one is in its `problem`. */
export async function readReports(overlay: string): Promise<Report[]> {
  const files = await readSqlFolder('reports', overlay);
  return files.map((file): Report => {
    const problems = [...(file.problems ?? [])];
    const grain = list(file.header['grain']);
    if (grain.length === 0)
      problems.push(`${file.path}:1:1: the header has no "--! grain:" line; a report is ordered by its grain`);
    const formats = list(file.header['formats'] ?? 'csv, parquet');
    for (const format of formats) {
      if (!exportFormats.includes(format)) {
        problems.push(`${file.path}:1:1: "--! formats:" names "${format}", expected ${exportFormats.join(', ')}`);
      }
    }
    const said = file.header['evaluated'];
    const evaluated = evaluatedKinds.find((kind) => kind === said);
    if (said !== undefined && evaluated === undefined) {
      problems.push(`${file.path}:1:1: found "--! evaluated: ${said}", expected one of ${evaluatedKinds.join(', ')}`);
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
      screen,
      spread,
      totals: list(file.header['totals']),
      ...(problems.length === 0 ? {} : { problem: problems.join('\n') }),
    };
  });
}

/**
 * The report's SELECT with its total order: by its grain, and rows that this does not tell apart by a hash of all they
 * hold, so that the same rows always come in the same order. (Sorting by every column would hold each row twice.) With
 * `columns` only those of its columns are answered, in that order; with `top` the largest of these come first.
 */
export function orderedQuery(report: Report, columns?: readonly string[], top: readonly string[] = []): string {
  return inOrder(selectOf(report), { columns, top, grain: report.grain });
}

/** The report's SELECT. Its file begins on the second line, so that mistakes are found by line. */
export function selectOf({ file, wrapping }: Report): string {
  const text = file.text.trimEnd().replace(/;$/, '');
  return wrapping === undefined ? `\n${text}` : `${wrapping.before}\n${text}\n${wrapping.after}`;
}

/**
 * Has DuckDB read a report's SQL without answering it, so that nothing is written where it is wrong, and returns the
 * columns that it answers with. Throws UsageError where the grain, or the header's cost, is none of them.
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
    throw new UsageError(problems.join('\n'));
  }
  checkCost(report, columns);
  checkScreen(report, columns);
  return columns;
}

/** Throws UsageError where a report's SQL is anything but one SELECT, which is all that may stand inside of ours. */
export async function admitReport(connection: Connection, { file }: Report): Promise<void> {
  await connection.admit(file.text, { withParameters: true }).catch((error) => {
    throw error instanceof UsageError ? sqlProblem(file, error, 0) : error;
  });
}

/** Throws UsageError where the header's cost is no column that can be added up exactly. */
function checkCost({ file }: Report, columns: readonly SqlColumn[]): void {
  const declared = file.header['cost'];
  if (declared === undefined || costColumnOf(columns, declared) !== undefined) return;
  const at = `${file.path}:${lineOf(file, 'cost')}:1`;
  const found = columns.find(({ name }) => name.toLowerCase() === declared.toLowerCase());
  if (found !== undefined) {
    throw new UsageError(
      `${at}: the cost "${declared}" is ${found.type}, expected a DECIMAL or an integer, which can be added up exactly`,
    );
  }
  const names = columns.map(({ name }) => name);
  const near = nearest(declared, names);
  const hint = near === undefined ? '' : ` (did you mean "${near}"?)`;
  throw new UsageError(`${at}: the cost is "${declared}"${hint}, expected a column of the report: ${names.join(', ')}`);
}

/** Throws UsageError where what the header says of the screen names a column that the report does not have. */
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
  if (problems.length > 0) throw new UsageError(problems.join('\n'));
}

/** What a header says of the screen: `--! top:` (or none, for the order of the grain), `--! important:` and `--! sparkline: cost over usage_date`. */
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

/** The line of a header's key, from 1. */
function lineOf({ text }: SqlFile, key: string): number {
  return text.split('\n').findIndex((line) => new RegExp(`^--! *${key}:`).test(line)) + 1;
}

/** The columns by which a person is shown an answer, the largest first: those of the header, or what it costs. */
export function topOf({ file, screen }: Report, columns: readonly SqlColumn[]): readonly string[] {
  if (screen.top !== undefined) return screen.top;
  const cost = costColumnOf(columns, file.header['cost']);
  return cost === undefined ? [] : [cost.name];
}

/**
 * The numbers of a report's sparkline: a row for each of its lines, with the columns of the grain that name it, and its
 * first and last time. Undefined where the report has none.
 */
export function sparklineQuery(report: Report): string | undefined {
  const { screen, grain } = report;
  if (screen.sparkline === undefined) return undefined;
  const { of, over } = screen.sparkline;
  const names = grain.filter((column) => column !== over);
  return sparklineOf(selectOf(report), names, of, over);
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
