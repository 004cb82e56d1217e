import { createHash } from 'node:crypto';
import { isText } from '../../tables/column.ts';
import { columnsNamed } from '../../warehouse/sql/index.ts';
import { type Connection, type SqlParameters, toCellText } from '../../warehouse/store/index.ts';
import { cellGuard } from '../formats/csv.ts';
import type { ExportFormat } from '../formats/format.ts';
import { formatNamed } from '../formats/kinds/index.ts';
import type { ManifestFile } from './manifest.ts';

/** The rows of an answer without their order: their number, and a sum of their hashes. Equal rows have equal sums. */
export interface RowSum {
  readonly rows: number;
  readonly sum: string;
}

/** The cells of a row as text: null and the empty text are one, because not every format can tell them apart. */
type Cells = readonly string[];

/** Whether the rows of a file can be compared with the books. Numbers that were made inexact on request cannot. */
export function hasComparableRows({ format, rows, inexact }: ManifestFile): boolean {
  return rows !== null && inexact !== true && formatNamed(format)?.rows !== undefined;
}

/** Whether a file whose comparable rows are those of the books says so to every reader, whoever wrote it. */
export function readsAlike(file: ManifestFile): boolean {
  return hasComparableRows(file) && rowsOf(file).readsAlike === true;
}

/** How the rows of a file that `hasComparableRows` are read. */
export function rowsOf({ format }: Pick<ManifestFile, 'format'>): NonNullable<ExportFormat['rows']> {
  const reader = formatNamed(format)?.rows;
  if (reader === undefined) throw new Error(`the rows of ${format} cannot be compared`);
  return reader;
}

/** The sum of the rows of a file over some of its columns. */
export async function rowSumOfFile(
  files: Connection,
  path: string,
  format: string,
  columns: readonly string[],
): Promise<RowSum> {
  const rows = newSum();
  for await (const cells of rowsOf({ format }).cells(files, path, columns)) rows.add(cells);
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
  const guarded = result.columns.map((column) => !raw && isText(column) && rowsOf({ format }).guardsFormulas === true);
  for await (const chunk of result.chunks) {
    for (const row of chunk) {
      rows.add(
        row.map((value, index) => {
          const text = toCellText(value) ?? '';
          return guarded[index] ? cellGuard(text) : text;
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
