import { columnsOf, quoted } from '../columns.ts';
import type { FormatOptions, Question } from './format.ts';

/**
 * Writes an answer as Parquet, compressed with zstd, decimals as decimals of their precision and scale. DuckDB writes
 * it, and the same bytes whatever the number of threads. Returns how many rows there are. Throws SqlError.
 */
export async function writeParquet(
  path: string,
  { connection, query, parameters }: Question,
  { facts, parquetDecimals }: FormatOptions,
): Promise<number> {
  const columns = await columnsOf(connection, query, parameters);
  const cells = columns.map(({ name, type }) => {
    // DuckDB would write integers of 128 bits as doubles, without a word.
    if (parquetDecimals === 'exact') {
      return /^U?HUGEINT$/.test(type) ? `cast(${quoted(name)} as decimal(38, 0)) as ${quoted(name)}` : quoted(name);
    }
    return type.startsWith('DECIMAL') ? `cast(${quoted(name)} as double) as ${quoted(name)}` : quoted(name);
  });
  const asIs = cells.every((cell, index) => cell === quoted(columns[index]?.name ?? ''));
  // The query keeps its first line, as its mistakes are told by line.
  const source = asIs ? query : `select ${cells.join(', ')} from (${query}\n)`;
  const metadata = Object.keys(facts).map((name) => `${quoted(name)}: $_fact_${name}`);
  const options = [
    'format parquet',
    'compression zstd',
    ...(metadata.length === 0 ? [] : [`kv_metadata {${metadata.join(', ')}}`]),
  ];
  const [counted] = await connection.rows(`copy (${source}\n) to $_path (${options.join(', ')})`, {
    ...parameters,
    ...Object.fromEntries(Object.entries(facts).map(([name, fact]) => [`_fact_${name}`, fact])),
    _path: path,
  });
  return Number(counted?.['Count']);
}
