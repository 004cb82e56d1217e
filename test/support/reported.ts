import { completenessOf } from '../../src/reports/formats/completeness.ts';
import { orderedQuery, type Report, readReports } from '../../src/reports/questions/catalogue.ts';
import { readParameters, settleParameters, sqlParameters } from '../../src/reports/questions/parameters.ts';
import { shape } from '../../src/reports/questions/shape.ts';
import type { Connection, SqlParameters } from '../../src/warehouse/store/connection.ts';
import { type Given, givenBooks } from './given-books.ts';

/** The default instant that relative dates count from. */
const usualNow = Date.parse('2026-10-03T12:00:00Z');

/** A built-in report. */
export async function builtInReport(name: string): Promise<Report> {
  const report = (await readReports('/nowhere')).find((candidate) => candidate.name === name);
  if (report === undefined) throw new Error(`there is no report ${name}`);
  return report;
}

/** What a report is bound to where its parameters are given as on the command line (`month: '2026-09'`), the others by default. */
export async function bind(
  report: Report,
  connection: Connection,
  given: Readonly<Record<string, string>>,
  now = usualNow,
): Promise<SqlParameters> {
  const problems: string[] = [];
  const texts = Object.entries(given).map(([name, text]) => ({ name, text, what: `--param ${name}` }));
  const read = await readParameters(report, texts, { now, dir: '/', problem: (text) => problems.push(text) });
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return sqlParameters(settleParameters(read, await completenessOf(connection)));
}

/** The rows of a built-in report over given books, in its order; decimals and dates as text. */
export async function reported(
  name: string,
  given: Given,
  parameters: Readonly<Record<string, string>> = {},
  now = usualNow,
): Promise<unknown[]> {
  const report = await builtInReport(name);
  const { connection, close } = await givenBooks(given);
  try {
    const shaped = await shape(connection, report, await bind(report, connection, parameters, now));
    return await connection.rows(orderedQuery(shaped.report), shaped.parameters);
  } finally {
    close();
  }
}
