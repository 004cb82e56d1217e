import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBDateValue, DuckDBDecimalValue, DuckDBTimestampValue } from '@duckdb/node-api';
import { type CellValue, readXlsx } from 'hucre/xlsx';
import { afterAll, describe, expect, test } from 'vitest';
import { cellColumn } from '../../src/reports/formats/xlsx.ts';
import type { SqlCell } from '../../src/warehouse/store/values.ts';
import { type Cell, costName, figuresOfWorkbook, type Sheet, workbookChunks } from '../../src/workbook/index.ts';
import fc from '../support/fast-check.ts';

const folders: string[] = [];
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true });
});

function sheetOf(rows: readonly (readonly Cell[])[], more: Partial<Sheet> = {}): Sheet {
  async function* chunks(): AsyncGenerator<readonly (readonly Cell[])[]> {
    for (let from = 0; from < rows.length; from += 3) yield rows.slice(from, from + 3);
  }
  return { name: 'Sheet', widths: [], frozenRows: 0, rows: chunks(), ...more };
}

async function bytesOf(...sheets: readonly Sheet[]): Promise<Buffer> {
  async function* all(): AsyncGenerator<Sheet> {
    yield* sheets;
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of workbookChunks(all())) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The cells as a reader that is not ours finds them. */
async function readBack(rows: readonly (readonly Cell[])[]): Promise<CellValue[][]> {
  const workbook = await readXlsx(await bytesOf(sheetOf(rows)));
  return workbook.sheets[0]?.rows ?? [];
}

async function figuresOf(bytes: Buffer, decimals: number | undefined): ReturnType<typeof figuresOfWorkbook> {
  const folder = await mkdtemp(join(tmpdir(), 'costbook-workbook-'));
  folders.push(folder);
  await writeFile(join(folder, 'book.xlsx'), bytes);
  return figuresOfWorkbook(join(folder, 'book.xlsx'), decimals);
}

/** A value of an answer as the cell that a workbook has for it. */
function cellOf(type: string, value: SqlCell, name = 'cost'): Cell {
  return cellColumn({ name, type }).cell(value);
}

describe('a workbook', () => {
  test('holds text as text, also text that looks like a formula, markup or an escape of Office', async () => {
    const texts = [
      '=1+1',
      '=cmd|" /C calc"!A0',
      '+1',
      '@SUM(A1)',
      '<img src=x onerror=alert(1)>',
      'a&b"c',
      '_x0041_',
      '_x0041_x0042_x0043_',
      'x\u202Ey',
    ];
    expect(await readBack([texts.map((text) => ({ text }))])).toEqual([texts]);
    const xml = (await bytesOf(sheetOf([texts.map((text) => ({ text }))]))).toString('latin1');
    expect(xml).not.toContain('<f>');
  });

  test('gives every text of XML back, and says what it cannot hold', async () => {
    const unit = fc.oneof(
      fc.constantFrom('<', '&', '"', ' ', '\n', '\t', '_', 'x', '0'),
      fc.string({ unit: 'grapheme', maxLength: 1 }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit, minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 8 }),
        async (texts) => {
          expect(await readBack([texts.map((text) => ({ text }))])).toEqual([texts]);
        },
      ),
      { numRuns: 30 },
    );
    expect(await readBack([[{ text: 'a\u0007b\uD800c' }]])).toEqual([['a\u0007b\uFFFDc']]);
  });

  test('cuts a text that is longer than a cell', async () => {
    const [[cut] = []] = await readBack([[{ text: 'n'.repeat(40_000) }]]);
    expect(String(cut)).toBe(`${'n'.repeat(32_766)}…`);
  });

  test('holds money with all its decimals, dates and instants as numbers that spreadsheets count with', async () => {
    const rows: readonly Cell[][] = [
      [
        cellOf('DECIMAL(38,12)', new DuckDBDecimalValue(1_234_567_890_123n, 38, 12)),
        cellOf('DATE', new DuckDBDateValue(20_727), 'usage_date'),
        cellOf('TIMESTAMP', new DuckDBTimestampValue(1_790_830_800_000_000n), 'bucket_start'),
        cellOf('BOOLEAN', true, 'proven'),
        cellOf('BIGINT', 42n, 'rows'),
        cellOf('DECIMAL(38,12)', null),
      ],
    ];
    const workbook = await readXlsx(await bytesOf(sheetOf(rows)), { readStyles: true });
    const [row = []] = workbook.sheets[0]?.rows ?? [];
    expect(row.slice(0, 5)).toEqual([
      1.234567890123,
      new Date('2026-10-01T00:00:00Z'),
      new Date('2026-10-01T05:00:00Z'),
      true,
      42,
    ]);
  });

  test('writes a number that 15 digits do not hold to the cent as text', () => {
    const type = 'DECIMAL(38,12)';
    const cell = (whole: bigint) => cellOf(type, new DuckDBDecimalValue(whole * 10n ** 12n + 10n ** 10n, 38, 12));
    expect(cell(9_999_999_999_999n)).toEqual({ number: '9999999999999.010000000000', look: 'money' });
    expect(cell(99_999_999_999_999n)).toEqual({ text: '99999999999999.010000000000' });
    expect(cellOf('BIGINT', 123_456_789_012_345n, 'rows')).toMatchObject({ number: '123456789012345' });
    expect(cellOf('BIGINT', 1_234_567_890_123_456n, 'rows')).toEqual({ text: '1234567890123456' });
    expect(cellOf('DOUBLE', Number.NaN, 'ratio')).toEqual({ text: 'NaN' });
  });

  test('has equal bytes for equal cells, however they came and at any time', async () => {
    const rows = Array.from({ length: 500 }, (_, index): Cell[] => [
      { text: `name ${index}` },
      { number: `${index}.25` },
    ]);
    async function* oneByOne(): AsyncGenerator<readonly (readonly Cell[])[]> {
      for (const row of rows) yield [row];
    }
    const [one, other] = [await bytesOf(sheetOf(rows)), await bytesOf(sheetOf(rows, { rows: oneByOne() }))];
    expect(other.equals(one)).toBe(true);
    expect(one.subarray(10, 14).toString('hex')).toBe('00002100'); // the date of the first file: 1980-01-01, 0:00
  });

  test('names sheets as spreadsheets allow, each once', async () => {
    const names = ['a/b', 'a b', "'quoted'", 'x'.repeat(40), 'x'.repeat(50), ''];
    const workbook = await readXlsx(await bytesOf(...names.map((name) => sheetOf([], { name }))));
    expect(workbook.sheets.map(({ name }) => name)).toEqual([
      ...['a b', 'a b (2)', 'quoted', 'x'.repeat(31), `${'x'.repeat(27)} (2)`, 'Sheet'],
    ]);
  });
});

describe('the figures of a workbook', () => {
  const area = (rows: number, columns: readonly [number, number] = [0, 1]) => ({
    columns,
    rows: [2, rows + 1] as const,
  });
  function answerOf(costs: readonly (string | undefined)[], name = "it's"): Sheet {
    const rows: Cell[][] = [
      [{ text: 'name' }, { text: 'cost' }],
      ...costs.map((cost): Cell[] => [{ text: '</row> 7' }, cost === undefined ? undefined : { number: cost }]),
    ];
    return sheetOf(rows, {
      name,
      end: () => ({ names: { answer: area(costs.length), [costName]: area(costs.length, [1, 1]) } }),
    });
  }

  test('are its rows and the exact sum of its cost, over all its sheets and not of the others', async () => {
    const bytes = await bytesOf(
      answerOf(['0.100000000001', undefined, '-0.3']),
      sheetOf([[{ number: '5' }]], { name: 'About' }),
      answerOf(['99999999999999.5', '7'], 'more'),
    );
    expect(await figuresOf(bytes, 12)).toEqual({ rows: 5, cost: '100000000000006.300000000001' });
    expect(await figuresOf(bytes, undefined)).toEqual({ rows: 5, cost: null });
    expect(await figuresOf(await bytesOf(answerOf([undefined])), 12)).toEqual({ rows: 1, cost: null });
  });

  test('are refused of a file that is cut, misses a part or is something else', async () => {
    const whole = await bytesOf(answerOf(['1.5']));
    await expect(figuresOf(whole.subarray(0, -10), 12)).rejects.toThrow('does not end as a ZIP archive');
    await expect(figuresOf(Buffer.from('no workbook'), 12)).rejects.toThrow();
    await expect(figuresOf(Buffer.concat([whole.subarray(0, 100), whole.subarray(120)]), 12)).rejects.toThrow();
  });
});
