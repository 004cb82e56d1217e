import type { DuckDBValue } from '@duckdb/node-api';
import type { DamagedFileError } from '../../base/errors.ts';
import type { NextStep } from '../../base/next-step.ts';

/** Values for a statement: they are bound, never pasted into the text. */
export type SqlValue = string | number | bigint | boolean | null;
export type SqlParameters = Readonly<Record<string, SqlValue>>;

declare const number: unique symbol;

/**
 * A field of a row as JSON. Numbers have an opaque type that compares with nothing: integers of up to 32 bits and
 * doubles arrive as numbers, longer integers and decimals as text, so `===` with a number could always be false. Read
 * it with `Number(…)`, or as text with `String(…)`.
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

/** A column of an answer, with DuckDB's name for its type. */
export interface SqlColumn {
  readonly name: string;
  readonly type: string;
}

/** A streamed answer. */
export interface SqlResult {
  readonly columns: readonly SqlColumn[];
  readonly chunks: AsyncIterable<readonly (readonly DuckDBValue[])[]>;
}

/**
 * One connection. Its statements run one after another, however they are called: two statements at once on one DuckDB
 * connection break each other. A stream must be read to its end before the next statement; an earlier one throws,
 * because DuckDB would silently cut the stream short.
 */
export interface Connection {
  /** Runs the statements of a text in order; each gets the parameters that it names. */
  run(sql: string, parameters?: SqlParameters): Promise<void>;
  /** Runs one statement and returns its rows. */
  rows(sql: string, parameters?: SqlParameters): Promise<SqlRow[]>;
  /** Runs one statement and streams its rows as DuckDB values, without holding them all. */
  stream(sql: string, parameters?: SqlParameters): Promise<SqlResult>;
  /**
   * As `stream`, for SQL that a person typed: one SELECT. Errors in it are UsageErrors in DuckDB's words. SQL of the program
   * itself needs no admission, for which DuckDB would plan it once more.
   */
  query(sql: string, options?: { readonly isOurs?: boolean } & Pick<AdmitOptions, 'hidesPlaces'>): Promise<SqlResult>;
  /**
   * Admits SQL that a person typed and returns how to run it: one SELECT, EXPLAIN of one SELECT, or a PIVOT. DuckDB's
   * parser decides, never a pattern. Throws UsageError for everything else, before anything is prepared or run.
   */
  admit(sql: string, options?: AdmitOptions): Promise<AdmittedQuery>;
  /**
   * Runs `work`, whose statements this signal interrupts instead of the connection's own: one `work` at a time. Resolves only
   * when no statement of it is running any longer.
   */
  during<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
  /** From here on the connection cannot change the attached file. `admit` refuses statements that make temporary objects. */
  seal(): Promise<void>;
  /** Runs `work` in one transaction: committed when it resolves, rolled back when it throws. */
  transaction<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Runs `work` so that a query that sorts before it joins gives its rows in that order: joins as written, on one thread.
   * DuckDB promises no order of joins; on several threads, ranges of rows were found in another order on each run.
   */
  inOrder<T>(work: () => Promise<T>): Promise<T>;
  /** Writes the log into the attached file; uses all cores, because nothing else runs meanwhile. */
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

/** What SQL that a person typed may be, besides one SELECT. */
export interface AdmitOptions {
  readonly withParameters?: boolean;
  /** Refuses what names folders of this machine: for people and agents who ask from elsewhere. */
  readonly hidesPlaces?: boolean;
}

/** SQL that a person typed, in the forms in which it can run. */
export interface AdmittedQuery {
  /** The statement. */
  readonly sql: string;
  /** The expression for its rows after FROM; undefined for EXPLAIN, whose plan is no table. */
  readonly source: string | undefined;
}

/** An open database file, attached as `wh`. */
export interface Database {
  readonly file: string;
  /** The first damage that a statement met; undefined if there was none. */
  damage(): DamagedFileError | undefined;
  /**
   * Opens a connection; aborting the signal interrupts its running statement and refuses later ones with the signal's
   * reason. With `views`, those that a statement names are made before it runs; all of them before typed SQL.
   */
  connect(signal?: AbortSignal, views?: LazyViews): Promise<Connection>;
  /** From here on, refuses every file but these, the network and every setting, on all connections. Call it once. */
  lockDown(reachable?: Reachable): Promise<void>;
  /** Gives back the memory of blocks that were read. Nothing else may run on it meanwhile. */
  dropBlocks(): Promise<void>;
  close(): void;
}

/** Views that are made when they are needed. */
export interface LazyViews {
  /** Makes the views that a text names, or all, unless they are there. Returns how many there are. */
  make(sql: string | undefined): Promise<number>;
}

/**
 * Files that SQL can still access after a lock-down; absolute real paths. What it may read it may write too, and a new file
 * is there only if it must write one. No folder is ever given: all files below it could be replaced.
 */
export interface Reachable {
  readonly files?: readonly string[];
}

export interface OpenOptions {
  readonly readOnly: boolean;
  /**
   * Writes without a log: a commit is on disk only after a checkpoint. For files that are discarded unless finished.
   */
  readonly unlogged?: boolean;
  /** After opening, refuse all access to files, network and settings: for SQL that a person typed. */
  readonly lockedDown?: boolean;
  /** The one file that may be written nevertheless. */
  readonly writable?: string | undefined;
  /** Runs after opening, before the lock-down. */
  readonly prepare?: (connection: Connection) => Promise<void>;
  /** The catalog name of the file; not `wh` if `prepare` creates the `wh` for queries. */
  readonly catalog?: string;
  /** Attaches the file by a path of its choice; by default its own path is used. */
  readonly attachThrough?: (attach: (path: string) => Promise<void>) => Promise<void>;
  /** DuckDB's threads; those of a reader or a writer by default. A second one costs more than it gives short answers. */
  readonly threads?: number | undefined;
  /** DuckDB's memory limit; that of a reader or a writer by default. */
  readonly memoryMb?: number | undefined;
  /** Name of this reader's spill folder; random by default. */
  readonly reader?: string | undefined;
  /** What to do if the file is damaged, as the end of a sentence. */
  readonly whenDamaged?: NextStep;
}

/** SQL that DuckDB refuses, in DuckDB's words: a bug of ours, or its author's mistake. */
export class SqlError extends Error {
  override readonly name = 'SqlError';
}
