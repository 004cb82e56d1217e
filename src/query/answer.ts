import { UsageError } from '../base/errors.ts';
import {
  type CompletenessState,
  csvChunks,
  describeCompleteness,
  type FormatOptions,
  factsOf,
  jsonLines,
  loadArrow,
  writeParquet,
} from '../reports/formats/index.ts';
import { openTable, type Table } from '../terminal/index.ts';
import { fromSource } from '../warehouse/sql/index.ts';
import { asTyped, type Connection, type SqlResult, toCellText } from '../warehouse/store/index.ts';
import type { Answered, Question } from './question.ts';

/** Writes a part of the answer; resolves when there is room for the next one. */
export type Write = (chunk: string | Uint8Array) => Promise<void>;

/**
 * Runs the query and writes the answer in the question's format. Throws UsageError if DuckDB refuses the query,
 * MachineError if it needs more than it may use.
 */
export async function answer(
  connection: Connection,
  question: Question,
  state: CompletenessState,
  write: Write,
): Promise<Answered> {
  const sentence = describeCompleteness(state);
  if (question.format === 'parquet') return { ...(await fillParquet(connection, question, state)), state, sentence };
  const counted = countRows(await connection.query(question.sql), question.maxRows);
  await writers[question.format](counted, question, state, write);
  return { rows: counted.rows, isTruncated: counted.isTruncated, state, sentence };
}

/** An answer that counts its rows, and ends after `maxRows`. */
interface CountedResult extends SqlResult {
  rows: number;
  isTruncated: boolean;
}

/** The result up to `maxRows`, which counts its rows while they are read. */
export function countRows(result: SqlResult, maxRows: number | null): CountedResult {
  const counted: CountedResult = { columns: result.columns, chunks: chunks(), rows: 0, isTruncated: false };
  async function* chunks(): SqlResult['chunks'] {
    for await (const rows of result.chunks) {
      const kept = maxRows === null ? rows : rows.slice(0, maxRows - counted.rows);
      counted.rows += kept.length;
      counted.isTruncated = kept.length < rows.length;
      if (kept.length > 0) yield kept;
      if (counted.isTruncated) return;
    }
  }
  return counted;
}

/** The first rows, which decide the column widths of a table. */
const sampleRows = 1000;

type Writer = (result: CountedResult, question: Question, state: CompletenessState, write: Write) => Promise<void>;

const writers: Readonly<Record<Exclude<Question['format'], 'parquet'>, Writer>> = {
  async table(result, { layout = {} }, state, write) {
    const sample: (string | undefined)[][] = [];
    let table: Table | undefined;
    /** Writes rows after those that were written before. */
    async function writeRows(rows: readonly (string | undefined)[][], isWhole: boolean): Promise<void> {
      const isFirst = table === undefined;
      table ??= openTable(result.columns, rows, { ...layout, isWhole });
      const separator = table.isVertical ? '\n\n' : '\n';
      const lines = rows.map((row) => table?.row(row) ?? '').join(separator);
      const lead = isFirst ? [table.head].filter((head) => head !== '').join('') : undefined;
      const parts = lead === undefined ? ['', lines] : [lead, lines].filter((part) => part !== '');
      await write(parts.join(isFirst ? '\n' : separator));
    }
    for await (const rows of result.chunks) {
      const cells = rows.map((row) => row.map(toCellText));
      // The first rows decide the column widths; the others are shown as they come, however many there are.
      if (table === undefined) sample.push(...cells);
      else await writeRows(cells, false);
      if (table === undefined && sample.length > sampleRows) await writeRows(sample, false);
    }
    if (table === undefined) await writeRows(sample, true);
    const count = result.isTruncated
      ? `the first ${result.rows} rows; there are more: --max-rows, or --format csv for all`
      : `${result.rows} row${result.rows === 1 ? '' : 's'}`;
    await write(`\n(${count})${layout.width === undefined ? ' ' : '\n'}${describeCompleteness(state)}\n`);
  },
  async csv(result, { raw }, state, write) {
    for await (const chunk of csvChunks(result, formatOptions(raw, state))) await write(chunk);
  },
  async json(result, _, { asOf, completeThrough, settledThrough }, write) {
    const head = { asOf, completeThrough, settledThrough, columns: result.columns };
    // Written with the first rows: a query that fails at once must not leave half a JSON value.
    let lead = `${JSON.stringify(head).slice(0, -1)},"rows":[`;
    for await (const lines of jsonLines(result)) {
      await write(`${lead}\n${lines.join(',\n')}`);
      lead = ',';
    }
    await write(`${lead === ',' ? '\n' : lead}],"truncated":${result.isTruncated}}\n`);
  },
  async ndjson(result, _, __, write) {
    for await (const lines of jsonLines(result)) await write(`${lines.join('\n')}\n`);
  },
  async arrow(result, { raw }, state, write) {
    const { arrowChunks } = await loadArrow();
    for await (const chunk of arrowChunks(result, formatOptions(raw, state))) await write(chunk);
  },
};

function formatOptions(raw: boolean, state: CompletenessState): FormatOptions {
  return { raw, parquetDecimals: 'exact', facts: factsOf(state) };
}

/** Lets DuckDB write the one file that it may write. */
async function fillParquet(
  connection: Connection,
  { sql, raw, maxRows, file }: Question,
  state: CompletenessState,
): Promise<Pick<Answered, 'rows' | 'isTruncated'>> {
  if (file === null) throw new Error('no file for Parquet');
  const { source } = await connection.admit(sql);
  if (source === undefined) throw new UsageError('EXPLAIN has no rows for Parquet: leave out --format and --out');
  const query = fromSource(source, { limit: maxRows });
  try {
    const rows = await writeParquet(file, { connection, query, parameters: {} }, formatOptions(raw, state));
    if (rows !== maxRows) return { rows, isTruncated: false };
    // Only one more query shows whether there is another row.
    const more = countRows(await connection.stream(fromSource(source)), maxRows);
    for await (const _ of more.chunks); // counted
    return { rows, isTruncated: more.isTruncated };
  } catch (error) {
    throw asTyped(error);
  }
}
