// Second tier: Drawn rows written and read in every format.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { parse } from 'csv-parse/sync';
import { strFromU8, unzipSync } from 'fflate';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeAnswer } from '../../src/reports/formats/export.ts';
import { exportFormats } from '../../src/tables/file-formats.ts';
import type { Connection } from '../../src/warehouse/store/connection.ts';
import { openDatabase } from '../../src/warehouse/store/database.ts';
import fc from '../support/fast-check.ts';
import { newProject } from '../support/project.ts';

let dir = '';
let connection: Connection;
let close: () => void;
beforeAll(async () => {
  dir = await newProject();
  const database = await openDatabase(join(dir, 'formats.duckdb'), { readOnly: false });
  connection = await database.connect();
  close = () => database.close();
});
afterAll(() => close());

/** A cell of each type as the text that DuckDB casts to it; null where there is none. */
function orNull(text: fc.Arbitrary<string>): fc.Arbitrary<string | null> {
  return fc.option(text, { nil: null, freq: 4 });
}
function decimal(digits: number, scale: number): fc.Arbitrary<string> {
  const most = 10n ** BigInt(digits) - 1n;
  return fc.bigInt({ min: -most, max: most }).map((unscaled) => {
    const text = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
    const fraction = scale === 0 ? '' : `.${text.slice(-scale)}`;
    return `${unscaled < 0n ? '-' : ''}${scale === 0 ? text : text.slice(0, -scale)}${fraction}`;
  });
}
const day = fc
  .date({ min: new Date('1900-01-01T00:00:00Z'), max: new Date('2199-12-31T00:00:00Z'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));
const columns: Readonly<Record<string, readonly [type: string, cell: fc.Arbitrary<string | null>]>> = {
  name: [
    'varchar',
    orNull(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('', '=1+1', 'a,"b"\r\nc', ' x ', 'é🙂', 'NULL'))),
  ],
  cost: ['decimal(18, 12)', orNull(decimal(18, 12))],
  total: ['decimal(38, 12)', orNull(decimal(38, 12))],
  tiny: ['decimal(4, 1)', orNull(decimal(4, 1))],
  count: ['bigint', orNull(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String))],
  huge: ['hugeint', orNull(decimal(38, 0))],
  small: ['integer', orNull(fc.integer().map(String))],
  ratio: [
    'double',
    orNull(
      fc
        .double({ noNaN: true, noDefaultInfinity: true })
        .filter((x) => !Object.is(x, -0))
        .map(String),
    ),
  ],
  day: ['date', orNull(day)],
  instant: [
    'timestamp',
    orNull(
      fc
        .tuple(day, fc.integer({ min: 0, max: 999_999 }))
        .map(([d, us]) => `${d} 23:00:00.${String(us).padStart(6, '0')}`),
    ),
  ],
  flag: ['boolean', orNull(fc.boolean().map(String))],
};
const names = Object.keys(columns);
const rowsOf = fc.array(fc.tuple(...names.map((name) => columns[name]?.[1] ?? fc.constant(null))), { maxLength: 40 });

type Cell = string | null;

/** Decimals and instants in the one form in which the formats are compared. */
function unscaledText(unscaled: bigint, scale: number): string {
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  return `${unscaled < 0n ? '-' : ''}${scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`}`;
}

async function readArrow(path: string): Promise<Cell[][]> {
  const table = tableFromIPC(await readFile(path));
  expect(table.schema.fields.map((field) => field.name)).toEqual(names);
  const cells: Cell[][] = [];
  for (const batch of table.batches) {
    for (let row = 0; row < batch.numRows; row += 1) {
      cells.push(
        names.map((name, index) => {
          const data = batch.data.children[index];
          const value: unknown = batch.getChildAt(index)?.get(row);
          if (data === undefined || value === null || value === undefined) return null;
          if (name === 'day') return new Date(Number(data.values[row]) * 86_400_000).toISOString().slice(0, 10);
          if (name === 'instant') return microsText(BigInt(data.values[row]));
          const { scale } = data.type as { scale?: number };
          if (scale === undefined) return String(value);
          const halves = new BigInt64Array(data.values.buffer, data.values.byteOffset, data.values.length / 2);
          const low = BigInt.asUintN(64, halves[row * 2] ?? 0n);
          return unscaledText(((halves[row * 2 + 1] ?? 0n) << 64n) | low, scale);
        }),
      );
    }
  }
  return cells;
}

function microsText(micros: bigint): string {
  const fraction = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const seconds = new Date(Number((micros - fraction) / 1000n)).toISOString().slice(0, 19);
  const digits = String(fraction).padStart(6, '0').replace(/0+$/, '');
  return digits === '' ? `${seconds}Z` : `${seconds}.${digits}Z`;
}

async function readCsv(path: string): Promise<Cell[][]> {
  const text = await readFile(path, 'utf8');
  // The one text cell may be quoted and empty; every other empty cell is NULL.
  const [header, ...rows] = parse(text, {
    record_delimiter: '\r\n',
    relax_column_count: false,
    cast: (value, { quoting }) => (value === '' && !quoting ? null : value),
  }) as Cell[][];
  expect(header).toEqual(names);
  return rows;
}

async function readJson(path: string): Promise<Cell[][]> {
  const rows = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>[];
  return rows.map((row) => names.map((name) => (row[name] === null ? null : String(row[name]))));
}

async function readParquet(path: string): Promise<Cell[][]> {
  const texts = names.map((name) => {
    if (name === 'instant')
      return `replace(rtrim(rtrim(strftime(instant, '%Y-%m-%d %H:%M:%S.%f'), '0'), '.'), ' ', 'T') || 'Z' as instant`;
    return `cast(${name} as varchar) as ${name}`;
  });
  const rows = await connection.rows(`select ${texts.join(', ')} from read_parquet($path)`, { path });
  return rows.map((row) => names.map((name) => (row[name] === null ? null : String(row[name]))));
}

/** The cells of the first sheet as its XML has them: numbers keep every digit there, which no program's numbers do. */
async function readXlsx(path: string): Promise<Cell[][]> {
  const xml = strFromU8(unzipSync(await readFile(path))['xl/worksheets/sheet1.xml'] ?? new Uint8Array());
  const plain = (text: string) =>
    text
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&')
      .replace(/_x([0-9A-F]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  const [, ...rows] = [...xml.matchAll(/<row r="\d+">([\s\S]*?)<\/row>/g)].map(([, row = '']) => {
    const cells = new Map(
      [...row.matchAll(/<c r="([A-Z]+)\d+"[^>]*>(?:<v>([^<]*)<\/v>|<is><t[^>]*>([^<]*)<\/t><\/is>)<\/c>/g)].map(
        ([, column = '', number, text]) => [column, number ?? plain(text ?? '')] as const,
      ),
    );
    return names.map((_, index) => cells.get(String.fromCharCode(65 + index)) ?? null);
  });
  return rows;
}

/** Cells as a workbook has them: numbers without zeros at their end, dates as days, no instants (they are rounded) and doubles. */
function asInWorkbook(row: readonly Cell[]): Cell[] {
  return row.map((cell, index) => {
    const name = names[index] ?? '';
    if (cell === null || name === 'instant' || name === 'ratio') return null;
    if (name === 'flag') return cell === 'true' ? '1' : '0';
    const days = (Date.parse(cell) - Date.UTC(1899, 11, 30)) / 86_400_000;
    if (name === 'day') return days < 61 ? cell : String(days);
    return name === 'name' || !cell.includes('.') ? cell : cell.replace(/\.?0+$/, '');
  });
}

const readers: Readonly<Record<string, (path: string) => Promise<Cell[][]>>> = {
  csv: readCsv,
  json: readJson,
  arrow: readArrow,
  parquet: readParquet,
  xlsx: readXlsx,
};

test('instants are marked as UTC in Parquet and Arrow, as in CSV and JSON', async () => {
  const query = `select timestamp '2026-10-01 00:00:00' as at, timestamp_s '2026-10-01 00:00:00' as second,
    timestamp_ms '2026-10-01 00:00:00' as milli, timestamptz '2026-10-01 00:00:00Z' as zoned`;
  for (const format of ['parquet', 'arrow']) {
    await writeAnswer(
      { connection, query, parameters: {} },
      { format, raw: true, parquetDecimals: 'exact', facts: {}, path: join(dir, `instant.${format}`) },
    );
  }
  const columns = await connection.rows(`select name, logical_type from parquet_schema($path) where type is not null`, {
    path: join(dir, 'instant.parquet'),
  });
  expect(columns).toHaveLength(4);
  for (const { logical_type: type } of columns) expect(type).toMatch(/isAdjustedToUTC=1/);
  const { schema } = tableFromIPC(await readFile(join(dir, 'instant.arrow')));
  expect(schema.fields.map(({ type }) => String(type))).toEqual(Array(4).fill('Timestamp<MICROSECOND, UTC>'));
});

test('every format contains the same rows to the last digit, and the same bytes each time', async () => {
  expect(Object.keys(readers).sort()).toEqual([...exportFormats].sort());
  let number = 0;
  await fc.assert(
    fc.asyncProperty(rowsOf, async (rows) => {
      await connection.run('drop table if exists given');
      await connection.run(
        `create temp table given (line integer, ${names.map((name) => `${name} ${columns[name]?.[0]}`).join(', ')})`,
      );
      await connection.appendRows(
        'given',
        rows.map((row, line) => [line, ...row]),
      );
      const question = { connection, query: `select ${names.join(', ')} from given order by line`, parameters: {} };
      number += 1;
      const read: Record<string, Cell[][]> = {};
      for (const format of exportFormats) {
        const told = { format, raw: true, parquetDecimals: 'exact', facts: { complete_through: 'x' } } as const;
        const path = join(dir, `${number}.${format}`);
        expect(await writeAnswer(question, { ...told, path })).toBe(rows.length);
        read[format] = (await readers[format]?.(path)) ?? [];
        const again = join(dir, `${number}.again.${format}`);
        await writeAnswer(question, { ...told, path: again });
        expect((await readFile(again)).equals(await readFile(path))).toBe(true);
      }
      const said = rows.map((row) => row.map((cell, index) => (names[index] === 'instant' ? instant(cell) : cell)));
      expect(read['json']?.map(withoutRatio)).toEqual(said.map(withoutRatio));
      expect(read['csv']?.map(withoutRatio)).toEqual(read['json']?.map(withoutRatio));
      expect(read['arrow']?.map(withoutRatio)).toEqual(read['json']?.map(withoutRatio));
      expect(read['parquet']?.map(withoutRatio)).toEqual(read['json']?.map(withoutRatio));
      const inWorkbook = read['xlsx']?.map((row) =>
        row.map((cell, index) => (/^(instant|ratio)$/.test(names[index] ?? '') ? null : cell)),
      );
      expect(inWorkbook?.map((row) => row.map(withoutTail))).toEqual(
        said.map((row) => asInWorkbook(row).map(withoutTail)),
      );
      for (const format of exportFormats.filter((one) => one !== 'xlsx')) {
        expect(read[format]?.map(ratio)).toEqual(rows.map(ratio));
      }
    }),
    { numRuns: 60 },
  );
});

/** A number without zeros at its end: where it is text because of its length, the workbook has them. */
function withoutTail(cell: Cell): Cell {
  return cell !== null && /^-?\d+\.\d+$/.test(cell) ? cell.replace(/\.?0+$/, '') : cell;
}

function instant(cell: Cell): Cell {
  return cell === null ? null : `${cell.replace(' ', 'T').replace(/0+$/, '').replace(/\.$/, '')}Z`;
}

const ratioIndex = names.indexOf('ratio');

/** Doubles are written in several ways: they are compared as numbers. */
function ratio(row: readonly Cell[]): number | null {
  const cell = row[ratioIndex] ?? null;
  return cell === null ? null : Number(cell);
}

function withoutRatio(row: readonly Cell[]): Cell[] {
  return row.filter((_, index) => index !== ratioIndex);
}
