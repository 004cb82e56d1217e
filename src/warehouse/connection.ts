import type { DuckDBValue } from '@duckdb/node-api';

/** What a statement may be given: values are bound, never pasted into the text. */
export type SqlValue = string | number | bigint | boolean | null;
export type SqlParameters = Readonly<Record<string, SqlValue>>;

declare const number: unique symbol;

/**
 * A field of a row as JSON. A number has a type of its own that compares with nothing: integers of up to 32 bits and doubles
 * come as numbers, longer integers and decimals as text, so that `===` with a number would be false for good. Read it with
 * `Number(…)`, or as text with `String(…)`.
 */
export type SqlField =
  | null
  | undefined
  | boolean
  | string
  | { readonly [number]: true }
  | readonly SqlField[]
  | { readonly [name: string]: SqlField };

/** A row as JSON: decimals and integers of 64 bits or more are strings, timestamps `2026-10-01 00:00:00`. */
export type SqlRow = Readonly<Record<string, SqlField>>;

/** A column of an answer with DuckDB's name of its type. */
export interface SqlColumn {
  readonly name: string;
  readonly type: string;
}

/** An answer that is handed out in pieces. */
export interface SqlResult {
  readonly columns: readonly SqlColumn[];
  readonly chunks: AsyncIterable<readonly (readonly DuckDBValue[])[]>;
}

/**
 * One connection. Whatever is asked of it runs one after another, however it is called: two statements at once on one
 * DuckDB connection break each other. A stream must be read to its end before anything else is asked; asking earlier
 * throws, as DuckDB would silently cut the stream short.
 */
export interface Connection {
  /** Runs the statements of a text in order; each is given those of the parameters that it names. */
  run(sql: string, parameters?: SqlParameters): Promise<void>;
  /** Runs one statement and returns its rows. */
  rows(sql: string, parameters?: SqlParameters): Promise<SqlRow[]>;
  /** Runs one statement and hands out its rows in pieces as DuckDB values, without holding them all. */
  stream(sql: string, parameters?: SqlParameters): Promise<SqlResult>;
  /** As `stream`, for SQL that a person typed: one SELECT. What is wrong with it is a UsageError in DuckDB's words. */
  query(sql: string): Promise<SqlResult>;
  /**
   * Admits SQL that a person typed and returns how to ask it: one SELECT, EXPLAIN of one SELECT, or a PIVOT. DuckDB's
   * parser decides, never a pattern. Throws UsageError for everything else; then nothing of it was prepared or run.
   */
  admit(sql: string, options?: { readonly withParameters: boolean }): Promise<AdmittedQuery>;
  /** From here on the connection only reads, temporary objects included. */
  seal(): Promise<void>;
  /** Runs `work` in one transaction: committed when it resolves, rolled back when it throws. */
  transaction<T>(work: () => Promise<T>): Promise<T>;
  /** Makes the attached file whole, so that nothing of it lies in a log; with all cores, as nothing else runs meanwhile. */
  checkpoint(): Promise<void>;
  /** Appends rows of integers, text and nulls to a temporary table; text is cast to the column's type. */
  appendRows(table: string, rows: readonly (readonly (number | string | null)[])[]): Promise<void>;
  /** Appends columns of equal length to a temporary table of (INTEGER, INTEGER, DECIMAL(18,a), DECIMAL(18,b)). */
  appendPoints(table: string, count: number, columns: PointColumns): Promise<void>;
  close(): void;
}

export interface PointColumns {
  readonly first: Int32Array;
  readonly second: Int32Array;
  readonly third: { readonly values: BigInt64Array; readonly scale: number };
  readonly fourth: { readonly values: BigInt64Array; readonly scale: number };
}

/** SQL that a person typed, in the forms in which it may be asked. */
export interface AdmittedQuery {
  /** The statement. */
  readonly sql: string;
  /** What stands for it behind FROM; undefined for EXPLAIN, whose plan is no table. */
  readonly source: string | undefined;
}

/** An open database file, attached as `wh`. */
export interface Database {
  readonly file: string;
  /** A connection; what runs on it when the signal is aborted is interrupted, what is asked later refused with its reason. */
  connect(signal?: AbortSignal): Promise<Connection>;
  /** From here on refuses every file but these, the network and every setting, on all its connections. Once. */
  lockDown(reachable?: Reachable): Promise<void>;
  close(): void;
}

/** The files that SQL can still reach after a lock-down, and the folders with all that is below them; absolute. */
export interface Reachable {
  readonly files?: readonly string[];
  readonly folders?: readonly string[];
}

export interface OpenOptions {
  readonly readOnly: boolean;
  /** Written without a log: a commit is on the disk only after a checkpoint. For a file that is thrown away unless finished. */
  readonly unlogged?: boolean;
  /** After opening, refuse every file, network and configuration access: for SQL that somebody typed. */
  readonly lockedDown?: boolean;
  /** The one file that may be written all the same. */
  readonly writable?: string | undefined;
  /** Done after opening, before the lock-down. */
  readonly prepare?: (connection: Connection) => Promise<void>;
  /** The name under which the file is attached; another than `wh` where `prepare` makes the `wh` that is asked. */
  readonly catalog?: string;
  /** Has the file attached by a path of its choice; without it the file's own path is used. */
  readonly attachThrough?: (attach: (path: string) => Promise<void>) => Promise<void>;
  /** Names this reader's spill folder; a random name unless given. */
  readonly reader?: string | undefined;
  /** What to do where the file turns out to be damaged, as the end of a sentence. */
  readonly whenDamaged?: string;
}

/** SQL that DuckDB does not take, in DuckDB's words: a bug of ours, or the mistake of whoever wrote it. */
export class SqlError extends Error {
  override readonly name = 'SqlError';
}
