import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { formatTable, openTable } from '../../src/terminal/table.ts';
import fc from '../support/fast-check.ts';

const columns = [
  { name: 'workspace', type: 'VARCHAR' },
  { name: 'cost', type: 'DECIMAL(38,2)' },
];

describe('formatTable(columns, rows)', () => {
  test('aligns text left and numbers right, without trailing spaces', () => {
    expect(
      formatTable(
        [...columns, { name: 'unit', type: 'VARCHAR' }],
        [
          ['north', '1.50', 'GB-seconds'],
          ['a-longer-one', '-100.25', undefined],
        ],
      ),
    ).toBe(
      [
        'workspace        cost  unit',
        '────────────  ───────  ──────────',
        'north            1.50  GB-seconds',
        'a-longer-one  -100.25',
      ].join('\n'),
    );
  });

  test('aligns numbers right that are formatted already', () => {
    const ready = ['n', 'cost'].map((name) => ({ name, type: 'DECIMAL' }));
    expect(formatTable(ready, [['9.4', '5.00']])).toBe('  n  cost\n───  ────\n9.4  5.00');
  });

  test('has a head even without rows', () => {
    expect(formatTable(columns, [])).toBe('workspace  cost\n─────────  ────');
  });

  test('escapes control characters in cells', () => {
    expect(formatTable([{ name: 'n', type: 'VARCHAR' }], [['a\u001b[2Jb\nc\u009b']])).toContain('a\uFFFD[2Jb c\uFFFD');
  });

  test('escapes control characters in column names', () => {
    expect(formatTable([{ name: 'a\u001b]0;owned\u0007\n\u202eb', type: 'VARCHAR' }], [])).toMatch(
      /^a\uFFFD\]0;owned\uFFFD \uFFFDb\n─+$/u,
    );
  });

  test('neither cuts text nor rounds numbers without a terminal', () => {
    const long = 'x'.repeat(500);
    const table = formatTable(
      [
        { name: 'n', type: 'VARCHAR' },
        { name: 'cost', type: 'DECIMAL(38,12)' },
      ],
      [[long, '0.123456789012']],
    );
    expect(table).toContain(long);
    expect(table).toContain('0.123456789012');
  });

  test('cuts texts to the requested width, never within a character', () => {
    const column = { name: 'n', type: 'VARCHAR' };
    const [, , line = ''] = formatTable([column], [['😀'.repeat(60)]], { maxCellWidth: 11 }).split('\n');
    expect(line).toBe(`${'😀'.repeat(5)}…`);
    expect(formatTable([column], [['x'.repeat(11)]], { maxCellWidth: 11 }).split('\n')[2]).toBe('x'.repeat(11));
  });

  test('aligns wide and combining characters by their cells', () => {
    const lines = formatTable(
      [...columns],
      [
        ['北部', '1.00'],
        ['Jose\u0301', '2.00'],
      ],
    ).split('\n');
    expect(lines.slice(2)).toEqual(['北部       1.00', 'Jose\u0301       2.00']);
  });
});

const spending = [
  { name: 'account', type: 'VARCHAR' },
  { name: 'resource_name', type: 'VARCHAR' },
  { name: 'resource_uuid', type: 'VARCHAR' },
  { name: 'cost', type: 'DECIMAL(38,12)' },
  { name: 'share_of_account', type: 'DECIMAL(18,6)' },
];
const spent = [
  ['acc-one', 'checkout-assistant', '6944a6c8-479e-429e-ab63-b1b921897edc', '507.585397119000', '0.093180'],
  ['acc-one', 'training-data', undefined, '-0.004000000000', '-0.000001'],
];

function widestOf(table: string): number {
  return Math.max(...table.split('\n').map((line) => stringWidth(line)));
}

describe('formatTable(columns, rows) on a terminal', () => {
  test('rounds amounts to two decimals and shows three digits of small shares', () => {
    const table = formatTable(spending, spent, { width: 200 });
    expect(table).toContain('507.59            0.0932');
    expect(table).not.toContain('-0.00');
  });

  test('shows months without their day, and whole in a pipe', () => {
    const column = { name: 'month', type: 'DATE' };
    expect(formatTable([column], [['2026-10-01']], { width: 80 })).toMatch(/2026-10$/);
    expect(formatTable([column], [['2026-10-01']])).toMatch(/2026-10-01$/);
    expect(formatTable([{ ...column, name: 'first_day' }], [['2026-10-01']], { width: 80 })).toMatch(/2026-10-01$/);
  });

  test('shows every decimal and column with exact, at any width', () => {
    for (const width of [40, 80, 200]) {
      const table = formatTable(spending, spent, { width, isExact: true, important: ['cost'] });
      for (const cell of ['507.585397119000', '6944a6c8', 'checkout-assistant', '0.093180']) {
        expect(table.replace(/\n */g, '')).toContain(cell);
      }
      expect(widestOf(table)).toBeLessThanOrEqual(width);
    }
  });

  test('moves values that are the same in every row above a table that is too wide', () => {
    expect(formatTable(spending, spent, { width: 85 })).toBe(
      [
        'account acc-one',
        'resource_name       resource_uuid                           cost  share_of_account',
        '──────────────────  ────────────────────────────────────  ──────  ────────────────',
        'checkout-assistant  6944a6c8-479e-429e-ab63-b1b921897edc  507.59            0.0932',
        'training-data                                               0.00            0.0000',
      ].join('\n'),
    );
  });

  test('splits long column names, then cuts texts, in a table that is too wide', () => {
    const table = formatTable(spending, spent, { width: 72 });
    expect(table).toMatch(/^ +share_$/m);
    expect(table).toMatch(/^checkout-assistant {2}6944a6c8[\w-]+… {2}507\.59/m);
    expect(widestOf(table)).toBeLessThanOrEqual(72);
  });

  test('leaves out less important columns before it cuts names, and lists them', () => {
    const table = formatTable(spending, spent, { width: 45, important: ['cost', 'resource_name', 'share_of_account'] });
    expect(table).toContain('Not shown here: resource_uuid');
    expect(table).toContain('checkout-assistant');
    expect(widestOf(table)).toBeLessThanOrEqual(45);
  });

  test('shows each row as a block of lines if columns do not fit next to each other', () => {
    const many = Array.from({ length: 12 }, (_, index) => ({ name: `column_${index}`, type: 'INTEGER' }));
    const table = formatTable(many, [many.map((_, index) => `${index}00000`), many.map(() => '7')], { width: 60 });
    expect(table.split('\n').slice(0, 2)).toEqual(['column_0   000000', 'column_1   100000']);
    expect(table).toContain('\n\ncolumn_0   7\n');
  });

  test('wraps a long text in a block without cutting it', () => {
    const columns = Array.from({ length: 9 }, (_, index) => ({ name: `c${index}`, type: 'INTEGER' }));
    const text = 'abcdefghij'.repeat(30);
    const table = formatTable(
      [...columns, { name: 'labels', type: 'VARCHAR' }],
      [[...columns.map(() => '123456789012'), text]],
      { width: 80 },
    );
    expect(table.replace(/\n */g, '')).toContain(text);
    expect(widestOf(table)).toBeLessThanOrEqual(80);
  });

  test('never writes a line that is wider than the terminal', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 30, max: 200 }),
        fc.array(fc.tuple(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.boolean()), {
          minLength: 1,
          maxLength: 14,
        }),
        fc.array(fc.array(fc.string({ unit: 'grapheme', maxLength: 80 }), { minLength: 14, maxLength: 14 }), {
          maxLength: 4,
        }),
        fc.boolean(),
        (width, heads, rows, isExact) => {
          const columns = heads.map(([name, isText]) => ({ name, type: isText ? 'VARCHAR' : 'BIGINT' }));
          const important = heads.slice(0, 3).map(([name]) => name);
          expect(widestOf(formatTable(columns, rows, { width, isExact, important }))).toBeLessThanOrEqual(width);
        },
      ),
    );
  });

  test('cuts later values to a layout from sample rows, so that columns stay aligned', () => {
    const table = openTable(spending, [['acc-one', 'a', 'b', '1.00', '0.5']], { width: 80, isWhole: false });
    expect(table.head).toContain('account');
    expect(table.row(['acc-one', 'x'.repeat(300), 'b', '1.234', '0.5'])).toContain('…');
  });
});

test('the line below the names has at most 80 characters in a pipe, for any text', () => {
  const columns = [
    { name: 'step', type: 'VARCHAR' },
    { name: 'error', type: 'VARCHAR' },
  ];
  const lines = formatTable(columns, [['ingest', 'x'.repeat(500)]]).split('\n');
  expect(lines.map((line) => line.length)).toEqual([13, 80, 508]);
});
