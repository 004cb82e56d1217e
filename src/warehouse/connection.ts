import { rmSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename, dirname, join } from 'node:path';
import {
  DECIMAL,
  type DuckDBAppender,
  type DuckDBConnection,
  DuckDBDataChunk,
  type DuckDBExtractedStatements,
  DuckDBInstance,
  type DuckDBPreparedStatement,
  type DuckDBValue,
  INTEGER,
  StatementType,
} from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import {
  CostbookError,
  DamagedFileError,
  LockedError,
  MachineError,
  messageOf,
  NoBooksError,
  UsageError,
} from '../errors.ts';
import { memoryLimitMb } from '../memory.ts';
import {
  clearWritersSpill,
  maxSpillMb,
  readersSpillName,
  removeOldSpill,
  spillRoom,
  writersSpillName,
} from './spill.ts';
import {
  attach,
  beginReadOnly,
  beginTransaction,
  checkpointWarehouse,
  commitTransaction,
  fromBracketed,
  fromSource,
  lockDownStatements,
  makePivoted,
  pivotedTable,
  queryFunction,
  rollbackTransaction,
  setThreads,
  useUtc,
  useWarehouse,
} from './statements.ts';

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
  readonly pieces: AsyncIterable<readonly (readonly DuckDBValue[])[]>;
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

/** An open database file, attached as `wh`. The only module that knows DuckDB. */
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

// One owner a file and process: two instances in one process attach the same file without an error and lose rows.
const openFiles = new Set<string>();

/**
 * Opens a warehouse file: an instance in memory, the file attached. Nothing is ever downloaded.
 * Throws LockedError where another process holds it, UsageError where a reader finds no file, MachineError otherwise.
 */
export async function openDatabase(file: string, options: OpenOptions): Promise<Database> {
  if (options.readOnly) {
    await expectFile(file);
    return open(file, options, file);
  }
  if (openFiles.has(file)) throw new Error(`${file} is already open in this process`);
  openFiles.add(file); // before anything is waited for: two that open at once must not both find it free
  try {
    await mkdir(dirname(file), { recursive: true }).catch(asOurError(file, options));
    return await open(file, options, file);
  } catch (error) {
    openFiles.delete(file);
    throw error;
  }
}

/** Throws UsageError where a file to be read is not there. */
export async function expectFile(file: string): Promise<void> {
  if (!(await exists(file))) throw new NoBooksError(file);
}

/** Opens a database in memory that holds nothing, to read files of other formats with; what does not fit spills to `folder`. */
export function openScratch(folder: string): Promise<Database> {
  return open(join(folder, 'scratch'), { readOnly: true }, ':memory:');
}

async function open(file: string, options: OpenOptions, attached: string): Promise<Database> {
  const { readOnly } = options;
  const folder = dirname(file);
  const state = { isOpening: true, path: file };
  const fail = asOurError(file, options, state);
  await removeOldSpill(folder);
  const spill = readOnly
    ? join(await spillRoom(folder), readersSpillName(options.reader))
    : join(folder, writersSpillName(basename(file)));
  const instance = await DuckDBInstance.create(':memory:', {
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    memory_limit: `${memoryLimitMb(readOnly)}MB`,
    threads: String(threadsFor(readOnly)),
    temp_directory: spill,
    max_temp_directory_size: `${await maxSpillMb(dirname(spill))}MB`,
    preserve_insertion_order: 'true',
  }).catch(fail);
  const connections = new Set<Pick<Connection, 'close'>>();
  function keep(connection: DuckDBConnection, signal?: AbortSignal): Connection {
    const kept = wrap(connection, fail, signal, () => connections.delete(kept));
    connections.add(kept);
    return kept;
  }
  function close(): void {
    for (const connection of [...connections]) connection.close();
    instance.closeSync();
    rmSync(spill, { recursive: true, force: true });
  }
  try {
    const first = await instance.connect();
    const kept = keep(first);
    await first.run(useUtc);
    // What is in memory alone is nobody's to change.
    const access = readOnly && attached !== ':memory:' ? 'read' : options.unlogged ? 'write without log' : 'write';
    async function attachFile(path: string): Promise<void> {
      state.path = path;
      await first.run(attach(path, options.catalog ?? 'wh', access));
    }
    await (options.attachThrough?.(attachFile) ?? attachFile(attached));
    // Whoever holds the lock knows that every other writer of this file is dead.
    if (!readOnly) await clearWritersSpill(folder, basename(file), basename(spill));
    state.isOpening = false;
    await options.prepare?.(kept);
    if (options.lockedDown) {
      await lockDown(first, { files: options.writable === undefined ? [] : [options.writable] });
    }
  } catch (error) {
    close();
    return fail(error);
  }

  return {
    file,
    async connect(signal) {
      const connection = await instance.connect();
      const kept = keep(connection, signal);
      await connection.run(useWarehouse);
      return kept;
    },
    async lockDown(reachable = {}) {
      const connection = await instance.connect();
      try {
        await lockDown(connection, reachable).catch(fail);
      } finally {
        connection.closeSync();
      }
    },
    close() {
      close();
      if (!readOnly) openFiles.delete(file);
    },
  };
}

async function lockDown(connection: DuckDBConnection, { files = [], folders = [] }: Reachable): Promise<void> {
  for (const statement of lockDownStatements(files, folders)) await connection.run(statement);
}

/** How often DuckDB is told again to stop: it forgets an interruption that comes just before a statement has begun. */
const interruptAgainMs = 20;

function wrap(
  connection: DuckDBConnection,
  fail: (error: unknown) => never,
  signal: AbortSignal | undefined,
  onClose: () => void,
): Connection {
  const appenders = new Map<string, DuckDBAppender>();
  /** Texts that were found to hold one statement; they need not be taken apart again. */
  const single = new Set<string>();
  let last: Promise<unknown> = Promise.resolve();
  let isStreaming = false;
  let isSealed = false;

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(() => {
      if (isStreaming) throw new Error('a stream is still open on this connection');
      return work();
    });
    last = result.catch(() => undefined);
    return result;
  }
  function statementInTurn<T>(work: () => Promise<T>): Promise<T> {
    return inTurn(() => {
      endAppenders();
      return work();
    });
  }

  /** Runs one piece of DuckDB's work, which the signal ends; then its reason is thrown. */
  async function interruptibly<T>(work: () => Promise<T>): Promise<T> {
    if (signal === undefined) return work();
    signal.throwIfAborted();
    let again: NodeJS.Timeout | undefined;
    function interrupt(): void {
      connection.interrupt();
      again = setInterval(() => connection.interrupt(), interruptAgainMs);
    }
    signal.addEventListener('abort', interrupt, { once: true });
    try {
      const result = await work();
      signal.throwIfAborted(); // an interrupted stream ends as if it had been read to its end
      return result;
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    } finally {
      signal.removeEventListener('abort', interrupt);
      clearInterval(again);
    }
  }

  async function prepared<T>(
    sql: string,
    parameters: SqlParameters,
    use: (statement: DuckDBPreparedStatement) => Promise<T>,
  ): Promise<T | undefined> {
    // Each statement is prepared when the one before it has run: later ones may use what earlier ones make. None is kept
    // for another time: DuckDB plans by what the tables hold then, and what was planned over an empty table finds
    // nothing in it later (tried with 1.5.6: an UPDATE that was prepared before the first INSERT updates no row).
    if (single.has(sql)) return useOnce(await connection.prepare(sql), parameters, use);
    const statements = await connection.extractStatements(sql);
    if (statements.count === 1) single.add(sql);
    let result: T | undefined;
    for (let index = 0; index < statements.count; index += 1) {
      result = await useOnce(await statements.prepare(index), parameters, use);
    }
    return result;
  }

  async function useOnce<T>(
    statement: DuckDBPreparedStatement,
    parameters: SqlParameters,
    use: (statement: DuckDBPreparedStatement) => Promise<T>,
  ): Promise<T> {
    try {
      statement.bind(valuesFor(statement, parameters));
      return await use(statement);
    } finally {
      statement.destroySync();
    }
  }

  /**
   * Appends to a temporary table. The appender stays open, and ends with the next statement, so that each statement sees
   * what was appended before it; where it fails none of its rows are kept.
   */
  async function appending(table: string, append: (appender: DuckDBAppender) => void): Promise<void> {
    signal?.throwIfAborted();
    try {
      const appender = appenders.get(table) ?? (await connection.createAppender(table, null, 'temp'));
      appenders.set(table, appender);
      append(appender);
    } catch (error) {
      dropAppenders();
      fail(error);
    }
  }

  /** Brings what was appended into the tables. */
  function endAppenders(): void {
    try {
      for (const [table, appender] of appenders) {
        appender.closeSync();
        appenders.delete(table);
      }
    } catch (error) {
      dropAppenders();
      fail(error);
    }
  }

  function dropAppenders(): void {
    for (const appender of appenders.values()) {
      try {
        appender.clear();
        appender.closeSync();
      } catch {
        // It says again what it said before.
      }
    }
    appenders.clear();
  }

  /** The statements of a text; undefined where DuckDB's parser does not take it. Nothing is bound or run. */
  async function parsed(sql: string): Promise<DuckDBExtractedStatements | undefined> {
    return connection.extractStatements(sql).catch(() => undefined);
  }

  /**
   * Finds the one SELECT in a typed text. The parser takes `from (text)` only where the text is one SELECT: the text
   * alone is taken as well, so its brackets are balanced, and no statement can end inside of the added ones.
   */
  async function selectIn(typed: string): Promise<{ text: string; statements: DuckDBExtractedStatements }> {
    if (withoutLeadingComments(typed) === '') {
      throw new UsageError('the query has no statement; expected one SELECT');
    }
    const all = await connection.extractStatements(typed).catch(fail);
    for (const text of withoutEnds(typed)) {
      const wrapped = await parsed(fromBracketed(text));
      const statements = wrapped && (await parsed(text));
      if (statements !== undefined && statements.count === wrapped?.count) return { text, statements };
    }
    throw all.count === 1 ? refused(firstWord(typed)) : tooMany(all.count);
  }

  /** Admits a typed text; see `Connection.admit`. */
  async function admitTyped(typed: string, withParameters: boolean): Promise<AdmittedQuery> {
    const [, explain, explained] =
      explaining.exec(typed.slice(typed.length - withoutLeadingComments(typed).length)) ?? [];
    const { text, statements } = await selectIn(explained ?? typed);
    const [, meddler] = meddling.exec(typed) ?? [];
    if (meddler !== undefined) throw refused(meddler.toLowerCase());
    if (statements.count > 1) {
      if (withParameters) throw new UsageError('PIVOT needs the values that become columns here: … on name in (…)');
      if (explain !== undefined) throw new UsageError('EXPLAIN of a PIVOT is refused; name its columns with IN (…)');
      return interruptibly(() => pivoted(text, statements));
    }
    const statement = await statements.prepare(0).catch(fail);
    try {
      if (statement.statementType !== StatementType.SELECT) throw refused(firstWord(text));
      if (statement.parameterCount > 0 && !withParameters) {
        throw new UsageError('the query has parameters; write the values into it');
      }
    } finally {
      statement.destroySync();
    }
    // As text in a text: DuckDB reads it as one SELECT, whatever brackets and comments it has.
    const source = queryFunction(text);
    return explain === undefined
      ? { sql: text, source }
      : { sql: fromSource(source, { prefix: explain }), source: undefined };
  }

  /**
   * Answers a PIVOT into a temporary table. DuckDB takes it apart: it first makes an enumeration of the values that
   * become columns, then it selects.
   */
  async function pivoted(text: string, statements: DuckDBExtractedStatements): Promise<AdmittedQuery> {
    if (isSealed) await connection.run(commitTransaction);
    try {
      for (let index = 0; index < statements.count; index += 1) {
        await runPiece(statements, index);
      }
      await connection.run(makePivoted(text)).catch(fail);
    } finally {
      if (isSealed) await connection.run(beginReadOnly);
    }
    return { sql: fromSource(pivotedTable), source: pivotedTable };
  }

  /** Runs one piece of a PIVOT; the last, its SELECT, is only looked at. */
  async function runPiece(statements: DuckDBExtractedStatements, index: number): Promise<void> {
    const isLast = index === statements.count - 1;
    let piece: DuckDBPreparedStatement | undefined;
    try {
      piece = await statements.prepare(index);
      if (piece.statementType !== (isLast ? StatementType.SELECT : StatementType.CREATE)) throw refused('PIVOT');
      if (piece.parameterCount > 0) throw new UsageError('the query has parameters; write the values into it');
      if (!isLast) await piece.run();
    } catch (error) {
      // The line that DuckDB shows is its own, not the user's.
      fail(isLast || error instanceof CostbookError ? error : new Error(messageOf(error).split('\n\nLINE ')[0]));
    } finally {
      piece?.destroySync();
    }
  }

  const self: Connection = {
    async run(sql, parameters) {
      await statementInTurn(() =>
        interruptibly(async () => {
          // Without values there is nothing to prepare for, and DuckDB takes the whole text at once.
          const work =
            parameters === undefined ? connection.run(sql) : prepared(sql, parameters, (statement) => statement.run());
          await work.catch(fail);
        }),
      );
    },
    async rows(sql, parameters = {}) {
      const reader = await statementInTurn(() =>
        interruptibly(() => prepared(sql, parameters, (statement) => statement.runAndReadAll()).catch(fail)),
      );
      return (reader?.getRowObjectsJson() ?? []) as SqlRow[];
    },
    stream: (sql, parameters = {}) =>
      statementInTurn(async () => {
        // Of several statements all but the last would be run here.
        const { count } = await connection.extractStatements(sql).catch(fail);
        if (count !== 1) fail(new Error(`Parser Error: found ${count} statements, expected one SELECT`));
        // Streamed from the connection: a prepared statement would have to outlive the stream.
        const values = await prepared(sql, parameters, async (statement) => valuesFor(statement, parameters)).catch(
          fail,
        );
        const result = await interruptibly(() => connection.stream(sql, values).catch(fail));
        const columns = result.columnNames().map((name, index) => ({ name, type: String(result.columnType(index)) }));
        isStreaming = true;
        async function* pieces(): AsyncGenerator<readonly (readonly DuckDBValue[])[]> {
          const chunks = result.yieldRows();
          try {
            for (;;) {
              const chunk = await interruptibly(() => chunks.next().catch(fail));
              if (chunk.done) return;
              yield chunk.value;
            }
          } finally {
            isStreaming = false;
          }
        }
        return { columns, pieces: pieces() };
      }),
    async query(typed) {
      const { sql } = await self.admit(typed);
      try {
        const result = await self.stream(sql);
        async function* pieces(): AsyncGenerator<readonly (readonly DuckDBValue[])[]> {
          try {
            yield* result.pieces;
          } catch (error) {
            throw asTyped(error);
          }
        }
        return { columns: result.columns, pieces: pieces() };
      } catch (error) {
        throw asTyped(error);
      }
    },
    admit: (sql, options = { withParameters: false }) =>
      statementInTurn(() => admitTyped(sql, options.withParameters)).catch((error) => {
        throw asTyped(error);
      }),
    async seal() {
      await self.run(beginReadOnly);
      isSealed = true;
    },
    async checkpoint() {
      await self.run(setThreads(threadsFor(true)));
      try {
        await self.run(checkpointWarehouse);
      } finally {
        await self.run(setThreads(threadsFor(false)));
      }
    },
    async transaction(work) {
      await self.run(beginTransaction);
      try {
        const result = await work();
        // Neither this nor the rollback is interrupted: what has come so far is brought to a known end.
        await inTurn(() => connection.run(commitTransaction).catch(fail));
        return result;
      } catch (error) {
        // After some failures DuckDB has rolled back by itself; then there is nothing left to undo.
        await inTurn(() => connection.run(rollbackTransaction)).catch(() => undefined);
        throw error;
      }
    },
    appendRows: (table, rows) =>
      inTurn(() =>
        appending(table, (appender) => {
          for (const row of rows) {
            for (const value of row) {
              if (value === null) appender.appendNull();
              else if (typeof value === 'number') appender.appendInteger(value);
              else appender.appendVarchar(value);
            }
            appender.endRow();
          }
        }),
      ),
    appendPoints: (table, count, columns) =>
      inTurn(() =>
        appending(table, (appender) => {
          const capacity = duckdb.vector_size();
          const chunk = DuckDBDataChunk.create([
            INTEGER,
            INTEGER,
            DECIMAL(18, columns.third.scale),
            DECIMAL(18, columns.fourth.scale),
          ]);
          const sources = [columns.first, columns.second, columns.third.values, columns.fourth.values];
          for (let from = 0; from < count; from += capacity) {
            const rows = Math.min(capacity, count - from);
            chunk.rowCount = rows;
            sources.forEach((source, index) => {
              const vector = duckdb.data_chunk_get_vector(chunk.chunk, index);
              const width = source.BYTES_PER_ELEMENT;
              const buffer = source.buffer as ArrayBuffer;
              duckdb.copy_data_to_vector(vector, 0, buffer, source.byteOffset + from * width, rows * width);
            });
            appender.appendDataChunk(chunk);
          }
        }),
      ),
    close() {
      dropAppenders();
      connection.closeSync();
      onClose();
    },
  };
  return self;
}

/** Those of the parameters that a statement names. Throws where it names one that is not given. */
function valuesFor(statement: DuckDBPreparedStatement, parameters: SqlParameters): Record<string, SqlValue> {
  const values: Record<string, SqlValue> = {};
  for (let position = 1; position <= statement.parameterCount; position += 1) {
    const name = statement.parameterName(position);
    const value = parameters[name];
    if (value === undefined) throw new SqlError(`statement needs $${name}`);
    values[name] = value;
  }
  return values;
}

/** A failure of SQL that a person typed, as what is told to them: it is theirs to mend; what the machine or DuckDB itself does wrong is not. */
export function asTyped(error: unknown): unknown {
  if (error instanceof SqlError) return new UsageError(error.message, { cause: error });
  if (/^(INTERNAL|FATAL) Error/.test(messageOf(error))) {
    const [firstLine = ''] = messageOf(error).split('\n');
    return new MachineError(`DuckDB itself failed in this query; ask in another way (${firstLine})`, { cause: error });
  }
  return error;
}

/** Functions of a SELECT that change how DuckDB works; whoever hides their names harms their own child process only. */
const meddling = /\b((?:en|dis)able_(?:logging|profiling|peg_parser)|write_log|truncate_duckdb_logs)\b/i;

/** EXPLAIN and what it may be given; the rest must be a SELECT, which is then asked in a text of ours. */
const explaining = /^(explain(?:\s+analyze)?(?:\s*\(\s*(?:analyze|format\s+\w+|[\s,])+\))?)(?=[\s(])([\s\S]*)$/i;

function withoutLeadingComments(sql: string): string {
  return sql.replace(/^(?:[\s;]|--.*(?:\n|$)|\/\*[\s\S]*?\*\/)+/, '');
}

/** A text as it is, without what ends it, and without comments after that: whoever asks finds out which of them parses. */
function withoutEnds(sql: string): string[] {
  const lines = sql.split('\n');
  while (lines.length > 0 && /^\s*(--|$)/.test(lines.at(-1) ?? '')) lines.pop();
  const last = lines.at(-1) ?? '';
  const comment = last.indexOf('--');
  const withoutComment = comment < 0 ? last : last.slice(0, comment);
  return [sql, ...[sql.split('\n'), lines, [...lines.slice(0, -1), withoutComment]].map(withoutSemicolon)];
}

function withoutSemicolon(lines: readonly string[]): string {
  let text = lines.join('\n').trimEnd();
  while (text.endsWith(';')) text = text.slice(0, -1).trimEnd();
  return text;
}

/** The word that a text begins with, for messages. */
function firstWord(sql: string): string {
  return /^\w*/.exec(withoutLeadingComments(sql))?.[0].toUpperCase() ?? '';
}

function refused(verb: string): UsageError {
  const what = verb === 'WITH' || verb === '' ? 'the query changes something and' : verb;
  return new UsageError(
    `${what} is refused: the books are read-only here; expected one SELECT, DESCRIBE, SHOW, SUMMARIZE, PIVOT or EXPLAIN of a ` +
      'SELECT; to get the rows as a file use --out',
  );
}

function tooMany(count: number): UsageError {
  return new UsageError(`the query has ${count} statements; expected one SELECT`);
}

/**
 * A reader has the machine to itself. Beside a writer's queries pages are unpacked and decoded, and another window's
 * queries run: threads of DuckDB that find no task take the time of those (measured: a fifth of all CPU on two cores).
 */
function threadsFor(readOnly: boolean): number {
  const cores = availableParallelism();
  return Math.max(1, Math.min(4, readOnly ? cores : Math.floor(cores / 2)));
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return false;
      throw error;
    },
  );
}

/** DuckDB's own words for what the machine lacks; words in somebody's data come behind another kind of error. */
const machineFailure =
  /^(IO|FATAL|TransactionContext) Error.*(No space left on device|Read-only file system|Permission denied|Could not (write|read|open|set lock)|Cannot open file)/is;
const notPermitted = /Permission denied|Read-only file system|^E(ACCES|PERM|ROFS)\b/;

/** DuckDB's own words for a database file that is not as DuckDB wrote it. */
const damage =
  /^(IO|FATAL|INTERNAL|Serialization|TransactionContext) Error.*(not a valid DuckDB database file|Corrupt database file|Failure while replaying WAL|Could not read from file .* Is a directory)/is;
/** Errors that DuckDB meets where it reads nonsense while it opens a file. */
const nonsense = /^(INTERNAL|FATAL|Serialization) Error/;

/**
 * DuckDB's failures as ours: who holds the lock, what the machine lacks, which file is damaged, and SQL that it does not
 * take. What is none of these (DuckDB's own bugs) keeps its words.
 */
function asOurError(
  file: string,
  { readOnly, whenDamaged = 'restore it from a backup, or move it away' }: OpenOptions,
  state: { readonly isOpening: boolean; readonly path: string } = { isOpening: false, path: file },
): (error: unknown) => never {
  return (error) => {
    if (error instanceof CostbookError || error instanceof SqlError) throw error;
    const message = messageOf(error)
      .replace(/^Failed to extract statements: /, '')
      .replaceAll(state.path, file)
      .trim();
    const [firstLine = ''] = message.split('\n');
    const holder = /Conflicting lock is held in (?:(.+?) \(PID (\d+)\))?/.exec(message);
    if (holder) {
      const [, program, pid] = holder;
      throw new LockedError(
        file,
        // Another container's processes have no number here; nor has one that ended just now.
        pid === undefined ? 'a process that cannot be seen from here' : `process ${pid} (${program})`,
        { cause: error },
      );
    }
    if (/^Out of Memory Error/.test(message)) {
      throw new MachineError(
        `this needs more than the ${memoryLimitMb(readOnly)} MB of memory, and the disk space below ${dirname(file)}, that one ` +
          `command may use: ask for less at once (fewer rows or columns, sums instead of rows), or free memory and disk ` +
          `(${firstLine})`,
        { cause: error },
      );
    }
    const isCut = message.includes(`Could not read enough bytes from file "${file}"`);
    if (isCut || damage.test(message) || (state.isOpening && nonsense.test(message))) {
      throw new DamagedFileError(file, firstLine, whenDamaged, { cause: error });
    }
    const isMachines = machineFailure.test(message);
    if (((isMachines && message.includes(dirname(file))) || isErrno(error)) && notPermitted.test(message)) {
      throw new MachineError(
        readOnly
          ? `${file} cannot be read by this user: allow it to (${firstLine})`
          : `${dirname(file)} cannot be written by this user: allow it to, or name another project folder with --dir (${firstLine})`,
        { cause: error },
      );
    }
    if (isMachines) throw new MachineError(`${file}: ${firstLine}`, { cause: error });
    if (/^(?!INTERNAL|FATAL)[A-Z][A-Za-z ]+ Error: /.test(message)) throw new SqlError(message, { cause: error });
    throw error;
  };
}

function isErrno(error: unknown): boolean {
  return typeof (error as NodeJS.ErrnoException).syscall === 'string';
}
