import { isAbsolute, join, relative } from 'node:path';
import {
  cutToWidth,
  formatTable,
  newestThatFit,
  openTable,
  sparkline,
  type TableLayout,
  wrapped,
} from '../../terminal/index.ts';
import { counted } from '../../text/counted.ts';
import { forTerminal } from '../../text/safe-text.ts';
import { firstOf, sumsOf } from '../../warehouse/sql/index.ts';
import { type SqlColumn, toCellText } from '../../warehouse/store/index.ts';
import { manifestName } from '../exports/manifest.ts';
import { filesOf } from '../exports/publish.ts';
import { type CompletenessState, describeCompleteness } from '../formats/completeness.ts';
import { type CurrencyOfAnswer, currencyWords, otherDecimals } from '../formats/currency-words.ts';
import type { ChangedColumn } from '../formats/excel.ts';
import type { Question } from '../formats/format.ts';
import { jsonRows } from '../formats/json.ts';
import { type BilledBesides, besidesWords } from '../questions/billed-besides.ts';
import { orderedQuery, type Report, sparklineQuery, topOf } from '../questions/catalogue.ts';
import type { Evaluated } from '../questions/evaluated.ts';
import { displayParameters, type ParameterValue } from '../questions/parameters.ts';
import type { PublishedReport } from './publish-report.ts';

/** A report's answer, and the files that it was written to. */
export interface Answer {
  readonly report: Report;
  readonly values: readonly ParameterValue[];
  readonly state: CompletenessState;
  readonly evaluated: Evaluated | undefined;
  /** What the month bills and the answer does not contain. */
  readonly besides: BilledBesides | undefined;
  /** The second currency; undefined if the answer is only in USD. */
  readonly currency: CurrencyOfAnswer | undefined;
  readonly columns: readonly SqlColumn[];
  readonly published: PublishedReport;
  /** The columns with a sum in the total row. */
  readonly totals: readonly string[];
  /** Whether the CSV for people was requested. */
  readonly isExcel: boolean;
}

/** Where and how to show an answer. */
interface Output {
  readonly layout: TableLayout;
  /** The folder that paths are shown from. */
  readonly folder: string;
  /** Whether the command is a step of a job: it then prints the names of its files, not their rows. */
  readonly isStep: boolean;
  write(data: string): Promise<void>;
}

/** What is said of an answer besides its rows. */
function headOf({ report, values, state, evaluated, besides, currency, columns, published }: Answer): object {
  const { manifest, isUnchanged: unchanged } = published;
  const head = {
    report: report.name,
    parameters: displayParameters(values),
    ...state,
    ...(evaluated === undefined ? {} : { evaluatedThrough: evaluated.through }),
    ...(besides === undefined ? {} : { billedBesides: besides }),
    ...(currency === undefined ? {} : { currency }),
    columns,
    manifest: join(published.folder, manifestName),
    unchanged,
    files: filesOf(published),
    ...(published.changed?.length ? { changedBySpreadsheets: published.changed } : {}),
  };
  if (manifest.tables === undefined) return head;
  // The lake contains all hourly costs, so their rows are only in files.
  const { tables, rows: rowCount, cost } = manifest;
  return { ...head, tables, rowCount, cost };
}

/** Each row of an answer as an object, chunk by chunk; none for the lake. */
async function* rowsOf(question: Question, { columns, published }: Answer): ReturnType<typeof jsonRows> {
  if (published.manifest.tables !== undefined) return;
  const { chunks } = await question.connection.stream(question.query, question.parameters);
  yield* jsonRows({ columns, chunks });
}

/** An answer as one value, for few rows. */
export async function wholeAnswer(question: Question, answer: Answer): Promise<object> {
  const rows: object[] = [];
  for await (const chunk of rowsOf(question, answer)) rows.push(...chunk);
  return { ...headOf(answer), rows };
}

/** Writes an answer as one JSON value. */
export async function writeJson(context: Output, question: Question, answer: Answer): Promise<void> {
  const head = JSON.stringify(headOf(answer));
  if (answer.published.manifest.tables !== undefined) {
    await context.write(`${head}\n`);
    return;
  }
  // Written with the first rows, so that an early error leaves no partial JSON value on stdout.
  let lead = `${head.slice(0, -1)},"rows":[`;
  for await (const rows of rowsOf(question, answer)) {
    await context.write(`${lead}\n${rows.map((row) => JSON.stringify(row)).join(',\n')}`);
    lead = ',';
  }
  await context.write(`${lead === ',' ? '\n' : lead}]}\n`);
}

/** Rows shown on a screen; the files have all rows. */
const maxShownRows = 40;
/** Fewer if each row is a block of lines. */
const maxShownBlocks = 10;

/** Writes an answer as a table, with the paths of the files that contain all rows. */
export async function writeTable(context: Output, question: Question, answer: Answer): Promise<void> {
  const { report, published, state, evaluated, besides, currency } = answer;
  const { manifest } = published;
  const unchanged = published.isUnchanged ? ' (unchanged)' : '';
  const rowCount = counted(manifest.rows, 'row');
  if (manifest.tables !== undefined) {
    const tables = `${counted(Object.keys(manifest.tables).length, 'table')} in ${counted(manifest.files.length, 'file')}`;
    const costs = `${counted(manifest.rows, 'hourly cost')}, ${manifest.cost ?? 'no'} USD`;
    await context.write(`(${tables}; ${costs}) ${describeCompleteness(state)}\n`);
    await context.write(`${shortestPath(context.folder, published.folder)}${unchanged}\n`);
    return;
  }
  async function writeFiles(): Promise<void> {
    for (const { path } of filesOf(published))
      await context.write(`${shortestPath(context.folder, path)}${unchanged}\n`);
  }
  if (context.isStep) {
    const cost = manifest.cost == null ? '' : `, ${manifest.cost} USD`;
    await context.write(`(${rowCount}${cost}) ${describeCompleteness(state)}\n`);
    await writeFiles();
    return;
  }
  const { columns: answered, rows } = await firstRows(question, answer, maxShownRows);
  const decimals = otherDecimals(currency);
  const columns = answered.map((column) => ({ ...column, decimals: decimals.get(column.name) }));
  const layout = { ...context.layout, important: importantOf(report, columns) };
  const isVertical = openTable(columns, rows, { ...layout, isWhole: true }).isVertical;
  const shown = isVertical ? rows.slice(0, maxShownBlocks) : rows;
  for (const line of await sparklines(context, question, report)) await context.write(`${line}\n`);
  const isOnTerminal = layout.width !== undefined;
  const totals =
    answer.totals.length > 0
      ? [await totalRow(question, columns, answer.totals, isOnTerminal ? layout.important : [])]
      : [];
  const table = [...shown, ...totals];
  if (rows.length > 0 || !isOnTerminal) await context.write(`${formatTable(columns, table, layout)}\n`);
  const cut = manifest.rows > shown.length ? `, the first ${shown.length} are shown` : '';
  await context.write(`(${rowCount}${cut})${isOnTerminal ? '\n' : ' '}${describeCompleteness(state)}\n`);
  if (evaluated !== undefined) await context.write(`${evaluated.sentence}\n`);
  if (besides !== undefined) await context.write(`${besidesWords(besides)}\n`);
  for (const words of currency === undefined ? [] : currencyWords(currency))
    await context.write(`${wrapped(words, layout)}\n`);
  await writeFiles();
  if (answer.isExcel) await context.write(`${roundingNote}\n`);
  const change = changeNote(published.changed ?? []);
  if (change !== undefined) await context.write(`${change}\n`);
}

/** Names the columns that a spreadsheet does not leave as they are, with an example of each; undefined if there are none. */
function changeNote(changed: readonly ChangedColumn[]): string | undefined {
  if (changed.length === 0) return undefined;
  const columns = changed.map(({ name, example }) => `${forTerminal(name, 40)} (such as ${forTerminal(example, 40)})`);
  return (
    `A spreadsheet that opens the CSV for people changes texts in ${columns.slice(0, 5).join(', ')}` +
    `${columns.length > 5 ? ` and ${columns.length - 5} more columns` : ''}. They stay as they are in a workbook: --format xlsx.`
  );
}

const roundingNote =
  'Each amount in the CSV for people is rounded to cents; its total is rounded from the exact total.';

/** The total row of a table: sums over all rows of the answer. A terminal may hide the first column, so the word is in one that `important` names. */
async function totalRow(
  { connection, query, parameters }: Question,
  columns: readonly SqlColumn[],
  totals: readonly string[],
  important: readonly string[] = [],
): Promise<(string | undefined)[]> {
  const [row = {}] = await connection.rows(sumsOf(query, totals), parameters);
  const named = important.find((name) => !totals.includes(name)) ?? columns[0]?.name;
  return columns.map(({ name }) => {
    const sum = totals.includes(name) ? row[name] : undefined;
    if (sum !== undefined && sum !== null) return String(sum);
    return name === named ? 'Total' : undefined;
  });
}

/** The columns by importance; requested columns come first. Undefined if the report does not say. */
export function importantOf(
  { screen, parameters, converted = [] }: Report,
  columns: readonly SqlColumn[],
): readonly string[] | undefined {
  if (screen.important === undefined) return undefined;
  const hasLabels = parameters.some(({ name }) => name === 'labels');
  const labels = columns.flatMap(({ name }) => (hasLabels && name.startsWith('label_') ? [name] : []));
  return [
    ...screen.important.slice(0, 2),
    ...converted.slice(0, 1),
    ...labels,
    ...screen.important.slice(2),
    ...converted.slice(1),
  ];
}

/** The first rows for a person, as text: the most expensive, or the newest. */
async function firstRows(
  { parameters, connection }: Question,
  { report, columns }: Answer,
  limit: number,
): Promise<{ columns: readonly SqlColumn[]; rows: (string | undefined)[][] }> {
  const names = columns.map(({ name }) => name);
  const query = orderedQuery(report, names, topOf(report, columns));
  const answered = await connection.stream(firstOf(query, limit), parameters);
  const rows: (string | undefined)[][] = [];
  for await (const chunk of answered.chunks) for (const row of chunk) rows.push(row.map(toCellText));
  return { columns: answered.columns, rows };
}

/** The report's sparklines, each with its name and days; empty if not on a terminal. */
async function sparklines(
  { layout: { width } }: Output,
  { parameters, connection }: Question,
  report: Report,
): Promise<string[]> {
  const query = sparklineQuery(report);
  if (query === undefined || width === undefined) return [];
  const lines: string[] = [];
  const { chunks } = await connection.stream(query, parameters);
  for await (const chunk of chunks) {
    for (const row of chunk) {
      const texts = row.map(toCellText);
      const [values = '[]', first = '', last = ''] = texts.splice(-3);
      const numbers = JSON.parse(values) as (number | null)[];
      if (numbers.length < 2) continue;
      const name = texts.flatMap((text) => text ?? []).join(' · ');
      const room = Math.max(8, width - first.length - last.length - 2);
      lines.push(`${first} ${sparkline(newestThatFit(numbers, room))} ${last}`);
      if (name !== '') lines[lines.length - 1] = `${cutToWidth(forTerminal(name), width)}\n${lines.at(-1)}`;
    }
  }
  return lines;
}

/** The shorter of the path from a folder and the absolute path, for people: names in it may come from labels. */
export function shortestPath(folder: string, path: string): string {
  const fromHere = relative(folder, path);
  return forTerminal(isAbsolute(fromHere) || fromHere.startsWith('..') ? path : fromHere);
}
