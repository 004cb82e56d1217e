import { UsageError } from '../errors.ts';
import { type CompletenessState, csvPieces, describeCompleteness, formatTable } from '../reports/index.ts';
import { type Connection, type SqlResult, toCellText, toJsonValue } from '../warehouse/index.ts';
import type { Answered, Question } from './question.ts';

/** Takes a piece of the answer; resolves when there is room for the next one. */
export type Write = (piece: string | Uint8Array) => Promise<void>;

/**
 * Asks the connection and tells the answer in the question's format. Throws UsageError where DuckDB does not take the
 * query, MachineError where it needs more than it may use.
 */
export async function answer(
  connection: Connection,
  question: Question,
  state: CompletenessState,
  write: Write,
): Promise<Answered> {
  if (question.format === 'parquet') return { ...(await writeParquet(connection, question, state)), state };
  const counted = countRows(await connection.query(question.sql), question.maxRows ?? Number.POSITIVE_INFINITY);
  await writers[question.format](counted, question, state, write);
  return { rows: counted.rows, isTruncated: counted.isTruncated, state };
}

/** An answer that counts what it hands out, and ends after `maxRows`. */
interface CountedResult extends SqlResult {
  rows: number;
  isTruncated: boolean;
}

function countRows(result: SqlResult, maxRows: number): CountedResult {
  const counted: CountedResult = { columns: result.columns, pieces: pieces(), rows: 0, isTruncated: false };
  async function* pieces(): SqlResult['pieces'] {
    for await (const rows of result.pieces) {
      const kept = rows.slice(0, maxRows - counted.rows);
      counted.rows += kept.length;
      counted.isTruncated = kept.length < rows.length;
      if (kept.length > 0) yield kept;
      if (counted.isTruncated) return;
    }
  }
  return counted;
}

type Writer = (result: CountedResult, question: Question, state: CompletenessState, write: Write) => Promise<void>;

const writers: Readonly<Record<Exclude<Question['format'], 'parquet'>, Writer>> = {
  async table(result, _, state, write) {
    const shown: (string | undefined)[][] = [];
    for await (const rows of result.pieces) for (const row of rows) shown.push(row.map(toCellText));
    const count = result.isTruncated
      ? `the first ${result.rows} rows; there are more: --max-rows, or --format csv for all`
      : `${result.rows} row${result.rows === 1 ? '' : 's'}`;
    await write(`${formatTable(result.columns, shown)}\n(${count}) ${describeCompleteness(state)}\n`);
  },
  async csv(result, { raw }, _, write) {
    for await (const piece of csvPieces(result, { raw })) await write(piece);
  },
  async json(result, _, { asOf, completeThrough, settledThrough }, write) {
    const head = { asOf, completeThrough, settledThrough, columns: result.columns };
    // Written with the first rows: a query that fails at once must not leave half a JSON value behind.
    let lead = `${JSON.stringify(head).slice(0, -1)},"rows":[`;
    for await (const texts of jsonRows(result)) {
      await write(`${lead}\n${texts.join(',\n')}`);
      lead = ',';
    }
    await write(`${lead === ',' ? '\n' : lead}],"truncated":${result.isTruncated}}\n`);
  },
  async ndjson(result, _, __, write) {
    for await (const texts of jsonRows(result)) await write(`${texts.join('\n')}\n`);
  },
  async arrow() {
    throw new UsageError('arrow is not there yet');
  },
};

/** The rows as JSON objects, in pieces. Throws UsageError where two columns have one name. */
async function* jsonRows({ columns, pieces }: SqlResult): AsyncGenerator<string[]> {
  const repeated = columns.find((column, index) => columns.findIndex(({ name }) => name === column.name) !== index);
  if (repeated) throw new UsageError(`the query has two columns named "${repeated.name}": name them apart with "as"`);
  for await (const rows of pieces) {
    yield rows.map((row) =>
      JSON.stringify(Object.fromEntries(columns.map(({ name }, index) => [name, toJsonValue(row[index] ?? null)]))),
    );
  }
}

/** Has DuckDB itself write the one file that it may write. */
async function writeParquet(
  connection: Connection,
  { sql, maxRows, file }: Question,
  { asOf, completeThrough, settledThrough }: CompletenessState,
): Promise<Omit<Answered, 'state'>> {
  if (file === null) throw new Error('Parquet needs a file');
  const rows = await connection.queryToParquet(sql, file, {
    ...(maxRows === null ? {} : { maxRows }),
    facts: {
      complete_through: completeThrough ?? '',
      settled_through: settledThrough ?? '',
      as_of: asOf ?? '',
    },
  });
  if (rows !== maxRows) return { rows, isTruncated: false };
  // Whether there is one more, only asking for it tells.
  const more = countRows(await connection.query(sql), maxRows);
  for await (const _ of more.pieces); // counted
  return { rows, isTruncated: more.isTruncated };
}
