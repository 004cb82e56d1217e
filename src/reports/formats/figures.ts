import { scaleOf } from '../../tables/column.ts';
import { figuresOf } from '../../warehouse/sql/index.ts';
import {
  type Connection,
  type Database,
  openScratch,
  type SqlColumn,
  type SqlParameters,
} from '../../warehouse/store/index.ts';

/** Number of rows, and the sum of their cost as exact decimal text; null without a cost column. */
export interface Figures {
  readonly rows: number;
  readonly cost: string | null;
}

/** A column with an exact sum, and its decimals. */
export interface CostColumn {
  readonly name: string;
  readonly decimals: number;
}

/**
 * The column that the manifest sums: the one in the header's `--! cost:` line, or else `cost`. Undefined if there is none,
 * or if it is a double, which has no exact sum.
 */
export function costColumnOf(columns: readonly SqlColumn[], declared: string | undefined): CostColumn | undefined {
  const wanted = (declared ?? 'cost').toLowerCase(); // as DuckDB compares names
  const { name = '', type = '' } = columns.find((column) => column.name.toLowerCase() === wanted) ?? {};
  const decimals = scaleOf({ type });
  if (decimals !== undefined) return { name, decimals };
  return /^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$/.test(type) ? { name, decimals: 0 } : undefined;
}

/** The figures of a query's answer, computed by the books. */
export function figuresOfQuery(
  connection: Connection,
  query: string,
  parameters: SqlParameters,
  column: CostColumn | undefined,
): Promise<Figures> {
  return figuresFrom(connection, figuresOf(query, column), parameters);
}

/** A connection to read files with, which is opened when it is needed. */
export interface FileReader {
  connection(): Promise<Connection>;
  close(): void;
}

/**
 * A database of its own to read files back with: the one with the books cannot access them, and has run SQL of the project.
 * It spills to `folder`.
 */
export function fileReader(folder: string, signal: AbortSignal): FileReader {
  let database: Database | undefined;
  let connection: Connection | undefined;
  return {
    async connection() {
      database ??= await openScratch(folder);
      const opened = connection ?? (await database.connect(signal));
      connection = opened;
      return opened;
    },
    close: () => database?.close(),
  };
}

/** The figures that a statement gives. */
export async function figuresFrom(connection: Connection, sql: string, parameters: SqlParameters): Promise<Figures> {
  const [row] = await connection.rows(sql, parameters);
  const cost = row?.['cost'];
  return { rows: Number(row?.['rows']), cost: typeof cost === 'string' ? cost : null };
}
