import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { plainDecimal } from '../../money/money.ts';
import { isText } from '../../tables/column.ts';
import { columnsNamed, rowsOfParquet } from '../../warehouse/sql/index.ts';
import { type Connection, type SqlParameters, toCellText } from '../../warehouse/store/index.ts';
import { columnsOf } from '../formats/columns.ts';
import { textGuard } from '../formats/csv.ts';
import { asRegularFile, csvRecordsOf } from '../formats/csv-figures.ts';
import type { ManifestFile } from './manifest.ts';

/** The rows of an answer without their order: their number, and a sum of their hashes. Equal rows have equal sums. */
export interface RowSum {
  readonly rows: number;
  readonly sum: string;
}

/** The cells of a row as text: null and the empty text are one, because not every format can tell them apart. */
type Cells = readonly string[];

/** Formats whose rows are compared with the books cell by cell. */
const comparable = new Set(['csv', 'json', 'parquet']);

/** Whether the rows of a file can be compared with the books. Numbers that were made inexact on request cannot. */
export function hasComparableRows({ format, rows, inexact }: ManifestFile): boolean {
  return rows !== null && inexact !== true && comparable.has(format);
}

/** The columns of a file, in its order; undefined if it has no rows to tell. Throws if it cannot be read. */
export async function columnsOfFile(
  files: Connection,
  path: string,
  format: string,
): Promise<readonly string[] | undefined> {
  if (format === 'parquet') return (await columnsOf(files, rowsOfParquet(undefined), { path })).map(({ name }) => name);
  for await (const record of format === 'csv' ? csvRecordsOf(path) : jsonObjects(path)) {
    return Array.isArray(record) ? record : Object.keys(record);
  }
  return undefined;
}

/** The sum of the rows of a file over some of its columns. */
export async function rowSumOfFile(
  files: Connection,
  path: string,
  format: string,
  columns: readonly string[],
): Promise<RowSum> {
  const rows = newSum();
  if (format === 'parquet') {
    const { chunks } = await files.stream(rowsOfParquet(columns), { path });
    for await (const chunk of chunks) for (const row of chunk) rows.add(row.map((value) => toCellText(value) ?? ''));
  } else if (format === 'csv') {
    let places: readonly number[] | undefined;
    for await (const record of csvRecordsOf(path)) {
      if (places === undefined)
        places = columns.map((name) => record.findIndex((head) => head === name || head === `'${name}`));
      else rows.add(places.map((place) => record[place] ?? ''));
    }
  } else {
    for await (const record of jsonObjects(path)) rows.add(columns.map((name) => jsonCell(record[name])));
  }
  return rows.sum();
}

/** The sum of the rows of the books' answer, with the cells as a file of this format has them. */
export async function rowSumOfQuery(
  connection: Connection,
  query: string,
  parameters: SqlParameters,
  {
    format,
    raw = false,
    columns,
  }: { readonly format: string; readonly raw?: boolean; readonly columns: readonly string[] },
): Promise<RowSum> {
  const rows = newSum();
  const result = await connection.stream(columnsNamed(query, columns), parameters);
  const guarded = result.columns.map((column) => format === 'csv' && !raw && isText(column));
  for await (const chunk of result.chunks) {
    for (const row of chunk) {
      rows.add(
        row.map((value, index) => {
          const text = toCellText(value) ?? '';
          return guarded[index] ? textGuard(text) : text;
        }),
      );
    }
  }
  return rows.sum();
}

/** Adds hashes of 128 bits: no order matters, and a row that is there twice counts twice. */
function newSum(): { add(cells: Cells): void; sum(): RowSum } {
  let rows = 0;
  let [high, low] = [0n, 0n];
  return {
    add(cells) {
      const hash = createHash('sha256').update(JSON.stringify(cells)).digest();
      high += hash.readBigUInt64LE(0);
      low += hash.readBigUInt64LE(8);
      rows += 1;
    },
    sum: () => ({ rows, sum: [high, low].map((half) => BigInt.asUintN(64, half).toString(16)).join('-') }),
  };
}

/** As long as DuckDB reads an object. */
const mostLine = 16 * 1024 * 1024;

/**
 * The objects of a JSON export: one on each line between the brackets, as `jsonLines` writes it. Throws for another text: where a
 * name is there twice, readers do not agree which value counts.
 */
async function* jsonObjects(path: string): AsyncGenerator<Record<string, unknown>> {
  let held = '';
  for await (const piece of createReadStream(path, { ...asRegularFile, encoding: 'utf8' }) as AsyncIterable<string>) {
    const lines = (held + piece).split('\n');
    held = lines.pop() ?? '';
    if (held.length > mostLine) throw new Error(`it has a line of more than ${mostLine} letters`);
    for (const line of lines) {
      const text = line.replace(/,$/, '');
      if (text === '[' || text === ']' || text === '[]') continue;
      const row = JSON.parse(text) as Record<string, unknown>;
      if (JSON.stringify(row) !== text) throw new Error('it has a line that no export has');
      yield row;
    }
  }
  if (held !== '') throw new Error('it ends within a line');
}

function jsonCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return plainDecimal(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}
