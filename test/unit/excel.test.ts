import { DuckDBDateValue, DuckDBDecimalValue, DuckDBTimestampValue } from '@duckdb/node-api';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { type ChangedColumn, excelChunks } from '../../src/reports/formats/excel.ts';
import { isChangedBySpreadsheets, signsOf } from '../../src/reports/formats/spreadsheet.ts';
import type { SqlCell } from '../../src/warehouse/store/values.ts';
import fc from '../support/fast-check.ts';

function usd(unscaled: bigint): SqlCell {
  return new DuckDBDecimalValue(unscaled, 38, 12);
}

async function excelOf(
  columns: readonly (readonly [name: string, type: string])[],
  rows: readonly (readonly SqlCell[])[],
  totals: readonly string[] = [],
  options: { readonly code?: string; readonly language?: string } = {},
  changed: ChangedColumn[] = [],
): Promise<string> {
  async function* chunks(): AsyncGenerator<readonly (readonly SqlCell[])[]> {
    for (let from = 0; from < rows.length; from += 2) yield rows.slice(from, from + 2);
  }
  const meters = new Map([['sandbox_compute_runtime_gbs', 'Sandbox Compute Runtime']]);
  let text = '';
  const result = { columns: columns.map(([name, type]) => ({ name, type })), chunks: chunks() };
  for await (const chunk of excelChunks(result, { totals, ...options }, meters, changed)) text += chunk;
  return text;
}

const money = ['cost', 'DECIMAL(38,12)'] as const;

describe('the CSV for people', () => {
  test('starts with a byte order mark and ends lines with CRLF; amounts have two decimals and a currency', async () => {
    const text = await excelOf(
      [['workspace', 'VARCHAR'], money],
      [
        ['grün', usd(1_005_000_000_000n)],
        ['=1+1', null],
      ],
    );
    expect(text).toBe("\uFEFFWorkspace,Cost,Currency\r\ngrün,1.01,USD\r\n'=1+1,,USD\r\n");
  });

  test.each([
    ['0.005', 5_000_000_000n, '0.01'],
    ['-0.005', -5_000_000_000n, '-0.01'],
    ['0.004999999999', 4_999_999_999n, '0.00'],
    ['-0.004', -4_000_000_000n, '0.00'],
    ['12345678901234567.895', 12_345_678_901_234_567_895_000_000_000n, '12345678901234567.90'],
  ])('rounds %s half away from zero, to the last digit', async (_, unscaled, shown) => {
    expect(await excelOf([money], [[usd(unscaled)]])).toBe(`\uFEFFCost,Currency\r\n${shown},USD\r\n`);
  });

  test('rounds the total from the exact total, within half a cent per row of the sum of the rows', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), { maxLength: 30 }),
        async (amounts) => {
          const text = await excelOf(
            [money],
            amounts.map((amount) => [usd(amount)]),
            ['cost'],
          );
          const rows = parse(text, { bom: true, columns: true }) as { Cost: string }[];
          const cents = rows.map(({ Cost: cost }) => BigInt(cost.replace('.', '')));
          const total = cents.pop() ?? 0n;
          const exact = amounts.reduce((sum, amount) => sum + amount, 0n);
          const off = total * 10n ** 10n - exact;
          expect(off <= 5n * 10n ** 9n && off >= -5n * 10n ** 9n).toBe(true);
          const difference = cents.reduce((sum, cent) => sum + cent, 0n) - total;
          expect(2n * (difference < 0n ? -difference : difference)).toBeLessThanOrEqual(BigInt(amounts.length + 1));
        },
      ),
    );
  });

  test('names the last row Total, and leaves cells without a sum empty', async () => {
    const columns = [['month', 'DATE'], ['owner', 'VARCHAR'], money, ['share', 'DECIMAL(18,6)']] as const;
    const row = [new DuckDBDateValue(20_727), 'North', usd(10n ** 12n), new DuckDBDecimalValue(500_000n, 18, 6)];
    expect((await excelOf(columns, [row, row], ['cost'])).split('\r\n').slice(1)).toEqual([
      '2026-10,North,1.00,50.00%,USD',
      '2026-10,North,1.00,50.00%,USD',
      'Total,,2.00,,USD',
      '',
    ]);
  });

  test('names billing dimensions, and adds GB-hours only next to GB-seconds', async () => {
    const columns = [
      ['billing_dimension', 'VARCHAR'],
      ['unit', 'VARCHAR'],
      ['usage', 'DECIMAL(38,6)'],
    ] as const;
    const used = new DuckDBDecimalValue(5_400_000_000n, 38, 6);
    const text = await excelOf(columns, [
      ['sandbox_compute_runtime_gbs', 'GB-seconds', used],
      ['new_requests_count', 'count', used],
      [null, null, null],
    ]);
    expect(parse(text, { bom: true })).toEqual([
      ['Billing dimension', 'Billing dimension name', 'Unit', 'Usage', 'Usage GB-hours'],
      ['sandbox_compute_runtime_gbs', 'Sandbox Compute Runtime', 'GB-seconds', '5400.00', '1.50'],
      ['new_requests_count', 'new_requests_count', 'count', '5400.00', ''],
      ['', '', '', '', ''],
    ]);
  });

  test('writes owners and instants for people', async () => {
    const columns = [
      ['owner', 'VARCHAR'],
      ['at', 'TIMESTAMP'],
    ] as const;
    const at = new DuckDBTimestampValue(1_790_812_800_000_000n);
    const owners = ['{"team":"Payments","product":"check, out"}', '{"team":null}', null, '{odd', '{"team":"=1"}'];
    const text = await excelOf(
      columns,
      owners.map((owner) => [owner, at]),
    );
    expect((parse(text, { bom: true, from: 2 }) as string[][]).map(([owner]) => owner)).toEqual([
      'Payments / check, out',
      'no owner',
      'no owner',
      '{odd',
      "'=1",
    ]);
    expect(text).toContain(',2026-10-01 00:00:00\r\n');
  });

  test('names columns in words, and shares in percent', async () => {
    const columns = [
      ['cost_month_before', 'DECIMAL(38,12)'],
      ['change_share', 'DECIMAL(38,6)'],
      ['resource_uuid', 'VARCHAR'],
      ['BilledCost', 'DOUBLE'],
      ['label_a/b', 'VARCHAR'],
    ] as const;
    const text = await excelOf(columns, [[usd(10n ** 12n), new DuckDBDecimalValue(-65_089n, 38, 6), 'u', null, null]]);
    expect(parse(text, { bom: true })).toEqual([
      ['Cost month before', 'Change share', 'Resource UUID', 'BilledCost', 'label_a/b', 'Currency'],
      ['1.00', '-6.51%', 'u', '', '', 'USD'],
    ]);
  });

  test.each([
    ['JPY', '28136'],
    ['KWD', '28136.224'],
    ['EUR', '28136.22'],
    ['CLF', '28136.2237'],
  ])('writes %s with the decimals of that currency, and its total too', async (code, shown) => {
    const columns = [money, [`cost_${code.toLowerCase()}`, 'DECIMAL(38,12)']] as const;
    const text = await excelOf(columns, [[usd(10n ** 12n), usd(28_136_223_710_000_000n)]], ['cost'], { code });
    expect(text.split('\r\n')[1]).toBe(`1.00,${shown},USD`);
  });

  test('is written for the language of the spreadsheet', async () => {
    const columns = [
      ['workspace', 'VARCHAR'],
      money,
      ['usage', 'DECIMAL(38,6)'],
      ['unit', 'VARCHAR'],
      ['change_share', 'DECIMAL(38,6)'],
      ['eur_rate', 'DECIMAL(18,8)'],
      ['factor', 'DOUBLE'],
    ] as const;
    const values = [6, 6, 8].map((scale) => new DuckDBDecimalValue(-65_089n, 38, scale));
    const row = ['a;b', usd(1_234_500_000_000_000n), values[0], 'count', values[1], values[2], 0.5] as SqlCell[];
    const text = await excelOf(columns, [row], ['cost'], { language: 'de' });
    expect(text).toBe(
      '\uFEFFWorkspace;Cost;Usage;Usage GB-hours;Unit;Change share;Eur rate;Factor;Currency\r\n' +
        '"a;b";1234,50;-0,07;;count;-6,51%;-0,00065089;0,5;USD\r\nTotal;1234,50;;;;;;;USD\r\n',
    );
  });

  test.each([
    ['de', ',', ';'],
    ['fr-CH', ',', ';'],
    ['de-CH', '.', ','],
    ['en', '.', ','],
    ['ar', '.', ','],
  ])('the spreadsheet of %s has %j before decimals and %j between cells', (language, decimal, separator) => {
    expect(signsOf(language)).toEqual({ decimal, separator });
  });

  test.each(['xx', 'german', 'de_DE', ' '])('%j is no language', (language) => {
    expect(() => signsOf(language)).toThrow(`--excel: found "${language}", expected the language of the spreadsheet`);
  });

  test.each([
    [undefined, 'x;=1+1', "x;'=1+1"],
    [undefined, 'x; =1+1;y;-2', "x;' =1+1;y;'-2"],
    [undefined, 'x,=1+1', '"x,=1+1"'],
    [undefined, 'a\n@b\t+c', `"a\n'@b\t'+c"`],
    [undefined, 'a;b - c', 'a;b - c'],
    ['de', 'x,=1+1', "x,'=1+1"],
    ['de', 'x;=1+1', '"x;=1+1"'],
  ])(
    'for the language %j, %j begins no formula in a spreadsheet of another language either',
    async (language, text, shown) => {
      const options = language === undefined ? {} : { language };
      expect(await excelOf([['workspace', 'VARCHAR']], [[text]], [], options)).toBe(`\uFEFFWorkspace\r\n${shown}\r\n`);
    },
  );

  test('names the columns with texts that a spreadsheet changes', async () => {
    const columns = [
      ['resource_name', 'VARCHAR'],
      ['label_build', 'VARCHAR'],
      ['workspace', 'VARCHAR'],
      money,
    ] as const;
    const changed: ChangedColumn[] = [];
    const rows = [
      ['box', '1e5', 'north', null],
      ['007', '3-4', '12', null],
    ];
    await excelOf(columns, rows, [], {}, changed);
    expect(changed).toEqual([
      { name: 'Label build', example: '1e5' },
      { name: 'Resource name', example: '007' },
    ]);
  });

  test.each([
    ...['007', '1e5', '3-4', '1/2', '2026-10', '1.10', '12:30', 'MARCH1', 'dec-5', '5. Mai', 'TRUE', '-01', '1.2.2026'],
    '12345678901234567',
  ])('%j is changed', (text) => {
    expect(isChangedBySpreadsheets(text, signsOf(undefined))).toBe(true);
  });

  test.each(['12', 'north', '1.5', 'v1.10', 'march', '3-4-a', 'box-1', '2026-10-01T05', '10.0.0.1', ''])(
    '%j stays as it is',
    (text) => {
      expect(isChangedBySpreadsheets(text, signsOf('en'))).toBe(false);
    },
  );

  test('1.5 is a day where the comma separates decimals', () => {
    expect(isChangedBySpreadsheets('1.5', signsOf('de'))).toBe(true);
  });
});
