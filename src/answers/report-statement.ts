import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exitCodes, UnprovenError, UsageError } from '../base/errors.ts';
import { type Bound, lakeFolder, type SparkStatement, toSpark } from '../engine/index.ts';
import type { CommandInput } from '../options/read.ts';
import { read } from '../options/read.ts';
import { reportInChild } from '../options/table.ts';
import { readManifest } from '../reports/exports/index.ts';
import { isPartitioned } from '../reports/publishing/index.ts';
import { admitReport, type ParameterValue, type Report, readReports } from '../reports/questions/index.ts';
import { formatInstant } from '../time/time.ts';
import { type Connection, lastSeen } from '../warehouse/store/index.ts';
import type { ChildContext } from './context.ts';
import { expectAnswerable, openQuestion, readQuestion } from './report-answer.ts';

/** Files that SQL reads are written into the statement: the cluster cannot reach them. */
const maxFileBytes = 1024 * 1024;

/** Writes the statement of a report for the cluster as one JSON value. */
export async function writeReportStatement(input: CommandInput, context: ChildContext): Promise<number> {
  const reports = await readReports(join(context.dir, 'sql'));
  const question = await readQuestion(input, context, reports);
  const { books, asOf, values, missing, refusals } = await openQuestion(question, context);
  try {
    expectAnswerable([{ missing, refusals }], question.line);
    expectPresent(question.report, asOf);
    const lake = question.line.engineLake;
    if (lake !== undefined) await expectLakeOf(books.connection, lake, context.dir);
    await context.write(JSON.stringify(await sparkStatementOf(books.connection, question.report, values)));
    return exitCodes.done;
  } finally {
    books.close();
  }
}

/** Prints the SQL of a report: as its file has it with all that it includes, or as one statement for the cluster. */
export async function printReportSql(input: CommandInput, context: ChildContext): Promise<number> {
  const { dialect = 'duckdb' } = read(reportInChild, input, context);
  const reports = await readReports(join(context.dir, 'sql'));
  const question = await readQuestion(input, context, reports);
  if (dialect === 'duckdb') {
    await context.write(`${plainText(question.report)}\n`);
    return exitCodes.done;
  }
  const { books, asOf, values } = await openQuestion(question, context);
  try {
    expectPresent(question.report, asOf);
    const { sql } = await sparkStatementOf(books.connection, question.report, values);
    await context.write(`${sql}\n`);
    return exitCodes.done;
  } finally {
    books.close();
  }
}

/** A report's SELECT without its header and the semicolon. */
function plainText({ file }: Report): string {
  return file.text
    .replace(/^(?:--!.*\n)+/, '')
    .trimEnd()
    .replace(/;$/, '');
}

/** The lake has the present books only, and a closed month is answered as of its close. */
function expectPresent(report: Report, asOf: number | undefined): void {
  if (isPartitioned(report))
    throw new UsageError(`the report ${report.name} is what the cluster reads: run it without --engine`);
  if (asOf === undefined) return;
  throw new UsageError(
    `the lake has the present books, and this answer is as of ${formatInstant(asOf)}: leave out --engine, or add ` +
      '"--as-of now" for the present costs, also of a closed month',
  );
}

/** Throws unless a lake on this machine is of the same state as the books. */
async function expectLakeOf(connection: Connection, lake: string, dir: string): Promise<void> {
  const folder = lakeFolder({ lake }, dir);
  if (folder === undefined) return;
  const found = await readManifest(folder);
  if (found === undefined)
    throw new UsageError(`engine.lake: ${folder} has no lake: write it with "costbook report lake"`);
  const expected = formatInstant((await lastSeen(connection)) ?? 0);
  if (found.manifest.asOf === expected) return;
  throw new UnprovenError(
    `the lake is of ${found.manifest.asOf} and the books are of ${expected}: run "costbook report lake", then this again`,
  );
}

async function sparkStatementOf(
  connection: Connection,
  report: Report,
  values: readonly ParameterValue[],
): Promise<SparkStatement> {
  await admitReport(connection, report);
  const { path, text, places } = report.file;
  const source = { path, text: text.trimEnd().replace(/;$/, ''), ...(places === undefined ? {} : { places }) };
  return toSpark(connection, source, await boundOf(values));
}

async function boundOf(values: readonly ParameterValue[]): Promise<Record<string, Bound>> {
  const bound: Record<string, Bound> = {};
  for (const { name, type, sqlValue: value } of values) {
    const kind = type === 'integer' || type === 'boolean' ? type : 'varchar';
    const content = type === 'file' && typeof value === 'string' ? await contentOf(value) : undefined;
    bound[name] = { value, type: { kind }, ...(content === undefined ? {} : { content }) };
  }
  return bound;
}

async function contentOf(file: string): Promise<string> {
  const bytes = await readFile(file);
  if (bytes.length <= maxFileBytes) return bytes.toString('utf8');
  throw new UsageError(`${file} has ${bytes.length} bytes, expected at most ${maxFileBytes} for a report on a cluster`);
}
