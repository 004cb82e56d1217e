import { cellOf, copyToParquet, type SqlColumn, selectCells } from '../../warehouse/index.ts';
import { columnsOf } from '../columns.ts';
import type { FormatOptions, Question } from './format.ts';

/**
 * Writes an answer as Parquet, compressed with zstd, decimals as decimals of their precision and scale, instants as UTC.
 * DuckDB writes it, and the same bytes whatever the number of threads. Returns how many rows there are. Throws SqlError.
 */
export async function writeParquet(
  path: string,
  { connection, query, parameters }: Question,
  { facts, parquetDecimals }: FormatOptions,
): Promise<number> {
  const columns = await columnsOf(connection, query, parameters);
  const cells = columns.map((column) => parquetCell(column, parquetDecimals));
  const asIs = cells.every((cell, index) => cell === cellOf(columns[index]?.name ?? '', undefined));
  // The query keeps its first line, as its mistakes are told by line.
  const source = asIs ? query : selectCells(query, cells);
  const [counted] = await connection.rows(copyToParquet(source, Object.keys(facts)), {
    ...parameters,
    ...Object.fromEntries(Object.entries(facts).map(([name, fact]) => [`_fact_${name}`, fact])),
    _path: path,
  });
  return Number(counted?.['Count']);
}

/** A column as it is written to Parquet, as SQL text. */
export function parquetCell({ name, type }: SqlColumn, decimals: FormatOptions['parquetDecimals'] = 'exact'): string {
  return cellOf(name, writtenType(type, decimals));
}

function writtenType(type: string, decimals: FormatOptions['parquetDecimals']): string | undefined {
  // Every instant of ours is UTC; a plain TIMESTAMP is local time to whoever reads the file.
  if (/^TIMESTAMP(_S|_MS)?$/.test(type)) return 'timestamptz';
  if (decimals === 'double') return type.startsWith('DECIMAL') ? 'double' : undefined;
  // DuckDB would write integers of 128 bits as doubles, without a word.
  return /^U?HUGEINT$/.test(type) ? 'decimal(38, 0)' : undefined;
}
