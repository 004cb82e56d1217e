import type { DuckDBAppender, DuckDBConnection } from '@duckdb/node-api';
import type { PointColumns } from './connection.ts';
import { DECIMAL, DuckDBDataChunk, bindings as duckdb, INTEGER } from './duckdb.ts';
import type { Fail } from './duckdb-errors.ts';

/**
 * The appenders of one connection, by temporary table. One stays open and ends with the next statement, so that each
 * statement sees all rows appended before it; if it fails, none of its rows are stored.
 */
export class Appenders {
  readonly #open = new Map<string, DuckDBAppender>();
  readonly #connection: DuckDBConnection;
  readonly #fail: Fail;

  constructor(connection: DuckDBConnection, fail: Fail) {
    this.#connection = connection;
    this.#fail = fail;
  }

  /** Appends rows of integers, text and nulls; see `Connection.appendRows`. */
  async appendRows(table: string, rows: readonly (readonly (number | string | null)[])[]): Promise<void> {
    await this.#append(table, (appender) => {
      for (const row of rows) {
        for (const value of row) {
          if (value === null) appender.appendNull();
          else if (typeof value === 'number') appender.appendInteger(value);
          else appender.appendVarchar(value);
        }
        appender.endRow();
      }
    });
  }

  /** Appends columns of equal length; see `Connection.appendPoints`. */
  async appendPoints(table: string, count: number, columns: PointColumns): Promise<void> {
    const { first, second, third, fourth } = columns;
    await this.#append(table, (appender) => {
      const capacity = duckdb.vector_size();
      const chunk = DuckDBDataChunk.create([INTEGER, INTEGER, DECIMAL(18, third.scale), DECIMAL(18, fourth.scale)]);
      const sources = [first, second, third.values, fourth.values];
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
    });
  }

  /** Flushes appended rows into the tables. */
  end(): void {
    try {
      for (const [table, appender] of this.#open) {
        appender.closeSync();
        this.#open.delete(table);
      }
    } catch (error) {
      this.drop();
      this.#fail(error);
    }
  }

  /** Discards rows appended since the last statement. */
  drop(): void {
    for (const appender of this.#open.values()) {
      try {
        appender.clear();
        appender.closeSync();
      } catch {
        // It repeats its earlier error.
      }
    }
    this.#open.clear();
  }

  async #append(table: string, append: (appender: DuckDBAppender) => void): Promise<void> {
    try {
      const appender = this.#open.get(table) ?? (await this.#connection.createAppender(table, null, 'temp'));
      this.#open.set(table, appender);
      append(appender);
    } catch (error) {
      this.drop();
      this.#fail(error);
    }
  }
}
