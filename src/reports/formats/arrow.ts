import { open as openFile } from 'node:fs/promises';
import {
  AsyncByteQueue,
  Bool,
  type Data,
  DataType,
  DateDay,
  Decimal,
  Field,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  makeData,
  RecordBatch,
  RecordBatchFileWriter,
  RecordBatchReader,
  Schema,
  Struct,
  Timestamp,
  TimeUnit,
  Uint8,
  Uint16,
  Uint32,
  Uint64,
  Utf8,
} from 'apache-arrow';
import { UsageError } from '../../base/errors.ts';
import { decimalOfWhole } from '../../money/money.ts';
import {
  epochDays,
  epochMicros,
  type SqlCell,
  type SqlColumn,
  type SqlResult,
  toCellText,
  unscaledDecimal,
} from '../../warehouse/store/index.ts';
import type { FormatOptions } from './format.ts';

/** Rows in one record batch. The number is fixed, so that the same rows always give the same bytes. */
const batchRows = 65_536;

/**
 * Writes an answer as an Arrow IPC file, one record batch at a time. Decimals become Decimal128 with their precision
 * and scale, 128-bit integers Decimal128(38, 0), timestamps microseconds in UTC, dates Date32, text Utf8. Types without
 * a plain Arrow type (times, intervals, lists) become their exact text. Throws UsageError if an integer is too long.
 */
export async function* arrowChunks(
  { columns, chunks }: SqlResult,
  { facts }: FormatOptions,
): AsyncGenerator<Uint8Array> {
  const layouts = columns.map(layoutOf);
  const fields = columns.map(({ name }, index) => new Field(name, (layouts[index] ?? textLayout).type, true));
  const schema = new Schema(fields, new Map(Object.entries(facts)));
  const sink = new ByteSink();
  const writer = new RecordBatchFileWriter();
  writer.reset(sink, schema);

  let open = layouts.map(openColumn);
  let count = 0;
  function writeBatch(): void {
    const children = open.map((column) => column.close(count));
    writer.write(
      new RecordBatch(schema, makeData({ type: new Struct(fields), length: count, nullCount: 0, children })),
    );
    open = layouts.map(openColumn);
    count = 0;
  }
  for await (const rows of chunks) {
    for (const row of rows) {
      for (let index = 0; index < open.length; index += 1) open[index]?.set(count, row[index] ?? null);
      count += 1;
      if (count === batchRows) {
        writeBatch();
        yield sink.take();
      }
    }
  }
  if (count > 0) writeBatch();
  writer.close();
  yield sink.take();
}

/**
 * Collects the writer's bytes until they are taken. The queue of the base class returns them only one write at a time.
 */
class ByteSink extends AsyncByteQueue {
  #chunks: Uint8Array[] = [];
  override write(bytes: Uint8Array): void {
    this.#chunks.push(bytes);
  }
  take(): Uint8Array {
    const taken = Buffer.concat(this.#chunks);
    this.#chunks = [];
    return taken;
  }
}

type Value = NonNullable<SqlCell>;

/** How Arrow stores a column's values in memory. The library's own builders cannot create decimals. */
interface Layout {
  readonly type: DataType;
  /** Allocates one batch of values. */
  open(): {
    set(row: number, value: Value): void;
    /** The buffers of the first `count` rows. */
    buffers(count: number): { data: ArrayBufferView; valueOffsets?: Int32Array };
  };
}

/** A column of the current batch. */
function openColumn(layout: Layout): { set(row: number, value: SqlCell): void; close(count: number): Data } {
  const values = layout.open();
  const validity = new Uint8Array(batchRows / 8);
  let nullCount = 0;
  return {
    set(row, value) {
      if (value === null) nullCount += 1;
      else {
        validity[row >> 3] = (validity[row >> 3] ?? 0) | (1 << (row & 7));
        values.set(row, value);
      }
    },
    close(count) {
      const nullBitmap = nullCount === 0 ? null : validity.subarray(0, (count + 7) >> 3);
      return makeData({ type: layout.type, length: count, nullCount, nullBitmap, ...values.buffers(count) } as never);
    },
  };
}

/** A layout for values of a fixed width. */
function flat<T extends ArrayBufferView>(
  type: DataType,
  make: () => T,
  put: (array: T, row: number, value: Value) => void,
): Layout {
  return {
    type,
    open() {
      const data = make();
      return { set: (row, value) => put(data, row, value), buffers: () => ({ data }) };
    },
  };
}

function numbers(
  type: DataType,
  make: () =>
    | Int8Array
    | Int16Array
    | Int32Array
    | Uint8Array
    | Uint16Array
    | Uint32Array
    | Float32Array
    | Float64Array,
): Layout {
  return flat(type, make, (array, row, value) => {
    array[row] = Number(value);
  });
}

const textLayout: Layout = {
  type: new Utf8(),
  open() {
    const valueOffsets = new Int32Array(batchRows + 1);
    let data = Buffer.allocUnsafe(batchRows * 16);
    let end = 0;
    let next = 0;
    function skipTo(row: number): void {
      while (next <= row) valueOffsets[next++] = end; // rows without a value have length 0
    }
    return {
      set(row, value) {
        skipTo(row);
        const text = toCellText(value) ?? '';
        const most = text.length * 3; // most bytes of UTF-8 per unit of UTF-16
        if (end + most > data.length) {
          const longer = Buffer.allocUnsafe(Math.max(data.length * 2, end + most));
          data.copy(longer, 0, 0, end);
          data = longer;
        }
        end += data.write(text, end);
      },
      buffers(count) {
        skipTo(count);
        return { data: data.subarray(0, end), valueOffsets: valueOffsets.subarray(0, count + 1) };
      },
    };
  },
};

/** Decimals as 128 bits, low half first; `unscaled` is the value without its point. */
function decimals(type: Decimal, unscaled: (value: Value) => bigint): Layout {
  return {
    type,
    open() {
      const halves = new BigInt64Array(batchRows * 2);
      return {
        set(row, value) {
          const whole = unscaled(value);
          halves[row * 2] = whole; // only the lower 64 bits are written
          halves[row * 2 + 1] = whole >> 64n;
        },
        buffers: () => ({ data: new Uint32Array(halves.buffer) }),
      };
    },
  };
}

const booleanLayout = flat(
  new Bool(),
  () => new Uint8Array(batchRows / 8),
  (bits, row, value) => {
    if (value === true) bits[row >> 3] = (bits[row >> 3] ?? 0) | (1 << (row & 7));
  },
);

const instantLayout = flat(
  new Timestamp(TimeUnit.MICROSECOND, 'UTC'),
  () => new BigInt64Array(batchRows),
  (array, row, value) => {
    array[row] = epochMicros(value);
  },
);

/**
 * Reads back an Arrow IPC file, one record batch at a time. Returns its number of rows, and the sum of a column of
 * decimals (or integers) as exact text with its decimals; null if there are no values.
 */
export async function figuresOfArrow(
  path: string,
  column: string | undefined,
): Promise<{ rows: number; cost: string | null }> {
  const file = await openFile(path);
  try {
    const reader = await RecordBatchReader.from(file);
    let rows = 0;
    let sum: bigint | undefined;
    let decimals = 0;
    for await (const batch of reader) {
      rows += batch.numRows;
      const vector = column === undefined ? null : batch.getChild(column);
      if (vector === null) continue;
      const { type } = vector;
      if (DataType.isDecimal(type)) decimals = type.scale;
      for (let row = 0; row < vector.length; row += 1) {
        const value: unknown = vector.get(row);
        if (value !== null) sum = (sum ?? 0n) + wholeOf(value);
      }
    }
    return { rows, cost: sum === undefined ? null : decimalOfWhole(sum, decimals) };
  } finally {
    await file.close();
  }
}

/** An Arrow value without its decimal point. Decimals are four 32-bit words, low word first, in two's complement. */
function wholeOf(value: unknown): bigint {
  if (!(value instanceof Uint32Array)) return BigInt(value as bigint | number);
  const bits = value.reduceRight((whole, word) => (whole << 32n) | BigInt(word), 0n);
  return BigInt.asIntN(128, bits);
}

const longInteger = 10n ** 38n;

/** The layout for a column of a DuckDB type; types without a layout become text. */
function layoutOf({ name, type }: SqlColumn): Layout {
  const decimal = /^DECIMAL\((\d+),(\d+)\)$/.exec(type);
  if (decimal) return decimals(new Decimal(Number(decimal[2]), Number(decimal[1])), unscaledDecimal);
  switch (type) {
    case 'BOOLEAN':
      return booleanLayout;
    case 'TINYINT':
      return numbers(new Int8(), () => new Int8Array(batchRows));
    case 'SMALLINT':
      return numbers(new Int16(), () => new Int16Array(batchRows));
    case 'INTEGER':
      return numbers(new Int32(), () => new Int32Array(batchRows));
    case 'UTINYINT':
      return numbers(new Uint8(), () => new Uint8Array(batchRows));
    case 'USMALLINT':
      return numbers(new Uint16(), () => new Uint16Array(batchRows));
    case 'UINTEGER':
      return numbers(new Uint32(), () => new Uint32Array(batchRows));
    case 'FLOAT':
      return numbers(new Float32(), () => new Float32Array(batchRows));
    case 'DOUBLE':
      return numbers(new Float64(), () => new Float64Array(batchRows));
    case 'BIGINT':
      return flat(
        new Int64(),
        () => new BigInt64Array(batchRows),
        (array, row, value) => {
          array[row] = BigInt(value as bigint);
        },
      );
    case 'UBIGINT':
      return flat(
        new Uint64(),
        () => new BigUint64Array(batchRows),
        (array, row, value) => {
          array[row] = BigInt(value as bigint);
        },
      );
    case 'HUGEINT':
    case 'UHUGEINT':
      return decimals(new Decimal(0, 38), (value) => {
        const integer = BigInt(value as bigint);
        if (integer > -longInteger && integer < longInteger) return integer;
        throw new UsageError(`column "${name}": ${integer} has more than 38 digits; cast it to varchar`);
      });
    case 'DATE':
      return flat(
        new DateDay(),
        () => new Int32Array(batchRows),
        (array, row, value) => {
          array[row] = epochDays(value);
        },
      );
    case 'TIMESTAMP':
    case 'TIMESTAMP_S':
    case 'TIMESTAMP_MS':
    case 'TIMESTAMP WITH TIME ZONE':
      return instantLayout;
    default:
      return textLayout;
  }
}
