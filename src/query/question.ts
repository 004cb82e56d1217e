import type { CompletenessState } from '../reports/index.ts';
import type { TableLayout } from '../terminal/index.ts';
import type { Instant } from '../time.ts';

/** The forms in which an answer is told. */
export const answerFormats = ['table', 'csv', 'json', 'ndjson', 'parquet', 'arrow'] as const;
export type AnswerFormat = (typeof answerFormats)[number];

/** One SELECT that somebody typed, and how its answer is wanted; sent to the child as one line of JSON. */
export interface Question {
  /** The project folder, absolute. */
  readonly dir: string;
  readonly sql: string;
  /** Milliseconds since 1970; null for the books as they are. */
  readonly asOf: Instant | null;
  readonly format: AnswerFormat;
  /** In CSV, leave text that looks like a formula as it is. */
  readonly raw: boolean;
  /** The answer ends after so many rows; null where it does not. */
  readonly maxRows: number | null;
  /** Of a table: how it is laid out; plain and exact where nothing is said. */
  readonly layout?: TableLayout;
  /** For Parquet: the empty file of ours, the only one that DuckDB may write. */
  readonly file: string | null;
}

/** What goes with an answer that was told to its end. */
export interface Answered {
  readonly rows: number;
  /** Whether there were more rows than were asked for. */
  readonly isTruncated: boolean;
  readonly state: CompletenessState;
  /** The state as a sentence. */
  readonly sentence: string;
}

/** What a child failed with: an error's words and exit code. */
export interface Failure {
  readonly exitCode: number;
  readonly message: string;
  /** Where it is a bug of ours. */
  readonly stack?: string | undefined;
}
