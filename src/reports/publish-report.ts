import { writeFile } from 'node:fs/promises';
import { UsageError } from '../errors.ts';
import { formatInstant, type Instant } from '../time.ts';
import { lastSeen, type SqlColumn } from '../warehouse/index.ts';
import type { Report } from './catalogue.ts';
import type { CompletenessState } from './completeness.ts';
import type { Evaluated } from './evaluated.ts';
import { exportFormats, factsOf, writeAnswer } from './export.ts';
import { type ExportPlace, excelKind, exportPlace } from './export-names.ts';
import { type CostColumn, costColumnOf, figuresOfQuery } from './figures.ts';
import { writeExcel } from './formats/excel.ts';
import type { FormatOptions, Question } from './formats/format.ts';
import { publishLake } from './lake.ts';
import { type Manifest, sha256OfFile, sha256OfText } from './manifest.ts';
import { displayParameters, type ParameterValue } from './parameters.ts';
import { type FileToWrite, type Published, publishFiles } from './publish.ts';

/** An answer of a report that is to be published. */
export interface Publication {
  readonly report: Report;
  readonly question: Question;
  /** What it answers with. */
  readonly columns: readonly SqlColumn[];
  readonly values: readonly ParameterValue[];
  readonly state: CompletenessState;
  /** How far it was looked at, of a report of what only `costbook alert` finds out. */
  readonly evaluated: Evaluated | undefined;
  /** The instant as of which the books answer; undefined where they answer as they are. */
  readonly asOf: Instant | undefined;
  /** Those asked for; others that lie there from before are written with them. */
  readonly formats: readonly string[];
  readonly raw: boolean;
  /** Whether the CSV for people is asked for, and whether it ends in a row of totals. */
  readonly excel: { readonly totals: boolean } | undefined;
  readonly parquetDecimals: FormatOptions['parquetDecimals'];
  /** Of a report that is told in FOCUS: its version, and the metadata that goes with it. */
  readonly focus: { readonly version: string; readonly metadata: string } | undefined;
  /** Where the files go. */
  readonly place: ExportPlace;
  readonly signal: AbortSignal;
  /** Told what is being written. */
  readonly onProgress?: ((words: string) => void) | undefined;
}

/** Where an answer goes, below the folder of all exports. */
export function placeOf({
  report,
  values,
  asOf,
  isUsual,
  root,
}: Pick<Publication, 'report' | 'values' | 'asOf'> & {
  /** Whether it would also be answered as of then where nobody says as of when. */
  readonly isUsual: boolean;
  /** The folder below which all exports lie. */
  readonly root: string;
}): ExportPlace {
  const defaults = new Map(report.parameters.map((parameter) => [parameter.name, parameter.default]));
  return exportPlace(
    root,
    report.name,
    values.map((value) => ({ ...value, hasDefault: defaults.get(value.name) !== undefined })),
    isUsual ? undefined : (asOf ?? 'now'),
  );
}

/** Publishes the answer of a report as files with their manifest, as `publishFiles` and `publishLake` do. */
export async function publishReport(publication: Publication): Promise<Published> {
  const {
    report,
    question,
    columns,
    values,
    state,
    asOf,
    place,
    formats,
    raw,
    excel,
    parquetDecimals,
    focus,
    signal,
    onProgress,
  } = publication;
  const { connection, query, parameters } = question;
  const column = costColumnOf(columns, report.file.header['cost']);
  const facts = {
    report: report.name,
    parameters: displayParameters(values),
    ...(await inputsOf(values)),
    asOf: formatInstant(asOf ?? (await lastSeen(connection)) ?? 0),
    closedAt: state.closedAt,
    completeFrom: state.completeFrom,
    completeThrough: state.completeThrough,
    settledThrough: state.settledThrough,
    ...(publication.evaluated === undefined ? {} : { evaluatedThrough: publication.evaluated.through }),
    sqlSha256: sha256OfText(report.file.text),
    focusVersion: focus?.version ?? null,
    costColumn: column?.name ?? null,
  };
  if (isPartitioned(report)) {
    if (!partitionColumns.every((name) => columns.some((found) => found.name === name)) || column === undefined) {
      throw new UsageError(
        `${report.file.path}:1:1: "--! partition: account, month" needs ${partitionColumns.join(', ')} and a decimal cost; ` +
          `found ${columns.map(({ name }) => name).join(', ')}`,
      );
    }
    return publishLake(place, report, facts, { connection, columns, column, asOf, signal, onProgress });
  }
  const figures = await figuresOfQuery(connection, query, parameters, column);
  const files = exportFormats.map((format): FileToWrite => {
    const inexact = format === 'parquet' && parquetDecimals === 'double';
    return {
      format,
      stem: report.name,
      extension: format,
      isAsked: formats.includes(format),
      holdsRows: true,
      ...(raw && format === 'csv' ? { raw: true } : {}),
      ...(inexact ? { inexact: true } : {}),
      async write(path) {
        const options = { raw, parquetDecimals, facts: factsOf(state), title: report.name, costColumn: column?.name };
        await writeAnswer(question, { format, path, ...options });
      },
    };
  });
  files.push({
    format: excelKind,
    stem: `${report.name}-${excelKind}`,
    extension: 'csv',
    isAsked: excel !== undefined,
    // Rounded amounts do not add up to the books': they are compared as the file is written.
    holdsRows: false,
    ...(excel?.totals ? { totals: true } : {}),
    write: (path, { totals }) =>
      writeExcel(path, question, {
        totals: totals ? totalsOf(report, columns, column) : [],
        column,
        cost: figures.cost,
        // The columns that are made of rows are amounts, named by their values.
        isNamedByData: ({ name, type }) =>
          report.spread !== undefined && name !== column?.name && type.startsWith('DECIMAL'),
      }),
  });
  if (focus !== undefined) {
    files.push({
      format: 'metadata',
      stem: `${report.name}-metadata`,
      extension: 'json',
      isAsked: true,
      holdsRows: false,
      write: (path) => writeFile(path, focus.metadata),
    });
  }
  return publishFiles(place, { ...facts, ...figures }, files, { connection, column, signal, onProgress });
}

/** The files that parameters name: the only ones that the SQL reads. */
export function filesNamed(values: readonly ParameterValue[]): string[] {
  return values.flatMap(({ type, sqlValue }) => (type === 'file' && typeof sqlValue === 'string' ? [sqlValue] : []));
}

/** The columns of a report that may be added up: those that its header names, its cost, and those made of rows. */
export function totalsOf(
  { totals, spread }: Report,
  columns: readonly SqlColumn[],
  column: CostColumn | undefined,
): readonly string[] {
  const spreadOut = spread === undefined ? [] : columns.filter(({ type }) => type.startsWith('DECIMAL'));
  return [
    ...new Set([...totals, ...spreadOut.map(({ name }) => name), ...(column === undefined ? [] : [column.name])]),
  ];
}

/** The hashes of the files that the SQL reads: with another file the same question has another answer. */
export async function inputsOf(values: readonly ParameterValue[]): Promise<Pick<Manifest, 'inputs'>> {
  const inputs: Record<string, string> = {};
  for (const { name, type, sqlValue } of values) {
    if (type === 'file' && typeof sqlValue === 'string') inputs[name] = await sha256OfFile(sqlValue);
  }
  return Object.keys(inputs).length === 0 ? {} : { inputs };
}

/** What the rows of a partition are found by. */
const partitionColumns = ['account', 'month', 'bucket_start'];

/** Whether a report is written as partitions. Throws UsageError where its header names other columns than can be. */
export function isPartitioned({ file }: Report): boolean {
  const found = file.header['partition'];
  if (found === undefined) return false;
  if (found.split(/\s*,\s*/).join() === 'account,month') return true;
  throw new UsageError(`${file.path}:1:1: found "--! partition: ${found}", expected account, month`);
}
