import { formatInstant, type Instant } from '../time.ts';
import { type Connection, lastSeen, type SqlColumn, type SqlParameters } from '../warehouse/index.ts';
import type { CompletenessState } from './completeness.ts';
import { exportFile, exportFormats } from './export.ts';
import { costColumnOf, figuresOfQuery } from './figures.ts';
import { type AskedParameter, exportPlace } from './layout.ts';
import { sha256OfText } from './manifest.ts';
import { type Published, publishFiles } from './publish.ts';
import { orderedQuery, type Report } from './report.ts';

/** Answers a report and publishes the answer as files below `root`, in the formats asked and in those that lie there. */
export async function publishReport(options: {
  report: Report;
  connection: Connection;
  /** What the SQL is bound to. */
  bound: Readonly<Record<string, string>>;
  parameters: readonly AskedParameter[];
  formats: readonly string[];
  root: string;
  raw: boolean;
  state: CompletenessState;
  /** The instant as of which the connection answers; undefined where it answers as the books are. */
  asOf: Instant | undefined;
  signal: AbortSignal;
}): Promise<Published> {
  const { report, connection, bound, parameters, formats, raw, state, asOf, signal } = options;
  const query = orderedQuery(report);
  const column = costColumnOf(await columnsOf(connection, query, bound), report.file.header['cost']);
  const facts = {
    report: report.name,
    parameters: Object.fromEntries(parameters.map(({ name, said }) => [name, said])),
    asOf: formatInstant(asOf ?? (await lastSeen(connection)) ?? 0),
    completeFrom: state.completeFrom,
    completeThrough: state.completeThrough,
    settledThrough: state.settledThrough,
    sqlSha256: sha256OfText(report.file.text),
    focusVersion: null,
    costColumn: column?.name ?? null,
    ...(await figuresOfQuery(connection, query, bound, column)),
  };
  const files = exportFormats.map((format) => ({
    format,
    stem: report.name,
    extension: format,
    isAsked: formats.includes(format),
    holdsRows: true,
    ...(raw && format === 'csv' ? { raw: true as const } : {}),
    async write(path: string): Promise<void> {
      await exportFile({ connection, query, parameters: bound, format, path, raw, state });
    },
  }));
  return publishFiles(exportPlace(options.root, report.name, parameters, asOf), facts, files, {
    connection,
    column,
    signal,
  });
}

/** The columns of a query's answer. */
export async function columnsOf(
  connection: Connection,
  query: string,
  parameters: SqlParameters,
): Promise<readonly SqlColumn[]> {
  const { columns, pieces } = await connection.stream(`select * from (\n${query}\n) limit 0`, parameters);
  for await (const _ of pieces); // a stream must be read to its end
  return columns;
}
