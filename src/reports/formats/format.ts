import { storeAnswer, storedAnswer } from '../../warehouse/sql/index.ts';
import type { Connection, SqlParameters } from '../../warehouse/store/index.ts';
import type { CostColumn, Figures } from './figures.ts';

/** One SELECT on a connection, with the values of its parameters. */
export interface Question {
  readonly connection: Connection;
  /** It must define an order, so that the same answer always gives the same bytes. */
  readonly query: string;
  readonly parameters: SqlParameters;
}

/**
 * Asks once and keeps the rows, for those who read them several times: figures, each format, and what is shown. A connection
 * keeps the rows of its last question.
 */
export async function keepRows({ connection, query, parameters }: Question): Promise<Question> {
  await connection.run(storeAnswer(query), parameters);
  return { connection, query: storedAnswer, parameters: {} };
}

/** Options of a format. */
export interface FormatOptions {
  /** In CSV, do not escape text that looks like a formula. */
  readonly raw: boolean;
  /**
   * `double` writes inexact doubles in Parquet, for readers without a decimal type.
   */
  readonly parquetDecimals: 'exact' | 'double';
  /** The metadata, by name, such as complete through; only some formats store it. */
  readonly facts: Readonly<Record<string, string>>;
  /** The report's name, for formats that name their content. */
  readonly title?: string;
  /** The column that is added up, for formats that mark it. */
  readonly costColumn?: string | undefined;
  /** The decimals of columns whose currency has others than two, for formats that round what they show. */
  readonly decimals?: ReadonlyMap<string, number>;
}

/** A format of reports: how its files are written, and how they are read back. */
export interface ExportFormat {
  /** Writes an answer to a new file. Returns its number of rows. */
  write(path: string, question: Question, options: FormatOptions): Promise<number>;
  /** The figures of a file. Throws if it is not readable in this format. */
  figures(connection: Connection, path: string, column: CostColumn | undefined): Promise<Figures>;
  /** How its rows are compared with the books, cell by cell. */
  readonly rows?: {
    /** The columns of a file, in its order; undefined if it has no rows to tell. Throws if it cannot be read. */
    columns(files: Connection, path: string): Promise<readonly string[] | undefined>;
    /** The cells of these columns as text, row by row. */
    cells(files: Connection, path: string, columns: readonly string[]): AsyncIterable<readonly string[]>;
    /**
     * Whether all readers find the same cells in any such file. Only such a file is read if somebody else may have written it:
     * others could claim all memory. The footer of a Parquet file says names and decimals twice: where somebody made both differ,
     * DuckDB reads the costs of the books and pandas others.
     */
    readonly readsAlike?: true;
    /** Whether texts that look like a formula are escaped. */
    readonly guardsFormulas?: true;
  };
}
