import { setTimeout } from 'node:timers/promises';
import type { DuckDBConnection, DuckDBPreparedStatement, DuckDBResult, DuckDBValue } from '@duckdb/node-api';
import {
  beginReadOnly,
  beginTransaction,
  checkpointWarehouse,
  commitTransaction,
  joinAsChosen,
  joinInOrder,
  rollbackTransaction,
  setThreads,
} from '../sql/statements.ts';
import { admitTyped } from './allowed-sql.ts';
import { Appenders } from './appenders.ts';
import {
  type AdmitOptions,
  type AdmittedQuery,
  type Connection,
  type LazyViews,
  type PointColumns,
  SqlError,
  type SqlParameters,
  type SqlResult,
  type SqlRow,
  type SqlValue,
} from './connection.ts';
import { asTyped, type Fail, waitsForOthers } from './duckdb-errors.ts';

/** How often to repeat an interruption: DuckDB ignores one that comes just before a statement starts. */
const interruptAgainMs = 20;
/**
 * DuckDB refuses a checkpoint while a statement of another connection runs that began before the newest UPDATE: such as a
 * comparison of one window while another is recorded. It takes one as soon as that statement has ended.
 */
const checkpointAgainMs = 50;
const longestStatementMs = 60_000;

type Chunks = AsyncGenerator<readonly (readonly DuckDBValue[])[]>;

/** How a session ends, and how it reports errors. */
export interface SessionOptions {
  readonly fail: Fail;
  /** Interrupts the running statement; later ones are refused with its reason. */
  readonly signal: AbortSignal | undefined;
  readonly views: LazyViews | undefined;
  readonly onClose: () => void;
  /** DuckDB threads during a checkpoint, which has the machine to itself, and otherwise. */
  readonly threads: { readonly alone: number; readonly usual: number };
}

/** A DuckDB connection as a `Connection`: one statement after another, interrupted by a signal. */
export class Session implements Connection {
  readonly #connection: DuckDBConnection;
  readonly #options: SessionOptions;
  readonly #appenders: Appenders;
  /** The last statement; the next one waits for it. */
  #last: Promise<unknown> = Promise.resolve();
  #isStreaming = false;
  #isSealed = false;
  /** How many lazy views its transaction sees. */
  #views = 0;
  #signal: AbortSignal | undefined;

  constructor(connection: DuckDBConnection, options: SessionOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#signal = options.signal;
    this.#appenders = new Appenders(connection, options.fail);
  }

  async run(sql: string, parameters?: SqlParameters): Promise<void> {
    await this.#statementInTurn(sql, () =>
      this.#interruptibly(async () => {
        // Without values nothing needs preparing, and DuckDB runs the whole text at once.
        const work =
          parameters === undefined
            ? this.#connection.run(sql)
            : this.#prepared(sql, parameters, (statement) => statement.run());
        await work.catch(this.#options.fail);
      }),
    );
  }

  async rows(sql: string, parameters: SqlParameters = {}): Promise<SqlRow[]> {
    // Without values nothing needs preparing, which takes about a twentieth of the time. A missing value is named by preparing.
    const work = () =>
      Object.keys(parameters).length === 0 && !sql.includes('$')
        ? this.#connection.runAndReadAll(sql)
        : this.#prepared(sql, parameters, (statement) => statement.runAndReadAll());
    const reader = await this.#statementInTurn(sql, () => this.#interruptibly(() => work().catch(this.#options.fail)));
    return (reader?.getRowObjectsJson() ?? []) as SqlRow[];
  }

  stream(sql: string, parameters: SqlParameters = {}): Promise<SqlResult> {
    const { fail } = this.#options;
    return this.#statementInTurn(sql, async () => {
      // DuckDB would run all statements but the last one here.
      const { count } = await this.#connection.extractStatements(sql).catch(fail);
      if (count !== 1) fail(new Error(`Parser Error: found ${count} statements, expected one SELECT`));
      // Streamed from the connection: a prepared statement would have to outlive the stream.
      const read = async (statement: DuckDBPreparedStatement) => valuesFor(statement, parameters);
      const values = await this.#prepared(sql, parameters, read).catch(fail);
      const result = await this.#interruptibly(() => this.#connection.stream(sql, values).catch(fail));
      const columns = result.columnNames().map((name, index) => ({ name, type: typeOf(result, index, fail) }));
      this.#isStreaming = true;
      return { columns, chunks: this.#chunks(result.yieldRows()) };
    });
  }

  async query(
    typed: string,
    { isOurs = false, ...options }: { readonly isOurs?: boolean } & AdmitOptions = {},
  ): Promise<SqlResult> {
    const sql = isOurs ? typed : (await this.admit(typed, options)).sql;
    try {
      const { columns, chunks } = await this.stream(sql);
      return { columns, chunks: typedChunks(chunks) };
    } catch (error) {
      throw asTyped(error);
    }
  }

  async admit(sql: string, options: AdmitOptions = {}): Promise<AdmittedQuery> {
    const { fail } = this.#options;
    const admitting = {
      connection: this.#connection,
      fail,
      unsealed: (work: () => Promise<void>) => this.#unsealed(work),
    };
    try {
      return await this.#statementInTurn(undefined, () => admitTyped(admitting, sql, options));
    } catch (error) {
      throw asTyped(error);
    }
  }

  async during<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    this.#signal = signal;
    try {
      return await work();
    } finally {
      // Statements that nobody waits for end too.
      await this.#last;
      this.#signal = this.#options.signal;
    }
  }

  async seal(): Promise<void> {
    await this.run(beginReadOnly);
    this.#isSealed = true;
  }

  async checkpoint(): Promise<void> {
    const { alone, usual } = this.#options.threads;
    await this.run(setThreads(alone));
    const begun = performance.now();
    try {
      for (;;) {
        try {
          return await this.run(checkpointWarehouse);
        } catch (error) {
          if (!waitsForOthers(error) || performance.now() - begun > longestStatementMs) throw error;
        }
        await setTimeout(checkpointAgainMs);
      }
    } finally {
      await this.run(setThreads(usual));
    }
  }

  async inOrder<T>(work: () => Promise<T>): Promise<T> {
    await this.run(joinInOrder);
    await this.run(setThreads(1));
    try {
      return await work();
    } finally {
      await this.run(setThreads(this.#options.threads.usual));
      await this.run(joinAsChosen);
    }
  }

  async transaction<T>(work: () => Promise<T>): Promise<T> {
    await this.run(beginTransaction);
    try {
      const result = await work();
      // Neither this nor the rollback is interrupted: a transaction must end in a known state.
      await this.#inTurn(() => this.#connection.run(commitTransaction).catch(this.#options.fail));
      return result;
    } catch (error) {
      // After some failures DuckDB has already rolled back; then there is nothing to undo.
      await this.#inTurn(() => this.#connection.run(rollbackTransaction)).catch(() => undefined);
      throw error;
    }
  }

  appendRows(table: string, rows: readonly (readonly (number | string | null)[])[]): Promise<void> {
    return this.#inTurn(async () => {
      this.#signal?.throwIfAborted();
      await this.#appenders.appendRows(table, rows);
    });
  }

  appendPoints(table: string, count: number, columns: PointColumns): Promise<void> {
    return this.#inTurn(async () => {
      this.#signal?.throwIfAborted();
      await this.#appenders.appendPoints(table, count, columns);
    });
  }

  close(): void {
    this.#appenders.drop();
    this.#connection.closeSync();
    this.#options.onClose();
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(() => {
      if (this.#isStreaming) throw new Error('a stream is still open on this connection');
      return work();
    });
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Runs one statement after the views that its text names were made; all views, if it has no text of ours. */
  #statementInTurn<T>(sql: string | undefined, work: () => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      this.#appenders.end();
      const { views } = this.#options;
      if (views !== undefined) await this.#seeViews(await views.make(sql));
      return work();
    });
  }

  /** A transaction does not see what others create after its start: a sealed session starts it again. */
  async #seeViews(count: number): Promise<void> {
    if (count === this.#views) return;
    this.#views = count;
    await this.#unsealed(async () => undefined);
  }

  /** Runs one call of DuckDB, which the signal interrupts; then throws the signal's reason. */
  async #interruptibly<T>(work: () => Promise<T>): Promise<T> {
    const signal = this.#signal;
    signal?.throwIfAborted();
    const connection = this.#connection;
    let again: NodeJS.Timeout | undefined;
    function interrupt(): void {
      connection.interrupt();
      again = setInterval(() => connection.interrupt(), interruptAgainMs);
    }
    function stop(): void {
      signal?.removeEventListener('abort', interrupt);
      clearInterval(again);
    }
    signal?.addEventListener('abort', interrupt, { once: true });
    try {
      const result = await work();
      signal?.throwIfAborted(); // an interrupted stream looks like a complete one
      return result;
    } catch (error) {
      stop(); // it would interrupt the next statements too
      await this.#reseal();
      throw signal?.aborted === true ? signal.reason : error;
    } finally {
      stop();
    }
  }

  /** An error may end the transaction that keeps a sealed connection read-only: it starts again. */
  async #reseal(): Promise<void> {
    if (!this.#isSealed) return;
    await this.#connection.run(rollbackTransaction).catch(() => undefined);
    await this.#connection.run(beginReadOnly).catch(() => undefined);
  }

  /**
   * Prepares and runs the statements of a text, and returns the result of `use` for the last one. Each is prepared
   * after the one before it has run: later ones may use what earlier ones create. No prepared statement is kept: DuckDB
   * plans for the present contents of tables, and a plan for an empty table later finds nothing in it (tried with
   * 1.5.6: an UPDATE that was prepared before the first INSERT updates no row).
   */
  async #prepared<T>(
    sql: string,
    parameters: SqlParameters,
    use: (statement: DuckDBPreparedStatement) => Promise<T>,
  ): Promise<T | undefined> {
    // Nothing but comments follows a semicolon: to take one statement apart takes as long as to plan a short one.
    if (!/;\s*\S/.test(sql.replace(/--.*$/gm, '')))
      return useOnce(await this.#connection.prepare(sql), parameters, use);
    const statements = await this.#connection.extractStatements(sql);
    let result: T | undefined;
    for (let index = 0; index < statements.count; index += 1) {
      result = await useOnce(await statements.prepare(index), parameters, use);
    }
    return result;
  }

  /** The rows of a stream; until they are read to the end, no other statement can run. */
  async *#chunks(chunks: AsyncIterator<readonly (readonly DuckDBValue[])[]>): Chunks {
    try {
      for (;;) {
        const chunk = await this.#interruptibly(() => chunks.next().catch(this.#options.fail));
        if (chunk.done) return;
        yield chunk.value;
      }
    } finally {
      this.#isStreaming = false;
    }
  }

  /** Runs work that creates temporary objects, which a sealed connection refuses. */
  async #unsealed(work: () => Promise<void>): Promise<void> {
    await this.#interruptibly(async () => {
      if (this.#isSealed) await this.#connection.run(commitTransaction);
      try {
        await work();
      } finally {
        if (this.#isSealed) await this.#connection.run(beginReadOnly);
      }
    });
  }
}

/** DuckDB's name for the type of a column. The library that reads answers does not know every type that DuckDB has. */
function typeOf(result: DuckDBResult, index: number, fail: Fail): string {
  try {
    return String(result.columnType(index));
  } catch {
    const name = result.columnName(index);
    return fail(
      new Error(`Not implemented Error: the column "${name}" has a type that no program can read; leave it out`),
    );
  }
}

/** The chunks of an answer to a typed query; errors are translated for the person who typed it. */
async function* typedChunks(chunks: SqlResult['chunks']): Chunks {
  try {
    yield* chunks;
  } catch (error) {
    throw asTyped(error);
  }
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

/** The parameters that a statement names. Throws if one of them is missing. */
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
