import type { Connection, SqlParameters, SqlResult } from '../../warehouse/index.ts';

/** One SELECT on a connection, with the values of its parameters. */
export interface Question {
  readonly connection: Connection;
  /** It must say its own order: the same answer in the same order is the same bytes. */
  readonly query: string;
  readonly parameters: SqlParameters;
}

/** What a format is told besides the answer. */
export interface FormatOptions {
  /** In CSV, leave text that looks like a formula as it is. */
  readonly raw: boolean;
  /** `double` gives up exact decimals in Parquet, for readers that have none. */
  readonly parquetDecimals: 'exact' | 'double';
  /** What goes into the metadata of formats that have any, by name: through when the answer is complete, and so on. */
  readonly facts: Readonly<Record<string, string>>;
  /** The report's name, for formats that name their content. */
  readonly title?: string;
  /** The column that is added up, for formats that mark it. */
  readonly costColumn?: string | undefined;
}

/** A format as pieces of an answer, for a file or for stdout; what is held at once does not grow with the answer. */
export type AnswerChunks = (result: SqlResult, options: FormatOptions) => AsyncGenerator<string | Uint8Array>;
