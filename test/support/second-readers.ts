import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { parse } from 'csv-parse/sync';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { expect } from 'vitest';

/** The decimals of a column in the order of the rows, as exact text with all their digits; null if there is none. */
type Decimals = Readonly<Record<string, readonly (string | null)[]>>;

/**
 * Has the export of a folder (`latest.csv`, `.parquet`, `.arrow`) read by readers that are neither ours nor DuckDB:
 * every decimal is the same in all of them, and the rows and the cost of the CSV add up to what the manifest says.
 */
export async function expectReadersToAgree(folder: string): Promise<void> {
  const manifest = JSON.parse(await readFile(join(folder, '_manifest'), 'utf8')) as {
    costColumn: string | null;
    rows: number;
    cost: string | null;
  };
  const rows: Record<string, string>[] = parse(await readFile(join(folder, 'latest.csv')), {
    columns: true,
    record_delimiter: '\r\n',
  });
  expect(rows).toHaveLength(manifest.rows);
  if (manifest.costColumn !== null) {
    const cells = rows.map((row) => row[manifest.costColumn ?? ''] ?? '').filter((cell) => cell !== '');
    expect(cells.length === 0 ? null : sumOf(cells)).toBe(manifest.cost);
  }
  const inParquet = await parquetDecimals(join(folder, 'latest.parquet'));
  expect(Object.keys(inParquet)).not.toEqual([]);
  expect(await arrowDecimals(join(folder, 'latest.arrow'))).toEqual(inParquet);
  const inCsv = Object.keys(inParquet).map((name) => [name, rows.map((row) => (row[name] === '' ? null : row[name]))]);
  expect(Object.fromEntries(inCsv)).toEqual(inParquet);
}

/** The exact sum of decimals of one number of digits, as text. */
export function sumOf(cells: readonly string[]): string {
  const scale = (cells[0] ?? '').split('.')[1]?.length ?? 0;
  return withPoint(
    cells.reduce((sum, cell) => sum + BigInt(cell.replace('.', '')), 0n),
    scale,
  );
}

/**
 * The decimals of a Parquet file. The reader would convert them to doubles, so their decimal type is hidden from it.
 */
export async function parquetDecimals(path: string): Promise<Decimals> {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  const scales = metadata.schema.flatMap((element): [string, number][] => {
    const { name, converted_type, scale = 0 } = element;
    if (converted_type !== 'DECIMAL') return [];
    delete element.converted_type;
    delete element.logical_type;
    return [[name, scale]];
  });
  const rows = await parquetReadObjects({ file, metadata, compressors });
  function unscaled(value: unknown): bigint {
    if (!(value instanceof Uint8Array)) return BigInt(value as bigint | number);
    const bits = value.reduce((whole, byte) => (whole << 8n) | BigInt(byte), 0n); // the highest byte is first
    return BigInt.asIntN(value.length * 8, bits);
  }
  const columns = scales.map(([name, scale]) => [
    name,
    rows.map((row) => (row[name] === undefined || row[name] === null ? null : withPoint(unscaled(row[name]), scale))),
  ]);
  return Object.fromEntries(columns);
}

async function arrowDecimals(path: string): Promise<Decimals> {
  const table = tableFromIPC(await readFile(path));
  const columns = table.schema.fields.flatMap(({ name, type }) => {
    const { scale } = type as { scale?: number };
    if (scale === undefined) return [];
    const cells = [...(table.getChild(name) ?? [])].map((words: Uint32Array | null) => {
      if (words === null) return null;
      const bits = words.reduceRight((whole, word) => (whole << 32n) | BigInt(word), 0n); // the lowest word is first
      return withPoint(BigInt.asIntN(128, bits), scale);
    });
    return [[name, cells]];
  });
  return Object.fromEntries(columns);
}

function withPoint(unscaled: bigint, scale: number): string {
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  const text = scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
  return unscaled < 0n ? `-${text}` : text;
}
