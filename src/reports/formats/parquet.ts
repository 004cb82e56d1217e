import { cellOf, copyToParquet, selectCells } from '../../warehouse/sql/index.ts';
import type { SqlColumn } from '../../warehouse/store/index.ts';
import { columnsOf } from './columns.ts';
import type { FormatOptions, Question } from './format.ts';

/**
 * Writes an answer as Parquet, compressed with zstd. Decimals have their precision and scale, instants are in UTC.
 * DuckDB writes the same bytes with any number of threads. Returns the number of rows. Throws SqlError.
 */
export async function writeParquet(
  path: string,
  { connection, query, parameters }: Question,
  { facts, parquetDecimals }: FormatOptions,
): Promise<number> {
  const columns = await columnsOf(connection, query, parameters);
  const cells = columns.map((column) => parquetCell(column, parquetDecimals));
  const asIs = cells.every((cell, index) => cell === cellOf(columns[index]?.name ?? '', undefined));
  // Errors name lines, so the query must start on the same line.
  const source = asIs ? query : selectCells(query, cells);
  const [counted] = await connection.rows(copyToParquet(source, Object.keys(facts)), {
    ...parameters,
    ...Object.fromEntries(Object.entries(facts).map(([name, fact]) => [`_fact_${name}`, fact])),
    _path: path,
  });
  return Number(counted?.['Count']);
}

/** The SQL expression that writes a column to Parquet. */
export function parquetCell({ name, type }: SqlColumn, decimals: FormatOptions['parquetDecimals'] = 'exact'): string {
  return cellOf(name, writtenType(type, decimals));
}

function writtenType(type: string, decimals: FormatOptions['parquetDecimals']): string | undefined {
  // All our instants are UTC; readers treat a plain TIMESTAMP as local time.
  if (/^TIMESTAMP(_S|_MS)?$/.test(type)) return 'timestamptz';
  if (decimals === 'double') return type.startsWith('DECIMAL') ? 'double' : undefined;
  // DuckDB would write 128-bit integers as doubles, without a warning.
  return /^U?HUGEINT$/.test(type) ? 'decimal(38, 0)' : undefined;
}
