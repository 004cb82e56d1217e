import { writeFile } from 'node:fs/promises';
import { UsageError } from '../../base/errors.ts';
import { exportFormats } from '../../tables/file-formats.ts';
import { formatInstant, type Instant } from '../../time/time.ts';
import { isBuiltIn } from '../../warehouse/sql/index.ts';
import { type Connection, lastSeen, type SqlColumn } from '../../warehouse/store/index.ts';
import { type ExportPlace, excelKind, exportPlace } from '../exports/export-names.ts';
import { type Manifest, sha256OfFile, sha256OfText } from '../exports/manifest.ts';
import { type FileToWrite, type Published, publishFiles } from '../exports/publish.ts';
import type { CompletenessState } from '../formats/completeness.ts';
import { type CurrencyOfAnswer, otherDecimals } from '../formats/currency-words.ts';
import { type ChangedColumn, writeExcel } from '../formats/excel.ts';
import { factsOf, writeAnswer } from '../formats/export.ts';
import { type CostColumn, costColumnOf, figuresOfQuery } from '../formats/figures.ts';
import type { FormatOptions, Question } from '../formats/format.ts';
import { type LakeNames, publishLake } from '../lake/publish.ts';
import type { BilledBesides } from '../questions/billed-besides.ts';
import type { Report } from '../questions/catalogue.ts';
import type { Evaluated } from '../questions/evaluated.ts';
import { displayParameters, type ParameterValue } from '../questions/parameters.ts';

/** A report's answer to publish. */
export interface Publication {
  readonly report: Report;
  readonly question: Question;
  /** The columns of the answer. */
  readonly columns: readonly SqlColumn[];
  readonly values: readonly ParameterValue[];
  readonly state: CompletenessState;
  /** How far `costbook alert` has evaluated the data, for a report that needs it. */
  readonly evaluated: Evaluated | undefined;
  /** What the month bills and the answer does not contain. */
  readonly besides: BilledBesides | undefined;
  /** The second currency of the answer; undefined if it is only in USD. */
  readonly currency: CurrencyOfAnswer | undefined;
  /** The engine that answered; undefined for DuckDB. */
  readonly engine?: 'spark' | undefined;
  /** The as-of instant; undefined for the current books. */
  readonly asOf: Instant | undefined;
  /** The requested formats; formats of an earlier export are written too. */
  readonly formats: readonly string[];
  readonly raw: boolean;
  /** Whether the CSV for people is requested, and whether it ends with a total row. */
  readonly excel: { readonly totals: boolean; readonly language: string | undefined } | undefined;
  readonly parquetDecimals: FormatOptions['parquetDecimals'];
  /** For a report in FOCUS format: its version and metadata. */
  readonly focus: { readonly version: string; readonly metadata: string } | undefined;
  /** For the lake: the names that its table focus shows; undefined for every other report. */
  readonly lake: LakeNames | undefined;
  /** The folders of the files. */
  readonly place: ExportPlace;
  /** The one new file that DuckDB itself may write. */
  readonly parquetPart: string;
  /** A connection to read the written files back with, which has run no SQL of a project. */
  readonly reading: () => Promise<Connection>;
  readonly signal: AbortSignal;
  /** Called with the name of each file that is being written. */
  readonly onProgress?: ((words: string) => void) | undefined;
}

/** Chooses the folders of an answer below the folder of all exports. */
export function placeOf({
  report,
  values,
  asOf,
  isUsual,
  root,
  dir,
}: Pick<Publication, 'report' | 'values' | 'asOf'> & {
  /** Whether the as-of instant is the usual one, without `--as-of`. */
  readonly isUsual: boolean;
  /** The folder of all exports. */
  readonly root: string;
  /** The project. */
  readonly dir: string;
}): ExportPlace {
  const defaults = new Map(report.parameters.map((parameter) => [parameter.name, parameter.default]));
  const place = exportPlace(
    root,
    report.name,
    values.map((value) => ({ ...value, hasDefault: defaults.get(value.name) !== undefined })),
    isUsual ? undefined : (asOf ?? 'now'),
  );
  return { ...place, project: dir };
}

/** A published report, and the columns that a spreadsheet does not leave as they are in its CSV for spreadsheets. */
export type PublishedReport = Published & { readonly changed?: readonly ChangedColumn[] };

/** Publishes the answer of a report as files with their manifest, as `publishFiles` and `publishLake` do. */
export async function publishReport(publication: Publication): Promise<PublishedReport> {
  const {
    report,
    question,
    columns,
    state,
    asOf,
    place,
    formats,
    raw,
    excel,
    parquetDecimals,
    focus,
    lake,
    signal,
    onProgress,
  } = publication;
  const { connection, query, parameters } = question;
  const column = costColumnOf(columns, report.file.header['cost']);
  const facts = await factsOfAnswer(publication, column);
  if (lake !== undefined) {
    return publishLake(place, facts, { connection, names: lake, isOfNow: asOf === undefined, signal, onProgress });
  }
  const figures = await figuresOfQuery(connection, query, parameters, column);
  let changed: readonly ChangedColumn[] = [];
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
      ...(format === 'parquet' ? { part: publication.parquetPart } : {}),
      async write(path) {
        const options = {
          raw,
          parquetDecimals,
          facts: factsOf(state, publication.currency),
          title: report.name,
          costColumn: column?.name,
          decimals: otherDecimals(publication.currency),
        };
        await writeAnswer(question, { format, path, ...options });
      },
    };
  });
  files.push({
    format: excelKind,
    stem: `${report.name}-${excelKind}`,
    extension: 'csv',
    isAsked: excel !== undefined,
    // Rounded amounts differ from the books, so they are compared while the file is written.
    holdsRows: false,
    ...(excel?.totals ? { totals: true } : {}),
    language: excel?.language,
    async write(path, { totals, language }) {
      changed = await writeExcel(path, question, {
        language,
        totals: totals ? totalsOf(report, columns, column) : [],
        column,
        cost: figures.cost,
        // Columns made from rows contain amounts, and values are their names.
        isNamedByData: ({ name, type }) =>
          report.spread !== undefined &&
          name !== column?.name &&
          type.startsWith('DECIMAL') &&
          !report.converted?.includes(name),
        code: publication.currency?.code,
      });
    },
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
  const published = await publishFiles(place, { ...facts, ...figures }, files, {
    ...{ reading: publication.reading, column, signal, onProgress },
  });
  return { ...published, changed };
}

/** What the manifest says about an answer, except its figures. */
async function factsOfAnswer(publication: Publication, column: CostColumn | undefined) {
  const { report, question, values, state, asOf, focus } = publication;
  return {
    report: report.name,
    parameters: displayParameters(values),
    ...(await inputsOf(values)),
    asOf: formatInstant(asOf ?? (await lastSeen(question.connection)) ?? 0),
    closedAt: state.closedAt,
    completeFrom: state.completeFrom,
    completeThrough: state.completeThrough,
    settledThrough: state.settledThrough,
    ...(publication.evaluated === undefined ? {} : { evaluatedThrough: publication.evaluated.through }),
    ...(publication.besides === undefined ? {} : { billedBesides: publication.besides }),
    ...(publication.currency === undefined ? {} : { currency: publication.currency }),
    ...(publication.engine === undefined ? {} : { engine: publication.engine }),
    sqlSha256: sha256OfText(report.file.text),
    focusVersion: focus?.version ?? null,
    costColumn: column?.name ?? null,
  };
}

/** The files in the parameters; the SQL can read no others. */
export function filesNamed(values: readonly ParameterValue[]): string[] {
  return values.flatMap(({ type, sqlValue }) => (type === 'file' && typeof sqlValue === 'string' ? [sqlValue] : []));
}

/** The columns of a report that can be summed: those in its header, its cost, and those made from rows. */
export function totalsOf(
  { totals, spread, converted = [] }: Report,
  columns: readonly SqlColumn[],
  column: CostColumn | undefined,
): readonly string[] {
  const spreadOut =
    spread === undefined
      ? []
      : columns.filter(({ name, type }) => type.startsWith('DECIMAL') && !converted.includes(name));
  return [
    ...new Set([...totals, ...spreadOut.map(({ name }) => name), ...(column === undefined ? [] : [column.name])]),
  ];
}

/** The hashes of the files that the SQL reads; a changed file can change the answer. */
export async function inputsOf(values: readonly ParameterValue[]): Promise<Pick<Manifest, 'inputs'>> {
  const inputs: Record<string, string> = {};
  for (const { name, type, sqlValue } of values) {
    if (type === 'file' && typeof sqlValue === 'string') inputs[name] = await sha256OfFile(sqlValue);
  }
  return Object.keys(inputs).length === 0 ? {} : { inputs };
}

/** Whether a report is written as the tables of the lake. Throws UsageError for a report of a project. */
export function isPartitioned({ file }: Report): boolean {
  if (file.header['partition'] === undefined) return false;
  if (isBuiltIn(file)) return true;
  throw new UsageError(
    `${file.path}:1:1: found "--! partition:", which only the built-in report lake can have; remove it`,
  );
}
