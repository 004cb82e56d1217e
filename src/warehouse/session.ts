import type { DuckDBConnection, DuckDBPreparedStatement, DuckDBValue } from '@duckdb/node-api';
import { admitTyped } from './admission.ts';
import { Appenders } from './appenders.ts';
import {
  type AdmittedQuery,
  type Connection,
  type PointColumns,
  SqlError,
  type SqlParameters,
  type SqlResult,
  type SqlRow,
  type SqlValue,
} from './connection.ts';
import { asTyped, type Fail } from './duckdb-errors.ts';
import {
  beginReadOnly,
  beginTransaction,
  checkpointWarehouse,
  commitTransaction,
  rollbackTransaction,
  setThreads,
} from './statements.ts';

/** How often DuckDB is told again to stop: it forgets an interruption that comes just before a statement has begun. */
const interruptAgainMs = 20;

type Chunks = AsyncGenerator<readonly (readonly DuckDBValue[])[]>;

/** How a session ends, and what it tells. */
export interface SessionOptions {
  readonly fail: Fail;
  /** Interrupts what runs; what is asked later is refused with its reason. */
  readonly signal: AbortSignal | undefined;
  readonly onClose: () => void;
  /** Threads of DuckDB while a checkpoint has the machine to itself, and otherwise. */
  readonly threads: { readonly alone: number; readonly usual: number };
}

/** A connection of DuckDB as a `Connection`: one statement after another, interrupted by a signal. */
export class Session implements Connection {
  readonly #connection: DuckDBConnection;
  readonly #options: SessionOptions;
  readonly #appenders: Appenders;
  /** Texts that were found to hold one statement; they need not be taken apart again. */
  readonly #single = new Set<string>();
  /** What was asked last; the next statement waits for it. */
  #last: Promise<unknown> = Promise.resolve();
  #isStreaming = false;
  #isSealed = false;

  constructor(connection: DuckDBConnection, options: SessionOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#appenders = new Appenders(connection, options.fail);
  }

  async run(sql: string, parameters?: SqlParameters): Promise<void> {
    await this.#statementInTurn(() =>
      this.#interruptibly(async () => {
        // Without values there is nothing to prepare for, and DuckDB takes the whole text at once.
        const work =
          parameters === undefined
            ? this.#connection.run(sql)
            : this.#prepared(sql, parameters, (statement) => statement.run());
        await work.catch(this.#options.fail);
      }),
    );
  }

  async rows(sql: string, parameters: SqlParameters = {}): Promise<SqlRow[]> {
    const reader = await this.#statementInTurn(() =>
      this.#interruptibly(() =>
        this.#prepared(sql, parameters, (statement) => statement.runAndReadAll()).catch(this.#options.fail),
      ),
    );
    return (reader?.getRowObjectsJson() ?? []) as SqlRow[];
  }

  stream(sql: string, parameters: SqlParameters = {}): Promise<SqlResult> {
    const { fail } = this.#options;
    return this.#statementInTurn(async () => {
      // Of several statements all but the last would be run here.
      const { count } = await this.#connection.extractStatements(sql).catch(fail);
      if (count !== 1) fail(new Error(`Parser Error: found ${count} statements, expected one SELECT`));
      // Streamed from the connection: a prepared statement would have to outlive the stream.
      const read = async (statement: DuckDBPreparedStatement) => valuesFor(statement, parameters);
      const values = await this.#prepared(sql, parameters, read).catch(fail);
      const result = await this.#interruptibly(() => this.#connection.stream(sql, values).catch(fail));
      const columns = result.columnNames().map((name, index) => ({ name, type: String(result.columnType(index)) }));
      this.#isStreaming = true;
      return { columns, chunks: this.#chunks(result.yieldRows()) };
    });
  }

  async query(typed: string): Promise<SqlResult> {
    const { sql } = await this.admit(typed);
    try {
      const { columns, chunks } = await this.stream(sql);
      return { columns, chunks: typedChunks(chunks) };
    } catch (error) {
      throw asTyped(error);
    }
  }

  async admit(sql: string, options = { withParameters: false }): Promise<AdmittedQuery> {
    const { fail } = this.#options;
    const admitting = {
      connection: this.#connection,
      fail,
      unsealed: (work: () => Promise<void>) => this.#unsealed(work),
    };
    try {
      return await this.#statementInTurn(() => admitTyped(admitting, sql, options.withParameters));
    } catch (error) {
      throw asTyped(error);
    }
  }

  async seal(): Promise<void> {
    await this.run(beginReadOnly);
    this.#isSealed = true;
  }

  async checkpoint(): Promise<void> {
    const { alone, usual } = this.#options.threads;
    await this.run(setThreads(alone));
    try {
      await this.run(checkpointWarehouse);
    } finally {
      await this.run(setThreads(usual));
    }
  }

  async transaction<T>(work: () => Promise<T>): Promise<T> {
    await this.run(beginTransaction);
    try {
      const result = await work();
      // Neither this nor the rollback is interrupted: what has come so far is brought to a known end.
      await this.#inTurn(() => this.#connection.run(commitTransaction).catch(this.#options.fail));
      return result;
    } catch (error) {
      // After some failures DuckDB has rolled back by itself; then there is nothing left to undo.
      await this.#inTurn(() => this.#connection.run(rollbackTransaction)).catch(() => undefined);
      throw error;
    }
  }

  appendRows(table: string, rows: readonly (readonly (number | string | null)[])[]): Promise<void> {
    return this.#inTurn(async () => {
      this.#options.signal?.throwIfAborted();
      await this.#appenders.appendRows(table, rows);
    });
  }

  appendPoints(table: string, count: number, columns: PointColumns): Promise<void> {
    return this.#inTurn(async () => {
      this.#options.signal?.throwIfAborted();
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

  #statementInTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#inTurn(() => {
      this.#appenders.end();
      return work();
    });
  }

  /** Runs one piece of DuckDB's work, which the signal ends; then its reason is thrown. */
  async #interruptibly<T>(work: () => Promise<T>): Promise<T> {
    const { signal } = this.#options;
    if (signal === undefined) return work();
    signal.throwIfAborted();
    const connection = this.#connection;
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

  /**
   * Prepares and runs the statements of a text, and returns what `use` made of the last one. Each is prepared when the
   * one before it has run: later ones may use what earlier ones make. None is kept for another time: DuckDB plans by
   * what the tables hold then, and what was planned over an empty table finds nothing in it later (tried with 1.5.6: an
   * UPDATE that was prepared before the first INSERT updates no row).
   */
  async #prepared<T>(
    sql: string,
    parameters: SqlParameters,
    use: (statement: DuckDBPreparedStatement) => Promise<T>,
  ): Promise<T | undefined> {
    if (this.#single.has(sql)) return useOnce(await this.#connection.prepare(sql), parameters, use);
    const statements = await this.#connection.extractStatements(sql);
    if (statements.count === 1) this.#single.add(sql);
    let result: T | undefined;
    for (let index = 0; index < statements.count; index += 1) {
      result = await useOnce(await statements.prepare(index), parameters, use);
    }
    return result;
  }

  /** The rows of a stream; until they are read to the end nothing else can be asked. */
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

  /** Does work that makes temporary objects, which a sealed connection refuses. */
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

/** Pieces of an answer to a typed query: what goes wrong meanwhile is told as whoever typed it needs it. */
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
