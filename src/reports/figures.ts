import type { Connection, SqlColumn, SqlParameters } from '../warehouse/index.ts';

import { quoted } from './columns.ts';
import { figuresOfCsv } from './formats/csv-figures.ts';

/** How many rows there are, and what their cost adds up to as exact decimal text; null where there is nothing to add up. */
export interface Figures {
  readonly rows: number;
  readonly cost: string | null;
}

/** A column that can be added up exactly, with its decimals. */
export interface CostColumn {
  readonly name: string;
  readonly decimals: number;
}

/**
 * The column of an answer that its manifest adds up: the one that the header's `--! cost:` line names, otherwise
 * `cost`. Undefined where the answer has none, or holds it as a double, which has no exact sum.
 */
export function costColumnOf(columns: readonly SqlColumn[], declared: string | undefined): CostColumn | undefined {
  const wanted = (declared ?? 'cost').toLowerCase(); // as DuckDB compares names
  const { name = '', type } = columns.find((column) => column.name.toLowerCase() === wanted) ?? {};
  const [, decimals] = /^DECIMAL\(\d+,\s*(\d+)\)$/.exec(type ?? '') ?? [];
  if (decimals !== undefined) return { name, decimals: Number(decimals) };
  return /^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$/.test(type ?? '') ? { name, decimals: 0 } : undefined;
}

/** The figures of a query's answer, added up by the books. */
export function figuresOfQuery(
  connection: Connection,
  query: string,
  parameters: SqlParameters,
  column: CostColumn | undefined,
): Promise<Figures> {
  // The query begins on the first line, so that what is wrong in it is told by its own lines.
  return figuresFrom(connection, `(${query}\n)`, parameters, column);
}

/**
 * The figures of a file, read again from what lies on the disk. Throws SqlError or another error of DuckDB's where it
 * cannot be read as what its format says.
 */
export async function figuresOfFile(
  connection: Connection,
  path: string,
  format: string,
  column: CostColumn | undefined,
): Promise<Figures> {
  const read = readers[format];
  if (read === undefined) throw new Error(`files of the format ${format} cannot be read again`);
  return read(connection, path, column);
}

type Reader = (connection: Connection, path: string, column: CostColumn | undefined) => Promise<Figures>;

/** How each format is read again: adding one means one line here. */
const readers: Readonly<Record<string, Reader>> = {
  parquet: (connection, path, column) => figuresFrom(connection, 'read_parquet($path)', { path }, column),
  csv: (_, path, column) => figuresOfCsv(path, column),
  json: figuresOfJson,
  arrow: async (_, path, column) => (await import('./formats/arrow.ts')).figuresOfArrow(path, column?.name),
};

/** Decimals are text there: read as text, they stay exact. */
async function figuresOfJson(connection: Connection, path: string, column: CostColumn | undefined): Promise<Figures> {
  const cell = column === undefined ? 'null' : 'json_extract_string(json, $pointer)';
  // A pointer, as RFC 6901 writes it, may hold any name.
  const pointer = `/${(column?.name ?? '').replaceAll('~', '~0').replaceAll('/', '~1')}`;
  const [row] = await connection.rows(
    `select count(*) as rows, cast(sum(cast(${cell} as decimal(38, ${column?.decimals ?? 0}))) as varchar) as cost
    from read_json_objects($path, format = 'array')`,
    { path, pointer },
  );
  const cost = row?.['cost'];
  return { rows: Number(row?.['rows']), cost: typeof cost === 'string' ? cost : null };
}

async function figuresFrom(
  connection: Connection,
  source: string,
  parameters: SqlParameters,
  column: CostColumn | undefined,
): Promise<Figures> {
  const sum =
    column === undefined
      ? 'null'
      : `cast(sum(cast(${quoted(column.name)} as decimal(38, ${column.decimals}))) as varchar)`;
  const [row] = await connection.rows(`select count(*) as rows, ${sum} as cost from ${source}`, parameters);
  const cost = row?.['cost'];
  return { rows: Number(row?.['rows']), cost: typeof cost === 'string' ? cost : null };
}
