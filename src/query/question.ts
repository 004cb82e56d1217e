import type { NextStep } from '../base/next-step.ts';
import { options } from '../options/table.ts';
import type { CompletenessState } from '../reports/formats/index.ts';
import type { TableLayout } from '../terminal/index.ts';
import type { Instant } from '../time/time.ts';
import type { Check } from '../warehouse/ledger/index.ts';

/** The formats of an answer. */
export const answerFormats = options.sql.format.choices;
export type AnswerFormat = (typeof answerFormats)[number];

/** One SELECT that a person typed, and the wanted form of its answer; sent to the child as one line of JSON. */
export interface Question {
  /** The project folder, absolute. */
  readonly dir: string;
  readonly sql: string;
  /** Milliseconds since 1970; null for the present books. */
  readonly asOf: Instant | null;
  readonly format: AnswerFormat;
  /** In CSV, leave text that looks like a formula as it is. */
  readonly raw: boolean;
  /** The answer ends after this many rows; null for no limit. */
  readonly maxRows: number | null;
  /** Layout of a table; plain and exact by default. */
  readonly layout?: TableLayout;
  /** The file with the rows of a cluster, which answered in place of DuckDB. */
  readonly rowsFile?: string;
  /** For Parquet: our empty file, the only one that DuckDB may write. */
  readonly file: string | null;
}

/** A query to write for a cluster. */
export interface StatementAsked {
  readonly dir: string;
  readonly sql: string;
}

/** Checks to run over the snapshot of a project folder. */
export interface ChecksAsked {
  readonly dir: string;
  readonly checks: readonly Check[];
  /** Only test whether DuckDB accepts their SQL: it is bound and not run, and may have parameters. */
  readonly isDry: boolean;
  /** Checks of hours by month see the hours from here on; null for all. */
  readonly hoursFrom: Instant | null;
  /** The names of the checks that see all hours nevertheless. */
  readonly whole: readonly string[];
  /** Checks of hours by month read about so many rows at once. */
  readonly rowsAtOnce: number;
}

/** One SELECT that a person typed, whose first rows are wanted as data. */
export interface RowsAsked {
  readonly dir: string;
  readonly sql: string;
  readonly maxRows: number;
  /** The column to sort by, as an address names it; another name sorts nothing. */
  readonly sort?: string;
}

/** Rows as JSON: decimals are text, so that they stay exact. */
export interface TableAnswer {
  readonly completeThrough: string | null;
  readonly settledThrough: string | null;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** Whether there are more rows. */
  readonly truncated: boolean;
}

/** What accompanies a complete answer. */
export interface Answered {
  readonly rows: number;
  /** Whether there were more rows than requested. */
  readonly isTruncated: boolean;
  readonly state: CompletenessState;
  /** The state as a sentence. */
  readonly sentence: string;
}

/** A child's failure: what it found, its step and exit code. */
export interface Failure {
  readonly exitCode: number;
  readonly message: string;
  readonly code?: string | undefined;
  readonly next?: NextStep | undefined;
  /** Set for a bug of ours. */
  readonly stack?: string | undefined;
}
