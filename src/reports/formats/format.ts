import type { Connection, SqlParameters, SqlResult } from '../../warehouse/store/index.ts';

/** One SELECT on a connection, with the values of its parameters. */
export interface Question {
  readonly connection: Connection;
  /** It must define an order, so that the same answer always gives the same bytes. */
  readonly query: string;
  readonly parameters: SqlParameters;
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

/** Writes an answer in chunks, to a file or to stdout. Memory use does not grow with the answer. */
export type AnswerChunks = (result: SqlResult, options: FormatOptions) => AsyncGenerator<string | Uint8Array>;
