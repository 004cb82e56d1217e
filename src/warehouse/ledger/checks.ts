import { createHash } from 'node:crypto';
import { type CostbookError, UsageError } from '../../base/errors.ts';
import { isBuiltIn, readSql, readSqlFolder, type SqlFile } from '../sql/sql-files.ts';
import type { Connection, SqlColumn } from '../store/connection.ts';
import { sqlProblem } from '../store/sql-problem.ts';
import { type JsonValue, toCellText, toJsonValue } from '../store/values.ts';

/** A check: one SELECT over the books that returns the rows that break a rule. */
export interface Check {
  readonly file: SqlFile;
  readonly name: string;
  readonly about: string;
  /** `fail` stops a job, `warn` only reports. */
  readonly severity: 'fail' | 'warn';
  /** Whether the months of the books can be checked one by one: then the hours of a few months are enough for what changed. */
  readonly isByMonth?: boolean;
  /** Why it cannot run, with file and line; undefined if it can. */
  readonly problem?: string;
}

/** What a check found. */
export interface CheckResult {
  readonly check: Check;
  /** How many rows it returned; undefined if its SQL is wrong. */
  readonly offenders: number | undefined;
  readonly columns: readonly SqlColumn[];
  /** The first of them, for people and for machines. */
  readonly cells: readonly (readonly (string | undefined)[])[];
  readonly rows: readonly Readonly<Record<string, JsonValue>>[];
  /** The error in its SQL, with file and line. */
  readonly error: CostbookError | undefined;
}

/** How many rows of a check are shown; all are counted. */
export const maxOffendersShown = 10;

/** What the header of a check says about its hours if each month can be checked by itself. */
const byMonth = 'by month';

/** Reads the checks, a project's own `sql/checks` over the built-in ones. Errors of a check are in its `problem`. */
export async function readChecks(overlay: string): Promise<Check[]> {
  const files = await readSqlFolder('checks', overlay);
  return files.map((file): Check => {
    const problems = [...(file.problems ?? [])];
    const severity = file.header['severity'];
    if (severity !== 'fail' && severity !== 'warn') {
      const found = severity === undefined ? 'the header has no "--! severity:" line' : `the severity is "${severity}"`;
      problems.push(`${file.path}:1:1: ${found}; expected fail or warn`);
    }
    const hours = file.header['hours'];
    if (hours !== undefined && hours !== byMonth) {
      problems.push(`${file.path}:1:1: "--! hours:" is "${hours}"; expected "${byMonth}", or no such line`);
    }
    return {
      file,
      name: file.name,
      about: file.header['about'] ?? '',
      severity: severity === 'warn' ? 'warn' : 'fail',
      ...(hours === byMonth ? { isByMonth: true } : {}),
      ...(problems.length === 0 ? {} : { problem: problems.join('\n') }),
    };
  });
}

/**
 * A hash of the built-in checks and of the views that they read: what other checks, or older ones, have found says
 * nothing about these. Checks of a project always read what they ask for.
 */
export async function hashOfChecks(): Promise<string> {
  const files = [...(await readSqlFolder('checks')), ...(await readSqlFolder('views'))];
  const hash = createHash('sha256');
  for (const { name, text } of files) hash.update(`${name}\n${text}\n`);
  return hash.digest('hex');
}

/** Stores in the warehouse's file that these checks have checked it. */
export async function rememberChecks(connection: Connection): Promise<void> {
  await connection.run(await readSql('schema', 'remember'), {
    folder: 'checks',
    name: '*',
    hash: await hashOfChecks(),
  });
}

/**
 * Runs a check and counts its rows without storing them; a dry run only lets DuckDB parse and bind it, or a report instead.
 * Wrong SQL is in the result; throws MachineError.
 */
export async function runCheck(
  connection: Connection,
  check: Check,
  { isDry = false }: { readonly isDry?: boolean } = {},
): Promise<CheckResult> {
  if (isDry) return bindCheck(connection, check);
  const cells: (string | undefined)[][] = [];
  const rows: Record<string, JsonValue>[] = [];
  let columns: readonly SqlColumn[] = [];
  let offenders = 0;
  if (check.problem !== undefined) {
    return { check, offenders: undefined, columns, cells, rows, error: new UsageError(check.problem) };
  }
  try {
    const result = await connection.query(check.file.text, { isOurs: isBuiltIn(check.file) });
    columns = result.columns;
    for await (const chunk of result.chunks) {
      offenders += chunk.length;
      for (const row of chunk.slice(0, maxOffendersShown - rows.length)) {
        cells.push(row.map(toCellText));
        rows.push(Object.fromEntries(columns.map(({ name }, index) => [name, toJsonValue(row[index] ?? null)])));
      }
    }
    return { check, offenders, columns, cells, rows, error: undefined };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { check, offenders: undefined, columns, cells: [], rows: [], error: sqlProblem(check.file, error, 0) };
  }
}

async function bindCheck(connection: Connection, check: Check): Promise<CheckResult> {
  const nothing = { check, columns: [], cells: [], rows: [] };
  try {
    if (check.problem !== undefined) throw new UsageError(check.problem);
    await connection.admit(check.file.text, { withParameters: true }).catch((error) => {
      throw error instanceof UsageError ? sqlProblem(check.file, error, 0) : error;
    });
    return { ...nothing, offenders: 0, error: undefined };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { ...nothing, offenders: undefined, error };
  }
}
