import { UsageError } from '../base/errors.ts';
import { clusterAnswerQuery, readClusterAnswer, type SparkStatement, toSpark } from '../engine/index.ts';
import { columnsOf, completenessOf, jsonRows } from '../reports/formats/index.ts';
import { sortingOf } from '../tables/sorting.ts';
import { withBooks } from '../warehouse/integrity/index.ts';
import { fromSource, pivotedTable } from '../warehouse/sql/index.ts';
import { type Connection, SqlError } from '../warehouse/store/index.ts';
import { answer, countRows } from './answer.ts';
import type { Parent } from './protocol.ts';
import type { Answered, Question, RowsAsked, StatementAsked, TableAnswer } from './question.ts';
import { maxAnswerBytes, tooLargeAnswer } from './serve-parent.ts';

/** Writes a query for the cluster, after DuckDB has read and bound it. Runs in the child. */
export async function statementInBooks(
  { dir, sql }: StatementAsked,
  { reader, signal }: Parent,
): Promise<SparkStatement> {
  return withBooks(dir, { lockedDown: true, reader, signal }, async ({ connection }) => {
    const text = await plainSelect(connection, sql);
    return await toSpark(connection, { path: 'the query', text }, {});
  });
}

/** A query that is one SELECT. EXPLAIN and PIVOT are for DuckDB only. */
async function plainSelect(connection: Connection, sql: string): Promise<string> {
  const { source } = await connection.admit(sql);
  if (source === undefined || source === pivotedTable) {
    throw new UsageError('--engine: found EXPLAIN or PIVOT, expected one SELECT');
  }
  await columnsOf(connection, fromSource(source), {}).catch((error) => {
    throw error instanceof SqlError ? new UsageError(error.message) : error;
  });
  return sql.trimEnd().replace(/;$/, '');
}

/** Answers what a person typed. Runs in the child. */
export async function answerInBooks(question: Question, { reader, signal, write }: Parent): Promise<Answered> {
  const { dir, asOf: asOfOrNull, file, rowsFile } = question;
  const asOf = asOfOrNull ?? undefined;
  const lockedDown = rowsFile === undefined;
  return withBooks(dir, { lockedDown, asOf, writable: file ?? undefined, reader, signal }, async (books) => {
    const { connection } = books;
    const state = await completenessOf(connection, asOf);
    if (rowsFile === undefined) return await answer(connection, question, state, write);
    await books.lockDown({ files: [rowsFile, ...(file === null ? [] : [file])] });
    await readClusterAnswer(connection, rowsFile, { sql: await plainSelect(connection, question.sql), parameters: {} });
    return await answer(connection, { ...question, sql: clusterAnswerQuery }, state, write);
  });
}

/** The first rows of what a person typed, as data. Runs in the child. Throws UsageError if they are too large together. */
export async function rowsInBooks(
  { dir, sql, maxRows, sort }: RowsAsked,
  { reader, signal }: Parent,
): Promise<TableAnswer> {
  return withBooks(dir, { lockedDown: true, reader, signal }, async ({ connection }) => {
    const { completeThrough, settledThrough } = await completenessOf(connection);
    const { sql: text, source } = await connection.admit(sql, { hidesPlaces: true });
    const sorted = sort === undefined || source === undefined ? undefined : await sortedQuery(connection, source, sort);
    const result = countRows(await connection.query(sorted ?? text, { isOurs: true }), maxRows);
    const rows: Record<string, unknown>[] = [];
    let bytes = 0;
    for await (const chunk of jsonRows(result)) {
      bytes += Buffer.byteLength(JSON.stringify(chunk));
      if (bytes > maxAnswerBytes) throw tooLargeAnswer();
      rows.push(...chunk);
    }
    return { completeThrough, settledThrough, columns: result.columns, rows, truncated: result.isTruncated };
  });
}

/** All rows of a source, sorted as an address says; undefined if it names no column. */
async function sortedQuery(connection: Connection, source: string, sort: string): Promise<string | undefined> {
  const columns = await columnsOf(connection, fromSource(source), {}).catch((error) => {
    throw error instanceof SqlError ? new UsageError(error.message) : error;
  });
  const sorting = sortingOf(
    sort,
    columns.map(({ name }) => name),
  );
  return sorting && fromSource(source, { sorting });
}
