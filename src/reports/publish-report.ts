import { UsageError } from '../errors.ts';
import { formatInstant, type Instant } from '../time.ts';
import { type Connection, lastSeen, type SqlColumn, type SqlParameters } from '../warehouse/index.ts';
import type { CompletenessState } from './completeness.ts';
import { exportFile, exportFormats } from './export.ts';
import { costColumnOf, figuresOfQuery } from './figures.ts';
import { publishLake } from './lake.ts';
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
  const columns = await columnsOf(connection, query, bound);
  const column = costColumnOf(columns, report.file.header['cost']);
  const place = exportPlace(options.root, report.name, parameters, asOf);
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
  };
  if (isPartitioned(report)) {
    const missing = [...partitionColumns, 'bucket_start'].filter(
      (name) => !columns.some((found) => found.name === name),
    );
    if (missing.length > 0 || column === undefined) {
      throw new UsageError(
        `${report.file.path}:1:1: "--! partition: account, month" needs the columns account, month, bucket_start and a ` +
          `decimal cost; found ${columns.map(({ name }) => name).join(', ')}`,
      );
    }
    return publishLake(place, report, facts, { connection, column, asOf, signal });
  }
  const figures = await figuresOfQuery(connection, query, bound, column);
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
  return publishFiles(place, { ...facts, ...figures }, files, { connection, column, signal });
}

const partitionColumns = ['account', 'month'] as const;

/** Whether a report is written as partitions. Throws UsageError where its header names other columns than can be. */
export function isPartitioned({ file }: Report): boolean {
  const found = file.header['partition'];
  if (found === undefined) return false;
  if (found.split(/\s*,\s*/).join() === partitionColumns.join()) return true;
  throw new UsageError(`${file.path}:1:1: found "--! partition: ${found}", expected account, month`);
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
